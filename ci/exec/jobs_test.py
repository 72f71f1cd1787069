"""Launches on several threads under `warpcheck exec`: jobs_test.py WARPCHECK NVCC SOURCES.

For any program, --jobs changes neither its results nor a byte of the report.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from exec_testing import HERE, WARPCHECK, Source, build, run

SOURCE = Source("jobs_programs.cu", "jobs.cu")


def setUpModule():
    build("jobs.cu", "jobs", "-cudart", "shared")


def seen(mode, jobs):
    """Everything that a user sees, except times."""
    path = HERE / f"jobs-{jobs}.json"
    result = run("--jobs", str(jobs), "--json", str(path), "--", "./jobs", mode)
    report = [line for line in result.stderr.splitlines() if not re.search(r"instructions? in ", line)]
    return result.stdout, report, result.returncode, path.read_text()


class AnyNumberOfThreads(unittest.TestCase):
    def check(self, mode, findings, status=0):
        """Checks that one thread and several find the same pairs of kind and first line."""
        alone = seen(mode, 1)
        self.assertEqual(alone[2], status, alone)
        found = {(finding["kind"], finding["accesses"][0].get("line"))
                 for finding in json.loads(alone[3])["findings"]}
        self.assertEqual(found, findings)
        for jobs in (2, 7):
            self.assertEqual(seen(mode, jobs), alone, f"{mode} with {jobs}")

    def test_blocks_that_do_not_communicate(self):
        self.check("apart", set())

    def test_bytes_that_were_never_written(self):
        self.check("pixels", {("uninitialized-read", 0)})

    def test_launches_of_several_streams(self):
        line = SOURCE.line_of("the other stream")
        _, report, status, text = seen("streams", 1)
        self.assertEqual(status, 66, report)
        self.assertIn("data-race", {one["kind"] for one in json.loads(text)["findings"]}, line)
        for jobs in (2, 7):
            self.assertEqual(seen("streams", jobs)[3], text, jobs)

    def test_races_of_blocks(self):
        self.check("race", {("data-race", SOURCE.line_of("the race"))}, 66)

    def test_atomic_operations(self):
        self.check("counts", set())
        self.check("tickets", set())

    def test_a_finding_in_a_late_block(self):
        self.check("beyond", {("out-of-bounds", SOURCE.line_of("the store"))}, 66)
        self.check("unwritten", {("uninitialized-read", SOURCE.line_of("the branch"))}, 66)

    def test_texts_come_in_order(self):
        self.check("prints", set())
        text = "".join(f"block {block}\n" for block in range(0, 1200, 100))
        self.assertTrue(seen("prints", 3)[0].startswith(text))

    def test_a_launch_that_dies(self):
        alone = seen("dies", 1)
        self.assertIn("device-side assert triggered", alone[0])
        for jobs in (2, 7):
            self.assertEqual(seen("dies", jobs), alone, jobs)


class Ends(unittest.TestCase):
    def test_a_timeout_leaves_nothing_running(self):
        result = run("--jobs", "3", "--timeout", "1", "--", "./jobs", "long")
        self.assertEqual(result.returncode, 124, result.stderr)

    def test_ctrl_c_leaves_nothing_running(self):
        process = subprocess.Popen([WARPCHECK, "exec", "--jobs", "3", "--", "./jobs", "long"],
                                   cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        program = None
        while program is None:
            program = next((int(entry.name) for entry in pathlib.Path("/proc").iterdir()
                            if entry.name.isdigit() and is_program(entry)), None)
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
        self.assertFalse(pathlib.Path(f"/proc/{program}").exists())

    def test_wrong_numbers_are_refused(self):
        for jobs in ("0", "-1", "many", "1000000"):
            result = run("--jobs", jobs, "--", "./jobs", "apart")
            self.assertEqual(result.returncode, 2, jobs)
            self.assertIn("--jobs", result.stderr)


def is_program(entry):
    try:
        words = (entry / "cmdline").read_bytes().split(b"\0")
        return words[:2] == [b"./jobs", b"long"] and os.readlink(entry / "cwd") == str(HERE)
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
