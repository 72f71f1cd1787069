"""Results of the runtime library under `warpcheck exec`: runtime_test.py WARPCHECK NVCC SOURCES.

Calls that fail, the device's memory, what the host copies, and functions of the API.  Programs are
compiled by plain nvcc.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from exec_testing import HERE, LIBRARIES, NVCC, SOURCES, WARPCHECK, run

SOURCE = pathlib.Path(SOURCES, "ci", "exec", "runtime_programs.cu")


OTHER_SIZE = ("; `exec --memory` sets the size of the device's memory, and `--device` selects "
              "another device")


def build(name, *options, sources=("programs.cu",)):
    subprocess.run([NVCC, "-arch=compute_75", "-lineinfo", *options, *sources, "-o", name],
                   check=True, cwd=HERE)
    return f"./{name}"


def setUpModule():
    (HERE / "programs.cu").write_text(SOURCE.read_text())
    build("program", "-g", "-cudart", "shared")


def findings(*words):
    """The status of a run with 4 GiB of device memory, and its findings."""
    path = HERE / "report.json"
    path.unlink(missing_ok=True)
    result = run("--json", str(path), "--memory", "4G", "--", *words)
    return result, json.loads(path.read_text())["findings"]


def line_of(marker):
    lines = SOURCE.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"// {marker}"))


def places(finding):
    return [(side["file"], side["line"]) for side in finding["accesses"]]


class FailedCalls(unittest.TestCase):
    def assert_note(self, finding, marker, call, message):
        self.assertEqual((finding["kind"], finding["severity"]), ("api-error", "note"))
        self.assertEqual(finding["object"], call)
        self.assertEqual(finding["message"], f"(1) returned {message}")
        self.assertEqual(places(finding), [("programs.cu", line_of(marker))])

    def test_memory_that_there_is_not_is_the_cause_of_what_follows(self):
        result, (note, error) = findings("./program", "too-much")
        self.assertEqual(result.returncode, 66)
        self.assert_note(note, "too much", "cudaMalloc(&pointer, 8589934592)",
                         "cudaErrorMemoryAllocation: out of memory" + OTHER_SIZE)
        self.assertEqual((error["kind"], error["severity"]), ("out-of-bounds", "error"))
        self.assertEqual(places(error), [("programs.cu", line_of("the store"))])
        self.assertEqual(error["cause"], "cudaMalloc(&pointer, 8589934592) failed before: "
                         f"cudaErrorMemoryAllocation, programs.cu:{line_of('too much')}")
        self.assertIn(error["cause"], result.stderr)
        self.assertIn(f"  programs.cu:{line_of('too much')}\n", result.stderr)

    def test_a_stale_pointer_names_the_call_that_should_have_set_it(self):
        _, (note, error) = findings("./program", "too-much-managed")
        self.assert_note(note, "too much, managed", "cudaMallocManaged(&pointer, 8589934592, 1)",
                         "cudaErrorMemoryAllocation: out of memory" + OTHER_SIZE)
        self.assertEqual(error["kind"], "use-after-free")
        self.assertIn("cudaMallocManaged(&pointer, 8589934592, 1) failed before", error["cause"])

    def test_a_launch_of_no_blocks(self):
        result, (note, error) = findings("./program", "no-blocks")
        self.assertEqual(result.returncode, 66)
        self.assert_note(note, "no blocks", "fill<<<0, 32>>>(...)",
                         "cudaErrorInvalidValue: invalid argument")
        self.assertEqual(note["kernel"], "fill")
        self.assertEqual((error["kind"], error["severity"]), ("uninitialized-read", "error"))
        self.assertEqual(error["cause"], "fill<<<0, 32>>>(...) failed before: "
                         f"cudaErrorInvalidValue, programs.cu:{line_of('no blocks')}")

    def test_a_copy_that_fails_shows_its_arguments(self):
        _, (note, error) = findings("./program", "bad-copy")
        self.assertEqual(note["kind"], "api-error")
        self.assertRegex(note["object"], r"^cudaMemcpy\(0xf0000000000, host pointer, 128, "
                         r"cudaMemcpyDeviceToHost\)$")
        self.assertEqual(places(note), [("programs.cu", line_of("wrong way"))])
        self.assertEqual(error["kind"], "uninitialized-read")
        self.assertIn("cudaMemcpy(0xf0000000000, ", error["cause"])

    def test_each_place_is_told_once(self):
        result, (loop, other) = findings("./program", "again")
        self.assertEqual(result.returncode, 0)
        self.assert_note(loop, "in a loop", "cudaStreamDestroy(stream 0)",
                         "cudaErrorInvalidResourceHandle: invalid resource handle")
        self.assertEqual(loop["count"], 3)
        self.assert_note(other, "another device", "cudaSetDevice(7)",
                         "cudaErrorInvalidDevice: invalid device ordinal")
        self.assertIn("========= 0 errors, 2 notes", result.stderr)

    def test_a_call_from_a_callback(self):
        _, (note,) = findings("./program", "callback")
        self.assertEqual(note["object"], "cudaDeviceSynchronize()")
        self.assertTrue(note["message"].startswith("(1) returned cudaErrorNotPermitted: "))
        (marked,) = (i for i, line in enumerate(SOURCE.read_text().splitlines(), 1)
                     if "/* from a callback */" in line)
        self.assertEqual(places(note), [("programs.cu", marked)])

    def test_a_process_that_is_forked_after_the_first_call_has_no_device(self):
        result, (note,) = findings("./program", "forks")
        self.assertEqual(result.stdout, "before: cudaSuccess\nparent: cudaSuccess\n"
                         "after: cudaErrorInitializationError\nparent: cudaSuccess\n")
        self.assert_note(note, "after a fork", "cudaMalloc(&pointer, 128)",
                         "cudaErrorInitializationError: initialization error")

    def test_a_forked_process_repeats_nothing_of_its_parent(self):
        for options in ((), ("--leaks",)):
            result = run(*options, "--", "./program", "forks-late")
            self.assertIn("=========   2 times\n", result.stderr)
            self.assertIn("========= 1 error; 2 launches of 1 kernel\n", result.stderr)
        linked = build("linked", "-L", LIBRARIES, "-cudart", "shared", "-Xlinker", "-rpath", "-Xlinker", LIBRARIES)
        result = subprocess.run([linked, "forks-late"], cwd=HERE, capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr.count("out-of-bounds on global memory"), 1, result.stderr)
        self.assertTrue(result.stderr.endswith("\nwarpcheck: 1 finding\n"), result.stderr)

    def test_questions_are_not_told(self):
        result, found = findings("./program", "questions")
        self.assertEqual(found, [], result.stderr)
        self.assertEqual(result.returncode, 0)

    def test_a_program_without_debug_information_names_its_function(self):
        plain = build("plain", "-cudart", "shared")
        _, (note, _) = findings(plain, "no-blocks")
        self.assertEqual(places(note), [("", 0)])
        self.assertRegex(note["message"], r"^\(1\) returned cudaErrorInvalidValue: invalid "
                         r"argument; it is called in no_blocks\+0x[0-9a-f]+$")
        subprocess.run(["strip", "plain"], check=True, cwd=HERE)
        _, (note, _) = findings(plain, "no-blocks")
        self.assertRegex(note["message"], r"; it is called in plain\+0x[0-9a-f]+$")

    def test_an_optimised_program_and_the_static_library(self):
        static = build("static", "-O2", "-g", "-L", LIBRARIES)
        for mode, marker in (("too-much", "too much"), ("no-blocks", "no blocks"),
                             ("again", "in a loop")):
            _, (note, *_) = findings(static, mode)
            self.assertEqual(places(note), [("programs.cu", line_of(marker))], mode)


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


class Copies(unittest.TestCase):
    def test_elements_that_nothing_has_written_are_an_error(self):
        result, (error,) = findings("./program", "garbage")
        self.assertEqual(result.returncode, 66)
        self.assertEqual((error["kind"], error["severity"]), ("uninitialized-read", "error"))
        self.assertEqual(error["object"],
                         "allocation of 128 bytes [108], first of a copy of 128 bytes")

    def test_padding_is_a_note(self):
        result, (note,) = findings("./program", "padding")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((note["kind"], note["severity"]), ("uninitialized-read", "note"))


class Memory(unittest.TestCase):
    def sizes(self, *options, bytes=1024):
        result = run(*options, "--", "./program", "memory", str(bytes))
        return result.stdout.strip(), result

    def test_the_devices_memory_is_the_users_choice(self):
        for options, total in ((("--memory", "16G"), 16 << 30), (("--memory", "64M"), 64 << 20)):
            text, result = self.sizes(*options)
            self.assertEqual(text, f"{total} of {total}, {total}, cudaSuccess")
            self.assertEqual(result.returncode, 0)

    def test_what_does_not_fit(self):
        text, result = self.sizes("--memory", "64M", bytes=100 << 20)
        self.assertTrue(text.endswith("cudaErrorMemoryAllocation"), text)
        self.assertEqual(result.returncode, 0)

    def test_it_is_a_share_of_the_hosts(self):
        text, _ = self.sizes()
        total = int(text.split()[0])
        self.assertEqual(text, f"{total} of {total}, {total}, cudaSuccess")
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        free = 1024 * sum(int(line.split()[1]) for line in lines
                          if line.startswith(("MemAvailable:", "SwapFree:")))
        self.assertTrue(64 << 20 <= total <= free / 3, text)

    def test_all_of_it_may_be_in_one_piece(self):
        text, result = self.sizes("--memory", "16G", bytes=15 << 30)
        self.assertTrue(text.endswith("cudaSuccess"), text)
        self.assertEqual(result.returncode, 0)

    def test_a_size_that_is_none(self):
        for size in ("much", "0", "3X"):
            self.assertEqual(run("--memory", size, "--", "true").returncode, 2, size)

    def test_fresh_managed_and_page_locked_memory(self):
        self.assertEqual(run("--", "./program", "fresh").stdout, "00000000 00000000\n")
        self.assertEqual(run("--fresh", "pattern", "--", "./program", "fresh").stdout,
                         "a5a5a5a5 a5a5a5a5\n")


class Functions(unittest.TestCase):
    def test_access_policy_windows_are_hints(self):
        result = run("--", "./program", "attributes")
        self.assertEqual(result.stdout,
                         "set: cudaSuccess\ncopied: 1\nmisses persist: cudaErrorInvalidValue\n"
                         "three halves: cudaErrorInvalidValue\ntoo large: cudaErrorInvalidValue\n"
                         "launched: cudaSuccess\n")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_copies_to_arrays_stay_inside(self):
        self.assertEqual(run("--", "./program", "array-bounds").stdout,
                         "cudaSuccess, cudaSuccess, cudaErrorInvalidValue, "
                         "cudaErrorInvalidValue\n")

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
        (HERE / "main.cu").write_text("".join(f"void run_{name}();\n" for name in names) +
                                      "int main() {" +
                                      "".join(f"run_{name}();" for name in names) + "}\n")
        units = build("units", "-rdc=true", "-cudart", "shared",
                      sources=("main.cu", *(f"{name}.cu" for name in names)))
        result = run("--", units)
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
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
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
