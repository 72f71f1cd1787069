"""The tables of verdicts, docs/develop/verdicts/SUITE.txt (docs/develop/verdicts.md): what each program of a suite shows.

A test adds the verdict of each program that it runs anyway, and compares them at its end.  The rows that it
has seen are kept in the build directory, in verdicts/SUITE/PROGRAM.txt; `ci/verdicts --accept` copies them from there.

A row is "PROGRAM VARIANT: clean" or "PROGRAM VARIANT: SEVERITY KIND SPACE: ROLE `SOURCE LINE`, ...".  A
line is named by its text, because its number changes with every line that is added above it.
"""

import pathlib
import re

TABLES = pathlib.Path(__file__).resolve().parents[1] / "docs" / "develop" / "verdicts"
TEXT_MAX = 60
PROGRAMS = "programs"  # a file that names all that there are


def line_text(line):
    """The code of a line, without comments, shortened."""
    code = " ".join(line.split("//", 1)[0].split())
    return code if len(code) <= TEXT_MAX else code[:TEXT_MAX - 3] + "..."


def place(lines, number):
    """The text of this line; from the second line of that text on, also which one it is."""
    texts = [line_text(line) for line in lines[:number]]
    count = texts.count(texts[-1]) if number <= len(lines) else 0
    return f"`{texts[-1]}`" + (f" #{count}" if count > 1 else "")


def side_text(side, sources):
    """sources: of a file, as findings name it, the lines; None for files that are nobody's here."""
    if not side["file"]:
        return side["role"]
    lines = sources(side["file"])
    where = pathlib.Path(side["file"]).name if lines is None else place(lines, side["line"])
    return f"{side['role']} {where}"


def verdict_text(finding, sources):
    sides = sorted({side_text(side, sources) for side in finding["accesses"]})
    words = [word for word in (finding["severity"], finding["kind"], finding["space"]) if word]
    return " ".join(words) + (": " + ", ".join(sides) if sides else "")


def sources_of(*paths):
    """Lines of these files, by their names."""
    lines = {path.name: path.read_text().splitlines() for path in paths}
    return lambda file: lines.get(pathlib.Path(file).name)


def read_rows(path):
    """The rows of each program of a table."""
    rows = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            rows.setdefault(re.split(r"[ :]", line, maxsplit=1)[0], set()).add(line)
    return rows


def write_table(path, suite, rows):
    head = f"# Verdicts of {suite}; docs/develop/verdicts.md says how to read and change this table.\n"
    path.write_text(head + "".join(f"{row}\n" for row in sorted(set().union(*rows.values()))))


def difference(accepted, seen):
    """Lines that say what differs."""
    return [f"  gone: {row}" for row in sorted(accepted - seen)] + [
        f"  new:  {row}" for row in sorted(seen - accepted)]


def differing(build):
    """(suite, program) to its accepted and its seen rows, where they differ in the last runs of tests."""
    found = {}
    for names in sorted((build / "verdicts").glob(f"*/{PROGRAMS}")):
        suite, programs = names.parent.name, names.read_text().split()
        accepted = read_rows(TABLES / f"{suite}.txt")
        seen = {name: set() for name in accepted if name not in programs}
        for file in names.parent.glob("*.txt"):
            if file.stem in programs:
                seen[file.stem] = set(file.read_text().splitlines())
        found.update({(suite, program): (accepted.get(program, set()), rows)
                      for program, rows in sorted(seen.items()) if accepted.get(program, set()) != rows})
    return found


class Table:
    """What the programs of a suite show in this run of its test.  Several tests may share a suite, each with a
    part of it; their programs are called PART.PROGRAM."""

    def __init__(self, suite, warpcheck, part=""):
        self.suite, self.rows = suite, {}
        self.prefix = f"{part}." if part else ""
        self.seen = pathlib.Path(warpcheck).resolve().parent / "verdicts" / suite

    def add(self, program, variant, findings, sources):
        verdicts = {verdict_text(finding, sources) for finding in findings} or {"clean"}
        self.add_verdicts(program, variant, verdicts)

    def add_verdicts(self, program, variant, verdicts):
        program = self.prefix + program
        name = f"{program} {variant}" if variant else program
        self.rows.setdefault(program, set()).update(f"{name}: {each}" for each in verdicts)

    def problems_of_part(self):
        """The same for this part, whose programs are those of this run."""
        names = {*read_rows(TABLES / f"{self.suite}.txt"), *(file.stem for file in self.seen.glob("*.txt"))}
        return self.problems({*self.rows, *(name for name in names if not name.startswith(self.prefix))})

    def problems(self, programs):
        """How this run's rows differ from the accepted ones; programs: the names of all that there are,
        of which this run may have left out some."""
        accepted = read_rows(TABLES / f"{self.suite}.txt")
        self.seen.mkdir(parents=True, exist_ok=True)
        for program, rows in self.rows.items():
            (self.seen / f"{program}.txt").write_text("".join(f"{row}\n" for row in sorted(rows)))
        (self.seen / PROGRAMS).write_text("".join(f"{name}\n" for name in sorted(programs)))
        gone = {name: set() for name in accepted if name not in programs}
        changed = {name: lines for name, rows in sorted({**self.rows, **gone}.items())
                   if (lines := difference(accepted.get(name, set()), rows))}
        if not changed:
            return []
        names = " ".join(f"{self.suite}/{name}" for name in changed)
        return [f"the verdicts are not those of docs/develop/verdicts/{self.suite}.txt:",
                *(line for lines in changed.values() for line in lines),
                f"if they are right, confirm them: ci/verdicts --accept {names}"]
