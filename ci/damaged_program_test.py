#!/usr/bin/env python3
"""Unreadable device code gives one line that names it, and status 2.

  damaged_program_test.py WARPCHECK

Each test damages a copy of the program: the fatbinaries that nvcc embedded (their layout:
vgpu/ptx/fatbinary.hpp), or the text of the unoptimised build.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

PAIR = "scan_hillis_steele"
MAGIC = struct.pack("<IHH", 0xBA55ED50, 1, 16)  # version, bytes of the header
LENGTH_AT = 8  # u64: of all entries
STORED_AT = 16 + 8  # u64, of the first entry
COMPRESSED_AT = 16 + 16  # u32


def fatbinaries(program):
    at = program.find(MAGIC)
    while at >= 0:
        yield at
        at = program.find(MAGIC, at + 1)


def cut_container(program):
    for at in fatbinaries(program):
        struct.pack_into("<Q", program, at + LENGTH_AT, 40)


def cut_entry(program):
    for at in fatbinaries(program):
        (length,) = struct.unpack_from("<Q", program, at + LENGTH_AT)
        struct.pack_into("<Q", program, at + STORED_AT, length + 1)


def cut_compressed_text(program):
    for at in fatbinaries(program):
        (size,) = struct.unpack_from("<I", program, at + COMPRESSED_AT)
        struct.pack_into("<I", program, at + COMPRESSED_AT, size - 1)


def change_text(old, new):
    def change(program):
        assert len(old) == len(new) and old in program
        program[:] = program.replace(old, new)
    return change


# The damage, the build that cannot be run, and the text of the line.
DAMAGES = [
    (cut_container, "optimized", "truncated entry at offset 16: 40 bytes are left, its header needs 64"),
    (cut_entry, "optimized", "truncated entry at offset 16: "),
    (cut_compressed_text, "optimized", "entry at offset 16: damaged Zstandard frame"),
    (change_text(b"\tbar.sync", b"\tbaz.sync"), "unoptimized", "unknown instruction 'baz.sync'"),
    (change_text(b"ld.param.", b"ld.parem."), "unoptimized", "ld.parem."),
]


def check(ran, output, says):
    lines = ran.stderr.splitlines()
    if (ran.returncode != 2 or ran.stdout or len(lines) != 1 or says not in lines[0] or
            not lines[0].startswith(f"warpcheck: {output}")):
        sys.exit(f"one line with {says} and status 2 expected, found status {ran.returncode} and\n"
                 f"{ran.stdout}{ran.stderr}")


def main():
    original = pathlib.Path(sys.argv[1]).read_bytes()
    with tempfile.TemporaryDirectory() as directory:
        program = pathlib.Path(directory) / "warpcheck"
        for damage, build, says in DAMAGES:
            damaged = bytearray(original)
            damage(damaged)
            program.write_bytes(damaged)
            program.chmod(0o755)
            ran = subprocess.run([program, "check", PAIR, "--build", build], cwd=directory,
                                 capture_output=True, text=True, check=False)
            check(ran, f"pair '{PAIR}' cannot be run: ", says)


main()
