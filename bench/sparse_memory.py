#!/usr/bin/env python3
"""The cost of memory that is allocated, and of memory that is touched: bench/sparse_memory.py WARPCHECK [NVCC]

A program allocates some GiB and touches some MiB of them, under `exec --memory 16G`, with the bounds
check alone and with all checkers.  Peak of resident memory and time of the whole process.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

WARPCHECK = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2] if len(sys.argv) > 2 else "nvcc"
SOURCE = pathlib.Path(__file__).resolve().with_suffix(".cu")
MEASURED = ("import resource, subprocess, sys; status = subprocess.call(sys.argv[1:]); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024); sys.exit(status)")


def peak_and_time(*words):
    begin = time.monotonic()
    result = subprocess.run([sys.executable, "-c", MEASURED, WARPCHECK, "exec", *words], check=True,
                            capture_output=True, text=True)
    return int(result.stdout), time.monotonic() - begin


with tempfile.TemporaryDirectory() as directory:
    program = f"{directory}/sparse_memory"
    subprocess.run([NVCC, "-arch=compute_75", "-cudart", "shared", SOURCE, "-o", program], check=True)
    print("| allocated, GiB | touched, MiB | peak, bounds alone, MiB | s | all checks, MiB | s |")
    print("|---|---|---|---|---|---|")
    for allocated, touched in ((1, 0), (1, 100), (8, 0), (8, 100), (8, 400)):
        sizes = ("--", program, str(allocated), str(touched))
        bounds = peak_and_time("--memory", "16G", "--check", "bounds", *sizes)
        everything = peak_and_time("--memory", "16G", *sizes)
        print(f"| {allocated} | {touched} | {bounds[0]} | {bounds[1]:.2f} | {everything[0]} | "
              f"{everything[1]:.2f} |")
