"""The runtime library under `warpcheck exec` as a command: programs that are built in other ways, installations,
the size of the device's memory, and the devices that a program sees: runtime_test.py WARPCHECK NVCC SOURCES.

Calls that fail, and what follows from them, are in vgpu/cudart/programs/verdicts/calls/failed.cu.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from exec_testing import HERE, LIBRARIES, NVCC, WARPCHECK, Source, Verdicts, build, run, run_with_findings

SOURCE = Source("calls/failed.cu", "failed.cu")
VERDICTS_SEEN = Verdicts("runtime")


def setUpModule():
    build("failed.cu", "program", "-cudart", "shared")


def tearDownModule():
    VERDICTS_SEEN.check()


def places(finding):
    return [(side["file"], side["line"]) for side in finding["accesses"]]


def findings(program, mode):
    """The findings of a run with 4 GiB of device memory."""
    return run_with_findings(program, mode, VERDICTS_SEEN, ("--memory", "4G"))[1]


class OtherBuilds(unittest.TestCase):
    def test_a_forked_process_repeats_nothing_of_its_parent(self):
        linked = build("failed.cu", "linked", "-L", LIBRARIES, "-cudart", "shared", "-Xlinker", "-rpath",
                       "-Xlinker", LIBRARIES)
        result = subprocess.run([linked, "forks-late"], cwd=HERE, capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr.count("out-of-bounds on global memory"), 1, result.stderr)
        self.assertTrue(result.stderr.endswith("\nwarpcheck: 1 finding\n"), result.stderr)

    def test_a_program_without_debug_information_names_its_function(self):
        plain = build("failed.cu", "plain", "-cudart", "shared")
        note, _ = findings(plain, "no-blocks")
        self.assertEqual(places(note), [("", 0)])
        self.assertRegex(note["message"], r"^\(1\) returned cudaErrorInvalidValue: invalid "
                         r"argument; gridDim.x 0 < 1; it is called in no_blocks\+0x[0-9a-f]+$")
        subprocess.run(["strip", "plain"], check=True, cwd=HERE)
        note, _ = findings(plain, "no-blocks")
        self.assertRegex(note["message"], r"; it is called in plain\+0x[0-9a-f]+$")

    def test_an_optimised_program_and_the_static_library(self):
        static = build("failed.cu", "static", "-O2", "-g", "-L", LIBRARIES)
        for mode, marker in (("too-much", "too_much"), ("no-blocks", "no_blocks"),
                             ("again", "in_a_loop")):
            note, *_ = findings(static, mode)
            self.assertEqual(places(note), [("failed.cu", SOURCE.line_of(marker))], mode)


class Installation(unittest.TestCase):
    def test_exec_does_without_the_library_for_static_links(self):
        libraries = HERE / "other" / "lib" / "warpcheck"
        libraries.mkdir(parents=True)
        for file in pathlib.Path(LIBRARIES).iterdir():
            if file.name != "libcudart_static.a":
                (libraries / file.name).symlink_to(file)
        other = shutil.copy(WARPCHECK, HERE / "other" / "warpcheck")
        result = subprocess.run([other, "exec", "--", "./program", "fresh"], cwd=HERE,
                                capture_output=True, text=True)
        self.assertEqual(result.stdout, "00000000 00000000\n", result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)


class Memory(unittest.TestCase):
    def test_it_is_a_share_of_the_hosts(self):
        text = run("--", "./program", "memory", "1024").stdout.strip()
        total = int(text.split()[0])
        self.assertEqual(text, f"{total} of {total}, {total}, cudaSuccess")
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        free = 1024 * sum(int(line.split()[1]) for line in lines
                          if line.startswith(("MemAvailable:", "SwapFree:")))
        self.assertTrue(64 << 20 <= total <= free / 3, text)

    def test_a_size_that_is_none(self):
        for size in ("much", "0", "3X"):
            self.assertEqual(run("--memory", size, "--", "true").returncode, 2, size)



class SeveralUnits(unittest.TestCase):
    def test_strings_of_several_units(self):
        unit = """
#include <cstdio>
__device__ const char* {0}_names(int i) {{
  return i == 0 ? "{0} zero" : i == 1 ? "{0} one" : "{0} many";
}}
__global__ void {0}(int i) {{
  printf("%s\\n", {0}_names(i));
  printf("{0} was here\\n");
  printf("{0} got %d\\n", i);
}}
void run_{0}() {{ for (int i = 0; i < 3; ++i) {0}<<<1, 1>>>(i); cudaDeviceSynchronize(); }}
"""
        names = ("first", "second", "third")
        for name in names:
            (HERE / f"{name}.cu").write_text(unit.format(name))
        (HERE / "main.cpp").write_text("".join(f"void run_{name}();\n" for name in names) +
                                      "int main() {" +
                                      "".join(f"run_{name}();" for name in names) + "}\n")
        subprocess.run([NVCC, "-arch=compute_75", "-rdc=true", "-cudart", "shared", "main.cpp",
                        *(f"{name}.cu" for name in names), "-o", "units"], check=True, cwd=HERE)
        result = run("--", "./units")
        expected = "".join(f"{name} {number}\n{name} was here\n{name} got {i}\n" for name in names
                           for i, number in enumerate(("zero", "one", "many")))
        self.assertEqual(result.stdout, expected)
        self.assertEqual(result.returncode, 0, result.stderr)


DRIVER = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
count, uuids = ctypes.c_int(-1), []
answers = [cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count))]
for i in range(count.value):
    uuid = (ctypes.c_ubyte * 16)()
    cuda.cuDeviceGetUuid(uuid, i)
    uuids.append(uuid[15])
print(answers, count.value, uuids)
"""


class VisibleDevices(unittest.TestCase):
    def listed(self, devices, visible, *words):
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": visible}
        if visible is None:
            del environment["CUDA_VISIBLE_DEVICES"]
        self.result = run("--devices", str(devices), "--", *words, env=environment)
        return self.result.stdout

    def assert_some(self, devices, visible, numbers):
        each = "".join(f" 0000:00:{number:02}.0 is {i}, uuid {number}"
                       for i, number in enumerate(numbers))
        self.assertRegex(self.listed(devices, visible, "./program", "devices"),
                         f"^cudaSuccess, {len(numbers)}:{each}; 31, cudaSuccess, CUDA 1[23]\n$")
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        self.assertNotIn("not checked", self.result.stderr)
        self.listed(devices, visible, sys.executable, "-c", DRIVER)
        self.assertEqual(self.result.stdout, f"[0, 0] {len(numbers)} {numbers}\n")

    def test_are_those_of_the_list_in_its_order(self):
        self.assert_some(3, None, [0, 1, 2])
        self.assert_some(3, "2,0", [2, 0])
        self.assert_some(3, "1,-1,0", [1])
        self.assert_some(1, "0,1", [0])
        self.assert_some(3, "GPU-00000000-0000-0000-0000-000000000002", [2])

    def assert_none(self, devices, visible, error, number):
        self.assertRegex(self.listed(devices, visible, "./program", "devices"),
                         f"^{error}, 0:; 0, {error}, CUDA 1[23]\n$")
        there_are = "is 1 device" if devices == 1 else f"are {devices} devices"
        self.assertIn(f"not checked: what needs a device: the program sees none, as "
                      f"CUDA_VISIBLE_DEVICES is '{visible}' and there {there_are}\n",
                      self.result.stderr)
        self.assertEqual(self.result.returncode, 66, "it reads no result, so its failures are errors")
        self.listed(devices, visible, sys.executable, "-c", DRIVER)
        self.assertEqual(self.result.stdout, f"[{number}, 3] -1 []\n")

    def test_may_be_none(self):
        self.assert_none(3, "", "cudaErrorNoDevice", 100)
        self.assert_none(1, "3", "cudaErrorNoDevice", 100)
        self.assert_none(3, "1,1", "cudaErrorInvalidDevice", 101)

    def test_are_known_when_the_first_call_needs_them(self):
        self.assertTrue(self.listed(3, "0,1,2", "./program", "one-of-the-devices", "1").startswith(
            "cudaSuccess, 1: 0000:00:01.0 is 0, uuid 1; 31,"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
