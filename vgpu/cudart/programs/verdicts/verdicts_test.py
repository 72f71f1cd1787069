"""The programs of one area: verdicts_test.py NVCC WARPCHECK BUILD_DIRECTORY AREA [PROGRAM...]

Each *.cu of the area's folder is a whole program, and its comments say what `warpcheck exec` must
report of it, to the line:

  // build: -arch=compute_80 -lcuda     nvcc's options for all cases; the default is -arch=compute_75.
                                        -lineinfo (without -G) and -Xcompiler -g are always given;
                                        -no-lineinfo takes the former away
  // case late: -DKIND=1 | --runs 3 | 17       a case: its name; options of nvcc; those of exec; the
                                               program's arguments (the last two may be left out)
  // expect late: error barrier-divergence wait run     severity, kind, marks: every side with a line
                                        is at a line marked `//~ wait` or `//~ run`, and each mark has
                                        a side; without marks, the sides may be anywhere
  // expect late: error leak x3 helper  the finding counts three occurrences
  // expect late: clean                 nothing is found, notes included
  // says late: TEXT                    a message, the report on standard error, or the name of a header
                                        that a side is in contains TEXT
  // conceals late: TEXT                none of them does
  // prints late: LINE                  a line of the standard output; several come in this order
  // status late: 2                     the exit status, if it is not 66 with an error and 0 without
  // varies: WHY                        the interpreter and machine code agree on status and output only
  // also unoptimized: -G               each case once more, with these options of nvcc and the same verdict;
                                        that of `late` is called late_unoptimized
  // jobs: 2 4                          launches run on so many threads, those of `also` on the last number
                                        alone; one thread gives the same bytes
  // alone: WHY                         it is a translation unit of its own

Several lines add up; a finding that no line expects fails the test.  Programs with the same options of
nvcc are one translation unit (one_unit.py), and a program is in it once for all cases with the same macros.
A build is kept until a file that it includes, or its options, change.  Each case runs interpreted and as
machine code, and gives the same bytes.
"""

import concurrent.futures
import dataclasses
import hashlib
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path += [str(HERE.parents[1]), str(HERE.parents[4] / "ci")]
import both_ways
import one_unit
import program_text
import verdict_tables

FOUND = 66
BUILDS_AT_ONCE = 2
NO_LINES = "-no-lineinfo"  # no option of nvcc
WORDS = ("case", "expect", "says", "conceals", "prints", "status")  # of a case


@dataclasses.dataclass
class Expectation:
    severity: str
    kind: str
    marks: list
    count: int | None = None

    def fits(self, finding, places, marks):
        """Whether it expects this finding, whose sides are at these (file, line)."""
        if (finding["severity"], finding["kind"]) != (self.severity, self.kind):
            return False
        if self.count not in (None, finding["count"]):
            return False
        # A line that is marked twice serves either mark.
        wanted = [marks.get(mark, set()) for mark in self.marks]
        return not wanted or (all(lines & places for lines in wanted)
                              and places <= set().union(*wanted))


@dataclasses.dataclass
class Case:
    name: str
    nvcc: list
    exec: list
    arguments: list
    is_clean: bool = False
    is_again: bool = False  # by `also`
    expectations: list = dataclasses.field(default_factory=list)
    says: list = dataclasses.field(default_factory=list)
    conceals: list = dataclasses.field(default_factory=list)
    prints: list = dataclasses.field(default_factory=list)
    status: int | None = None


class Program:
    """A program, the cases of its comments, and what is wrong with these comments."""

    def __init__(self, path, text=None):
        self.path, self.name = path, path.stem
        self.text = path.read_text() if text is None else text
        self.build = [word for line in program_text.heads(self.text, "build")
                      for word in shlex.split(line)]
        self.varies = bool(program_text.heads(self.text, "varies"))
        self.is_alone = bool(program_text.heads(self.text, "alone"))
        self.jobs = [word for line in program_text.heads(self.text, "jobs") for word in line.split()]
        self.marks = program_text.marks(self.text)
        self.cases, self.problems = {}, []
        heads = re.findall(r"^// (\w+) (\w+):(?: +(.*?))?\s*$", self.text, re.MULTILINE)
        for _, name, rest in (head for head in heads if head[0] == "case"):
            parts = [shlex.split(part) for part in rest.split("|")] + [[], []]
            if name in self.cases:
                self.problems.append(f"two cases are called {name}")
            self.cases[name] = Case(name, *parts[:3])
        for word, name, rest in (head for head in heads if head[0] not in ("case", "also")):
            if name in self.cases:
                self.read(word, self.cases[name], rest)
            elif word in WORDS:
                self.problems.append(f"'{word} {name}': there is no case of that name")
        for _, suffix, options in (head for head in heads if head[0] == "also"):
            self.cases.update({f"{case.name}_{suffix}": dataclasses.replace(
                case, name=f"{case.name}_{suffix}", nvcc=[*case.nvcc, *shlex.split(options)], is_again=True)
                for case in list(self.cases.values())})
        self.judge_comments()

    def read(self, word, case, rest):
        if word == "expect" and rest == "clean":
            case.is_clean = True
        elif word == "expect" and re.match(r"(error|note) [\w-]+( |$)", rest):
            severity, kind, *marks = rest.split()
            count = int(marks.pop(0)[1:]) if marks and re.fullmatch(r"x\d+", marks[0]) else None
            case.expectations.append(Expectation(severity, kind, marks, count))
        elif word in ("says", "conceals", "prints"):
            getattr(case, word).append(rest)
        elif word == "status" and rest.isdigit():
            case.status = int(rest)
        else:
            self.problems.append(f"'{word} {case.name}: {rest}' cannot be read")

    def judge_comments(self):
        used = {mark for case in self.cases.values() for each in case.expectations
                for mark in each.marks}
        self.problems += [f"no line is marked '//~ {mark}'" for mark in sorted(used - set(self.marks))]
        self.problems += [f"'//~ {mark}' is expected by no case"
                          for mark in sorted(set(self.marks) - used)]
        self.problems += [f"case {case.name}: 'clean' or findings are expected, not "
                          + ("both" if case.is_clean else "neither")
                          for case in self.cases.values() if case.is_clean == bool(case.expectations)]
        if not self.cases:
            self.problems.append("it has no case")

    def places(self, finding):
        """The lines of its sides; a line of another file is that file's name with the line."""
        return {side["line"] if pathlib.Path(side["file"]).name == self.path.name
                else f"{side['file']}:{side['line']}"
                for side in finding["accesses"] if side["file"]}

    def judge(self, case, result):
        """What is wrong with this result of the case."""
        findings, expected = result.findings(), list(case.expectations)
        fitting = [[each for each in expected if each.fits(finding, self.places(finding), self.marks)]
                   for finding in findings]
        problems = [f"not expected: {found['severity']} {found['kind']} at "
                    f"{sorted(map(str, self.places(found)))}: {found['message']}"
                    for found, fit in zip(findings, fitting) if not fit]
        problems += [f"not found: {each.severity} {each.kind} {' '.join(each.marks)}"
                     for each in expected if not any(each in fit for fit in fitting)]
        said = "\n".join([result.messages, *(found["message"] for found in findings),
                          *(side.get("header", "") for found in findings for side in found["accesses"])])
        problems += [f"not said: {text}" for text in case.says if text not in said]
        problems += [f"said: {text}" for text in case.conceals if text in said]
        printed = iter(line.rstrip() for line in result.output.splitlines())
        problems += [f"not printed: {line}" for line in case.prints if line not in printed]
        status = case.status
        if status is None:
            status = FOUND if any(each.severity == "error" for each in expected) else 0
        if result.status != status:
            problems.append(f"status {result.status}, expected {status}")
        return problems


def options_of(program, case):
    """Of nvcc: those of a translation unit, and macros as "NAME" or "NAME=VALUE"."""
    given = program.build + case.nvcc
    macros = [word[2:] for word in given if word.startswith("-D")]
    others = [word for word in given if word != NO_LINES and not word.startswith("-D")]
    devices = [word for word in others if word.startswith("-arch")]  # of several, the last one counts
    if devices or not {"-gencode", "-gencode=", "--gpu-arch"} & set(others):
        others = [devices[-1] if devices else "-arch=compute_75", *(word for word in others if word not in devices)]
    return ("-std=c++17", *([] if {"-G", NO_LINES} & set(given) else ["-lineinfo"]), "-Xcompiler", "-g",
            "-I", str(program.path.parent), *others), tuple(macros)


def is_current(built, stamp, command):
    if not built.exists() or not stamp.exists() or stamp.read_text() != command:
        return False
    dependencies = built.with_suffix(".d").read_text().split(":", 1)[1].replace("\\\n", " ").split()
    return all(pathlib.Path(each).exists() and
               pathlib.Path(each).stat().st_mtime < built.stat().st_mtime for each in dependencies)


def build(nvcc, directory, options, parts):
    """Builds these parts unless that is done; returns the file, and what nvcc said if it failed."""
    is_unit = len(parts) > 1
    # In a namespace, a `main` without a return does not return 0.
    options = [*options, *(["-Xcompiler", "-Werror=return-type"] if is_unit
                           else (f"-D{macro}" for macro in parts[0].macros))]
    digest = hashlib.sha256(" ".join(options).encode()).hexdigest()[:8]
    built = directory / f"{'unit' if is_unit else parts[0].path.stem}-{digest}"
    source = built.with_suffix(".cu") if is_unit else parts[0].path
    if is_unit and (not source.exists() or source.read_text() != one_unit.unit(parts)):
        source.write_text(one_unit.unit(parts))
    stamp = built.with_suffix(".stamp")
    command = [nvcc, *options, str(source), "-o", str(built)]
    if is_current(built, stamp, shlex.join(command)):
        return built, ""
    built.unlink(missing_ok=True)
    result = subprocess.run([*command, "-MMD", "-MF", str(built.with_suffix(".d"))],
                            capture_output=True, text=True)
    if result.returncode == 0:
        stamp.write_text(shlex.join(command))
    return built, result.stderr if result.returncode else ""


def parts_of(unit):
    """unit: its cases, by their program and macros."""
    return [one_unit.Part(f"{program.name}_{i}" if macros else program.name, program.path, program.text, macros)
            for i, (program, macros) in enumerate(unit)]


def build_all(nvcc, directory, programs):
    """The file of each case, by (program, case), and there the name of its program if it is one of several;
    and problems."""
    directory.mkdir(parents=True, exist_ok=True)
    units = {}  # by what they are built with
    for program in programs:
        for case in program.cases.values():
            options, macros = options_of(program, case)
            unit = units.setdefault((options, (program.name, macros) if program.is_alone else ()), {})
            unit.setdefault((program, macros), []).append(case)
    files, problems = {}, []
    with concurrent.futures.ThreadPoolExecutor(BUILDS_AT_ONCE) as pool:
        results = pool.map(lambda item: build(nvcc, directory, item[0][0], parts_of(item[1])), units.items())
        for unit, (built, error) in zip(units.values(), results):
            if error:
                problems.append(f"nvcc failed\n{error}")
                continue
            files.update({(program.name, case.name): (built, part.name if len(unit) > 1 else "")
                          for part, ((program, _), cases) in zip(parts_of(unit), unit.items())
                          for case in cases})
    return files, problems


def run(warpcheck, program, case, built, part):
    """The result of the interpreted run, and what differs from machine code."""
    numbers = program.jobs[-1:] if case.is_again else program.jobs
    ways = [("never", []), ("always", [])] if not numbers else [
        ("never", ["--jobs", "1"]), *(("always", ["--jobs", jobs]) for jobs in numbers)]
    first, *others = (both_ways.run(warpcheck, compile, built.with_suffix(".json"), [*case.exec, *options],
                                    built, case.arguments, part, cwd=program.path.parent)
                      for compile, options in ways)
    return first, "\n".join(filter(None, (both_ways.difference(first, other, alone=program.varies)
                                          for other in others)))


def main(nvcc, warpcheck, directory, area, *names):
    warpcheck, area = (pathlib.Path(each).resolve() for each in (warpcheck, area))
    programs = [Program(path) for path in sorted(area.glob("*.cu"))
                if not names or path.stem in names]
    problems = [f"{program.path}: {problem}" for program in programs for problem in program.problems]
    problems += [f"{area} has no program {name}" for name in names
                 if name not in {program.name for program in programs}]
    directory = pathlib.Path(directory).resolve() / "verdicts" / area.name
    files, failed = build_all(nvcc, directory, programs)
    problems += failed
    table = verdict_tables.Table(f"verdicts_{area.name}", warpcheck)
    for program in programs:
        sources = verdict_tables.sources_of(program.path)
        for case in program.cases.values():
            if (program.name, case.name) not in files:
                continue
            result, differs = run(warpcheck, program, case, *files[program.name, case.name])
            table.add(program.name, case.name, result.findings(), sources)
            wrong = program.judge(case, result)
            if wrong or differs:
                problems.append("\n  ".join([f"{area.name}/{program.name}/{case.name}:", *wrong, differs])
                                + f"\n{result.output}{result.messages}")
    problems += table.problems({path.stem for path in area.glob("*.cu")})
    print(f"{area.name}: {len(programs)} programs, {sum(len(each.cases) for each in programs)} cases")
    return "\n".join(problems) or 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
