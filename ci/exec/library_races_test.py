"""Races in headers of the toolkit under `warpcheck exec`: library_races_test.py WARPCHECK NVCC SOURCE_DIRECTORY.
"""

import json
import pathlib
import subprocess
import sys
import unittest

from exec_testing import HERE, NVCC, SOURCES, WARPCHECK

LIBRARY = pathlib.Path(SOURCES, "ci", "exec", "library_races.cu")
OPTIONS = ("-arch=compute_75", "-lineinfo", "-cudart", "shared")


def setUpModule():
    (HERE / "library.cu").write_text(LIBRARY.read_text())
    subprocess.run([NVCC, *OPTIONS, "library.cu", "-o", "library"], check=True, cwd=HERE)
    subprocess.run([NVCC, "-arch=compute_75", "-cudart", "shared", "-DTILES_ONLY", "library.cu",
                    "-o", "without_lines"], check=True, cwd=HERE)


def line_of(marker):
    lines = LIBRARY.read_text().splitlines()
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
        line = line_of("the user's line")
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
