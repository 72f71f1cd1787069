"""Findings that are known and accepted, `warpcheck exec --expect`: expected_test.py WARPCHECK NVCC SOURCE_DIRECTORY.
"""

import concurrent.futures
import json
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from exec_testing import HERE, SOURCES, WARPCHECK, Source, Verdicts, build, run, run_with_findings

SOURCE = Source("expected_programs.cu", "expected.cu")
RACE = """data-race shared
  program expected
  kernel race
  read at expected.cu: out[threadIdx.x] = s[(threadIdx.x + 32) % 64];
  write at expected.cu: s[threadIdx.x] = 1;
"""
OVERRUN = """out-of-bounds global
  kernel over*
  at expected.cu
"""
BECAUSE = "  because the example is meant to\n"


VERDICTS_SEEN = Verdicts("expected")


def setUpModule():
    build("expected.cu", "expected", "-g")


def tearDownModule():
    VERDICTS_SEEN.check()


class Expected(unittest.TestCase):
    def setUp(self):
        self.file = HERE / "known.expect"
        self.file.unlink(missing_ok=True)

    def run_expecting(self, text, *modes, options=()):
        self.file.write_text(text)
        return run("--expect", "known.expect", *options, "--", "./expected", *modes)

    def assert_told(self, result, status, *lines):
        self.assertEqual((result.returncode, result.stderr.splitlines()[1:-1]),
                         (status, [f"========= {line}" for line in lines]))

    def test_what_is_expected_does_not_count(self):
        result = self.run_expecting(RACE + BECAUSE, "race")
        self.assert_told(result, 0, "no findings, 1 expected; 1 launch of 1 kernel")
        self.assertTrue(result.stderr.endswith("exit status 0: the program's own\n"), result.stderr)

    def test_new_findings_alone_decide(self):
        result = self.run_expecting(RACE + BECAUSE, "race", "overrun")
        self.assertEqual(result.returncode, 66)
        self.assertNotIn("data-race", result.stderr)
        self.assertIn("========= out-of-bounds", result.stderr)
        self.assertIn("1 error, 1 expected; 2 launches of 2 kernels", result.stderr)
        self.assertEqual(self.run_expecting(RACE + BECAUSE + OVERRUN + BECAUSE, "race", "overrun").returncode, 0)

    def test_an_accepted_note_hides_no_error(self):
        for head, status in (("data-race global note", 0), ("out-of-bounds note", 66)):
            mode = "same" if status == 0 else "overrun"
            result = self.run_expecting(f"{head}\n  in expected.cu\n{BECAUSE}", mode)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertEqual("expected, but not found: known.expect:1: " in result.stderr, status != 0)

    def test_what_is_no_longer_found_is_told(self):
        other = RACE.replace("program expected", "program other").replace("kernel race", "kernel more")
        result = self.run_expecting(f"# known\n\n{OVERRUN}{BECAUSE}{other}{BECAUSE}{RACE}  because TODO\n", "race")
        self.assert_told(result, 0, "expected, but not found: known.expect:3: out-of-bounds global in kernel over*",
                         "1 expectation has no reason yet: replace TODO",
                         "no findings, 1 expected; 1 launch of 1 kernel")
        # A program that dies has not shown all.
        result = self.run_expecting(OVERRUN + BECAUSE, "race", "die")
        self.assertNotIn("expected, but not found", result.stderr)

    def test_a_line_that_has_moved_is_the_same(self):
        moved = HERE / "moved"
        moved.mkdir(exist_ok=True)
        text = "\n\n" + SOURCE.text.replace("  s[threadIdx.x] = 1;", "     s[threadIdx.x]  =  1;  // the first")
        (moved / "expected.cu").write_text(text)
        build(str(moved / "expected.cu"), "moved/expected", "-g", "-DMOVED")
        self.file.write_text(RACE + BECAUSE)
        words = ["--expect", "known.expect", "--", "moved/expected", "race"]
        self.assertEqual(run(*words).returncode, 0)
        # Without its source, a line's code is that of the file beside the expectations.
        (moved / "expected.cu").rename(moved / "elsewhere.cu")
        self.assertEqual(run(*words).returncode, 66)
        (HERE / "expected.cu").write_text(text)
        self.addCleanup((HERE / "expected.cu").write_text, SOURCE.text)
        self.assertEqual(run(*words).returncode, 0)
        (HERE / "expected.cu").write_text(text.replace("(threadIdx.x + 32) % 64", "threadIdx.x ^ 32"))
        self.assertEqual(run(*words).returncode, 66)

    def test_reports_carry_it(self):
        files = {each: HERE / f"expected.{each}" for each in ("json", "sarif", "junit", "html")}
        options = [word for each, path in files.items() for word in (f"--{each}", str(path))]
        self.run_expecting(RACE + BECAUSE + OVERRUN + BECAUSE, "race", options=options)
        report = json.loads(files["json"].read_text())
        self.assertEqual((report["findings"], report["claims"][0]["status"]), ([], "passed"))
        self.assertNotIn("ignored", report)
        self.assertEqual([(each["kind"], each["expected_by"]) for each in report["expected"]],
                         [("data-race", {"file": "known.expect", "line": 1, "reason": "the example is meant to"})])
        self.assertEqual(report["unmatched_expectations"], [
            {"file": "known.expect", "line": 7, "finding": "out-of-bounds global in kernel over*"}])
        sarif = json.loads(files["sarif"].read_text())["runs"][0]
        suppression, = sarif["results"][0]["suppressions"]
        self.assertEqual((suppression["kind"], suppression["justification"]), ("external", "the example is meant to"))
        self.assertEqual(suppression["location"]["physicalLocation"]["region"], {"startLine": 1})
        told, = sarif["invocations"][0]["toolExecutionNotifications"]
        self.assertEqual((told["descriptor"]["id"], told["level"]), ("expectation-unmatched", "note"))
        self.assertTrue(sarif["invocations"][0]["executionSuccessful"])
        suites = xml.etree.ElementTree.parse(files["junit"]).getroot()
        self.assertEqual(suites.get("failures"), "0")
        self.assertEqual(suites.find("testsuite/testcase/system-out").text.splitlines()[-1],
                         "data-race in kernel race<int>, read expected.cu:9, write expected.cu:8: "
                         "expected by known.expect:1: the example is meant to")
        html = files["html"].read_text()
        self.assertIn("Expected findings", html)
        self.assertIn("not found: known.expect:7: ", html)
        # What the formats are is in their schemas.
        subprocess.run(["/usr/bin/python3", "-c", """
import json, sys
import jsonschema
from lxml import etree
root = sys.argv[1]
report, sarif, junit = sys.argv[2:]
jsonschema.validate(json.load(open(report)), json.load(open(f"{root}/docs/use/report.schema.json")))
schemas = f"{root}/harness/report/schemas"
jsonschema.validate(json.load(open(sarif)), json.load(open(f"{schemas}/sarif-2.1.0-subset.schema.json")))
etree.XMLSchema(etree.parse(f"{schemas}/junit.xsd")).assertValid(etree.parse(junit))
""", SOURCES, *map(str, (files["json"], files["sarif"], files["junit"]))], check=True)

    def test_a_bad_file_is_told_before_anything_runs(self):
        for text, line, what in (("data-rice\n", 1, "'data-rice'"), (RACE, 1, "has no reason"),
                                 (f"\n\nleak\n{BECAUSE}", 3, "would accept every leak"),
                                 (RACE + "  whatever\n", 6, "'whatever'")):
            result = self.run_expecting(text, "race")
            self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
            self.assertIn(f"known.expect:{line}: ", result.stderr)
            self.assertIn(what, result.stderr)
            self.assertNotIn("launch", result.stderr)
        result = run("--expect", "nowhere.expect", "--", "./expected", "race")
        self.assertEqual(result.returncode, 2)
        self.assertIn("nowhere.expect", result.stderr)

    def test_a_file_is_made_from_a_run(self):
        result, _ = run_with_findings("./expected", ["race", "overrun", "same", "call"], VERDICTS_SEEN,
                                      ["--write-expect", "known.expect"])
        self.assertEqual(result.returncode, 66)
        self.assertIn("========= 4 expectations written to known.expect\n", result.stderr)
        written = self.file.read_text()
        self.assertIn(f"\n{RACE}  because TODO\n", written)
        self.assertIn("\nout-of-bounds global\n  program expected\n  kernel overrun\n"
                      "  write at expected.cu: out[threadIdx.x + 64] = 1;\n  because TODO\n", written)
        self.assertIn("\ndata-race global note\n  program expected\n  kernel same\n"
                      "  write at expected.cu: out[0] = 1;\n  because TODO\n", written)
        self.assertIn("  host ", written)
        result = self.run_expecting(written, "race", "overrun", "same", "call")
        self.assert_told(result, 0, "4 expectations have no reason yet: replace TODO",
                         "no findings, 4 expected; 3 launches of 3 kernels")

    def test_writing_keeps_what_the_file_has(self):
        head = f"# by hand\n{RACE}  because I say so"
        self.file.write_text(head)
        words = ["--write-expect", "known.expect", "--", "./expected"]
        self.assertIn("0 expectations written", run(*words, "race").stderr)
        self.assertEqual(self.file.read_text(), head)
        self.assertIn("1 expectation written", run(*words, "race", "overrun").stderr)
        self.assertTrue(self.file.read_text().startswith(head + "\n\nout-of-bounds"), self.file.read_text())
        self.file.write_text("data-rice\n")
        result = run(*words, "race")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("known.expect:1: ", result.stderr)
        self.assertEqual(self.file.read_text(), "data-rice\n")

    def test_programs_add_to_one_file_at_the_same_time(self):
        modes = ["race", "overrun", "same", "race"] * 2
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(lambda mode: run("--write-expect", "known.expect", "--", "./expected", mode), modes))
        text = self.file.read_text()
        self.assertEqual((text.count("because TODO"), text.count("#")), (3, 1), text)
        self.assertIn("no findings, 3 expected", self.run_expecting(text, "race", "overrun", "same").stderr)

    def test_ignore_is_the_same_mechanism(self):
        result = self.run_expecting(RACE + BECAUSE, "race", "overrun", options=["--ignore", "expected.cu"])
        self.assert_told(result, 0, "no findings, 1 expected, 1 ignored; 2 launches of 2 kernels")

    def test_a_check_leaves_out_what_is_expected(self):
        pair = "scan_two_level_published"
        check = lambda *words: subprocess.run([WARPCHECK, "check", pair, "--build", "unoptimized", "--trials", "40",
                                               "--no-failures", "--cases", str(HERE / "cases"), *words],
                                              cwd=HERE, capture_output=True, text=True)
        self.assertEqual(check("--write-expect", "known.expect").returncode, 1)
        entries = self.file.read_text()
        self.assertIn(f"\nout-of-bounds shared\n  program {pair}\n", entries)
        result = check("--expect", "known.expect")
        self.assertIn(f"{pair}: out-of-bounds in kernel ", result.stdout)
        self.assertIn(": expected by known.expect:", result.stdout)
        self.assertNotIn("FAIL", result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.file.write_text(entries + RACE.replace("program expected", f"program {pair}") + BECAUSE)
        self.assertIn("expected, but not found: known.expect:", check("--expect", "known.expect").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
