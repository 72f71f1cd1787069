"""One program with several defects: defects_test.py NVCC WARPCHECK BUILD_DIRECTORY PROGRAM.cu

It is built by nvcc as people build it, and run under `warpcheck exec`: as it is, it computes what it
should and nothing is found.  With the name of a defect (`// defect NAME: KIND; MESSAGE`) as its
argument, there is an error of that kind with that message, and all its sides in device code are at
lines marked with the name (`//~ NAME`) or for all defects (`//~`), if there are any.  It is built for
sm_90, or for what it asks for (`// arch: compute_100a`).  Each run gives the same bytes whether its
kernels are interpreted or run as machine code.
"""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path += [str(HERE.parents[1]), str(HERE.parents[4] / "ci")]
import both_ways
import program_text
import verdict_tables

NVCC, WARPCHECK = sys.argv[1:3]
BUILD, SOURCE = pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
TEXT = SOURCE.read_text()
FOUND = 66
table = verdict_tables.Table("defects", WARPCHECK)


def fail(*words):
    sys.exit(f"{SOURCE.name}: " + " ".join(str(word) for word in words))


def options(name):
    return [each for line in program_text.heads(TEXT, name) for each in line.split()]


def run(program, *arguments):
    results = [both_ways.run(WARPCHECK, compile, program.with_suffix(".json"), options("exec"),
                             program, arguments) for compile in ("never", "always")]
    if differs := both_ways.difference(*results):
        fail(*arguments, differs)
    table.add(SOURCE.stem, " ".join(arguments), results[0].findings(), verdict_tables.sources_of(SOURCE))
    return results[0]


def test_the_program(program):
    result = run(program)
    errors = [found for found in result.findings() if found["kind"] != "api-error"]
    if result.status != 0 or result.output.split()[-1:] != ["right"] or errors:
        fail("expected 'right' and no findings; status", result.status, "\n", result.output,
             result.messages)


def test_the_defect(program, name, kind, message):
    result = run(program, name)
    places = []
    for found in result.findings():
        # Without debug information, a message also names the code of a call.
        told = re.sub(r"; \(\d+\) is (\w+ )?in [^;]+\+0x[0-9a-f]+", "", found["message"])
        if (found["kind"], found["severity"]) != (kind, "error") or told != message:
            continue
        sides = [side for side in found["accesses"] if side["ptx"]]
        places.append({(pathlib.Path(side["file"]).name, side["line"]) for side in sides})
    marks = program_text.marks(TEXT)
    wanted = {(SOURCE.name, line) for word in (name, "") for line in marks.get(word, ())}
    # What the host alone does has no line in device code.
    is_found = any(place <= wanted and bool(place) == bool(wanted) for place in places)
    if result.status != FOUND or not is_found:
        fail("with", name, "expected status", FOUND, "and", kind, "at", sorted(wanted), "; found",
             places, "\n", result.output, result.messages)


os.makedirs(BUILD, exist_ok=True)
built = BUILD / SOURCE.stem
(arch,) = program_text.heads(TEXT, "arch") or ["compute_90"]
subprocess.run([NVCC, f"-gencode=arch={arch},code={arch}", "-std=c++17", "-lineinfo", SOURCE, "-o", built,
                *options("nvcc")], check=True)
test_the_program(built)
for defect in re.findall(r"^// defect (\w+): ([\w-]+); (.*)$", TEXT, re.MULTILINE):
    test_the_defect(built, *defect)
sys.exit("\n".join(table.problems({path.stem for path in SOURCE.parent.glob("*.cu")})) or 0)
