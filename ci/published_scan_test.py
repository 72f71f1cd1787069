#!/usr/bin/env python3
"""The defect for which warpcheck was made is found and shrunk to the same size from every seed.

  published_scan_test.py WARPCHECK

For each of 20 seeds the hunt must shrink the class {data-race, mismatch} to three elements, a block of three
threads and one decision under `independent`, and to 33 elements and threads and no decision under
`lockstep`, with the racing line on both sides; and each case must replay to the same bytes 100 times: 10 times in each
of 10 processes, because most of the time of a process is its start.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PAIR = "scan_hillis_steele_published"
LINE = "kernels/specimens/scan_hillis_steele.cu:14"
SEEDS = range(1, 21)
PROCESSES = REPLAYS_OF_PROCESS = 10
INDEPENDENT = re.compile(r"input: n=3, .*launch \{grid 1, block 3\}; schedule: 1 decision,")
LOCKSTEP = re.compile(r"input: n=33, .*launch \{grid 1, block 33\}; warp model lockstep; "
                      r"schedule: default \(0 decisions\)")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(condition, what, shown):
    if not condition:
        sys.exit(f"{what}\n{shown}")


def check_report(report, seed):
    findings = [part for part in report.split("FAIL ")[1:] if "mismatch: " in part]
    check(len(findings) == 2, f"seed {seed}: two classes with a mismatch expected", report)
    for pattern in (INDEPENDENT, LOCKSTEP):
        matching = [part for part in findings if pattern.search(part)]
        check(len(matching) == 1, f"seed {seed}: no case like {pattern.pattern}", report)
        race = matching[0].split("mismatch: ")[0]
        check("data-race on shared memory share[" in race and race.count(LINE) == 2,
              f"seed {seed}: the racing line is not on both sides", report)


def main():
    warpcheck = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            hunt = run(warpcheck, "hunt", "--pairs", PAIR, "--seed", str(seed), "--cases",
                       f"{folder}/{seed}")
            check(hunt.returncode == 0, f"seed {seed}: hunt ended with {hunt.returncode}",
                  hunt.stdout + hunt.stderr)
            check_report(hunt.stdout, seed)
        cases = sorted(str(path) for path in pathlib.Path(folder, "1").rglob("*.case"))
        first = run(warpcheck, "replay", *cases)
        check(first.returncode == 1, "the replay should find what was recorded", first.stdout)
        for _ in range(PROCESSES):
            again = run(warpcheck, "replay", *cases * REPLAYS_OF_PROCESS)
            check(again.stdout == first.stdout * REPLAYS_OF_PROCESS, "a replay differs", again.stdout)
    print(f"{len(SEEDS)} seeds, {PROCESSES * REPLAYS_OF_PROCESS} replays of {len(cases)} cases: as expected")


if __name__ == "__main__":
    main()
