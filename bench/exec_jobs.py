#!/usr/bin/env python3
"""How much faster several threads run one program: bench/exec_jobs.py WARPCHECK JOBS... [--nvcc NVCC]
[--only SOURCE]

Programs under `exec` with all checks, once for each number of threads in JOBS; the others
are compared with the first (give 1 first).  Seconds of the whole process, and ratios.  The
programs of exec_jobs.cu have large launches, those of exec_streams.cu many small ones in
eight streams.  SOURCE: exec_jobs or exec_streams, for the programs of one of them.
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

PROGRAMS = {
    "exec_jobs": (("product", "1024", "4"), ("stencil", "2048", "200"), ("bodies", "16384", "16"),
                  ("histogram", "4096", "60")),
    "exec_streams": (("chains", "40"), ("branches", "40"), ("breadth", "40"), ("copies", "40"),
                     ("callbacks", "40"), ("one-by-one", "40"), ("devices", "40")),
}
OPTIONS = {"devices": ("--devices", "2")}

arguments = argparse.ArgumentParser()
arguments.add_argument("warpcheck", type=pathlib.Path)
arguments.add_argument("jobs", nargs="+")
arguments.add_argument("--nvcc", default="nvcc")
arguments.add_argument("--only", choices=PROGRAMS)
arguments = arguments.parse_args()
WARPCHECK = arguments.warpcheck.resolve()
SOURCES = pathlib.Path(__file__).resolve().parent


def seconds_of(program, words, jobs):
    """Returns also what the program has printed."""
    begin = time.monotonic()
    result = subprocess.run([WARPCHECK, "exec", "--jobs", jobs, *OPTIONS.get(words[0], ()), "--", program, *words],
                            check=True, capture_output=True, text=True)
    return time.monotonic() - begin, result.stdout


with tempfile.TemporaryDirectory() as directory:
    print("| program | " + " | ".join(f"{jobs} threads, s" for jobs in arguments.jobs) + " | " +
          " | ".join(f"{jobs} / {arguments.jobs[0]}" for jobs in arguments.jobs[1:]) + " |")
    print("|---" * (2 * len(arguments.jobs)) + "|")
    for source in [arguments.only] if arguments.only else PROGRAMS:
        program = f"{directory}/{source}"
        subprocess.run([arguments.nvcc, "-arch=compute_75", "-lineinfo", "-cudart", "shared",
                        SOURCES / f"{source}.cu", "-o", program], check=True)
        for words in PROGRAMS[source]:
            runs = [seconds_of(program, words, jobs) for jobs in arguments.jobs]
            assert len({printed for _, printed in runs}) == 1, runs
            took = [seconds for seconds, _ in runs]
            print(f"| {words[0]} | " + " | ".join(f"{one:.2f}" for one in took) + " | " +
                  " | ".join(f"{took[0] / one:.2f}" for one in took[1:]) + " |", flush=True)
