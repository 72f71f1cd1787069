#!/usr/bin/env python3
"""How much faster several threads run one program: bench/exec_jobs.py WARPCHECK JOBS... [--nvcc NVCC]

Programs under `exec` with all checks, once for each number of threads in JOBS; the others
are compared with the first (give 1 first).  Seconds of the whole process, and ratios.
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

PROGRAMS = {"product": ("product", "1024", "4"), "stencil": ("stencil", "2048", "200"),
            "bodies": ("bodies", "16384", "16"), "histogram": ("histogram", "4096", "60")}

arguments = argparse.ArgumentParser()
arguments.add_argument("warpcheck", type=pathlib.Path)
arguments.add_argument("jobs", nargs="+")
arguments.add_argument("--nvcc", default="nvcc")
arguments = arguments.parse_args()
WARPCHECK = arguments.warpcheck.resolve()
SOURCE = pathlib.Path(__file__).resolve().with_suffix(".cu")

with tempfile.TemporaryDirectory() as directory:
    program = f"{directory}/exec_jobs"
    subprocess.run([arguments.nvcc, "-arch=compute_75", "-lineinfo", "-cudart", "shared", SOURCE, "-o",
                    program], check=True)
    print("| program | " + " | ".join(f"{jobs} threads, s" for jobs in arguments.jobs) + " | " +
          " | ".join(f"{jobs} / {arguments.jobs[0]}" for jobs in arguments.jobs[1:]) + " |")
    print("|---" * (2 * len(arguments.jobs)) + "|")
    for name, words in PROGRAMS.items():
        took, printed = [], set()
        for jobs in arguments.jobs:
            begin = time.monotonic()
            result = subprocess.run([WARPCHECK, "exec", "--jobs", jobs, "--", program, *words],
                                    check=True, capture_output=True, text=True)
            took.append(time.monotonic() - begin)
            printed.add(result.stdout)
        assert len(printed) == 1, printed
        print(f"| {name} | " + " | ".join(f"{one:.2f}" for one in took) + " | " +
              " | ".join(f"{took[0] / one:.2f}" for one in took[1:]) + " |", flush=True)
