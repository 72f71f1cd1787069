"""Programs of the driver API and NVRTC under `warpcheck exec`: driver_test.py WARPCHECK NVCC
SOURCE_DIRECTORY TOOLKIT_HEADERS TOOLKIT_LIBRARIES.
"""

import os
import re
import subprocess
import sys
import unittest

from exec_testing import HERE, LIBRARIES, Source, Verdicts, run, run_with_findings

HEADERS, TOOLKIT = sys.argv[4:6]
PROGRAM = Source("driver_programs.cpp", "programs.cpp")
VERDICTS_SEEN = Verdicts("driver")
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": TOOLKIT}
PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry answer(.param .u64 out) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 42;
  st.global.u32 [%rd1], %r1;
  ret;
}
"""
# Like Triton: no header, no cuGetProcAddress.
LOADER = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
loaded = cuda.cuModuleLoadData(ctypes.byref(module), open("kernel.cubin", "rb").read())
found = cuda.cuModuleGetFunction(ctypes.byref(function), module, b"answer")
data, value = ctypes.c_uint64(), ctypes.c_uint32()
cuda.cuMemAlloc_v2(ctypes.byref(data), ctypes.c_size_t(4))
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(data))
launched = cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None)
cuda.cuMemcpyDtoH_v2(ctypes.byref(value), data, ctypes.c_size_t(4))
print(loaded, found, launched)
print(value.value)
"""

# Like frameworks: by dlopen() and dlsym().
ASKER = """
import ctypes, sys
nvrtc = ctypes.CDLL(sys.argv[1])
program, size, major, minor = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_int(), ctypes.c_int()
options = (ctypes.c_char_p * 1)(b"-arch=sm_90")
made = nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", None, 0, None, None)
compiled = nvrtc.nvrtcCompileProgram(program, 1, options)
asked = nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
image = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetCUBIN(program, image)
print(made, compiled, asked, image.raw.startswith(b"warpcheck image"))
print(nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), major.value >= 12)
print(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))
"""


def setUpModule():
    subprocess.run(["g++", "-std=c++17", "-O1", "-g", f"-I{HEADERS}", "programs.cpp", "-o", "driver",
                    f"-L{TOOLKIT}/stubs", "-lcuda", f"-L{TOOLKIT}", "-lnvrtc"], check=True, cwd=HERE)


def tearDownModule():
    VERDICTS_SEEN.check()


def kernel_line(text):
    """The line of the kernels' source, which begins where the string does."""
    lines = PROGRAM.text[PROGRAM.text.index('R"(') + 3:].splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


class DriverTest(unittest.TestCase):
    def mode(self, *words, status=0):
        result, _ = run_with_findings("./driver", words, VERDICTS_SEEN, env=ENVIRONMENT)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def assert_finding(self, result, head, *sides):
        self.assertIn(f"========= {head}", result.stderr)
        for number, side in enumerate(sides, 1):
            self.assertRegex(result.stderr, rf"=========   \({number}\) {side}")


class Programs(DriverTest):
    def test_a_clean_one(self):
        result = self.mode("clean")
        self.assertEqual(result.stdout, "8 8\n21 21\n3\n")
        self.assertEqual(result.stderr.splitlines()[1:],
                         ["========= no findings; 3 launches of 2 kernels",
                          "========= exit status 0: the program's own"])

    def test_out_of_bounds_with_the_line_that_nvrtc_compiled(self):
        result = self.mode("past_the_end", status=66)
        line = kernel_line("if (i <= n)")
        self.assert_finding(
            result, "out-of-bounds on global memory 4 bytes, 0 bytes past the end of an allocation "
            "of 256 bytes, in kernel past_the_end\n",
            rf"write by block \(0,0,0\) thread \(64,0,0\)  kernels\.cu:{line} ")

    def test_a_race(self):
        result = self.mode("race", status=66)
        self.assert_finding(
            result, "data-race on shared memory copy[32], 4 bytes, in kernel reverse\n",
            rf"read  by block \(0,0,0\) thread \(31,0,0\)  kernels\.cu:{kernel_line('copy[blockDim')} ",
            rf"write by block \(0,0,0\) thread \(32,0,0\)  kernels\.cu:{kernel_line('copy[thread')} ")

    def test_uninitialized_memory(self):
        result = self.mode("uninitialized", status=66)
        line = kernel_line("if (data[0]")
        self.assert_finding(
            result, "uninitialized-read on global memory allocation of 256 bytes [0], 4 bytes, in "
            "kernel read_first\n", rf"read   by .* kernels\.cu:{line} ",
            rf"branch by .* kernels\.cu:{line} ")

    def test_use_after_cuMemFree(self):
        result = self.mode("use_after_free", status=66)
        line = kernel_line("data[i] += offset")
        self.assert_finding(result, "use-after-free on global memory 4 bytes at byte 0 of an "
                            "allocation of 256 bytes, in kernel add_offset\n",
                            rf"read      by .* kernels\.cu:{line} ", "host free ")
        self.assertIn("cuMemcpyDtoH of 4 bytes uses memory that has been freed", result.stderr)

    def test_streams_that_nothing_orders(self):
        result = self.mode("missing_order", status=66)
        self.assert_finding(result, "data-race on global memory allocation of 256 bytes [0], 4 "
                            "bytes, in kernel add_offset\n")
        self.assertIn("nothing orders these two kernel launches: no stream, event, edge of a graph "
                      "or wait of the host leads from one to the other\n", result.stderr)

    def test_graphs_over_memory_of_the_runtime(self):
        self.assertEqual(self.mode("graphs").stdout, "0\n10 10\n16 16\n0\n")

    def test_linked_texts_and_a_texture(self):
        self.assertEqual(self.mode("linked").stdout, "11 81\n")

    def test_the_stand_in_for_ptxas(self):
        ptxas = f"{LIBRARIES}/ptxas"
        (HERE / "kernel.ptx").write_text(PTX)
        subprocess.run([ptxas, "-lineinfo", "-v", "--gpu-name=sm_90a", "kernel.ptx", "-o",
                        "kernel.cubin"], check=True, cwd=HERE)
        self.assertRegex(subprocess.run([ptxas, "--version"], check=True, capture_output=True,
                                        text=True).stdout, r"release 13\.\d, V13")
        self.assertEqual(run("--", "/usr/bin/python3", "-c", LOADER).stdout, "0 0 0\n42\n")
        bad = subprocess.run([ptxas, "--nonsense", "kernel.ptx"], cwd=HERE, capture_output=True,
                             text=True)
        self.assertEqual((bad.returncode, bad.stderr),
                         (255, "ptxas fatal   : option --nonsense is not supported\n"))

    def test_what_nvrtc_gives_for_a_real_architecture(self):
        self.assertEqual(self.mode("cubin").stdout, "1 1\n8 8\n")
        result = self.mode("past_the_end_of_cubin", status=66)
        self.assert_finding(
            result, "out-of-bounds on global memory 4 bytes, 0 bytes past the end of an allocation "
            "of 256 bytes, in kernel past_the_end\n",
            rf"write by block \(0,0,0\) thread \(64,0,0\)  kernels\.cu:{kernel_line('if (i <= n)')} ")

    def test_nvrtc_from_python_by_name_and_by_path(self):
        for library in ("libnvrtc.so.13", "libnvrtc.so", f"{TOOLKIT}/libnvrtc.so"):
            result = run("--", "/usr/bin/python3", "-c", ASKER, library, env=ENVIRONMENT)
            self.assertEqual(result.stdout, "0 0 0 True\n0 True\n0\n", result.stderr)

    def test_machine_code_is_refused_with_the_remedy(self):
        result = self.mode("machine_code", status=2)
        self.assertIn("CUDA_ERROR_NO_BINARY_FOR_GPU\n", result.stdout)
        self.assertIn("========= refused: the module is machine code (a cubin), which the virtual "
                      "GPU cannot run; load PTX: nvrtcGetPTX() with "
                      "--gpu-architecture=compute_XX in place of nvrtcGetCUBIN(), `nvcc -ptx`, or a "
                      "fatbinary that carries PTX\n", result.stderr)

    def test_from_python_by_name_and_by_path(self):
        for library in ("libcuda.so.1", "libcuda.so", "/nonexistent/libcuda.so.1"):
            script = ("import ctypes; cuda = ctypes.CDLL(%r); version = ctypes.c_int(); "
                      "print(cuda.cuInit(0), cuda.cuDriverGetVersion(ctypes.byref(version)), "
                      "version.value > 13000 - 1)" % library)
            result = run("--", "/usr/bin/python3", "-c", script)
            self.assertEqual(result.stdout, "0 0 True\n", result.stderr)

    def test_errors_are_those_of_the_header(self):
        result = self.mode("errors", status=2)
        self.assertEqual(result.stdout, """\
before cuInit: CUDA_ERROR_NOT_INITIALIZED, initialization error
cuInit: CUDA_SUCCESS, no error
without a context: CUDA_ERROR_INVALID_CONTEXT, invalid device context
primary: CUDA_SUCCESS, no error
current: CUDA_SUCCESS, no error
no bytes: CUDA_ERROR_INVALID_VALUE, invalid argument
too much: CUDA_ERROR_OUT_OF_MEMORY, out of memory
no image: CUDA_ERROR_INVALID_IMAGE, device kernel image is invalid
bad PTX: CUDA_ERROR_INVALID_PTX, a PTX JIT compilation failed
log: names the place
empty module: CUDA_SUCCESS, no error
no function: CUDA_ERROR_NOT_FOUND, named symbol not found
no stream: CUDA_ERROR_INVALID_HANDLE, invalid resource handle
a context that is none: CUDA_ERROR_INVALID_CONTEXT, invalid device context
device 7: CUDA_ERROR_INVALID_DEVICE, invalid device ordinal
""")
        line = PROGRAM.line_of("told: too much")
        self.assertRegex(
            result.stderr,
            r"========= note: api-error cuMemAlloc\(pointer, 1099511627776\)\n"
            rf"=========   \(1\) host call   \S*programs\.cpp:{line}\n"
            r"=========   \(1\) returned CUDA_ERROR_OUT_OF_MEMORY: out of memory; `exec --memory` ")

    def test_lookups_by_version(self):
        result = self.mode("lookups", status=2)
        self.assertEqual(result.stdout, "1 1\n1 0\n1 1\n1 2\n801\n")
        self.assertIn("========= refused: cuMemAlloc is not supported by the virtual device: it is "
                      "of before CUDA 3.2, with addresses of 32 bits; cuMemAlloc_v2 is what cuda.h "
                      "means\n", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
