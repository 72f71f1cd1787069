#!/usr/bin/env python3
"""Fuzzes every clean pair, all for the same time, and prints how often each was executed.

  bench/fuzz_clean_pairs.py [--warpcheck build/warpcheck] [--minutes 40] [--jobs 2] [--least 20000]

Every pair begins with an empty corpus.  A pair that did not reach the least number of executions in its time gets the
missing ones afterwards.  Exit status 1 if anything was found.
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
            def executions(*limits):
                run = subprocess.run([warpcheck, "fuzz", pair, *limits, "--corpus", folder + "/corpus", "--cases",
                                      folder + "/cases"], capture_output=True, text=True, check=False)
                if run.returncode != 0:
                    raise RuntimeError(run.stdout + run.stderr)
                return int(re.search(r": (\d+) executions", run.stdout)[1])

            try:
                count = executions("--seconds", str(seconds))
                if count < options.least:
                    count += executions("--seconds", "0", "--seed", "2", "--runs", str(options.least - count))
                print(f"{pair:36} {count:>10} executions", flush=True)
                return count
            except RuntimeError as error:
                print(f"{pair}:\n{error}", flush=True)
                return None

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        counts = list(pool.map(fuzz, pairs))
    wrong = counts.count(None)
    print(f"{len(pairs)} pairs, {seconds} s each, {sum(filter(None, counts))} executions, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
