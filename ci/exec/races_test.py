"""Volatile and relaxed accesses, in-place shuffles and headers of the toolkit under `warpcheck exec`:
races_test.py WARPCHECK NVCC SOURCE_DIRECTORY.
"""

import json
import pathlib
import subprocess
import sys
import unittest

from exec_testing import HERE, NVCC, SOURCES, WARPCHECK

SOURCE = pathlib.Path(SOURCES, "ci", "exec", "races.cu")
LIBRARY = pathlib.Path(SOURCES, "ci", "exec", "library_races.cu")
OPTIONS = ("-arch=compute_75", "-lineinfo", "-cudart", "shared")


def setUpModule():
    (HERE / "races.cu").write_text(SOURCE.read_text())
    subprocess.run([NVCC, *OPTIONS, "races.cu", "-o", "races"], check=True, cwd=HERE)
    subprocess.run([NVCC, *OPTIONS, "-G", "races.cu", "-o", "unoptimized"], check=True, cwd=HERE)
    (HERE / "library.cu").write_text(LIBRARY.read_text())
    subprocess.run([NVCC, *OPTIONS, "library.cu", "-o", "library"], check=True, cwd=HERE)
    subprocess.run([NVCC, "-arch=compute_75", "-cudart", "shared", "-DTILES_ONLY", "library.cu",
                    "-o", "without_lines"], check=True, cwd=HERE)


def line_of(marker, source=SOURCE):
    lines = source.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"// {marker}"))


def report_of(program, mode, *options, expect=0):
    report = HERE / "report.json"
    result = subprocess.run([WARPCHECK, "exec", "--json", str(report), *options, "--",
                             f"./{program}", mode],
                            cwd=HERE, capture_output=True, text=True, timeout=120)
    assert result.returncode == expect, (result.returncode, result.stderr)
    return json.loads(report.read_text())


def findings(*words, expect=0):
    return report_of(*words, expect=expect)["findings"]


def sides(finding):
    return {(side["role"], side["line"]) for side in finding["accesses"]}


PROGRAMS = ("races", "unoptimized")
SCHEDULES = (("--strategy", "default"), *(("--strategy", strategy, "--seed", str(seed))
                                          for strategy in ("random", "pct") for seed in (1, 2, 3)))


class VolatileTrees(unittest.TestCase):
    def test_is_an_error_under_any_schedule(self):
        for program in PROGRAMS:
            for schedule in SCHEDULES:
                found = findings(program, "tree", *schedule, expect=66)
                self.assertEqual({each["severity"] for each in found}, {"error"})
                self.assertEqual({each["kind"] for each in found}, {"data-race"})
                tree = line_of("tree")
                self.assertTrue(any({("read", tree), ("write", tree)} == sides(each)
                                    for each in found), found)
                self.assertIn("lanes of one warp are not ordered without __syncwarp()",
                              found[0]["message"])

    def test_is_silent_with_barriers_or_in_lockstep(self):
        for program in PROGRAMS:
            for schedule in SCHEDULES:
                self.assertEqual(findings(program, "synced-tree", *schedule), [])
            self.assertEqual(findings(program, "tree", "--warp-model", "lockstep"), [])


class VolatileMessages(unittest.TestCase):
    SIDES = {("write", line_of("message: one side")), ("read", line_of("message: the other side"))}

    def test_is_a_note(self):
        for program in PROGRAMS:
            for schedule in SCHEDULES:
                (note,) = findings(program, "message", *schedule)
                self.assertEqual((note["kind"], note["severity"]), ("data-race", "note"))
                self.assertEqual(sides(note), self.SIDES)
                self.assertIn("they do not race, but hand over data", note["message"])

    def test_is_an_error_where_volatile_is_weak(self):
        for program in PROGRAMS:
            found = findings(program, "message", "--volatile", "weak", expect=66)
            self.assertEqual({each["severity"] for each in found}, {"error"})
            self.assertIn(self.SIDES, [sides(each) for each in found])

    def test_is_silent_with_fences(self):
        for program in PROGRAMS:
            for schedule in SCHEDULES:
                self.assertEqual(findings(program, "fenced-message", *schedule), [])


class InPlaceShuffles(unittest.TestCase):
    def test_is_a_note_under_any_schedule(self):
        for program in PROGRAMS:
            for schedule in SCHEDULES:
                (note,) = findings(program, "shift", *schedule)
                self.assertEqual((note["kind"], note["severity"]), ("data-race", "note"))
                self.assertEqual(sides(note), {("read", line_of("shift: one side")),
                                               ("write", line_of("shift: the other side"))})
                self.assertIn("no execution goes wrong", note["message"])


class Headers(unittest.TestCase):
    """Code of the toolkit that users cannot change."""

    def assert_notes(self, found, argument):
        self.assertTrue(found)
        self.assertEqual({each["severity"] for each in found}, {"note"})
        self.assertTrue(any(argument in each["message"] for each in found), found)

    def test_known_patterns_are_notes(self):
        self.assert_notes(findings("library", "unique"), "thrust::unique overwrites a tile")
        self.assert_notes(findings("library", "runs"), "NonTrivialRuns writes all items")

    def test_tiles_of_several_warps(self):
        found = findings("library", "tiles")
        self.assert_notes(found, "its shuffle or vote decides")
        line = line_of("the user's line", LIBRARY)
        for each in found:
            for side in each["accesses"]:
                self.assertTrue(side["file"].endswith("library.cu"), side)
                self.assertEqual(side["line"], line)
                self.assertIn("/include/cooperative_groups", side["header"])

    def test_tiles_without_line_numbers(self):
        self.assert_notes(findings("without_lines", "tiles"), "its shuffle or vote decides")

    def test_are_ignored_by_the_header(self):
        report = report_of("library", "tiles", "--ignore", "*/include/cooperative_groups*")
        self.assertEqual(report["findings"], [])
        self.assertNotEqual(report["ignored"], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
