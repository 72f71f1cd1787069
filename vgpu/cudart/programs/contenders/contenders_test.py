"""Missing orders that need one contender first: contenders_test.py NVCC WARPCHECK BUILD_DIRECTORY SEEDS

Every contest of the programs of this directory is run under `warpcheck exec --runs 10` from so many
seeds: the defect is found from each of them, at lines marked `//~`, as a data race; the default
schedule alone does not show it; its twin stays silent.
"""

import json
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[4] / "ci"))
import verdict_tables

NVCC, WARPCHECK = sys.argv[1:3]
BUILD, SEEDS = pathlib.Path(sys.argv[3]), int(sys.argv[4])
HERE = pathlib.Path(__file__).parent
FOUND = 66
problems = []
table = verdict_tables.Table("contenders", WARPCHECK)


def build(source):
    program = BUILD / f"contenders_{source.stem}"
    newest = max(each.stat().st_mtime for each in (source, HERE / "contenders.hpp"))
    if not program.exists() or program.stat().st_mtime < newest:
        subprocess.run([NVCC, "-arch=compute_75", "-std=c++17", "-lineinfo", "-cudart", "shared",
                        source, "-o", program], check=True)
    return program


def run(program, words, options):
    report = BUILD / "contenders.json"
    result = subprocess.run([WARPCHECK, "exec", "--causes", "0", "--json", report, *options, "--", program, *words],
                            capture_output=True, text=True, timeout=600)
    findings = json.loads(report.read_text())["findings"]
    return result, [each for each in findings if each["severity"] == "error"]


def check(program, name, marked, sources):
    def expect(is_so, words, result):
        if not is_so:
            problems.append(f"{name}: {words}\n{result.stderr}")

    result, errors = run(program, [name], [])
    expect(result.returncode == 0 and not errors, "the default schedule shows it", result)
    found = 0
    for number in range(SEEDS):
        options = ["--runs", "10", "--seed", str(1 + 100 * number)]
        result, errors = run(program, [name], options)
        if number == 0:
            table.add(name, "", errors, sources)
        lines = {side["line"] for error in errors for side in error["accesses"]}
        is_found = result.returncode == FOUND and errors
        found += bool(is_found)
        expect(is_found, f"nothing found by {options}", result)
        expect({error["kind"] for error in errors} <= {"data-race"} and lines <= marked,
               f"found elsewhere, at {lines}, by {options}", result)
        result, errors = run(program, [name, "fixed"], options)
        if number == 0:
            table.add(name, "fixed", errors, sources)
        expect(result.returncode == 0 and not errors, f"the twin is reported by {options}", result)
    print(f"{name}: found from {found} of {SEEDS} seeds")


contests = set()
for source in sorted(HERE.glob("*.cu")):
    marked = {i for i, line in enumerate(source.read_text().splitlines(), 1) if "//~" in line}
    program = build(source)
    for name in re.findall(r"^CONTEST\((\w+),", source.read_text(), re.MULTILINE):
        contests.add(name)
        check(program, name, marked, verdict_tables.sources_of(source))
problems += table.problems(contests)
sys.exit("\n".join(problems) if problems else 0)
