"""One program of this directory: programs_test.py NVCC WARPCHECK BUILD_DIRECTORY PROGRAM.cu

It is built by plain nvcc, as it is and with -DMUTANT, and both are run under `warpcheck exec`: the
program must compute what it should with no findings; the mutant must show the kinds that its header
names (`// expect: KIND, ...`), and at least one finding of the first kind at lines marked `//~`.

The first is linked with the shared runtime library, the mutant with the static one of the virtual
GPU.  A handful is linked once more as nvcc does by default, with the toolkit's static one.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

NVCC, WARPCHECK = sys.argv[1:3]
BUILD, SOURCE = pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
TEXT = SOURCE.read_text()
LIBRARIES = subprocess.run([WARPCHECK, "libdir"], check=True, capture_output=True,
                           text=True).stdout.strip()
FOUND = 66
# Programs that need a newer target say so: `// arch: compute_90`.
# Between them they have kernels that print, textures, streams, graphs, cooperative launches, thrust
# and CUB.
BY_DEFAULT = {"cub_scan", "graph", "grid_sync", "printf_malloc", "streams", "textures", "thrust_sort"}
ARCH = next(iter(re.findall(r"^// arch: (.*)$", TEXT, re.MULTILINE)), "compute_75")


def fail(*words):
    sys.exit(f"{SOURCE.name}: " + " ".join(str(word) for word in words))


def build(name, compile_options):
    """Compiled anew where its sources are newer."""
    compiled = BUILD / f"{name}.o"
    newest = max(each.stat().st_mtime for each in (SOURCE, SOURCE.with_name("check.hpp")))
    if not compiled.exists() or compiled.stat().st_mtime < newest:
        subprocess.run([NVCC, f"-arch={ARCH}", "-std=c++17", "-lineinfo", *compile_options, "-c",
                        SOURCE, "-o", compiled], check=True)
    return compiled


def linked(compiled, options):
    """As options say, and by default where that is tested too."""
    for link_options in [options, []] if SOURCE.stem in BY_DEFAULT else [options]:
        program = compiled.with_suffix("" if link_options else ".default")
        subprocess.run([NVCC, f"-arch={ARCH}", *link_options, compiled, "-o", program], check=True)
        yield program


def run(program):
    report = program.with_suffix(".json")
    result = subprocess.run([WARPCHECK, "exec", "--leaks", "--json", report, "--", program],
                            capture_output=True, text=True, cwd=SOURCE.parent, timeout=300)
    return result, json.loads(report.read_text()) if report.exists() else {"findings": []}


def errors(report):
    return [found for found in report["findings"] if found["severity"] == "error"]


def lines_of(finding):
    """Of its sides in this file; empty where one is elsewhere."""
    sides = [side for side in finding["accesses"] if side["ptx"]]
    if any(side["file"] != SOURCE.name for side in sides):
        return set()
    return {side["line"] for side in sides}


def test_the_program(program):
    result, report = run(program)
    printed = result.stdout.splitlines()
    if result.returncode != 0 or printed[-1:] != ["right"] or report["findings"]:
        fail("expected 'right' and no findings; status", result.returncode, "\n", result.stdout,
             result.stderr)
    # What a device prints is checked where a program says so.
    for line in re.findall(r"^// prints: (.*)$", TEXT, re.MULTILINE):
        if line not in printed:
            fail(f"expected the line '{line}' in\n", result.stdout)


def test_the_mutant(mutant):
    result, report = run(mutant)
    expected = re.search(r"^// expect: (.*)$", TEXT, re.MULTILINE).group(1).split(", ")
    marked = {i for i, line in enumerate(TEXT.splitlines(), 1) if "//~" in line}
    found = {finding["kind"] for finding in errors(report)}
    if result.returncode != FOUND or found != set(expected):
        fail("the mutant: expected", expected, "and status", FOUND, "; found", found, "and",
             result.returncode, "\n", result.stdout, result.stderr)
    places = [lines_of(each) for each in errors(report) if each["kind"] == expected[0]]
    if marked and not any(place and place <= marked for place in places):
        fail("the mutant: expected", expected[0], "at lines", marked, "; found", places, "\n",
             result.stderr)


os.makedirs(BUILD, exist_ok=True)
for each in linked(build(SOURCE.stem, []), ["-cudart", "shared"]):
    test_the_program(each)
for each in linked(build(f"{SOURCE.stem}_mutant", ["-DMUTANT"]), ["-L", LIBRARIES]):
    test_the_mutant(each)
