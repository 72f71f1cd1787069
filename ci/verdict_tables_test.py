#!/usr/bin/env python3
"""Tests the tables of verdicts and `ci/verdicts`, with tables of its own."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import verdict_tables

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "vgpu/cudart/programs"
SCRIPTS = ROOT / "ci/exec"
COMMAND = pathlib.Path(__file__).parent / "verdicts"
SOURCE = ["s[0] = 1;  // first", "x = s[0];", "  s[0]  = 1;", "y = " + 20 * "long + " + "1;"]


def command():
    loader = importlib.machinery.SourceFileLoader("verdicts_command", str(COMMAND))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def finding(severity, *sides):
    return {"severity": severity, "kind": "data-race", "space": "shared",
            "accesses": [{"role": role, "file": file, "line": line} for role, file, line in sides]}


RACE = finding("error", ("write", "/a/b.cu", 1), ("read", "/a/b.cu", 2))
NOTE = {**RACE, "severity": "note"}


class VerdictTables(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.build, self.saved = pathlib.Path(scratch.name), verdict_tables.TABLES
        verdict_tables.TABLES = self.build / "tables"
        verdict_tables.TABLES.mkdir()
        self.addCleanup(setattr, verdict_tables, "TABLES", self.saved)

    def sources(self, file):
        return SOURCE if file == "/a/b.cu" else None

    def run_suite(self, all_programs=("one", "two"), **findings):
        table = verdict_tables.Table("suite", self.build / "warpcheck")
        for program, found in findings.items():
            table.add(program, "", found, self.sources)
        return table.problems(set(all_programs))

    def verdicts(self, *words):
        """The status of ci/verdicts, and what it says."""
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            try:
                status = command().main(["--build", str(self.build), *words])
            except SystemExit as error:
                status = error.code
        return status, text.getvalue()

    def table(self):
        return (verdict_tables.TABLES / "suite.txt").read_text().splitlines()[1:]

    def accept_all(self):
        self.run_suite(one=[RACE], two=[])
        self.assertEqual(self.verdicts("--accept", "suite/one", "two")[0], 0)

    def test_a_line_is_its_text(self):
        self.assertEqual(verdict_tables.verdict_text(RACE, self.sources),
                         "error data-race shared: read `x = s[0];`, write `s[0] = 1;`")
        again = finding("note", ("write", "/a/b.cu", 3), ("host copy", "", 0), ("read", "/cub/c.cuh", 7))
        self.assertEqual(verdict_tables.verdict_text(again, self.sources),
                         "note data-race shared: host copy, read c.cuh, write `s[0] = 1;` #2")
        self.assertEqual(len(verdict_tables.place(SOURCE, 4)), verdict_tables.TEXT_MAX + 2)

    def test_what_is_accepted_is_silent(self):
        self.accept_all()
        self.assertEqual(self.table(), ["one: error data-race shared: read `x = s[0];`, write `s[0] = 1;`",
                                        "two: clean"])
        self.assertEqual(self.run_suite(one=[RACE], two=[]), [])
        self.assertEqual(self.run_suite(two=[]), [])  # only one program was run
        self.assertEqual(self.verdicts(), (0, ""))

    def test_each_change_is_named(self):
        self.accept_all()
        other_line = finding("error", ("write", "/a/b.cu", 3), ("read", "/a/b.cu", 2))
        for changed in ([], [NOTE], [RACE, NOTE], [other_line], [{**RACE, "kind": "deadlock"}]):
            with self.subTest(changed):
                problems = self.run_suite(one=changed, two=[])
                self.assertEqual(problems[-1], "if they are right, confirm them: ci/verdicts --accept suite/one")
                status, text = self.verdicts()
                self.assertEqual((status, text.splitlines()), (1, ["suite/one", *problems[1:-1]]))
        self.assertIn("  gone: two: clean", self.run_suite(("one",), one=[RACE]))
        self.assertIn("  new:  three: clean", self.run_suite(("one", "two", "three"), three=[]))

    def test_parts_of_a_suite_do_not_see_each_other(self):
        tables = [verdict_tables.Table("parts", self.build / "warpcheck", part) for part in ("a", "b")]
        for table in tables:
            table.add("one", "", [], verdict_tables.sources_of())
        self.assertIn("  new:  a.one: clean", tables[0].problems_of_part())
        self.assertIn("  new:  b.one: clean", tables[1].problems_of_part())
        self.assertEqual(self.verdicts("--accept", "a.one", "b.one")[0], 0)
        tables[1].rows = {}
        self.assertEqual(tables[0].problems_of_part(), [])
        self.assertIn("  gone: b.one: clean", tables[1].problems_of_part())

    def test_only_what_is_named_is_accepted(self):
        self.accept_all()
        self.run_suite(("one", "three"), one=[NOTE], three=[])
        status, text = self.verdicts("--accept", "two", "three")
        self.assertEqual((status, text.splitlines()), (0, ["suite/three", "  new:  three: clean", "suite/two",
                                                           "  gone: two: clean"]))
        self.assertEqual([row.split(":")[0] for row in self.table()], ["one", "three"])
        self.assertEqual(self.verdicts()[0], 1)

    def test_each_table_has_a_suite(self):
        # Else nothing would compare it.
        litmus = (ROOT / "vgpu" / "litmus" / "CMakeLists.txt").read_text()
        suites = set(re.findall(r"^warpcheck_litmus_suite\((\w+)", litmus, re.MULTILINE))
        suites |= {"litmus_80", "litmus_90", "hunt", "check", "defects", "contenders", "linked"}
        for prefix, folder in (("programs", PROGRAMS), ("verdicts", PROGRAMS / "verdicts")):
            suites |= {f"{prefix}_{path.parent.name}" for path in folder.glob("*/*.cu")}
        suites |= {"exec", "libraries", "frameworks"}
        parts = {name for path in SCRIPTS.rglob("*_test.py")
                 for name in re.findall(r'Verdicts\("(\w+)"\)', path.read_text())}
        named = {name.split(".")[0] for name in verdict_tables.read_rows(self.saved / "exec.txt")}
        self.assertEqual(named, parts)
        tables = {path.stem: path.read_text().splitlines() for path in self.saved.glob("*.txt")}
        self.assertEqual(set(tables) - suites, set())
        self.assertTrue({"litmus", "hunt", "check", "defects", "contenders", "linked"} < set(tables))
        for name, lines in tables.items():
            self.assertEqual([line for line in lines[1:] if not line or ": " not in line], [], name)

    def test_names_are_needed(self):
        self.accept_all()
        before = self.table()
        self.run_suite(one=[NOTE], two=[])
        for words in ([], ["*"], ["suite"], ["two"], ["one", "nobody"]):
            status, text = self.verdicts("--accept", *words)
            self.assertEqual(status, 2, text)
            self.assertIn("needs the names" if not words else f"no difference in {words[-1]}", text)
        self.assertEqual(self.table(), before)
        self.assertEqual(self.verdicts("--build", "/nowhere")[0], 2)


if __name__ == "__main__":
    unittest.main()
