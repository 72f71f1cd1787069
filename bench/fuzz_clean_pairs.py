#!/usr/bin/env python3
"""Fuzzes every pair that must be clean, all for the same time, and says how often each was executed.

  bench/fuzz_clean_pairs.py [--warpcheck build/warpcheck] [--minutes 40] [--jobs 2] [--least 20000]

Every pair begins with an empty corpus.  Exit status 1 if anything was found, or a pair was executed less
often than --least.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpcheck", default="build/warpcheck", type=pathlib.Path)
    parser.add_argument("--minutes", default=40.0, type=float, help="in all")
    parser.add_argument("--jobs", default=2, type=int, help="pairs at a time")
    parser.add_argument("--least", default=20000, type=int, help="executions of each pair")
    options = parser.parse_args()
    warpcheck = options.warpcheck.resolve()
    listed = subprocess.run([warpcheck, "list", "--json"], check=True, capture_output=True, text=True)
    pairs = [pair["name"] for pair in json.loads(listed.stdout)["pairs"] if not pair["expects"]]
    seconds = max(1, int(options.minutes * 60 * options.jobs / len(pairs)))

    def fuzz(pair):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([warpcheck, "fuzz", pair, "--seconds", str(seconds), "--corpus", folder + "/corpus",
                                  "--cases", folder + "/cases"], capture_output=True, text=True, check=False)
        executions = re.search(r": (\d+) executions", run.stdout)
        count = int(executions[1]) if executions else 0
        fine = run.returncode == 0 and count >= options.least
        print(f"{pair:36} {count:>10} executions  {'ok' if fine else 'WRONG'}", flush=True)
        if run.returncode != 0:
            print(run.stdout + run.stderr, flush=True)
        return fine, count

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(fuzz, pairs))
    print(f"{len(pairs)} pairs, {seconds} s each, {sum(count for _, count in results)} executions, "
          f"{sum(not fine for fine, _ in results)} wrong")
    sys.exit(0 if all(fine for fine, _ in results) else 1)


main()
