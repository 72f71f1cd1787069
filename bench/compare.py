#!/usr/bin/env python3
"""Prints the figures of one benchmark run, ours beside Oclgrind's, as Markdown tables.

  compare.py WARPCHECK_JSON OCLGRIND_TEXT

The first is the output of warpcheck_bench with --benchmark_format=json, of which the best
repetition counts; the second that of oclgrind.sh.
"""
import collections
import json
import sys

# Our checkers beside the nearest that Oclgrind has.
PEER_MODES = {"off": "plain", "race": "data-races", "all": "data-races+uninitialized"}


def read_ours(path):
    best = collections.defaultdict(float)
    with open(path) as file:
        for run in json.load(file)["benchmarks"]:
            if run["run_type"] == "iteration":
                rate = run.get("thread_instructions", run.get("cases"))
                best[run["run_name"].split("/manual_time")[0]] = max(
                    best[run["run_name"].split("/manual_time")[0]], rate)
    return best


def read_peer(path):
    with open(path) as file:
        lines = [line.split() for line in file]
    return {(kernel, mode): float(rate) for kernel, mode, rate in lines}


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def main():
    ours, peer = read_ours(sys.argv[1]), read_peer(sys.argv[2])
    rows = []
    for name, rate in ours.items():
        kind, kernel, mode = name.split("/")
        if kind == "engine":
            millions, peer_rate = rate / 1e6, peer[kernel, PEER_MODES[mode]]
            rows.append([kernel, mode, f"{millions:.0f}", f"{peer_rate:.1f}",
                         f"{millions / peer_rate:.0f}"])
    print_table(["kernel", "checkers", "warpcheck, M thread-instructions/s",
                 "Oclgrind, M work-item instructions/s", "ratio"], rows)
    print_table(["scan, n", "checked cases/s"],
                [[name.split("/")[2], f"{rate:.0f}"]
                 for name, rate in ours.items() if name.startswith("cases/")])


if __name__ == "__main__":
    main()
