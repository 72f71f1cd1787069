#!/usr/bin/env python3
"""pack_direction_numbers.py < new-joe-kuo-6.21201 > direction_numbers.bin

Packs the direction numbers of S. Joe and F. Y. Kuo (Constructing Sobol sequences with better
two-dimensional projections, SIAM J. Sci. Comput. 30, 2008), in the format of their file, for the
dimensions that cuRAND has.  Their file is under the BSD licence, and so is this one.

For each dimension from the second on: the primitive polynomial in 19 bits, and of its numbers m_1,
m_2 ... of 1, 2 ... bits all but the lowest bit, which is always set.  Least significant bits first.
"""
import sys

DIMENSIONS = 20000


def main():
    packed = used = 0
    rows = [[int(word) for word in line.split()] for line in sys.stdin.readlines()[1:DIMENSIONS]]
    for _, degree, inner, *numbers in rows:
        packed |= (1 << degree | inner << 1 | 1) << used
        used += 19
        for bits, number in enumerate(numbers):
            packed |= (number >> 1) << used
            used += bits
    sys.stdout.buffer.write(packed.to_bytes((used + 7) // 8, 'little'))


main()
