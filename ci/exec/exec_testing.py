"""The fixture of tests of `warpcheck exec` as a command: their arguments (WARPCHECK NVCC SOURCE_DIRECTORY), a
temporary directory, programs that plain nvcc builds there, and the table of what they show
(docs/develop/verdicts.md).
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile

WARPCHECK, NVCC, SOURCES = sys.argv[1:4]
LIBRARIES = subprocess.run([WARPCHECK, "libdir"], check=True, capture_output=True,
                           text=True).stdout.strip()
DIRECTORY = tempfile.TemporaryDirectory()
HERE = pathlib.Path(DIRECTORY.name)
SCRIPTS = pathlib.Path(SOURCES, "ci", "exec")
VERDICTS = pathlib.Path(SOURCES, "vgpu", "cudart", "programs", "verdicts")  # programs that scripts run as well
PROGRAMS = pathlib.Path(WARPCHECK).parent / "ci" / "exec" / "programs.o"  # made by the build
sys.path.append(str(SCRIPTS.parent))
import verdict_tables
# Programs that are started here inherit signals that are ignored, as nohup and background jobs of a
# shell ignore them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


class Source:
    """A source, copied as `name`; the comments at the ends of its lines identify them."""

    texts = {}  # by name

    def __init__(self, file, name):
        self.path = next(path for path in (SCRIPTS / file, VERDICTS / file) if path.exists())
        self.text = Source.texts[name] = self.path.read_text()
        (HERE / name).write_text(self.text)

    def line_of(self, marker):
        return next(i for i, line in enumerate(self.text.splitlines(), 1)
                    if f"// {marker}" in line or f"//~ {marker}" in line)


LINKED = {"-cudart": 2, "-L": 2, "-Xlinker": 2}  # options of the linker alone, with their words


def link(object_file, name, *options):
    subprocess.run([NVCC, "-arch=compute_75", *options, object_file, "-o", name], check=True, cwd=HERE)
    return f"./{name}"


def build(source, name, *options):
    """The same source with the same options is compiled once, and linked for each call."""
    compiler, linker, rest = [], [], list(options)
    while rest:
        words = LINKED.get(rest[0], 1)
        (linker if words > 1 or rest[0].startswith("-l") else compiler).extend(rest[:words])
        del rest[:words]
    object_file = HERE / ("-".join([pathlib.Path(source).stem, *compiler]) + ".o")
    if not object_file.exists():
        subprocess.run([NVCC, "-arch=compute_75", "-lineinfo", *compiler, "-c", source, "-o", object_file], check=True, cwd=HERE)
    return link(object_file, name, *linker)


def run(*words, causes="0", **more):
    # Causes have tests of their own (cli/fix/program_test.cpp); they take longer than most programs.
    return subprocess.run([WARPCHECK, "exec", "--causes", causes, *words], cwd=HERE, capture_output=True, text=True,
                          timeout=120, **more)


def run_that_is_timed_out(*words, until):
    """The result of a run that --timeout ends when it has come so far that its report contains `until`: on a busy
    machine that takes more than two seconds."""
    for seconds in ("2", "20", "60"):
        result = run("--timeout", seconds, *words)
        if until in result.stderr:
            break
    return result


class Verdicts:
    """A script's part of the table: rows of the runs that it reports to add(), compared by check() at its end."""

    def __init__(self, name):
        self.table = verdict_tables.Table("exec", WARPCHECK, name)

    def add(self, program, variant, findings):
        lines = {name: text.splitlines() for name, text in Source.texts.items()}
        self.table.add(program, variant, findings, lambda file: lines.get(pathlib.Path(file).name))

    def check(self):
        problems = self.table.problems_of_part()
        assert not problems, "\n".join(problems)


def run_with_findings(program, mode="", verdicts=None, options=(), **more):
    """The result of a program's mode, and its findings, which become rows of `verdicts`."""
    report = HERE / "report.json"
    report.unlink(missing_ok=True)
    words = [mode] if isinstance(mode, str) else list(mode)
    result = run("--json", str(report), *options, "--", program, *filter(None, words), **more)
    findings = json.loads(report.read_text())["findings"]
    if verdicts:
        verdicts.add(pathlib.Path(program).name, " ".join([*words, *options]).strip(), findings)
    return result, findings
