#!/usr/bin/env python3
"""Programs with one defect each, does `exec` name the cause, and does `fix` find a patch that compiles, after which
the program is right and silent?  They are those below kernels/specimens/planted/programs, and one for each kernel of
kernels/specimens/planted/one_defect.cu.

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
KERNELS = ROOT / "kernels/specimens/planted/one_defect.cu"
ROW = re.compile(r'ONE_DEFECT\((\w+), "([^"]*)", (\w+), "([^"]*)"\)')
MAIN = """
int main() {
  std::vector<int> in, out(64);
  for (int i = 0; i < 64; ++i) in.push_back((7 * i + 3) %% 16);
  const std::size_t bytes = in.size() * sizeof(int);
  int *device_in = nullptr, *device_out = nullptr;
  cudaMalloc(&device_in, bytes);
  cudaMalloc(&device_out, bytes);
  cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemset(device_out, 0, bytes);
  if (%s(device_in, device_out, 64) != cudaSuccess) return 2;
  cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_in);
  cudaFree(device_out);
  return out == one_defect_results::%s(in) ? 0 : 1;
}
"""


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return done.returncode, done.stdout


def build(nvcc, folder, name):
    status, text = run([nvcc, "-lineinfo", "-w", "-arch=compute_90", "-o", name, name + ".cu"], folder)
    if status != 0:
        raise SystemExit(f"{name}: {text}")


def kernel_rows():
    """Of one_defect.def, by the names of programs."""
    return {row[0] + "_kernel": row for row in ROW.findall(KERNELS.with_suffix(".def").read_text())}


def program_of(name, kind, result, change):
    """One kernel of one_defect.cu, what it needs there, and a main program that checks the result."""
    text = KERNELS.read_text()
    launch = dict(re.findall(r'\{"(\w+)", (\w+)\}', text)).get(name)
    if launch is None:
        macro = re.search(rf"\b([A-Z_]+)\({name}\)", text)[1]
        launch = f"{macro.lower()}<{name}>"
    # Definitions stand between empty lines.
    parts = [part for part in re.split(r"\n\n+", text.split("namespace {\n", 1)[1]) if not part.startswith("// ---")]
    parts = [re.sub(r"^// ---.*\n(// --+\n)?", "", part) for part in parts]
    defines = re.compile(r"^(?:__global__ void (?:__cluster_dims__\S+ \S+ \S+ )?|__device__ [\w:]+ |struct |using |"
                         r"cudaError_t |constexpr int )(\w+)", re.MULTILINE)
    wanted, words = set(), set(re.findall(r"\w+", launch))
    while True:
        more = {i for i, part in enumerate(parts) if words & set(defines.findall(part))} - wanted
        if not more:
            break
        wanted |= more
        words |= {word for i in more for word in re.findall(r"\w+", parts[i])}
    kernels = "\n\n".join(parts[i] for i in sorted(wanted))
    needs = {"cooperative_groups.h": "cooperative_groups::", "cuda_pipeline.h": "__pipeline_", "cstdint": "std::uint"}
    includes = "".join(f"#include <{header}>\n" for header, use in needs.items() if use in kernels)
    return (f'// {kind}: {change}\n#include "results.hpp"\n\n{includes}\nnamespace {{\n\n{kernels}\n\n}}  // namespace\n'
            + MAIN % (launch, result))


def write(folder, name):
    """The program's files; returns its source."""
    rows = kernel_rows()
    if name in rows:
        shutil.copy(ROOT / "reference/one_defect.hpp", folder / "results.hpp")
        (folder / (name + ".cu")).write_text(program_of(*rows[name]))
    else:
        for file in (next(PROGRAMS.rglob(name + ".cu")), PROGRAMS / "planted_program.hpp"):
            shutil.copy(file, folder)
    return (folder / (name + ".cu")).read_text()


def devices_of(source):
    """Options for a program that needs several devices: its second line says how many."""
    line = source.splitlines()[1]
    return ["--devices", line.rsplit(" ", 1)[1]] if line.startswith("// devices: ") else []


def cause(warpcheck, folder, name, source):
    """What is wrong with the report of `exec`, and the change that it names."""
    kind, _, change = source.splitlines()[0].removeprefix("// ").partition(":")
    change = change.strip()
    leaks = ["--leaks"] if kind == "leak" else []
    run([warpcheck, "exec", *leaks, *devices_of(source), "--json", "report.json", "--", "./" + name], folder)
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


def fix(arguments, folder, name, source):
    """'patch', 'host', '' and what is wrong with it."""
    devices = devices_of(source)
    status, text = run([arguments.warpcheck, "fix", *devices, "--runs", str(arguments.runs), "--", "./" + name], folder)
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
        status, told = run([arguments.warpcheck, "exec", *devices, "--runs", "4", "--causes", "0", "--", "./" + name],
                           folder)
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
    names = arguments.names or sorted(path.stem for path in PROGRAMS.rglob("*.cu")) + list(kernel_rows())
    counts = {"cause": 0, "patch": 0, "host": 0, "wrong": 0}
    print(f"{'program':<36}{'cause':<8}{'fix':<8}change")
    for name in names:
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            (folder / ".git").mkdir()  # the names in patches begin here
            source = write(folder, name)
            build(arguments.nvcc, folder, name)
            wrong, change = cause(arguments.warpcheck, folder, name, source)
            fixed, wrong_fix = ("", "") if arguments.no_fix else fix(arguments, folder, name, source)
        counts["cause"] += not wrong
        counts["wrong"] += bool(wrong or wrong_fix)
        if fixed and not wrong_fix:
            counts[fixed] += 1
        told = "; ".join(text for text in (change, wrong, wrong_fix and "WRONG PATCH: " + wrong_fix) if text)
        print(f"{name:<36}{'WRONG' if wrong else 'ok':<8}{fixed or '-':<8}{told}", flush=True)
    print(f"{len(names)} programs: {counts['cause']} causes named, {counts['patch']} verified patches, "
          f"{counts['host']} changes of host code, {counts['wrong']} wrong")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
