#!/usr/bin/env python3
"""Proves or refutes the kernels of kernel_samples/verifiers: verifier_kernels.py WARPCHECK [--jobs N] [--free] [--only right|wrong]
                    [NAME...]

Each kernel, and its wrong twin, is asked about with `kernel --prove`.  A row for each program has the answer, and the line of
what is not decided; the last lines count the answers.  The exit status is 1 if a right kernel has a finding, a wrong one is
called proved or has none of the findings that its marks say, or the command breaks.  --free: without the comments that say
the launch, where a right kernel may be wrong.  With names of kernels or files, only these."""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/kernel_samples"))
from kernel_samples import found_of  # noqa: E402
from verifier_kernels import all_programs  # noqa: E402

TRIALS = 60


def answer_of(program, result, report):
    """proved, refuted, not decided ..., and whether that is wrong."""
    if result.returncode not in (0, 1, 2) or re.search(r" (error|cannot be launched)", result.stderr):
        return "broken", result.stderr.strip()[-200:]
    if result.returncode == 2:
        return "refused", result.stderr.strip()[-200:]
    found = found_of(json.loads(report.read_text()), "kernel.cu")
    if result.returncode == 1:
        told = ", ".join(f"{kind} {line}" for kind, line in sorted(found, key=str))
        if not program.is_wrong:
            return "false alarm", told
        return ("refuted", told) if program.expected <= found else ("other finding", told)
    if ": proved for every size" in result.stdout:
        return ("proved" if not program.is_wrong else "wrongly proved"), ""
    reason = re.search(r"not decided, because of (.*)", result.stdout)
    return "not decided", reason.group(1) if reason else result.stdout[-200:]


def ask(warpcheck, program, is_free):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "kernel.cu").write_text(program.without_launch() if is_free else program.text)
        report = directory / "report.json"
        kernel = [] if "--instantiate" in program.options else [program.name]
        command = [warpcheck, "kernel", "kernel.cu", *kernel, "--prove", "--trials", str(TRIALS),
                   "--json", str(report), *program.options]
        try:
            result = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return "broken", "no end after 300 seconds"
        return answer_of(program, result, report)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("warpcheck", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--free", action="store_true")
    parser.add_argument("--only", choices=["right", "wrong"])
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    warpcheck = options.warpcheck.resolve()
    programs = [one for one in all_programs()
                if (not options.names or one.name in options.names or one.theme in options.names)
                and options.only in (None, "wrong" if one.is_wrong else "right")]
    counts = collections.defaultdict(collections.Counter)
    print("| kernel | of | answer | |\n|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = pool.map(lambda one: ask(warpcheck, one, options.free), programs)
        for program, (answer, why) in zip(programs, answers):
            counts[program.is_wrong][answer] += 1
            print(f"| {program.title} | {program.theme} | {answer} | {why} |", flush=True)
    for is_wrong, of in sorted(counts.items()):
        print(f"\n{'wrong' if is_wrong else 'right'}: {sum(of.values())}: "
              + ", ".join(f"{number} {answer}" for answer, number in of.most_common()))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.0f} CPU seconds", file=sys.stderr)
    bad = {"false alarm", "wrongly proved", "other finding", "broken"}
    if not options.free and any(bad & of.keys() for of in counts.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
