"""The kernels of the samples in this folder, with what is written before them:

  // try: OPTIONS        `warpcheck kernel` is run with these options
  // refuse: WORDS       it refuses the kernel, with these words
  ... //~ KIND KIND      a finding of each kind names this line; no other line of the kernel has one
"""
import pathlib
import re
import shlex
import sys
from dataclasses import dataclass, field

FOLDER = pathlib.Path(__file__).resolve().parent


@dataclass
class Sample:
    file: pathlib.Path
    name: str
    options: list
    refusal: str = ""
    expected: set = field(default_factory=set)  # (kind, line)

    @property
    def kernel(self):
        """As a command names it."""
        if "--instantiate" in self.options:
            return self.options[self.options.index("--instantiate") + 1]
        return self.name


def samples_of(file):
    path = FOLDER / file
    lines = path.read_text().splitlines()
    found = []
    for at, line in enumerate(lines):
        marker = re.match(r"// (try|refuse):(.*)", line)
        if not marker:
            continue
        head = next(i for i in range(at, len(lines)) if "__global__" in lines[i])
        words = re.sub(r"__launch_bounds__\(\d+\)", "", " ".join(lines[head:head + 4]))
        name = re.search(r"(\w+)\(", words).group(1)
        is_tried = marker[1] == "try"
        sample = Sample(path, name, shlex.split(marker[2]) if is_tried else [],
                        "" if is_tried else marker[2].strip())
        for i in range(head, len(lines)):
            if lines[i] == "}":
                break
            kinds = re.search(r"//~ (.*)", lines[i])
            if kinds:
                sample.expected |= {(kind, i + 1) for kind in kinds[1].split()}
        found.append(sample)
    return found


def found_of(report, file):
    """What a report of `warpcheck kernel` found in this file."""
    return {(finding["kind"], side["line"]) for finding in report["findings"] if finding["severity"] == "error"
            for side in finding["accesses"] if side.get("file", "").endswith(pathlib.Path(file).name)}


def all_samples():
    return [sample for file in ("planted.cu", "data.cu", "language.cu") for sample in samples_of(file)]


if __name__ == "__main__":
    sys.exit("a module of bench/kernel_command.py")
