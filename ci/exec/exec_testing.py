"""Shared by tests of `warpcheck exec`: their arguments (WARPCHECK NVCC SOURCE_DIRECTORY), a
temporary directory, and a program that plain nvcc has built there.
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
# Programs that are started here inherit signals that are ignored, as nohup and background jobs of a
# shell ignore them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


class Source:
    """A source of ci/exec/, copied as `name`; the comments at the ends of its lines identify them."""

    def __init__(self, file, name):
        self.text = pathlib.Path(SOURCES, "ci", "exec", file).read_text()
        (HERE / name).write_text(self.text)

    def line_of(self, marker):
        return next(i for i, line in enumerate(self.text.splitlines(), 1) if f"// {marker}" in line)


LINKED = {"-cudart": 2, "-L": 2, "-Xlinker": 2}  # options of the linker alone, with their words


def build(source, name, *options):
    """The same source with the same options is compiled once, and linked for each call."""
    compiler, linker, rest = [], [], list(options)
    while rest:
        words = LINKED.get(rest[0], 1)
        (linker if words > 1 or rest[0].startswith("-l") else compiler).extend(rest[:words])
        del rest[:words]
    object_file = HERE / ("-".join([pathlib.Path(source).stem, *compiler]) + ".o")
    if not object_file.exists():
        subprocess.run([NVCC, "-arch=compute_75", "-lineinfo", "-I", pathlib.Path(SOURCES, "ci", "exec"), *compiler,
                        "-c", source, "-o", object_file], check=True, cwd=HERE)
    subprocess.run([NVCC, "-arch=compute_75", *linker, object_file, "-o", name], check=True, cwd=HERE)
    return f"./{name}"


def run(*words, **more):
    return subprocess.run([WARPCHECK, "exec", *words], cwd=HERE, capture_output=True, text=True,
                          timeout=120, **more)


def run_with_findings(program, mode):
    """The status and output of a program's mode, and its findings."""
    report = HERE / "report.json"
    report.unlink(missing_ok=True)
    result = run("--json", str(report), "--", program, mode)
    return result, json.loads(report.read_text())["findings"]


def findings_of(program, mode, expect):
    """The findings of a program's mode; checks the expected status of exec."""
    result, findings = run_with_findings(program, mode)
    assert result.returncode == expect, (result.returncode, result.stdout, result.stderr)
    return findings
