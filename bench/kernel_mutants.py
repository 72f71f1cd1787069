#!/usr/bin/env python3
"""Mutants of kernels that are right for every size, each refuted by a run: kernel_mutants.py WARPCHECK [NUMBER...]

A mutant is a kernel of bench/kernel_samples/mutated.cu in which one piece of text is another one: an index is off by one, a
barrier is missing, a bound is relaxed, a stride is wrong.  All mutants are compiled once; `warpcheck kernel` runs each of
them, and must find an error of the expected kind.  The kernels themselves must pass.  With numbers, only these mutants.
Prints a row for each and exits with 1 if one is not refuted, or is proved (if `kernel` knows --prove)."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASE = ROOT / "bench/kernel_samples/mutated.cu"
RACE, BOUNDS, BARRIER, UNWRITTEN = "data-race", "out-of-bounds", "barrier-divergence", "uninitialized-read"
BLOCK, TILE = ["--block", "256"], ["--block", "16,16"]
COVERING = ["--block", "256", "--grid", "(n + 255) / 256", "--let", "n=1..1000"]
OPTIONS = {
    "saxpy": ["--length", "x=n", "--length", "y=n", *BLOCK],
    "strided": ["--length", "in=n", "--length", "out=n", *BLOCK],
    "reversed": ["--length", "in=256*gridDim.x", "--length", "out=256*gridDim.x", *BLOCK],
    "tree": ["--length", "in=n", "--length", "sums=gridDim.x", *BLOCK],
    "scan": ["--length", "in=256", "--length", "out=256", *BLOCK, "--grid", "1"],
    "transpose": ["--length", "in=16*width", "--length", "out=16*width", *TILE],
    "halo": ["--length", "in=n", "--length", "out=n", *COVERING],
    "row_sums": ["--length", "matrix=64*rows", "--length", "sums=rows", "--block", "32,8"],
}
SYNC = "__syncthreads();\n"
# kernel, what is replaced, by what, the kind of a finding that must be among those found
MUTANTS = [
    ("saxpy", "i < n", "i <= n", BOUNDS),
    ("saxpy", "i < n", "i < n + 4", BOUNDS),
    ("saxpy", "if (i < n) ", "", BOUNDS),
    ("saxpy", "i < n", "i - 1 < n", BOUNDS),
    ("saxpy", "x[i]", "x[i + 1]", BOUNDS),
    ("saxpy", "x[i]", "x[i - 1]", BOUNDS),
    ("saxpy", "y[i] = a", "y[i / 2] = a", RACE),
    ("saxpy", "* blockDim.x +", "* (blockDim.x - 1) +", RACE),
    ("strided", "i < n;", "i <= n;", BOUNDS),
    ("strided", "out[i] = in[i]", "out[i] = in[i + 1]", BOUNDS),
    ("strided", "out[i] =", "out[i & ~1] =", RACE),
    ("strided", "i < n;", "i - step < n;", BOUNDS),
    ("reversed", SYNC, "", RACE),
    ("reversed", "255 - t", "256 - t", BOUNDS),
    ("reversed", "tile[t] = in", "tile[t + 1] = in", BOUNDS),
    ("reversed", "out[i] =", "out[t] =", RACE),
    ("reversed", "out[i] =", "out[i + 1] =", BOUNDS),
    ("reversed", "tile[t] = in", "tile[t & 127] = in", RACE),
    ("reversed", SYNC, "if (t < 128) __syncthreads();\n", RACE),
    ("reversed", "tile[256]", "tile[255]", BOUNDS),
    ("reversed", SYNC, "__syncwarp();\n", RACE),
    ("tree", "    " + SYNC, "", RACE),
    ("tree", "t < half", "t <= half", RACE),
    ("tree", "half = 128", "half = 256", BOUNDS),
    ("tree", "partial[t + half];", "partial[t + half + 1];", BOUNDS),
    ("tree", "partial[t + half];", "partial[t + 1];", RACE),
    ("tree", "i < n", "i <= n", BOUNDS),
    ("tree", "if (t == 0) ", "", RACE),
    ("tree", "sums[blockIdx.x]", "sums[blockIdx.x + 1]", BOUNDS),
    ("tree", "sums[blockIdx.x]", "sums[blockIdx.x / 2]", RACE),
    ("tree", "partial[256]", "partial[255]", BOUNDS),
    ("tree", "    " + SYNC, "    if (t < 2 * half) __syncthreads();\n", BARRIER),
    ("tree", "    " + SYNC, "    __syncwarp();\n", RACE),
    ("scan", "    " + SYNC + "    b[t]", "    b[t]", RACE),
    ("scan", "    " + SYNC + "    a[t]", "    a[t]", RACE),
    ("scan", "t >= d ?", "t >= d - 1 ?", BOUNDS),
    ("scan", "a[t - d]", "a[t + d]", BOUNDS),
    ("scan", "b[t - 2 * d]", "a[t - 2 * d]", RACE),
    ("scan", "b[t] = t", "a[t] = t", RACE),
    ("scan", "t >= 2 * d", "t >= d", BOUNDS),
    ("scan", "a[256]", "a[255]", BOUNDS),
    ("scan", "a[t] = in[t]", "a[t] = in[t + 1]", BOUNDS),
    ("transpose", SYNC, "", RACE),
    ("transpose", "tile[x][y]", "tile[x + 1][y]", BOUNDS),
    ("transpose", "if (column < width) ", "", BOUNDS),
    ("transpose", "other < width", "other <= width", BOUNDS),
    ("transpose", "other * 16 + x", "other * 15 + x", RACE),
    ("transpose", "row * width + column", "row * (width + 1) + column", BOUNDS),
    ("transpose", "tile[y][x] =", "tile[y][x / 2] =", UNWRITTEN),
    ("transpose", "tile[16][17]", "tile[16][15]", BOUNDS),
    ("transpose", "blockIdx.x * 16 + y", "blockIdx.x * 8 + y", RACE),
    ("halo", SYNC, "", RACE),
    ("halo", "tile[258]", "tile[257]", BOUNDS),
    ("halo", "i + 1 < n", "i < n", BOUNDS),
    ("halo", "i > 0 &&", "", BOUNDS),
    ("halo", "tile[t + 2]", "tile[t + 3]", BOUNDS),
    ("halo", "if (i < n) out", "out", BOUNDS),
    ("row_sums", "    " + SYNC, "", RACE),
    ("row_sums", "lane < half", "lane <= half", RACE),
    ("row_sums", "column < 64", "column <= 64", BOUNDS),
    ("row_sums", "row < rows) {", "row <= rows) {", BOUNDS),
    ("row_sums", "partial[8][33]", "partial[7][33]", BOUNDS),
]


def kernels():
    """name -> text"""
    found = {}
    for text in re.split(r"^(?=extern \"C\")", BASE.read_text(), flags=re.MULTILINE)[1:]:
        found[re.search(r"void (\w+)\(", text).group(1)] = text
    return found


def mutated(text, old, new, name, number):
    if old not in text:
        sys.exit(f"mutant {number}: no {old!r} in {name}")
    return text.replace(old, new, 1).replace(f"void {name}(", f"void {name}_{number}(", 1)


def tried(warpcheck, ptx, kernel, options, directory):
    report = directory / "report.json"
    report.unlink(missing_ok=True)
    ran = subprocess.run([warpcheck, "kernel", str(ptx), kernel, *options, "--trials", "100", "--cases",
                          str(directory / "cases"), "--json", str(report)], capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1):
        sys.exit(f"{kernel}: status {ran.returncode}\n{ran.stdout}{ran.stderr}")
    kinds = {finding["kind"] for finding in json.loads(report.read_text())["findings"]
             if finding["severity"] == "error"}
    return kinds, "proved for every size" in ran.stdout, ran.stdout


def main():
    warpcheck = os.path.abspath(sys.argv[1])
    chosen = [int(word) for word in sys.argv[2:]] or range(1, len(MUTANTS) + 1)
    proves = "--prove" in subprocess.run([warpcheck, "kernel", "--help"], capture_output=True, text=True,
                                         check=True).stdout
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        texts = kernels()
        source = "".join(texts.values()) + "".join(
            mutated(texts[MUTANTS[i - 1][0]], *MUTANTS[i - 1][1:3], MUTANTS[i - 1][0], i) for i in chosen)
        (directory / "mutants.cu").write_text(source)
        nvcc = os.environ.get("CUDACXX", "nvcc")
        subprocess.run([nvcc, "-ptx", "-G", "-w", "-arch=compute_75", "mutants.cu"], cwd=directory, check=True)
        more = ["--prove"] if proves else []
        ptx = directory / "mutants.ptx"
        print("| | kernel | instead of | stands | found |\n|---|---|---|---|---|")
        for kernel in sorted({MUTANTS[i - 1][0] for i in chosen}):
            kinds, _, output = tried(warpcheck, ptx, kernel, [*OPTIONS[kernel], *more], directory)
            if kinds:
                sys.exit(f"{kernel} itself: {', '.join(sorted(kinds))}\n{output}")
        for i in chosen:
            kernel, old, new, kind = MUTANTS[i - 1]
            kinds, is_proved, output = tried(warpcheck, ptx, f"{kernel}_{i}", [*OPTIONS[kernel], *more], directory)
            cells = [" ".join(text.split()).replace("|", "\\|") for text in (old, new)]
            print(f"| {i} | {kernel} | `{cells[0]}` | {f'`{cells[1]}`' if cells[1] else ''} | "
                  f"{', '.join(sorted(kinds))} |", flush=True)
            if kind not in kinds or is_proved:
                wrong.append(f"mutant {i} of {kernel}: {kind} expected\n{output}")
    for text in wrong:
        print(text, file=sys.stderr)
    print(f"{len(chosen) - len(wrong)} of {len(chosen)} mutants refuted by a run", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
