#!/usr/bin/env python3
"""Times steps back, and searches backwards, at the end of long runs in the debugger.

  bench/debug_backwards.py [--warpcheck build/warpcheck] [--elements N]

Debugs a case, a sort of N elements by one block (14,000: 16 million warp instructions; a case ends
after 20 million), and a program, debug_rounds.cu.  At the end of each run it goes back by an
instruction and by a line, to the last write of a word, and to where the last warp begins, which is
a search of nearly the whole run.  Prints the seconds that each command takes until its answer is
there, and the memory of the checkpoints (docs/develop/measurements.md).
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

MARK = "zz"  # no command has this name


class Session:
    def __init__(self, warpcheck, target):
        self.process = subprocess.Popen(
            [warpcheck, "debug", *target], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.ask("info breakpoints")

    def ask(self, command):
        """Returns the answer and the seconds until it was complete."""
        begin = time.monotonic()
        self.process.stdin.write(f"{command}\n{MARK}\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if f"unknown command '{MARK}'" in line:
                break
            lines.append(line)
        else:
            sys.exit("the debugger has ended: " + "".join(lines))
        return "".join(lines), time.monotonic() - begin

    def end(self):
        self.process.stdin.write("quit\n")
        self.process.stdin.close()
        self.process.wait()


def case_of(elements, file):
    numbers = random.Random(1)
    json.dump({
        "warpcheck_case": 1, "pair": "radix_sort",
        "input": {"in": [numbers.getrandbits(32) for _ in range(elements)],
                  "launch": {"grid": [1, 1, 1], "block": [256, 1, 1], "shared_bytes": 0}},
        "schedule": [],
        "settings": {
            "build": "optimized", "warp_model": "independent",
            "checkers": ["race", "bounds", "init", "barrier"],
            "steps_max": 20_000_000, "quantum": 4096, "resident_blocks": 32},
        "expected": {"kinds": [], "classes": []},
    }, file)
    file.flush()


def measure(name, warpcheck, target, kernel, watched):
    session = Session(warpcheck, target)
    session.ask("delete 1")  # findings
    print(f"{name}:")

    def show(what, command):
        answer, seconds = session.ask(command)
        position = re.search(r"position (\d+) of (\d+)", answer)
        where = f"at {int(position[1]):,} of {int(position[2]):,}" if position else answer.strip()
        print(f"  {what:50} {seconds:6.2f} s  {where}")

    show("run to the end", "continue")
    show("reverse-stepi", "reverse-stepi")
    show("reverse-stepi again", "reverse-stepi")
    show("reverse-next", "reverse-next")
    session.ask(f"watch {watched}")
    show("reverse-continue to the last write of a word", "reverse-continue")
    session.ask("delete 2")
    show("goto end", "goto end")
    session.ask(f"break {kernel}")
    show("reverse-continue to where the last warp begins", "reverse-continue")
    print("  " + session.ask("info checkpoints")[0].strip())
    session.end()


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--warpcheck", default="build/warpcheck")
    options.add_argument("--elements", type=int, default=14_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        with open(f"{directory}/long.case", "w") as file:
            case_of(given.elements, file)
        measure(f"a case: radix_sort of {given.elements:,} elements", given.warpcheck,
                [file.name], "radix_sort", "shared 0 4")
        program = f"{directory}/rounds"
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "debug_rounds.cu")
        subprocess.run(["nvcc", "-lineinfo", "-o", program, source], check=True)
        measure("a program: debug_rounds.cu", given.warpcheck, ["--", program], "rounds",
                "global 0xf0000000000 4")


if __name__ == "__main__":
    main()
