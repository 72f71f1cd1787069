"""Launches of several streams on several threads: stream_jobs_test.py WARPCHECK NVCC SOURCES.

For any program, --jobs changes neither its results nor a byte of the report, in any run.
"""

import json
import re
import unittest

from exec_testing import HERE, Source, build, run

SOURCE = Source("stream_jobs_programs.cu", "stream_jobs.cu")
Source("random_streams_programs.cu", "random_streams.cu")


def setUpModule():
    for program in ("stream_jobs", "random_streams"):
        build(f"{program}.cu", program, "-cudart", "shared")


def seen(mode, jobs, *options, program="stream_jobs"):
    """Everything that a user sees, except times."""
    path = HERE / f"stream-jobs-{jobs}.json"
    result = run("--jobs", str(jobs), *options, "--json", str(path), "--", f"./{program}", *mode.split())
    report = [line for line in result.stderr.splitlines() if not re.search(r"instructions? in ", line)]
    return result.stdout, report, result.returncode, path.read_text()


class AnyNumberOfThreads(unittest.TestCase):
    def check(self, mode, kinds, line="", status=0, options=()):
        """Checks that one thread and several find the same: these kinds, one of them at the line."""
        alone = seen(mode, 1, *options)
        found = json.loads(alone[3])["findings"]
        self.assertEqual({finding["kind"] for finding in found}, kinds, alone[1])
        self.assertEqual(alone[2], status, alone[1])
        if line:
            lines = {access.get("line") for finding in found for access in finding["accesses"]}
            self.assertIn(SOURCE.line_of(line), lines)
        for jobs in (2, 4, 2):
            self.assertEqual(seen(mode, jobs, *options), alone, f"{mode} with {jobs}")

    def test_streams_that_do_not_communicate(self):
        for mode in ("chains", "one-by-one", "branches", "events", "waits", "tickets", "copies",
                     "callbacks", "deep", "prints"):
            with self.subTest(mode):
                self.check(mode, set())

    def test_random_operations(self):
        for percent in (0, 1, 5):
            for seed in range(12):
                mode = f"{seed} {percent}"
                with self.subTest(mode):
                    alone = seen(mode, 1, program="random_streams")
                    for jobs in (2, 3):
                        self.assertEqual(seen(mode, jobs, program="random_streams"), alone)

    def test_several_devices(self):
        self.check("devices", set(), options=("--devices", "2"))

    def test_launches_that_meet(self):
        for mode in ("met", "missing", "met-late"):
            with self.subTest(mode):
                self.check(mode, {"data-race"}, "reads the other stream's", 66)

    def test_copies_that_meet_launches(self):
        for mode in ("met-by-copy", "met-by-late-copy", "met-by-earlier-copy"):
            with self.subTest(mode):
                self.check(mode, {"data-race"}, "the sum", 66)
        self.check("constants", {"data-race"}, "the factors", 66)

    def test_memory_that_another_stream_frees(self):
        self.check("freed", {"data-race"}, "reads the other stream's", 66)

    def test_one_of_many_launches_has_a_finding(self):
        self.check("beyond", {"out-of-bounds"}, "the store", 66)
        self.check("unwritten", {"uninitialized-read"}, "the branch", 66)
        self.check("dies", {"trap"}, "the assertion", 66)


if __name__ == "__main__":
    unittest.main(argv=["stream_jobs_test.py"])
