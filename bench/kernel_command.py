#!/usr/bin/env python3
"""Tries `kernel` on kernels of this repository: kernel_command.py WARPCHECK [--samples] [NAME...]

Prints a row for each kernel: the lengths that `kernel` infers, what it found and the seconds that it took.  The kernels of
bench/kernel_samples/{planted,data,language}.cu have their expectations beside them: another result is printed, and the
exit status is 1.  --samples: only these.  With names, only these kernels.  docs/use/kernels.md
has the result."""

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
NAMES = [word for word in sys.argv[2:] if not word.startswith("--")]
sys.path.insert(0, str(ROOT / "bench/kernel_samples"))
from kernel_samples import all_samples, found_of  # noqa: E402

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


def try_kernel(file, kernel, options, directory):
    report = directory / "report.json"
    report.unlink(missing_ok=True)
    result, seconds = run([WARPCHECK, "kernel", file, *([] if "--instantiate" in options else [kernel]), *options, "--cases",
                           directory / "cases", "--json", report], ROOT)
    print(f"| `{kernel}` of {os.path.basename(file)} | {lengths_of(result.stdout)} | {verdict_of(result, report)} | "
          f"{seconds:.1f} |", flush=True)
    return result, report


def differs(sample, result, report):
    if sample.refusal:
        return result.returncode != 2 or sample.refusal not in result.stderr
    return result.returncode == 2 or found_of(json.loads(report.read_text()), sample.file) != sample.expected


def main():
    print("| kernel | lengths | `kernel` | seconds |\n|---|---|---|---|")
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for file, kernel, options in [] if "--samples" in sys.argv else KERNELS:
            if not NAMES or kernel in NAMES:
                try_kernel(file, kernel, options, directory)
        for sample in all_samples():
            if NAMES and sample.name not in NAMES:
                continue
            result, report = try_kernel(sample.file.relative_to(ROOT), sample.kernel, sample.options, directory)
            if differs(sample, result, report):
                wrong.append(f"{sample.name}: {sample.refusal or sorted(sample.expected)} expected\n"
                             f"{result.stdout}{result.stderr}")
    if wrong:
        sys.exit("\n".join(wrong))


main()
