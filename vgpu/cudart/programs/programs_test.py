"""The programs of one area: programs_test.py NVCC WARPCHECK BUILD_DIRECTORY AREA

Each *.cu of the area's folder is a whole program.  One translation unit includes them all (one_unit.py),
and once more with MUTANT defined where it has a defect to plant; names of mutants are not printed.

Under `warpcheck exec`, a program computes what it should, prints the lines that its header names
(`// prints: LINE`), and nothing is found but notes of kinds that it names (`// notes: KIND, ...`); its mutant shows the kinds that its header names
(`// expect: KIND, ...`), and at least one finding of the first kind at lines marked `//~`.  Programs are
linked as nvcc does by default and with the shared runtime library, mutants with the static one of the
virtual GPU.

One of the two runs of a program is interpreted, the other one runs as machine code, and so does its mutant:
both give the same bytes, except where the host acts while a kernel runs (`// varies: WHY`); there, what
the program prints is the same.

An area is built with all that its programs ask for: `// arch: compute_90` (the newest is taken),
`// options: --extended-lambda`.
"""

import os
import pathlib
import re
import subprocess
import sys

import both_ways
import one_unit
import program_text

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "ci"))
import verdict_tables

NVCC, WARPCHECK = sys.argv[1:3]
AREA = pathlib.Path(sys.argv[4])
BUILD = pathlib.Path(sys.argv[3]) / AREA.name
CHECKS = AREA.parent / "check.hpp"
FOUND = 66
problems = []
table = verdict_tables.Table(f"programs_{AREA.name}", WARPCHECK)


class Program:
    def __init__(self, path):
        self.path, self.name, self.text = path, path.stem, path.read_text()
        self.is_mutable = "MUTANT" in self.text.split('#include', 1)[1]

    def heads(self, word):
        return program_text.heads(self.text, word)

    def kinds(self):
        return self.heads("expect")[0].split(", ")

    def marked_lines(self):
        return program_text.marked_lines(self.text)

    def parts(self):
        mutants = [one_unit.Part(f"{self.name}_mutant", self.path, self.text, ("MUTANT",), is_listed=False)]
        return [one_unit.Part(self.name, self.path, self.text), *(mutants if self.is_mutable else [])]


PROGRAMS = [Program(path) for path in sorted(AREA.glob("*.cu"))]


def unit():
    """The text of the area's translation unit."""
    return one_unit.unit([part for each in PROGRAMS for part in each.parts()])


def build():
    """The program linked by default, with the shared library, and with the virtual GPU's own."""
    os.makedirs(BUILD, exist_ok=True)
    source, compiled = BUILD / "area.cu", BUILD / "area.o"
    newest = max(path.stat().st_mtime
                 for path in (*(each.path for each in PROGRAMS), CHECKS, pathlib.Path(__file__)))
    arch = max((arch for each in PROGRAMS for arch in each.heads("arch")), default="compute_75",
               key=lambda arch: (int(re.search(r"\d+", arch).group()), arch))
    options = {word for each in PROGRAMS for words in each.heads("options")
               for word in words.split()}
    # Host code unoptimised: half of the rest of the time would be spent there.
    command = [NVCC, f"-gencode=arch={arch},code={arch}", "-std=c++17", "-lineinfo", "-Xcompiler", "-O0",
               *sorted(options), "-I", str(AREA.parent), "-c", str(source), "-o", str(compiled)]
    # A program that has gone, and an option, leave no newer file behind.
    text = f"// {' '.join(command)}\n{unit()}"
    if (not compiled.exists() or compiled.stat().st_mtime < newest or not source.exists() or
            source.read_text() != text):
        compiled.unlink(missing_ok=True)
        source.write_text(text)
        subprocess.run(command, check=True)
    library = subprocess.run([WARPCHECK, "libdir"], check=True, capture_output=True,
                             text=True).stdout.strip()
    for name, link in (("default", []), ("shared", ["-cudart", "shared"]), ("own", ["-L", library])):
        subprocess.run([NVCC, f"-gencode=arch={arch},code={arch}", *link, *sorted(options), compiled, "-o",
                        BUILD / name], check=True)


def run_both_ways(program, case, interpreted, compiled):
    """Runs a case of these two programs; returns the result and the report of the first."""
    results = [both_ways.run(WARPCHECK, compile, BUILD / f"{case}.json", ["--leaks"],
                             BUILD / name, part=case, cwd=AREA)
               for name, compile in ((interpreted, "never"), (compiled, "always"))]
    if differs := both_ways.difference(*results, alone=bool(program.heads("varies"))):
        problems.append(f"{AREA.name}/{case}: {differs}")
    return results[0]


def add_to_table(program, variant, result):
    # Where the host acts while a kernel runs, it varies which of its accesses meet the kernel's.
    findings = result.findings()
    alone = [found for found in findings
             if not any(side["role"].startswith("host") for side in found["accesses"])]
    if program.heads("varies") and alone:
        findings = alone
    table.add(program.name, variant, findings, verdict_tables.sources_of(program.path, CHECKS))


def problem(program, result, *words):
    problems.append(f"{AREA.name}/{program.name}: " + " ".join(str(word) for word in words)
                    + f"; status {result.status}\n{result.output}{result.messages}")


def test_the_program(program):
    result = run_both_ways(program, program.name, "default", "shared")
    add_to_table(program, "", result)
    printed = result.output.splitlines()
    found = {finding["kind"] for finding in result.findings() if finding["severity"] == "note"}
    noted = {kind for kinds in program.heads("notes") for kind in kinds.split(", ")}
    if result.status != 0 or printed[-1:] != ["right"] or found != noted:
        problem(program, result, "expected 'right' and", noted or "no findings")
    # What a device prints is checked where a program says so.
    for line in program.heads("prints"):
        if line not in printed:
            problem(program, result, f"expected the line '{line}'")


def lines_of(finding, program):
    """Of its sides in the program's file; empty where one is elsewhere."""
    sides = [side for side in finding["accesses"] if side["ptx"]]
    if any(side["file"] != program.path.name for side in sides):
        return set()
    return {side["line"] for side in sides}


def test_the_mutant(program):
    result = run_both_ways(program, f"{program.name}_mutant", "own", "own")
    add_to_table(program, "mutant", result)
    errors = [found for found in result.findings() if found["severity"] == "error"]
    expected, marked = program.kinds(), program.marked_lines()
    found = {error["kind"] for error in errors}
    if result.status != FOUND or found != set(expected):
        problem(program, result, "the mutant: expected", expected, "and status", FOUND, "; found",
                found)
    places = [lines_of(each, program) for each in errors if each["kind"] == expected[0]]
    if marked and not any(place and place <= marked for place in places):
        problem(program, result, "the mutant: expected", expected[0], "at lines", marked, "; found",
                places)


build()
# By name for whoever looks for one of them.
for each in [each for each in PROGRAMS if not sys.argv[5:] or each.name in sys.argv[5:]]:
    test_the_program(each)
    if each.is_mutable:
        test_the_mutant(each)
problems += table.problems({each.name for each in PROGRAMS})
print(f"{AREA.name}: {len(PROGRAMS)} programs,",
      sum(each.is_mutable for each in PROGRAMS), "with a mutant")
sys.exit("\n".join(problems) or 0)
