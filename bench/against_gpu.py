#!/usr/bin/env python3
"""Compares launches of small programs with a real GPU: `exec --against gpu`.

  bench/against_gpu.py [--warpcheck build/warpcheck] [--nvcc nvcc]

Needs a GPU and its driver; takes about a minute.  Each program has the expectation in its first
line: `equal`, or a note and words of its message.  Prints a line for each program, and ends with 1
if one is not as expected.  What a miscompilation looks like is tested without a GPU
(cli/against/testing).
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HOST = r"""
#include <cstdio>
int main() {
  constexpr int n = 4096;
  static float host[n];
  for (int i = 0; i < n; ++i) host[i] = 0.37f * (i % 97) + 1.0f / (i + 1);
  float* data; int* out;
  cudaMalloc(&data, sizeof host); cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(int));
  for (int k = 0; k < 3; ++k) run<<<n / 128, 128>>>(data, out, n);
  cudaDeviceSynchronize();
  cudaFree(data); cudaFree(out);
}
"""

PROGRAMS = {
    "integers": r"""// equal
__global__ void run(const float* data, int* out, int n) {
  __shared__ int tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  tile[t] = static_cast<int>(data[i] * 100.0f) * 2654435761u >> 7;
  for (int step = 64; step > 0; step /= 2) {
    __syncthreads();
    if (t < step) tile[t] += tile[t + step];
  }
  out[i] ^= tile[t] + __popc(i) + __reduce_add_sync(~0u, t);
}
""",
    "structs": r"""// equal
struct Pair { short key; char sign; long long sum; };
template <int N> __device__ Pair folded(Pair p) { for (int i = 0; i < N; ++i) p = {short(p.key * 3 + i), char(-p.sign), p.sum + p.key}; return p; }
__global__ void run(const float* data, int* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const Pair p = folded<5>({short(i), 1, i});
  out[i] += static_cast<int>(p.sum) ^ p.key ^ p.sign;
}
""",
    "halves": r"""// equal
#include <cuda_fp16.h>
__global__ void run(const float* data, int* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const __half2 a = __floats2half2_rn(data[i], data[(i + 1) % n]), b = __hfma2(a, a, a);
  out[i] = *reinterpret_cast<const int*>(&b);
}
""",
    "fused": r"""// note: fuses
__global__ void run(const float* data, int* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float sum;
  asm("{.reg .f32 p; mul.f32 p, %1, %2; sub.f32 %0, p, %3;}" : "=f"(sum) : "f"(data[i]), "f"(data[(i + 7) % n]), "f"(data[(i + 9) % n]));
  out[i] = __float_as_int(sum);
}
""",
    "approximate": r"""// note: approximations
__global__ void run(const float* data, int* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  out[i] = __float_as_int(__sinf(data[i] * 0.05f + 0.5f) * __log2f(data[i] + 2.0f));  // without cancellation
}
""",
    "order": r"""// note: order of threads
__global__ void run(const float* data, int* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i + 1 < n) out[i + 1] = atomicAdd(out, 1);
}
""",
}


def is_expected(expectation, report):
    findings = report["findings"]
    if expectation == "equal":
        return not findings
    words = expectation.removeprefix("note: ")
    return bool(findings) and all(
        one["severity"] == "note" and words in one["message"] for one in findings
        if one["kind"] == "mismatch")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpcheck", default="build/warpcheck")
    parser.add_argument("--nvcc", default="nvcc")
    arguments = parser.parse_args()
    warpcheck = pathlib.Path(arguments.warpcheck).resolve()
    are_all_expected = True
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for program, text in PROGRAMS.items():
            (directory / f"{program}.cu").write_text(text + HOST)
            subprocess.run([arguments.nvcc, "-lineinfo", "-arch=compute_80", f"{program}.cu", "-o", program],
                           cwd=directory, check=True)
            report = directory / "report.json"
            begin = time.monotonic()
            run = subprocess.run([warpcheck, "exec", "--against", "gpu", "--json", report, "--", f"./{program}"],
                                 cwd=directory, capture_output=True, text=True)
            if run.returncode == 2:
                sys.exit(run.stderr)
            expectation = text.splitlines()[0].removeprefix("// ")
            found = json.loads(report.read_text())
            holds = is_expected(expectation, found)
            are_all_expected &= holds
            print(f"{program:12} {'as expected' if holds else 'NOT AS EXPECTED'}: {expectation}"
                  f" ({time.monotonic() - begin:.1f} s)")
            for one in found["findings"]:
                print(f"    {one['severity']}: {one['kind']}: {one['message']}")
    return 0 if are_all_expected else 1


if __name__ == "__main__":
    sys.exit(main())
