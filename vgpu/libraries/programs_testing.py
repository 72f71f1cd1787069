"""What tests of programs with a library have in common; arguments: WARPCHECK NVCC NM DONE

A program says itself, told `right`, whether what it got is right, and must call every function that is
not refused (DONE lists them); each of its defects must be found at the line that is marked with its
name (`//~ name` in the line before), and the twins without them (`clean`) are silent.  What each run
shows is in a table (docs/develop/verdicts.md).
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "ci"))
import verdict_tables

FOUND, UNSUPPORTED = 66, 2


class Programs:
    """The tests; a class that inherits from it and from TestCase says what they are about."""

    SOURCE = None  # a path
    LIBRARY = None  # "cusparse": what it is linked with, and how its functions' names begin
    # Each defect: the line's name, its kind, the roles of its sides, what it is about, the message.
    EXPECTED = {}
    REFUSED = None  # the function that the mode `refused` calls
    DONE_LEAST = 0

    @classmethod
    def setUpClass(cls):
        cls.warpcheck, nvcc, cls.nm, cls.done = sys.argv[1:5]
        cls.room = tempfile.TemporaryDirectory()
        cls.here = pathlib.Path(cls.room.name)
        cls.table = verdict_tables.Table("libraries", cls.warpcheck, cls.LIBRARY)
        subprocess.run([nvcc, "-std=c++17", "-arch=compute_75", "-g", "-lineinfo", "-w", cls.SOURCE,
                        "-o", cls.here / "program", f"-l{cls.LIBRARY}"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()
        problems = cls.table.problems_of_part()
        assert not problems, "\n".join(problems)

    def run_program(self, mode):
        report = self.here / "report.json"
        report.unlink(missing_ok=True)
        result = subprocess.run([self.warpcheck, "exec", "--causes", "0", "--json", report, "--", "./program", mode],
                                cwd=self.here, capture_output=True, text=True, timeout=300)
        findings = json.loads(report.read_text())["findings"]
        self.table.add(self.SOURCE.stem, mode, findings, verdict_tables.sources_of(self.SOURCE))
        return result, findings

    def test_every_function_gives_what_its_definition_says(self):
        result, findings = self.run_program("right")
        self.assertEqual((result.stdout, findings, result.returncode), ("right\n", [], 0),
                         result.stderr)
        done = set(pathlib.Path(self.done).read_text().split())
        out = subprocess.run([self.nm, "-D", "--undefined-only", self.here / "program"], check=True,
                             capture_output=True, text=True).stdout
        called = set(re.findall(rf"\b{self.LIBRARY}\w+", out))
        self.assertGreater(len(done), self.DONE_LEAST)
        self.assertEqual(done - called, set(), "functions that the program does not call")

    def test_defects_are_found_and_their_twins_are_silent(self):
        lines = {name: i + 1 for i, line in enumerate(self.SOURCE.read_text().splitlines(), 1)
                 for name in re.findall(r"//~ (\w+)$", line)}
        for name, (line, kind, roles, what, message) in self.EXPECTED.items():
            with self.subTest(name):
                result, findings = self.run_program(name)
                self.assertEqual(len(findings), 1, result.stderr)
                sides = findings[0]["accesses"]
                self.assertEqual((findings[0]["kind"], [side["role"] for side in sides],
                                  findings[0]["object"], findings[0]["message"]),
                                 (kind, roles, what, message))
                self.assertIn(lines[line], [side["line"] for side in sides])
                self.assertEqual(result.returncode, FOUND)
        result, findings = self.run_program("clean")
        self.assertEqual((findings, result.returncode), ([], 0), result.stderr)

    def test_a_function_that_is_not_done_is_refused_when_it_is_called(self):
        result, _ = self.run_program("refused")
        self.assertEqual(result.returncode, UNSUPPORTED)
        self.assertIn(f"refused: {self.REFUSED} is not supported", result.stderr)


def main():
    unittest.main(argv=sys.argv[:1])
