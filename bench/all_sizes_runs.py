#!/usr/bin/env python3
"""The statements of `prove --all-sizes`, checked by runs at 10,000 random sizes and launches of each proved pair.

  all_sizes_runs.py BUILD [--points 10000] [--seed 1] [--jobs N] [PAIR...]

Without pairs: all clean ones.  Runs BUILD/cli/all_sizes/all_sizes_runs for one pair after the other, N at once, and
prints a row for each in the order of their names.  Exit status 1: a run refutes a statement, or a pair could not be
run; what was said of it follows the table."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys


def clean_pairs(build):
    listed = subprocess.run([build / "warpcheck", "list", "--json"], capture_output=True, text=True, check=True)
    return [pair["name"] for pair in json.loads(listed.stdout)["pairs"] if not pair["expects"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--points", default="10000")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("pairs", nargs="*")
    arguments = parser.parse_intermixed_args()
    build = arguments.build.resolve()

    def check(pair):
        return subprocess.run([build / "cli/all_sizes/all_sizes_runs", "--points", arguments.points, "--seed",
                               arguments.seed, pair], capture_output=True, text=True, check=False)

    wrong = []
    print("| pair | for every size | points | refuting it | with another failure | CPU seconds: proof + runs |\n"
          "|---|---|---|---|---|---|", flush=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        pairs = arguments.pairs or clean_pairs(build)
        for pair, ran in zip(pairs, pool.map(check, pairs)):
            rows = [line for line in ran.stdout.splitlines() if line.startswith(f"| {pair} |")]
            print("\n".join(rows), flush=True)
            if ran.returncode != 0 or not rows:
                wrong.append(f"{pair}: status {ran.returncode}: {ran.stderr.strip()}")
    if wrong:
        sys.exit("\n".join(wrong))


main()
