"""A program of several files: linked_test.py NVCC WARPCHECK BUILD_DIRECTORY

library.cu goes into a static library of relocatable device code, main.cu and the C file are linked
with it as nvcc does by default.  Under `warpcheck exec` the program is right and nothing is found;
with the library built with -DMUTANT, what its header names (`// expect: KIND`) is found at the line
marked `//~`.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[4] / "ci"))
import verdict_tables

NVCC, WARPCHECK = sys.argv[1:3]
BUILD = pathlib.Path(sys.argv[3]) / "linked"
HERE = pathlib.Path(__file__).parent
FOUND = 66
table = verdict_tables.Table("linked", WARPCHECK)


def nvcc(*words):
    subprocess.run([NVCC, "-arch=compute_75", "-lineinfo", *words], check=True)


def run(name, options):
    """The program with its library built by these options: what it printed, what was found."""
    library = BUILD / f"lib{name}.a"
    nvcc("-rdc=true", *options, "-c", HERE / "library.cu", "-o", BUILD / f"{name}.o")
    nvcc("-lib", BUILD / f"{name}.o", "-o", library)
    nvcc("-rdc=true", BUILD / "main.o", BUILD / "host.o", library, "-o", BUILD / name)
    report = BUILD / f"{name}.json"
    result = subprocess.run([WARPCHECK, "exec", "--causes", "0", "--leaks", "--json", report, "--", BUILD / name],
                            capture_output=True, text=True, cwd=HERE, timeout=300)
    findings = json.loads(report.read_text())["findings"]
    table.add("linked", name, findings, verdict_tables.sources_of(*HERE.glob("*.cu")))
    return result, findings


os.makedirs(BUILD, exist_ok=True)
nvcc("-rdc=true", "-c", HERE / "main.cu", "-o", BUILD / "main.o")
nvcc("-c", HERE / "host.c", "-o", BUILD / "host.o")

result, findings = run("program", [])
if result.returncode != 0 or result.stdout.splitlines()[-1:] != ["right"] or findings:
    sys.exit(f"expected 'right' and no findings\n{result.stdout}{result.stderr}")

result, findings = run("mutant", ["-DMUTANT"])
text = (HERE / "library.cu").read_text()
expected = re.search(r"^// expect: (.*)$", text, re.MULTILINE).group(1)
marked = {i for i, line in enumerate(text.splitlines(), 1) if "//~" in line}
places = {(each["kind"], side["file"], side["line"]) for each in findings
          for side in each["accesses"]}
if result.returncode != FOUND or places != {(expected, "library.cu", line) for line in marked}:
    sys.exit(f"the mutant: expected {expected} at lines {marked}, found {places}\n{result.stderr}")
sys.exit("\n".join(table.problems({"linked"})) or 0)
