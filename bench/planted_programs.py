#!/usr/bin/env python3
"""Programs with one defect each (kernels/specimens/planted/programs): does `exec` name the cause, and does
`fix` find a patch that compiles, after which the program is right and silent?

    bench/planted_programs.py [--warpcheck build/warpcheck] [--nvcc nvcc] [--runs N] [NAME...]

Prints a row for each program: whether its first finding is that of the marked lines, the change that `exec` names,
and what `fix` makes: a patch, a named change of host code, or nothing.  Fails if a cause is not the planted one, or if
a patch is wrong.
"""
import argparse
import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77
LANDLOCK_CREATE_RULESET = 444
PROGRAMS = ROOT / "kernels/specimens/planted/programs"


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return done.returncode, done.stdout


def build(nvcc, folder, name):
    status, text = run([nvcc, "-lineinfo", "-w", "-arch=compute_90", "-o", name, name + ".cu"], folder)
    if status != 0:
        raise SystemExit(f"{name}: {text}")


def cause(warpcheck, folder, name, source):
    """What is wrong with the report of `exec`, and the change that it names."""
    kind, _, change = source.splitlines()[0].removeprefix("// ").partition(":")
    change = change.strip()
    run([warpcheck, "exec", "--json", "report.json", "--", "./" + name], folder)
    report = json.loads((folder / "report.json").read_text())
    finding = next(each for each in report["findings"] if "consequence_of" not in each)
    by_experiment = finding["grouped_by"] == "experiment"
    hint = finding["hint"] if by_experiment else ""
    marked = {number for number, line in enumerate(source.splitlines(), 1) if "//@" in line}
    lines = {side["line"] for side in finding["accesses"] if pathlib.Path(side.get("file", "")).name == name + ".cu"}
    wrong = []
    if finding["kind"] != kind:
        wrong.append(f"{finding['kind']} for {kind}")
    if not lines <= marked:
        wrong.append(f"lines {sorted(lines - marked)}")
    if change and not hint.startswith("with " + change):
        wrong.append(f"not '{change}'")
    return ", ".join(wrong), hint.removeprefix("with ").rsplit(", this", 1)[0]


def fix(arguments, folder, name):
    """'patch', 'host', '' and what is wrong with it."""
    status, text = run([arguments.warpcheck, "fix", "--runs", str(arguments.runs), "--", "./" + name], folder)
    if text.startswith("HOST CODE"):
        return "host", ""
    if status != 0:
        return "", ""
    (folder / "fix.out").write_text(text)
    status, told = run(["patch", "-p1", "--fuzz=0", "-i", "fix.out"], folder)
    if status != 0:
        return "patch", "does not apply: " + told.splitlines()[-1]
    build(arguments.nvcc, folder, name)
    for build_of in (["-lineinfo"], ["-G"]):
        status, told = run([arguments.nvcc, *build_of, "-w", "-arch=compute_90", "-o", name, name + ".cu"], folder)
        if status != 0:
            return "patch", "does not compile"
        status, told = run([arguments.warpcheck, "exec", "--runs", "4", "--causes", "0", "--", "./" + name], folder)
        if status != 0:
            return "patch", "still fails: " + next(iter(re.findall(r"========= (.*-.* on .*)", told)), f"status {status}")
    return "patch", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpcheck", default=str(ROOT / "build/warpcheck"))
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--runs", type=int, default=5, help="of a program with a patch, in each build and warp model")
    parser.add_argument("--no-fix", action="store_true", help="only causes")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    arguments.warpcheck = str(pathlib.Path(arguments.warpcheck).resolve())
    if ctypes.CDLL(None).syscall(LANDLOCK_CREATE_RULESET, None, 0, 1) < 3:
        print("this system has no experiments: they need landlock(7), from its version 3 on")
        return SKIPPED
    names = arguments.names or sorted(path.stem for path in PROGRAMS.glob("*.cu"))
    counts = {"cause": 0, "patch": 0, "host": 0, "wrong": 0}
    print(f"{'program':<26}{'cause':<8}{'fix':<8}change")
    for name in names:
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            (folder / ".git").mkdir()  # the names in patches begin here
            for file in (PROGRAMS / (name + ".cu"), PROGRAMS / "planted_program.hpp"):
                shutil.copy(file, folder)
            source = (folder / (name + ".cu")).read_text()
            build(arguments.nvcc, folder, name)
            wrong, change = cause(arguments.warpcheck, folder, name, source)
            fixed, wrong_fix = ("", "") if arguments.no_fix else fix(arguments, folder, name)
        counts["cause"] += not wrong
        counts["wrong"] += bool(wrong or wrong_fix)
        if fixed and not wrong_fix:
            counts[fixed] += 1
        told = "; ".join(text for text in (change, wrong, wrong_fix and "WRONG PATCH: " + wrong_fix) if text)
        print(f"{name:<26}{'WRONG' if wrong else 'ok':<8}{fixed or '-':<8}{told}", flush=True)
    print(f"{len(names)} programs: {counts['cause']} causes named, {counts['patch']} verified patches, "
          f"{counts['host']} changes of host code, {counts['wrong']} wrong")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
