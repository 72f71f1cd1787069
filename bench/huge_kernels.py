#!/usr/bin/env python3
"""Indices of 32 bits beyond 2^31, and their twins of 64 bits.

  huge_kernels.py WARPCHECK [--jobs N] [KERNEL...]

Each kernel of kernel_samples/huge.cu is asked about with `kernel --prove`.  With `int` it must be refuted by a run, within
10 seconds of a core and 1 GiB; one number less must not fail.  With `long long` it must be proved."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SAMPLES = pathlib.Path(__file__).resolve().parent / "kernel_samples" / "huge.cu"
SECONDS_MAX, KIB_MAX = 10, 1 << 20


def run(command, directory):
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), output, usage


def one_less(path):
    """Cases with each of the numbers one less; the grid follows where it covers them."""
    case = json.loads(path.read_text())
    for name, value in case["input"].items():
        if isinstance(value, int) and value > 1:
            changed = json.loads(path.read_text())
            changed["input"][name] = value - 1
            threads = changed["input"]["launch"]["block"][0]
            largest = max(v for v in changed["input"].values() if isinstance(v, int))
            grid = changed["input"]["launch"]["grid"]
            grid[0] = min(grid[0], max(1, (largest - 1) // threads + 1))
            yield name, changed


def check(warpcheck, name, index):
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        status, output, usage = run([warpcheck, "kernel", str(SAMPLES), "--instantiate", f"{name}<{index}>", "--prove",
                                     "--trials", "20", "--cases", "cases"], directory)
        seconds, kib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
        row = f"| `{name}<{index}>` | {seconds:.1f} | {kib >> 10} |"
        if index != "int":
            is_proved = ": proved for every size" in output and status == 0
            return row + " proved |", "" if is_proved else output
        numbers = re.search(r"^  input: (.*?);", output, re.MULTILINE)
        kind = re.search(r"^  ([a-z-]+) on ", output, re.MULTILINE)
        row += f" {kind and kind[1]} at {numbers and numbers[1]} |"
        if status != 1 or not kind or seconds > SECONDS_MAX or kib > KIB_MAX:
            return row, output
        for path in directory.glob("cases/*/*.case"):
            for number, case in one_less(path):
                smaller = directory / "smaller.case"
                smaller.write_text(json.dumps(case))
                status, output, _ = run([warpcheck, "replay", str(smaller)], directory)
                if status == 1 and kind[1] in output:
                    return row, f"{number} may be smaller:\n{output}"
        return row, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warpcheck")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("kernels", nargs="*")
    arguments = parser.parse_intermixed_args()
    names = re.findall(r"__global__ void (\w+)\(", SAMPLES.read_text())
    names = [name for name in names if not arguments.kernels or name in arguments.kernels]
    wrong = []
    print("| kernel | CPU s | MiB | answer |\n|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        tasks = [pool.submit(check, os.path.abspath(arguments.warpcheck), name, index)
                 for name in names for index in ("int", "long long")]
        for task in tasks:
            row, error = task.result()
            print(row, flush=True)
            if error:
                wrong.append(f"{row}\n{error}")
    if wrong:
        sys.exit("\n".join(wrong))


main()
