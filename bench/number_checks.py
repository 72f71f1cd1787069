#!/usr/bin/env python3
"""What --check numerics and --check precision cost beside all other checks.

  bench/number_checks.py [--build DIR] [--trials N] [--times N] [PAIR...]

Prints a row a pair for docs/develop/measurements.md: the CPU seconds of `check PAIR` with all checks, and
how many times as long it takes with each of the two as well. Of some runs the least counts.
"""
import argparse
import pathlib
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAIRS = ["scan_tree", "histogram_shared", "transpose", "softmax_three_pass", "attention"]


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode > 1:
        raise SystemExit(f"{' '.join(command)}: exit status {ended.returncode}\n{ended.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", default=PAIRS, metavar="PAIR")
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--trials", default=100, type=int)
    parser.add_argument("--times", default=3, type=int, help="runs of each, of which the least counts")
    arguments = parser.parse_args()
    print("| pair | all checks (s) | with `numerics` | with `precision` |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for pair in arguments.pairs:
            command = [str(arguments.build / "warpcheck"), "check", pair, "--trials", str(arguments.trials),
                       "--cases", folder]
            least = [min(cpu_seconds(command + option) for _ in range(arguments.times))
                     for option in ([], ["--check", "numerics"], ["--check", "precision"])]
            print(f"| `{pair}` | {least[0]:.2f} | {least[1] / least[0]:.1f} | {least[2] / least[0]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
