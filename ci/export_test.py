#!/usr/bin/env python3
"""Every recorded case becomes a CUDA program that nvcc compiles without a warning.

  export_test.py WARPCHECK NVCC CASES

The programs are compiled for any GPU, but neither linked nor run.  They are written to a directory
outside the repository, because they must not need its sources.  Those with the same options are compiled
together, each in its own namespace, because common headers take most of the time.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def export(warpcheck, case, directory):
    """Returns the program's file and its options, or an error."""
    source = directory / f"{case.parent.name}_{case.stem}.cu"
    exported = run([warpcheck, "export", case, "-o", source])
    if exported.returncode != 0 or exported.stdout or exported.stderr:
        return None, f"{case}: export gave status {exported.returncode}\n{exported.stderr}"
    text = source.read_text()
    if re.search(r'#include "', text):
        return None, f"{case}: the program needs files of this project"
    options = re.search(r"^//   nvcc (.*) -arch=native ", text, re.MULTILINE).group(1)
    return (source, options), None


def compile_together(nvcc, number, options, sources, directory):
    headers = sorted({line for source in sources for line in source.read_text().splitlines()
                      if line.startswith("#include <")})
    programs = [f'namespace {source.stem} {{\n#include "{source.name}"\n}}' for source in sources]
    together = directory / f"together_{number}.cu"
    together.write_text("\n".join(headers + programs) + "\n")
    compiled = run([nvcc, *options.split(), "--Werror", "all-warnings", "-Xcompiler",
                    "-Wall,-Wextra,-Werror", "-arch=compute_75", "-c", together.name,
                    "-o", f"{together.stem}.o"], cwd=directory)
    if compiled.returncode != 0 or compiled.stderr.strip():
        return f"nvcc {options} gave status {compiled.returncode}\n{compiled.stderr[-4000:]}"
    return None


def main():
    warpcheck, nvcc, root = sys.argv[1:]
    cases = sorted(pathlib.Path(root).glob("*/*.case"))
    if not cases:
        sys.exit(f"no cases in {root}")
    with tempfile.TemporaryDirectory() as name, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        directory = pathlib.Path(name)
        exported = list(pool.map(lambda case: export(warpcheck, case, directory), cases))
        groups = collections.defaultdict(list)
        for program, _ in exported:
            if program:
                groups[program[1]].append(program[0])
        compiled = pool.map(
            lambda group: compile_together(nvcc, group[0], *group[1], directory),
            enumerate(groups.items()))
        problems = [problem for _, problem in exported if problem]
        problems += [problem for problem in compiled if problem]
    print("\n".join(problems) or f"{len(cases)} programs compile")
    sys.exit(1 if problems else 0)


main()
