#!/usr/bin/env python3
"""A user's project works with an installed copy.

  library_test.py CMAKE BUILD_DIRECTORY REPOSITORY CLANGXX

Installs into a fresh prefix.  There, examples/saxpy lists, checks and tests its pair, and has a fuzz
target; a second pair in it, from `warpcheck new`, builds and passes unchanged, and a third, with a planted bug, fails, is
exported and replayed first by its suite; and the five commands of
README.md, run literally, find, shrink and replay a planted bug.  Two pairs of one file's kernels share a launcher.  A CUDA program that plain nvcc
built runs under the installed `warpcheck exec`, however it is linked.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile

from installed_testing import PROGRAM, expect, expect_same_report, five_commands, run

LINES_MAX = 40  # of kernel, reference and pair, blank ones too


def check_planted(directory):
    """A new user's project, whose kernel gets a header in a separate directory: its case can be exported,
    and stored cases run first in its suite."""
    (directory / "headers").mkdir()
    (directory / "headers" / "scale.cuh").write_text("#pragma once\n// The header.\n")
    kernel, project = directory / "saxpy.cu", directory / "CMakeLists.txt"
    kernel.write_text("#include <scale.cuh>\n" + kernel.read_text())
    listed = project.read_text()
    project.write_text(listed.replace("OPTIONS -fmad=false", "OPTIONS -fmad=false INCLUDES headers"))
    if listed == project.read_text():
        sys.exit(f"warpcheck_add_pairs has other options:\n{listed}")
    run(directory, "cmake --build build --parallel 2")
    found = run(directory, "build/saxpy check", status=1)
    expect(found, "saxpy.cu:4")
    case = re.search(r"replay: saxpy replay (\S+)", found).group(1)
    run(directory, f"build/saxpy export {case} -o exported.cu")
    expect((directory / "exported.cu").read_text(), '#line 1 "headers/scale.cuh"\n\n// The header.\n')
    # Its kernel has a parameter that is smaller than a pointer.
    warnings = run(directory, "nvcc -std=c++20 -lineinfo -fmad=false -arch=sm_90 "
                              "-Xcompiler -Wall,-Wextra -c exported.cu")
    if warnings:
        sys.exit(f"the exported program was compiled with warnings:\n{warnings}")
    run(directory, "build/saxpy failures import fuzz/cases")
    expect(run(directory, "build/saxpy_test", status=1), "replay: saxpy replay .warpcheck/cases/saxpy/")
    run(directory, "ctest --test-dir build", status=8)


def check_example(repository, directory):
    example = repository / "examples" / "saxpy"
    code = [line for path in example.glob("saxpy*") for line in path.read_text().splitlines()]
    if not 0 < len(code) < LINES_MAX:
        sys.exit(f"examples/saxpy has {len(code)} lines, under {LINES_MAX} expected")

    shutil.copytree(example, directory)
    # Six programs are linked; a newcomer's project (check_readme) is linked by the system's linker.
    os.environ["LDFLAGS"] = "-fuse-ld=mold"
    expect(run(directory, "warpcheck new row_sum"), "wrote row_sum.cu", "warpcheck_add_pairs(row_sum")
    with open(directory / "CMakeLists.txt", "a") as project:
        project.write("warpcheck_add_pairs(row_sum FILES row_sum.cu row_sum_pair.cpp "
                      "OPTIONS -fmad=false)\n")
    run(directory, "cmake -B build -G Ninja")
    run(directory, "cmake --build build --parallel 2 --target all saxpy_fuzz_targets")
    expect(run(directory, "build/saxpy list"), "\nsaxpy ")
    expect(run(directory, "build/saxpy check"), "PASS saxpy   1000 trials")
    expect(run(directory, "build/row_sum check"), "PASS row_sum   1000 trials")
    expect(run(directory, "build/saxpy hunt --trials 50"), "1 of 1 pair as expected")
    expect(run(directory, "build/saxpy fuzz saxpy --runs 200"), "saxpy: 200 executions, 0 failures")
    expect(run(directory, "build/fuzz_saxpy -runs=200 -seed=1"), "Done 200 runs")
    expect(run(directory, "ctest --test-dir build"), "saxpy.agrees_with_its_reference",
           "row_sum.agrees_with_its_reference", "0 tests failed out of 2")


KERNELS = """#include <cuda_fp16.h>
struct Scale { float factor; int n; };
template <class T>
__global__ void scale(Scale s, T* values) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) values[i] *= s.factor;
}
__global__ void weigh(const float4* __restrict__ points, const __half* weights, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *sum += points[i].x * __half2float(weights[i]);
}
int main() {}
"""


def check_kernels(directory):
    """Pairs of two kernels of one file share the launcher, which defines the kernels once.  They link and run."""
    directory.mkdir()
    (directory / "kernels.cu").write_text(KERNELS)
    expect(run(directory, "warpcheck new scaled --kernel kernels.cu --instantiate 'scale<float>'"),
           "wrote scaled_launch.cu", "wrote scaled_pair.cpp")
    expect(run(directory, "warpcheck new weighed --kernel kernels.cu:weigh"),
           "added weighed_launch() to scaled_launch.cu, which includes kernels.cu already")
    expect((directory / "scaled_launch.cu").read_text(), "scaled_launch(", "weighed_launch(")
    project = directory / "CMakeLists.txt"
    project.write_text(project.read_text().replace("scaled_pair.cpp", "scaled_pair.cpp weighed_pair.cpp"))
    run(directory, "cmake -B build -G Ninja")
    run(directory, "cmake --build build --parallel 2 --target scaled")
    expect(run(directory, "build/scaled check scaled --trials 20", status=1), "FAIL scaled", "mismatch")
    expect(run(directory, "build/scaled check weighed --trials 20", status=1), "data-race on global memory",
           "kernels.cu:10")


def check_readme(repository, directory):
    directory.mkdir()
    del os.environ["LDFLAGS"]  # the system's linker
    *before, check, replay = five_commands(repository)
    for command in before:
        run(directory, command)
    found = run(directory, check, status=1)
    expect(found, "FAIL saxpy   after ", "out-of-bounds on global memory", "thread (0,0,0)  saxpy.cu:3   ld.global.f32",
           "input: a=0.0; x: n=0; y: n=0; schedule: default (0 decisions)",
           "replay: saxpy replay fuzz/cases/saxpy/")
    replayed = run(directory, replay, status=1)
    expect_same_report(found, replayed)
    check_planted(directory)


def check_exec(prefix, directory):
    """The libraries are found next to the program, from any working directory."""
    directory.mkdir()
    libraries = run(directory, "warpcheck libdir").strip()
    if libraries != f"{prefix}/lib/warpcheck":
        sys.exit(f"libdir printed {libraries}")
    (directory / "last.cu").write_text(PROGRAM)
    (directory / "bin").symlink_to(f"{prefix}/bin")
    run(directory, "nvcc -arch=compute_75 -lineinfo -cudart shared last.cu -o shared")
    run(directory, f"nvcc -arch=compute_75 -lineinfo -L {libraries} last.cu -o static")
    run(directory, "nvcc -lineinfo last.cu -o default")
    for command in ("warpcheck exec -- ./shared", "bin/warpcheck exec -- ./static",
                    "warpcheck exec -- ./default"):
        expect(run(directory, command, status=66), "0\n",
               "out-of-bounds on global memory 4 bytes, 0 bytes past the end of an allocation of 40",
               "(1) read by block (0,0,0) thread (0,0,0)  last.cu:3   ld.global.u32",
               "1 error; 1 launch of 1 kernel")


def main():
    cmake, build, repository = sys.argv[1], *map(os.path.abspath, sys.argv[2:4])
    repository = pathlib.Path(repository)
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary).resolve()
        run(root, [cmake, "--install", build, "--prefix", str(root / "prefix")])
        os.environ["PATH"] = f"{root}/prefix/bin:{pathlib.Path(cmake).parent}:{os.environ['PATH']}"
        check_exec(root / "prefix", root / "program")
        check_example(repository, root / "example")
        os.environ["CXX"] = sys.argv[4]  # another compiler than that of the example, and twice as fast
        check_kernels(root / "kernels")
        check_readme(repository, root / "newcomer ü")
    print("an installed copy serves another project")


main()
