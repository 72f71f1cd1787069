#!/usr/bin/env python3
"""Tries `kernel` and `new --kernel` on kernels of this repository: kernel_command.py WARPCHECK [--pairs]

Prints a row for each kernel: the verdict of `kernel`, what it found and the seconds that it took.
With --pairs, the pair that `new --kernel` writes is also compiled against the build directory of WARPCHECK.
docs/use/kernels.md has the result."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARPCHECK = pathlib.Path(sys.argv[1]).resolve()
PAIRS = "--pairs" in sys.argv
SAMPLES = "bench/kernel_samples/samples.cu"
PROGRAMS = "vgpu/cudart/programs/"
HERE = ["--nvcc=-I . -std=c++20"]
THERE = ["--nvcc=-I vgpu/cudart/programs"]
KERNELS = [
    (SAMPLES, name, options) for name, options in [
        ("saxpy", []), ("grid_stride", []), ("transpose", ["--block", "16,16"]), ("clear", []), ("halve", []),
        ("stencil", []), ("gather", []), ("sparse_rows", []), ("histogram", []), ("block_sums", []),
        ("copy_vectors", []), ("product", []), ("steps", []), ("flags", []),
        ("rotate<int, 64>", ["--instantiate", "rotate<int, 64>"]),
        ("scan_without_barrier<int, 128>", ["--instantiate", "scan_without_barrier<int, 128>", "--block", "128",
                                            "--grid", "1"]),
        ("previous", []), ("unwritten_tile", []), ("barrier_in_a_branch", []), ("one_place", []),
        ("one_too_many", []), ("rows_of_pointers", []), ("from_texture", [])]
] + [
    ("kernels/histogram.cu", "histogram_global_kernel", HERE),
    ("kernels/histogram.cu", "histogram_shared_kernel", HERE),
    ("kernels/merge_heads.cu", "merge_heads_shared_kernel", HERE),
    ("kernels/specimens/scan_hillis_steele.cu", "scan_hillis_steele_published_kernel",
     [*HERE, "--grid", "1", "--let", "n=0..256", "--length", "in=n", "--length", "out=n"]),
    ("kernels/specimens/kahan_naive.cu", "naive_sum_kernel", HERE),
    ("kernels/specimens/planted_atomic_sum.cu", "planted_atomic_sum_kernel", HERE),
    ("kernels/specimens/planted_magic.cu", "planted_magic_kernel", HERE),
    (PROGRAMS + "algorithms/haar_wavelets.cu", "level", THERE),
    (PROGRAMS + "algorithms/matrix_multiply.cu", "multiply", THERE),
    (PROGRAMS + "algorithms/histogram.cu", "count", THERE),
    (PROGRAMS + "algorithms/page_rank.cu", "difference", THERE),
    (PROGRAMS + "algorithms/merge_sort.cu", "merge", THERE),
    (PROGRAMS + "algorithms/compaction.cu", "keep_positive", THERE),
    (PROGRAMS + "algorithms/linked_buckets.cu", "sum", THERE),
    (PROGRAMS + "arithmetic/complex_numbers.cu", "mandelbrot", THERE),
    (PROGRAMS + "arithmetic/halves.cu", "dot", THERE),
    (PROGRAMS + "arithmetic/integers.cu", "calculate", THERE),
    (PROGRAMS + "language/classes.cu", "calculate", THERE),
]


def run(command, directory):
    begin = time.monotonic()
    result = subprocess.run([str(word) for word in command], cwd=directory, capture_output=True, text=True)
    return result, time.monotonic() - begin


def verdict_of(result, report):
    if result.returncode == 2:
        return "refused: " + re.sub(r"^.*?: ", "", result.stderr.strip().splitlines()[-1], count=1)
    found = sorted({(finding["kind"], *sorted({side["line"] for side in finding["accesses"]}))
                    for finding in json.loads(report.read_text())["findings"]})
    return ", ".join(f"{kind} ({', '.join(map(str, lines))})" for kind, *lines in found) or "nothing found"


def lengths_of(output):
    told = re.search(r"^  lengths: (.*)$", output, re.MULTILINE)
    return told.group(1) if told else ""


def pair_of(file, kernel, options, directory):
    result, _ = run([WARPCHECK, "new", "--kernel", f"{ROOT / file}:{kernel}", *options], directory)
    if result.returncode != 0:
        return "refused: " + re.sub(r"^.*?: ", "", result.stderr.strip().splitlines()[-1], count=1)
    for source in directory.glob("*_pair.cpp"):
        result, _ = run(["g++", "-std=c++20", "-fsyntax-only", f"-I{directory}/include", "-I", ROOT, "-isystem",
                         "/usr/local/cuda/include", source], directory)
        if result.returncode != 0:
            return "does not compile: " + result.stderr.splitlines()[0]
    for source in directory.glob("*_launch.cu"):
        words = [word for option in options if option.startswith("--nvcc=") for word in option[7:].split()]
        words = [str(ROOT) if word == "." else word for word in words]
        result, _ = run(["nvcc", "-w", "-ptx", *words, source, "-o", "launch.ptx"], directory)
        if result.returncode != 0:
            return "does not compile: " + result.stderr.splitlines()[0]
    return "compiles"


def main():
    print("| kernel | lengths | `kernel` | seconds |" + (" `new --kernel` |" if PAIRS else ""))
    print("|---|---|---|---|" + ("---|" if PAIRS else ""))
    for file, kernel, options in KERNELS:
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            (directory / "include").mkdir()
            (directory / "include/warpcheck").mkdir()
            (directory / "include/warpcheck/warpcheck.hpp").write_text('#include "harness/warpcheck.hpp"\n')
            report = directory / "report.json"
            result, seconds = run([WARPCHECK, "kernel", file, kernel, *options, "--cases", directory / "cases",
                                   "--json", report], ROOT)
            row = [f"`{kernel}` of {os.path.basename(file)}", lengths_of(result.stdout), verdict_of(result, report),
                   f"{seconds:.1f}"]
            if PAIRS:
                row.append(pair_of(file, kernel, options, directory))
            print("| " + " | ".join(row) + " |", flush=True)


main()
