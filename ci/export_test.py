#!/usr/bin/env python3
"""Every recorded case becomes a CUDA program that nvcc compiles without a warning.

  export_test.py WARPCHECK NVCC CASES

The programs are compiled for any GPU and not linked: nothing here runs them.  Each is written and
compiled in a directory of its own, far from the sources that it must not need.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def check_case(warpcheck, nvcc, case, directory):
    name = f"{case.parent.name}_{case.stem}"
    source = pathlib.Path(directory) / f"{name}.cu"
    exported = run([warpcheck, "export", case, "-o", source])
    if exported.returncode != 0 or exported.stdout or exported.stderr:
        return f"{case}: export gave status {exported.returncode}\n{exported.stderr}"
    text = source.read_text()
    if re.search(r'#include "', text):
        return f"{case}: the program needs files of this project"
    options = re.search(r"^//   nvcc (.*) -arch=native ", text, re.MULTILINE).group(1).split()
    compiled = run([nvcc, *options, "--Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror",
                    "-arch=compute_75", "-c", source.name, "-o", f"{name}.o"], cwd=directory)
    if compiled.returncode != 0 or compiled.stderr.strip():
        return f"{case}: nvcc gave status {compiled.returncode}\n{compiled.stderr[-2000:]}"
    return None


def main():
    warpcheck, nvcc, root = sys.argv[1:]
    cases = sorted(pathlib.Path(root).glob("*/*.case"))
    if not cases:
        sys.exit(f"no cases in {root}")
    with tempfile.TemporaryDirectory() as directory, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = pool.map(lambda case: check_case(warpcheck, nvcc, case, directory), cases)
        problems = [problem for problem in problems if problem]
    print("\n".join(problems) or f"{len(cases)} programs compile")
    sys.exit(1 if problems else 0)


main()
