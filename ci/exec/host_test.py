"""Host accesses without a call to memory that kernels use, under `warpcheck exec`:
host_test.py WARPCHECK NVCC SOURCE_DIRECTORY.

One program by plain nvcc with its default, the static runtime, and once more with the shared one.
"""

import os
import signal
import subprocess
import sys
import time
import unittest

from exec_testing import HERE, WARPCHECK, Source, build, run, run_with_findings

SOURCE = Source("host_programs.cu", "host.cu")


def setUpModule():
    build("host.cu", "host", "-g")


def findings(mode, program="./host"):
    """The status and output of a run, and its findings."""
    return run_with_findings(program, mode)


class Accesses(unittest.TestCase):
    def assert_race(self, mode, sides, message, program="./host", lack="wait-of-host"):
        result, found = findings(mode, program)
        self.assertEqual(result.returncode, 66, result.stderr)
        self.assertEqual(len(found), 1, result.stderr)
        finding, = found
        self.assertEqual((finding["kind"], finding["severity"]), ("data-race", "error"))
        self.assertEqual([(side["role"], side["file"] or None, side["line"] or None)
                          for side in finding["accesses"]],
                         [(role, marker and "host.cu", marker and SOURCE.line_of(marker))
                          for role, marker in sides])
        self.assertEqual(finding["message"], message)
        self.assertEqual(finding["lack"], lack)
        return result, finding

    KERNEL = "the host does not wait for the kernel of (1) before (2)"

    def test_a_value_is_read_before_the_kernel_has_been_waited_for(self):
        result, finding = self.assert_race(
            "read", [("write", "the store"), ("host read", "read too early")], self.KERNEL)
        self.assertEqual(finding["object"], "allocation of 16384 bytes [68]")
        self.assertIn("=========   (2) host read ", result.stderr)

    def test_the_same_with_the_shared_runtime(self):
        build("host.cu", "host-shared", "-g", "-cudart", "shared")
        self.assert_race("read", [("write", "the store"), ("host read", "read too early")],
                         self.KERNEL, program="./host-shared")

    def test_a_value_is_written_that_the_kernel_reads(self):
        _, finding = self.assert_race(
            "write", [("read", "the load"), ("host write", "written too early")], self.KERNEL)
        self.assertEqual(finding["object"], "allocation of 16384 bytes [20]")

    def test_a_thread_that_the_c_library_begins(self):
        result, _ = self.assert_race(
            "beside-a-thread-that-begins",
            [("write", "the store"), ("host read", "read beside a thread")], self.KERNEL)
        self.assertNotIn("not checked", result.stderr)

    def test_a_copy_by_the_host_is_known_to_the_byte(self):
        _, finding = self.assert_race(
            "copied", [("write", "the store"), ("host read", "copied too early")], self.KERNEL)
        self.assertEqual(finding["object"], "allocation of 16384 bytes [4000]")

    def test_a_managed_variable(self):
        result, found = findings("variable")
        self.assertEqual(result.returncode, 66)
        self.assertEqual([(one["kind"], one["object"], one["accesses"][1]["line"]) for one in found],
                         [("data-race", "counter[0]", SOURCE.line_of("the variable is read"))])

    def test_the_result_of_atomic_operations_of_the_device(self):
        result, finding = self.assert_race(
            "addition", [("atomic", "the addition"), ("host read", "the result is read")],
            self.KERNEL)
        self.assertEqual(result.stdout, "0\n")
        self.assertEqual((finding["object"], finding["kernel"]),
                         ("allocation of 4 bytes [0]", "add_up"))

    def test_a_store_beside_atomic_operations_of_the_device(self):
        _, finding = self.assert_race(
            "store-beside-an-addition",
            [("atomic", "the addition"), ("host write", "stored too early")], self.KERNEL)
        self.assertEqual((finding["object"], finding["kernel"]),
                         ("allocation of 4 bytes [0]", "add_up"))

    def test_a_constant_is_written_through_a_template_of_the_toolkit(self):
        self.assert_race(
            "constant", [("read", "the constant is read"), ("host write", "the constant is written")],
            "nothing orders the kernel of (1) and cudaMemcpyToSymbolAsync (2): they are in different "
            "streams")

    def test_what_structures_lead_to(self):
        result, found = findings("list")
        self.assertEqual(result.returncode, 66)
        self.assertEqual({(one["kind"], one["accesses"][0]["line"], one["accesses"][1]["line"])
                          for one in found},
                         {("data-race", SOURCE.line_of("the list's update"),
                           SOURCE.line_of("the list is written"))})

    def test_mapped_memory(self):
        self.assert_race(
            "mapped", [("write", "the store"), ("host write", "mapped memory is written")],
            self.KERNEL)

    def test_the_source_of_a_copy(self):
        self.assert_race(
            "source", [("host write", "the source is written"), ("host copy", "the source is copied")],
            "the host does not wait for cudaMemcpyAsync (2) before (1)")

    def test_a_flag_before_which_the_data_is_not_released_for_the_host(self):
        for mode in ("unreleased", "released-on-the-device"):
            with self.subTest(mode):
                self.assert_race(
                    mode, [("write", "the data for the host"), ("host read", "the data is read")],
                    "between (1) and the thread's signal to the host, nothing releases (1) at system "
                    "scope", lack="host-release")

    def test_memory_that_has_been_freed(self):
        for mode, free in (("freed", "the free"), ("freed-host", "freed for the host")):
            with self.subTest(mode):
                result, found = findings(mode)
                self.assertEqual((result.returncode, result.stdout), (66, "0\n"))
                finding, = found
                self.assertEqual(finding["kind"], "use-after-free")
                self.assertEqual([(side["role"], side["line"]) for side in finding["accesses"]],
                                 [("host read", SOURCE.line_of("used when freed")),
                                  ("host free", SOURCE.line_of(free))])
                self.assertEqual(finding["message"], "(1) uses memory that has been freed; (2) freed it")


    def test_page_locked_memory_that_is_freed_as_device_memory(self):
        result, found = findings("freed-as-another")
        self.assertEqual(result.returncode, 66, result.stderr)
        finding, = found
        self.assertEqual(finding["kind"], "invalid-free")
        side, = finding["accesses"]
        self.assertEqual((side["role"], side["file"], side["line"]),
                         ("host free", "host.cu", SOURCE.line_of("freed as device memory")))
        self.assertEqual(
            finding["message"],
            "cudaFree of page-locked memory: cudaFreeHost frees what cudaMallocHost or "
            "cudaHostAlloc allocated, and cudaHostUnregister ends cudaHostRegister")


class WhatIsRight(unittest.TestCase):
    def assert_silent(self, mode, output):
        result, found = findings(mode)
        self.assertEqual((result.returncode, result.stdout, found), (0, output, []), result.stderr)

    def test_other_bytes_of_the_same_pages(self):
        self.assert_silent("halves", "")

    def test_flags_between_the_host_and_a_running_kernel(self):
        self.assert_silent("flag-to-host", "42\n")
        self.assert_silent("flag-of-a-block", "42\n")
        self.assert_silent("flag-to-kernel", "7\n")

    def test_the_host_polls_what_atomic_operations_change(self):
        self.assert_silent("progress", "64\n")
        self.assert_silent("progress-asked-for-between", "64\n")
        self.assert_silent("progress-for-the-system", "1\n")
        self.assert_silent("addition-before-and-after", "0\n64\n")

    def test_stores_that_atomic_operations_may_receive(self):
        self.assert_silent("store-beside-an-addition-for-all", "")
        self.assert_silent("store-for-a-kernel-that-takes", "5\n")
        self.assert_silent("store-before-a-signal", "6\n")

    def test_waits_without_a_call_that_waits(self):
        self.assert_silent("callback", "17\n")
        self.assert_silent("query", "17\n")

    def test_system_calls_reach_what_is_watched(self):
        self.assert_silent("system-calls", "write 8192\npread 8192\nfread 8192\nfwrite 8192\n"
                           "writev 8192\npreadv 8192\nsendmsg 4096\nrecvmsg 4096\n")

    def test_the_programs_own_faults_are_its_own(self):
        self.assert_silent("own-faults", "caught\n3\n")
        result, found = findings("crash")
        self.assertEqual((result.returncode, found), (139, []))
        self.assertIn("========= ./host was killed by signal 11 (Segmentation fault)\n",
                      result.stderr)

    def test_a_thread_that_blocks_all_signals(self):
        self.assert_silent("blocked", "")


class Ends(unittest.TestCase):
    def test_a_run_that_takes_too_long(self):
        result = run("--timeout", "4", "--", "./host", "long")
        self.assertEqual(result.stderr, """\
========= warpcheck exec: ./host
========= it was running kernel compute, 2 of 64 blocks done
========= no findings; 1 launch of 1 kernel
========= timed out (--timeout): the findings up to then are above
========= exit status 124: timed out
""")
        self.assertEqual(result.returncode, 124)

    def test_a_run_that_is_interrupted(self):
        report = HERE / "report.json"
        report.unlink(missing_ok=True)
        process = subprocess.Popen([WARPCHECK, "exec", "--json", str(report), "--", "./host", "long"],
                                   cwd=HERE, stderr=subprocess.PIPE, text=True)
        while not report.exists():  # the launch is new data for the report
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertRegex(process.communicate()[1], """\
========= warpcheck exec: ./host
========= ./host was killed by signal 2 .Interrupt.
========= it was running kernel compute, [0-2] of 64 blocks done
========= no findings; 1 launch of 1 kernel
========= exit status 130: the program's own
""")
        self.assertEqual(process.returncode, 128 + signal.SIGINT)

    def test_a_job_is_put_aside_and_taken_up_again(self):
        process = subprocess.Popen([WARPCHECK, "exec", "--", "./host", "job"], cwd=HERE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTSTP)
        self.assertEqual(process.stdout.readline(), "stop\n")
        self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]))
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.stdout.readline(), "continue\n")
        process.send_signal(signal.SIGTERM)
        self.assertIn("was killed by signal 15", process.communicate()[1])
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
