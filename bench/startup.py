#!/usr/bin/env python3
"""What programs of many kernels cost before they do anything: startup.py WARPCHECK [WARPCHECK...]

Programs with one launch of a block of one thread are run under `exec` of each WARPCHECK, by turns: without kernels
beside the launched one, with 1,000 kernels of a kilobyte, and with 2,400 of 20 kilobytes (a module of 50 MB).
Printed: user and system CPU time, the least of three runs, and the largest resident memory.
"""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from ptx_forms import toolkit

NVCC = os.environ.get("CUDACXX") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
PROGRAMS = {"one kernel": (1, 1), "1,000 kernels of 1 kB": (1000, 25), "2,400 kernels of 20 kB": (2400, 520)}
# The host's side of a module as nvcc writes it: the fatbinary, its wrapper, and the registration of kernels.
HOST = """
#include <cuda_runtime.h>
#include <cstdio>
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
extern const char module[];
}
asm(".section .nv_fatbin,\\"a\\"\\n.align 8\\n.globl module\\nmodule:\\n.incbin \\"FATBINARY\\"\\n.previous\\n");
struct { int magic, version; const void* data; void* rest; } wrapper
    __attribute__((section(".nvFatBinSegment"))) = {0x466243b1, 1, module, nullptr};
char stubs[KERNELS], names[KERNELS][12];
int main() {
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  for (int i = 0; i < KERNELS; ++i) {
    std::snprintf(names[i], sizeof names[i], "k%d", i);
    __cudaRegisterFunction(handle, &stubs[i], names[i], names[i], -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  __cudaRegisterFatBinaryEnd(handle);
  float* values = nullptr;
  cudaMalloc(&values, 4);
  cudaMemset(values, 0, 4);
  void* arguments[] = {&values};
  cudaLaunchKernel(stubs + KERNELS / 2, dim3(1), dim3(1), arguments, 0, nullptr);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(values);
  return error;
}
"""


def kernel(number, statements):
    body = "".join("  .loc 1 5 7\n  fma.rn.f32 %f1, %f1, %f1, 0f3F800000;\n" for _ in range(statements))
    return (f".visible .entry k{number}(.param .u64 p) {{\n  .reg .b64 %rd<2>;\n  .reg .f32 %f<2>;\n"
            "  ld.param.u64 %rd1, [p];\n  ld.global.f32 %f1, [%rd1];\n"
            f"{body}  st.global.f32 [%rd1], %f1;\n  ret;\n}}\n")


def build(folder, kernels, statements):
    text = folder / "module.ptx"
    text.write_text(".version 9.0\n.target sm_80\n.address_size 64\n" +
                    "".join(kernel(number, statements) for number in range(kernels)) + '.file 1 "made.cu"\n')
    image = folder / "module.fatbin"
    subprocess.run([toolkit() / "bin/fatbinary", "--64", f"--create={image}", f"--image3=kind=ptx,sm=80,file={text}"],
                   check=True)
    source = folder / "main.cpp"
    source.write_text(HOST.replace("FATBINARY", str(image)).replace("KERNELS", str(kernels)))
    program = folder / "program"
    subprocess.run([NVCC, "-cudart", "shared", "-o", program, source], check=True)
    return program, text.stat().st_size


def run(command):
    """CPU seconds and KiB of a command."""
    child = os.fork()
    if child == 0:
        status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        pathlib.Path(f"{command[-1]}.used").write_text(f"{used.ru_utime + used.ru_stime} {used.ru_maxrss}")
        os._exit(status)
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(f"{command} ends with {os.waitstatus_to_exitcode(status)}")
    seconds, memory = pathlib.Path(f"{command[-1]}.used").read_text().split()
    return float(seconds), int(memory)


def main(*warpchecks):
    for name, (kernels, statements) in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            program, size = build(pathlib.Path(folder), kernels, statements)
            runs = [[run([each, "exec", "--", str(program)]) for each in warpchecks] for _ in range(3)]
            for at, each in enumerate(warpchecks):
                seconds = min(one[at][0] for one in runs)
                memory = max(one[at][1] for one in runs) / 1024
                print(f"{name} ({size / 1e6:.1f} MB), {each}: {seconds:.3f} s, {memory:.0f} MiB")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
