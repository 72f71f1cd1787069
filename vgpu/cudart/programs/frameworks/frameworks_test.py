"""Programs of Python frameworks under `warpcheck exec`: frameworks_test.py WARPCHECK PYTHON [NAME...]

PYTHON has the frameworks, and finds nvcc and a C++ compiler where a program needs them.  Each program
of this folder computes what it should, and nothing is found; with the argument `mutant` it has a defect
of the kind that its header names (`# expect: KIND; MESSAGE`), at lines marked `#~`, or `//~` in a source
of its own.  Lines of a kernel that the program has as a text count from the beginning of the text.

`# exec: OPTION...` are options of `exec`.  What both runs show is in the table `frameworks`
(docs/develop/verdicts.md).

A program whose frameworks (`# needs: NAME...`) PYTHON does not have is named, and the status is 2.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WARPCHECK, PYTHON = sys.argv[1:3]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[3] / "ci"))
import verdict_tables

FOUND, REFUSED = 66, 2
EXTENSIONS = tempfile.TemporaryDirectory()  # an extension is built once for both of its runs


class Program:
    def __init__(self, path):
        self.path, self.name, self.text = path, path.stem, path.read_text()
        self.needs = self.head("needs").split()
        self.kind, self.message = self.head("expect").split("; ", 1)
        self.options = self.head("exec").split()
        self.verdicts = {}  # of each run, by its words

    def head(self, word):
        found = re.search(rf"^# {word}: ?(.*)$", self.text, re.MULTILINE)
        return found[1] if found else ""

    def places(self):
        """(File or None where the framework chooses its name, line) of the marks."""
        places, begin = set(), None
        for number, line in enumerate(self.text.splitlines(), 1):
            if re.search(r'= r?"""', line):
                begin = number
            if line.endswith("#~"):
                places.add((self.path.name, number))
            if line.endswith("//~"):
                places.add((None, number - begin + 1))
        source = self.path.with_suffix(".cu")
        if source.exists():
            places |= {(source.name, number)
                       for number, line in enumerate(source.read_text().splitlines(), 1)
                       if line.endswith("//~")}
        return places

    def missing(self):
        return [name for name in self.needs
                if subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True,
                                  check=False).returncode != 0]

    def run(self, *words):
        with tempfile.TemporaryDirectory() as directory:
            report = pathlib.Path(directory, "report.json")
            result = subprocess.run(
                [WARPCHECK, "exec", *self.options, "--json", report, "--", PYTHON, self.path,
                 *words],
                capture_output=True, text=True, timeout=600, cwd=directory, check=False,
                env={"TRITON_CACHE_DIR": f"{directory}/triton", "TORCH_EXTENSIONS_DIR": EXTENSIONS.name,
                     **os.environ})
            findings = json.loads(report.read_text())["findings"] if report.exists() else []
            self.verdicts[" ".join(words)] = findings
            return result, findings

    def problems(self):
        result, findings = self.run()
        if result.returncode != 0 or result.stdout.splitlines()[-1:] != ["right"]:
            yield f"{self.name}: status {result.returncode}\n{result.stdout}{result.stderr}"
        result, findings = self.run("mutant")
        wanted, found = self.places(), []
        for each in findings:
            if (each["kind"], each["severity"]) != (self.kind, "error"):
                continue
            if self.message and each["message"] != self.message:
                continue
            found.append({(pathlib.Path(side["file"]).name, side["line"])
                          for side in each["accesses"] if side["ptx"]} if wanted else set())
        is_found = any(all({side, (None, side[1])} & wanted for side in sides)
                       for sides in found if sides or not wanted)
        if result.returncode != FOUND or not is_found:
            yield (f"{self.name}: the mutant: status {result.returncode}, expected {self.kind} at "
                   f"{wanted}, found at {found}\n{result.stdout}{result.stderr}")


def main():
    programs = [Program(path) for path in sorted(HERE.glob("*.py")) if path != pathlib.Path(
        __file__).resolve()]
    programs = [each for each in programs if not sys.argv[3:] or each.name in sys.argv[3:]]
    refused = {each.name: each.missing() for each in programs}
    programs = [each for each in programs if not refused[each.name]]
    problems = []
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for found in pool.map(lambda each: list(each.problems()), programs):
            problems += found
    table = verdict_tables.Table("frameworks", WARPCHECK)
    for each in programs:
        sources = verdict_tables.sources_of(*HERE.glob(f"{each.name}.*"))
        for variant, findings in each.verdicts.items():
            table.add(each.name, variant, findings, sources)
    problems += table.problems({path.stem for path in HERE.glob("*.py")} - {pathlib.Path(__file__).stem})
    for name, missing in refused.items():
        if missing:
            print(f"{name}: {PYTHON} has no {', '.join(missing)}")
    print(f"{len(programs)} programs, {len(problems)} problems")
    if problems:
        sys.exit("\n".join(problems))
    sys.exit(REFUSED if any(refused.values()) else 0)


main()
