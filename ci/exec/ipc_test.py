"""Device memory and events that two processes of one program share, under `warpcheck exec`:
ipc_test.py WARPCHECK NVCC SOURCE_DIRECTORY.
"""

import json
import subprocess
import sys
import unittest

from exec_testing import HERE, Source, build, run

SOURCE = Source("ipc_programs.cu", "ipc.cu")
GAP = ("what processes do to memory that they share (cudaIpcOpenMemHandle): it is not known what orders "
       "them, nor what the others have written")


def setUpModule():
    build("ipc.cu", "ipc", "-g")


def report_of(mode, expect):
    """The output of a mode, and its report."""
    path = HERE / "report.json"
    result = run("--json", str(path), "--", "./ipc", mode)
    assert result.returncode == expect, (result.returncode, result.stdout, result.stderr)
    return result.stdout, json.loads(path.read_text())


class SharedMemory(unittest.TestCase):
    def assert_silent(self, mode, output):
        printed, report = report_of(mode, 0)
        self.assertEqual((printed, report["findings"]), (output, []))
        self.assertEqual(report["not_checked"], [GAP])

    def test_a_kernel_of_another_process_changes_it(self):
        printed, report = report_of("memory", 66)
        self.assertEqual(printed, "1 cudaErrorInvalidValue\n42\n")
        (found,) = report["findings"]  # cudaFree of memory that must be closed instead
        self.assertEqual(found["kind"], "invalid-free")

    def test_atomics_of_two_processes_lose_nothing(self):
        self.assert_silent("atomics", f"{2 * 200 * 32}\n")

    def test_a_kernel_waits_for_one_of_another_process(self):
        self.assert_silent("flag", "7\n1\n")

    def test_an_event_orders_streams_of_two_processes(self):
        self.assert_silent("event", "1100\n")

    def test_the_driver_api_shares_both(self):
        self.assert_silent("driver", "1100\n")

    def test_in_the_same_process_a_handle_is_not_opened(self):
        printed, report = report_of("same-process", 0)
        self.assertEqual(printed, "cudaErrorDeviceUninitialized\n0\n")
        (note,) = report["findings"]
        self.assertEqual(note["kind"], "api-error")

    def test_an_access_behind_its_end(self):
        _, report = report_of("overrun", 66)
        (found,) = report["findings"]
        self.assertEqual((found["kind"], found["accesses"][0]["line"]),
                         ("out-of-bounds", SOURCE.line_of("out of bounds")))

    def test_what_the_driver_api_opened_is_checked_as_well(self):
        for mode, kind, line in (("driver-overrun", "out-of-bounds", "out of bounds"),
                                 ("driver-late", "use-after-free", "addition")):
            _, report = report_of(mode, 66)
            (found,) = report["findings"]
            self.assertEqual((found["kind"], found["accesses"][0]["line"]),
                             (kind, SOURCE.line_of(line)))

    def test_a_use_after_it_was_closed(self):
        _, report = report_of("late", 66)
        (found,) = report["findings"]
        self.assertEqual((found["kind"], found["accesses"][0]["line"]),
                         ("use-after-free", SOURCE.line_of("late use")))


class WithoutExec(unittest.TestCase):
    def test_it_is_refused_by_name(self):
        build("ipc.cu", "ipc-own", "-L", subprocess.run(
            [sys.argv[1], "libdir"], capture_output=True, text=True, check=True).stdout.strip())
        result = subprocess.run([HERE / "ipc-own", "memory"], capture_output=True, text=True,
                                timeout=60, cwd=HERE)
        self.assertIn("cudaEventCreateWithFlags, cudaEventInterprocess: only processes under one "
                      "`warpcheck exec` share anything", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
