"""The commands for pairs report the same bytes whether kernels are interpreted or run as machine code:
both_ways_test.py WARPCHECK REPOSITORY

A hunt over the specimens, with what it prints, its reports, and the cases that it shrinks and saves; a
check of the other pairs, which runs what a hunt runs of them, but for the proofs, and of one specimen; a
replay of all cases of fuzz/cases, with the lines that it covers.  The check's claims are those of
docs/develop/verdicts/check.txt.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import verdict_tables

WARPCHECK, REPOSITORY = (str(pathlib.Path(each).resolve()) for each in sys.argv[1:3])
NEVER, ALWAYS = "never", "always"
PAIRS = json.loads(subprocess.run([WARPCHECK, "list", "--json"], capture_output=True, check=True).stdout)["pairs"]
SPECIMENS = [pair["name"] for pair in PAIRS if pair["expects"]]


def run(directory, compile, *words):
    """The status and the output of a command; its files are in the directory."""
    result = subprocess.run([WARPCHECK, words[0], "--compile", compile, *words[1:]], text=True,
                            capture_output=True, cwd=directory)
    return result.returncode, result.stdout


class BothWays(unittest.TestCase):
    def compare(self, *words, statuses):
        """Runs a command both ways, and compares what it prints and writes."""
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            interpreted, compiled = run(one, NEVER, *words), run(other, ALWAYS, *words)
            self.assertIn(interpreted[0], statuses, interpreted[1])
            self.assertEqual(interpreted, compiled)
            self.assertEqual(self.files_of(one), self.files_of(other))
            return interpreted[1], self.files_of(one)

    def files_of(self, directory):
        """The content of each file."""
        return {str(path.relative_to(directory)): path.read_bytes()
                for path in sorted(pathlib.Path(directory).rglob("*")) if path.is_file()}

    def test_a_hunt(self):
        # So few trials do not find all.
        _, files = self.compare("hunt", "--pairs", ",".join(SPECIMENS), "--trials", "10", "--json", "report.json", "--sarif",
                                "report.sarif", "--html", "report.html", statuses=(0, 1))
        self.assertGreater(sum(name.endswith(".case") for name in files), 15)

    def test_a_check(self):
        # What trials of the other specimens find, the hunt has shrunk and reported already.
        pairs = [pair["name"] for pair in PAIRS if not pair["expects"]]
        _, files = self.compare("check", *pairs, "scan_hillis_steele_published", "--trials", "12", "--build", "both",
                                "--warp-model", "both", "--no-failures", "--json", "report.json", statuses=(1,))
        table = verdict_tables.Table("check", WARPCHECK)
        # docs/develop/verdicts/hunt.txt has those of specimens.
        claims = json.loads(files["report.json"])["claims"]
        for claim in (each for each in claims if not each["expects"]):
            verdict = "clean" if claim["status"] == "passed" else claim["verdict"]
            table.add_verdicts(claim["pair"], claim["property"] or "agrees_with_its_reference", {verdict})
        self.assertFalse(problems := table.problems(set(table.rows)), "\n".join(problems))

    def test_a_replay(self):
        cases = sorted(map(str, pathlib.Path(REPOSITORY, "fuzz", "cases").rglob("*.case")))
        output, files = self.compare("replay", "--expect-recorded", "--json", "report.json", "--lcov",
                                     "report.lcov", *cases, statuses=(0,))
        self.assertGreater(len(files["report.lcov"]), 1000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
