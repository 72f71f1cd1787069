#!/usr/bin/env python3
"""compare_recordings.py REAL OURS: the lines of two outputs of a program that records what libraries
answer, and that differ by more than rounding; and how many do not. Files may be compressed (.xz).
Lines are compared by name, so a recording that was made before some cases lacks their lines.

A line is "NAME: VALUES", where numbers may differ by rounding in single precision, or "NAME within
BOUND: VALUES", where they may differ by the sum of both lines' bounds. A value is a number, or
two with a comma for a complex one.
"""

import lzma
import pathlib
import sys

RELATIVE = 2e-5


def lines_of(path):
    path = pathlib.Path(path)
    data = path.read_bytes()
    if path.suffix == ".xz":
        data = lzma.decompress(data)
    return data.decode().splitlines()


def number(text):
    real, _, imaginary = text.partition(",")
    return complex(float(real), float(imaginary or 0))


def parsed(line):
    """(name, bound or None, values)"""
    head, _, values = line.partition(": ") if ": " in line else line.partition(":")
    name, _, bound = head.partition(" within ")
    return name, float(bound) if bound else None, [number(value) for value in values.split()]


def is_near(a, b, bound):
    return abs(a - b) <= bound or (a != a and b != b)


def is_same(real, ours):
    name, bound, values = parsed(real)
    other, other_bound, other_values = parsed(ours)
    if bound is None:
        scale = max((abs(value) for value in values), default=0)
        both = RELATIVE * max(1.0, scale)
    else:
        both = bound + (other_bound or 0)
    return name == other and len(values) == len(other_values) and all(
        is_near(a, b, both) for a, b in zip(values, other_values))


def by_name(lines):
    """Lines by name, and by how often it came before."""
    named, counts = {}, {}
    for line in lines:
        name = parsed(line)[0]
        counts[name] = counts.get(name, 0) + 1
        named[name, counts[name]] = line
    return named


def differing(real, ours):
    """The pairs of lines that differ, the number of compared ones, and of those that real lacks."""
    real, ours = by_name(real), by_name(ours)
    pairs = [(line, ours.get(key, "nothing:")) for key, line in real.items()]
    return ([pair for pair in pairs if not is_same(*pair)], len(pairs),
            len(ours.keys() - real.keys()))


def main():
    different, count, lacking = differing(*map(lines_of, sys.argv[1:3]))
    for one, other in different:
        print(f"real {one}\nours {other}")
    print(f"{count - len(different)} lines are the same, {len(different)} differ; "
          f"{lacking} are not recorded")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
