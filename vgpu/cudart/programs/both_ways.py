"""Runs a program under `warpcheck exec`, for a comparison of interpreted kernels with machine code."""

import dataclasses
import json
import re
import subprocess


@dataclasses.dataclass
class Result:
    status: int
    output: str
    messages: str  # without times
    report: str

    def findings(self):
        return json.loads(self.report)["findings"] if self.report else []


def run(warpcheck, compile, report, options, program, words=(), part="", **more):
    """part: its first word, which names a program of a translation unit of several (one_unit.py); what is
    reported is as if that were a program by itself."""
    report.unlink(missing_ok=True)
    result = subprocess.run(
        [warpcheck, "exec", "--causes", "0", "--compile", compile, *options, "--json", report, "--", program,
         *filter(None, [part]), *words], capture_output=True, text=True, timeout=120, **more)
    messages = re.sub("^.* thread instructions in .*\n", "", result.stderr, flags=re.MULTILINE)
    # The two ways may run two programs: it has a name in messages, and one in the report.
    text = report.read_text() if report.exists() else ""
    text = text.replace(f'"pair": "{program.name}"', '"pair": "PROGRAM"')
    return Result(result.returncode, result.stdout, *(
        each.replace(f"{program} {part}".strip(), "PROGRAM").replace(str(program), "PROGRAM")
        .replace(f"programs::{part}::", "") for each in (messages, text)))


def difference(interpreted, compiled, alone=False):
    """What differs, as text; empty: nothing. alone: compares what the program itself shows."""
    parts = ["status", "output"] if alone else ["status", "output", "messages", "report"]
    return "\n".join(f"{part} if interpreted: {getattr(interpreted, part)}\n"
                     f"as machine code: {getattr(compiled, part)}" for part in parts
                     if getattr(interpreted, part) != getattr(compiled, part))
