#!/usr/bin/env python3
"""Pairs that `warpcheck new --kernel` writes: each is built, linked and run.

  generated_pairs.py WARPCHECK PREFIX [NAME...]

PREFIX is where warpcheck is installed (`cmake --install build --prefix PREFIX`).  The kernels are those of
bench/kernel_samples/language.cu and samples.cu, of kernels/ and of vgpu/cudart/programs.  The pairs of one file are one
program.  A pair must pass, or fail at once because its reference is not written; a kernel whose parameters cannot be
made must be refused with the reason that stands beside it.  Prints a row for each; exit status 1: one did neither.  With
names, only these kernels."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/kernel_samples"))
from kernel_samples import Sample, samples_of  # noqa: E402

PROGRAMS = "vgpu/cudart/programs"
HERE, THERE = [f"--nvcc=-I {ROOT} -std=c++20"], [f"--nvcc=-I {ROOT / PROGRAMS}"]
OTHERS = [
    ("kernels/histogram.cu", "histogram_global_kernel", HERE),
    ("kernels/histogram.cu", "histogram_shared_kernel", HERE),
    ("kernels/merge_heads.cu", "merge_heads_shared_kernel", HERE),
    ("kernels/specimens/kahan_naive.cu", "naive_sum_kernel", HERE),
    ("kernels/specimens/planted_atomic_sum.cu", "planted_atomic_sum_kernel", HERE),
    (PROGRAMS + "/algorithms/haar_wavelets.cu", "level", THERE),
    (PROGRAMS + "/algorithms/matrix_multiply.cu", "multiply", THERE),
    (PROGRAMS + "/algorithms/page_rank.cu", "difference", THERE),
    ("bench/kernel_samples/samples.cu", "saxpy", []),
    ("bench/kernel_samples/samples.cu", "transpose", ["--block", "16,16"]),
    ("bench/kernel_samples/samples.cu", "clear", []),
    ("bench/kernel_samples/samples.cu", "gather", []),
    ("bench/kernel_samples/samples.cu", "sparse_rows", []),
    ("bench/kernel_samples/samples.cu", "rotate<int, 64>", ["--instantiate", "rotate<int, 64>"]),
]
PROJECT = """cmake_minimum_required(VERSION 3.24)
project(generated LANGUAGES CXX CUDA)
find_package(warpcheck REQUIRED)
{}
"""


def all_kernels():
    others = [Sample(ROOT / file, name, options) for file, name, options in OTHERS]
    return samples_of("language.cu") + others


def run(command, directory):
    return subprocess.run([str(word) for word in command], cwd=directory, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)


def last_line(output):
    return (output.strip().splitlines() or [""])[-1]


class Generated:
    """The pairs of one file, in a folder of their own."""

    def __init__(self, file, directory, warpcheck):
        self.program = "pairs_of_" + re.sub(r"\W", "_", file.stem)
        self.directory, self.warpcheck = directory / self.program, warpcheck
        self.directory.mkdir()
        self.pairs = {}  # names, by samples' names
        self.options = []  # of nvcc

    def add(self, sample):
        """Returns why the pair was not written."""
        made = run([self.warpcheck, "new", "--kernel", f"{sample.file}:{sample.kernel.split('<')[0]}", *sample.options],
                   self.directory)
        if made.returncode != 0:
            return last_line(made.stdout)
        self.pairs[sample.name] = re.search(r"check it: build/(\w+) check", made.stdout)[1]
        for word in sample.options:
            if word.startswith("--nvcc=") and word[7:] not in self.options:
                self.options.append(word[7:])
        return ""

    @property
    def project(self):
        files = sorted([*self.directory.glob("*_launch.cu"), *self.directory.glob("*_pair.cpp")])
        names = " ".join(str(file) for file in files)
        return f"warpcheck_add_pairs({self.program} FILES {names} OPTIONS -fmad=false {' '.join(self.options)})"


def verdict(directory, program, pair):
    ran = run([directory / "build" / program, "check", pair, "--trials", "20"], directory)
    if ran.returncode == 0:
        return "passes", ""
    kinds = re.search(r"^  ([a-z-]+)[ :]", ran.stdout, re.MULTILINE)
    if ran.returncode == 1 and kinds:
        return f"fails: {kinds[1]}", ""
    return "does not run", ran.stdout


def main():
    warpcheck, prefix, *names = sys.argv[1:]
    warpcheck = os.path.abspath(warpcheck)
    wrong, generated, rows = [], {}, collections.OrderedDict()
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        for sample in all_kernels():
            if names and sample.name not in names:
                continue
            if sample.file not in generated:
                generated[sample.file] = Generated(sample.file, directory, warpcheck)
            refusal = generated[sample.file].add(sample)
            row = f"| `{sample.name}` of {sample.file.name} |"
            if refusal or sample.refusal:
                is_expected = sample.refusal != "" and sample.refusal in refusal
                print(f"{row} refused: {refusal} |", flush=True)
                wrong += [] if is_expected else [f"{sample.name}: {refusal or 'not refused'}"]
            else:
                rows[sample.name] = (row, generated[sample.file])
        projects = "\n".join(one.project for one in generated.values() if one.pairs)
        (directory / "CMakeLists.txt").write_text(PROJECT.format(projects))
        for command in (["cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={os.path.abspath(prefix)}"],
                        ["cmake", "--build", "build", "--", "-k"]):
            built = run(command, directory)
            if built.returncode != 0:
                wrong.append(built.stdout)
        for name, (row, one) in rows.items():
            answer, error = verdict(directory, one.program, one.pairs[name])
            print(f"{row} {answer} |", flush=True)
            wrong += [error] if error else []
    if wrong:
        sys.exit("\n".join(wrong))


main()
