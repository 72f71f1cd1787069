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
                for mode in (f"{seed} {percent}", f"{seed} {percent} in-turn"):
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

    def test_waits_for_one_stream_after_the_other(self):
        for mode in ("turns", "turns-backwards", "turns-polled", "turns-by-event", "turns-breadth",
                     "turns-pipelined", "turns-events", "turns-late-launch", "turns-copy", "turns-managed",
                     "turns-prints", "turns-freed", "turns-scatter", "turns-flag", "turns-never"):
            with self.subTest(mode):
                self.check(mode, set())

    def test_launches_meet_what_a_wait_does_not_cover(self):
        for mode in ("turns-met-first", "turns-met-last", "turns-met-late-launch", "turns-met-freed"):
            with self.subTest(mode):
                self.check(mode, {"data-race"}, "reads the other stream's", 66)

    def test_copies_between_two_waits_meet_pending_launches(self):
        for mode in ("turns-fill", "turns-met-copy-back"):
            with self.subTest(mode):
                self.check(mode, {"data-race"}, "the sum", 66)
        self.check("turns-met-copy", {"data-race"}, "the result", 66)

    def test_the_host_changes_the_source_of_a_pending_copy(self):
        self.check("turns-source", {"data-race"}, "", 66)
        self.check("turns-source-read", set())

    def test_memory_of_a_pending_launch_is_freed(self):
        self.check("turns-freed-elsewhere", {"use-after-free"}, "reads the other stream's", 66,
                   options=("--devices", "2"))

    def test_one_of_the_launches_that_a_wait_does_not_cover_has_a_finding(self):
        self.check("turns-beyond", {"out-of-bounds"}, "the store", 66)
        self.check("turns-branch", {"uninitialized-read"}, "the branch", 66)
        self.check("turns-dies", {"trap"}, "the assertion", 66)


if __name__ == "__main__":
    unittest.main(argv=["stream_jobs_test.py"])
