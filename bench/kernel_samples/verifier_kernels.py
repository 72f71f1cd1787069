"""The kernels of verifiers/: small kernels as static verifiers are tried with, each a file of its own for a command.

  //== NAME [OPTIONS]         a kernel begins, and `warpcheck kernel` is run with these options
  ... //~ KIND                the finding of the wrong program names this line
  ... //twin: TEXT            the wrong twin has TEXT instead of the code of this line
  //xfail:BOOGIE_ERROR        the kernel is wrong as it stands, and has no twin
"""
import pathlib
import re
import shlex
from dataclasses import dataclass, field

FOLDER = pathlib.Path(__file__).resolve().parent / "verifiers"
LAUNCH = re.compile(r"^//--.*\n", re.MULTILINE)


@dataclass
class Program:
    name: str
    theme: str  # the file's
    is_wrong: bool
    text: str
    options: list
    expected: set = field(default_factory=set)  # (kind, line), of a wrong one

    @property
    def title(self):
        return f"{self.name} ({'wrong' if self.is_wrong else 'right'})"

    def without_launch(self):
        """The text without the comment that says the launch; its lines keep their numbers."""
        return LAUNCH.sub("//\n", self.text)


def code_of(line, is_twin):
    """A line as a program has it: without the marks."""
    code, _, twin = line.partition("//twin:")
    return (twin.strip() if is_twin and "//twin:" in line else code.partition("//~")[0]).rstrip()


def programs_of(path):
    sections = re.split(r"^//== (.*)\n", path.read_text(), flags=re.MULTILINE)[1:]
    for head, body in zip(sections[::2], sections[1::2]):
        name, *options = shlex.split(head)
        lines = body.splitlines()
        marks = {(kind, at + 1) for at, line in enumerate(lines) if "//~" in line
                 for kind in line.partition("//~")[2].partition("//")[0].split()}
        is_wrong = any(line.startswith("//xfail") for line in lines)
        for is_twin in [False, True] if "//twin:" in body else [False]:
            text = "\n".join(code_of(line, is_twin) for line in lines) + "\n"
            wrong = is_wrong or is_twin
            yield Program(name, path.stem, wrong, text, options, marks if wrong else set())


def all_programs():
    return [program for path in sorted(FOLDER.glob("*.cu")) for program in programs_of(path)]
