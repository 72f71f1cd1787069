#!/usr/bin/env python3
"""Prints the figures of one benchmark run of warpcheck, Oclgrind and PoCL as Markdown tables.

  compare.py WARPCHECK_JSON OCLGRIND_TEXT POCL_TEXT

The first is the output of warpcheck_bench with --benchmark_format=json, of which the best
repetition counts; the others those of oclgrind.sh and pocl.sh.  An instruction is one of PTX for us and one of
LLVM's for Oclgrind, so the times of the whole launch are given too.
"""
import json
import math
import sys

KERNELS = ["block_scan", "histogram", "tree_reduction"]
# Our checkers and the most similar ones of Oclgrind.
PEER_MODES = {"off": "plain", "race": "data-races", "all": "data-races+uninitialized"}


def read_ours(path):
    """(rate, milliseconds) of the best repetition, by name without the suffix for manual time."""
    best = {}
    with open(path) as file:
        for run in json.load(file)["benchmarks"]:
            if run["run_type"] != "iteration":
                continue
            rate = run.get("thread_instructions", run.get("cases"))
            if rate is None:  # growth/
                continue
            name = run["run_name"].removesuffix("/manual_time")
            best[name] = max(best.get(name, (0, 0)), (rate, run["real_time"]))
    return best


def read_peer(path):
    """(rate in millions, milliseconds) by kernel and mode."""
    with open(path) as file:
        lines = [line.split() for line in file]
    return {(kernel, mode): (float(rate), float(time)) for kernel, mode, rate, time in lines}


def cost_of_checks(ours):
    """A row for each kernel, and the geometric mean of the ratios."""
    rows, ratios = [], []
    for name, (without, _) in ours.items():
        if not (name.startswith("engine/") and name.endswith("/off")):
            continue
        checked = ours[name.removesuffix("off") + "all"][0]
        ratios.append(without / checked)
        rows.append([name.split("/")[1], f"{without / 1e6:.0f}", f"{checked / 1e6:.0f}",
                     f"{ratios[-1]:.2f}"])
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return rows + [["geometric mean", "", "", f"{mean:.2f}"]]


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def main():
    ours, peer = read_ours(sys.argv[1]), read_peer(sys.argv[2])
    rows = []
    for kernel in KERNELS:
        for mode, peer_mode in PEER_MODES.items():
            rate, time = ours[f"engine/{kernel}/{mode}"]
            peer_rate, peer_time = peer[kernel, peer_mode]
            rows.append([kernel, mode, f"{rate / 1e6:.0f}", f"{peer_rate:.1f}",
                         f"{rate / 1e6 / peer_rate:.0f}", f"{time:.1f}", f"{peer_time:.0f}",
                         f"{peer_time / time:.0f}"])
    print_table(["kernel", "checkers", "warpcheck, M instr/s", "Oclgrind, M instr/s", "ratio",
                 "warpcheck, ms", "Oclgrind, ms", "ratio"], rows)
    with open(sys.argv[3]) as file:
        native = {kernel: float(time) for kernel, time in map(str.split, file)}
    rows = []
    for kernel in KERNELS:
        time = ours[f"engine/{kernel}/off"][1]
        rows.append([kernel, f"{time:.2f}", f"{native[kernel]:.2f}", f"{time / native[kernel]:.2f}"])
    print_table(["kernel", "warpcheck, no checkers, ms", "PoCL, one core, ms", "ratio"], rows)
    print_table(["kernel", "no checkers, M instr/s", "all, M instr/s", "ratio"],
                cost_of_checks(ours))
    print_table(["scan, n", "checked cases/s"],
                [[str(n), f"{ours[f'cases/scan/{n}'][0]:.0f}"] for n in (64, 256, 1024)])


if __name__ == "__main__":
    main()
