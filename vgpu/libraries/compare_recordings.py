#!/usr/bin/env python3
"""compare_recordings.py REAL OURS: the lines of two outputs of record_libraries that differ by more
than rounding in single precision, and how many do not.
"""

import itertools
import pathlib
import sys

RELATIVE = 2e-5


def is_near(a, b, scale):
    return abs(float(a) - float(b)) <= RELATIVE * max(1.0, scale)


def is_same(real, ours):
    name, real_values = real.rsplit(":", 1)
    other, our_values = ours.rsplit(":", 1)
    a, b = real_values.split(), our_values.split()
    scale = max((abs(float(value)) for value in a), default=0)
    return name == other and len(a) == len(b) and all(
        is_near(x, y, scale) for x, y in zip(a, b))


def main():
    real, ours = (pathlib.Path(path).read_text().splitlines() for path in sys.argv[1:3])
    pairs = list(itertools.zip_longest(real, ours, fillvalue="nothing:"))
    different = [pair for pair in pairs if not is_same(*pair)]
    for one, other in different:
        print(f"real {one}\nours {other}")
    print(f"{len(pairs) - len(different)} lines are the same, {len(different)} differ")
    return 1 if different else 0


sys.exit(main())
