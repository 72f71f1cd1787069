"""Tests compare_with_gpu.py, with runs without `exec` in place of a real GPU: equal outputs are equal,
lines that depend on the order are left out, and differences are named.

compare_with_gpu_test.py WARPCHECK SOURCE_DIRECTORY
"""

import pathlib
import subprocess
import sys
import tempfile

WARPCHECK, SOURCES = sys.argv[1:3]
# With $WARPCHECK_EXEC a program knows whether it runs under exec.
PROGRAM = """#!/bin/sh
case "$1" in
  "") echo alike ordered other dead ;;
  alike) echo "digests: $PROGRAM_DIGESTS"; echo right ;;
  ordered) date +%N; echo right ;;
  other) if [ -n "$WARPCHECK_EXEC" ]; then echo here; else echo there; fi ;;
  dead) [ -z "$WARPCHECK_EXEC" ] ;;
esac
"""
ROWS = ["| area/alike | 3 |  | the same |", "| area/ordered | 2 | 1 | the same |",
        "| area/other | 2 |  | 'there' there, 'here' here |",
        "| area/dead | 1 |  | 'status 0' there, 'status 1' here |"]

with tempfile.TemporaryDirectory() as directory:
    program = pathlib.Path(directory, "area", "default")
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    recording = pathlib.Path(directory, "recording.json")

    def compare_with_gpu(command, *words):
        return subprocess.run([sys.executable, f"{SOURCES}/ci/compare_with_gpu.py", command, directory,
                               recording, *words], capture_output=True, text=True)

    recorded = compare_with_gpu("record")
    assert recorded.returncode == 0, recorded
    compared = compare_with_gpu("compare", WARPCHECK)
    lines = compared.stdout.splitlines()
    assert compared.returncode == 1, compared
    assert lines[0].endswith("under `exec`: 2 are the same, 2 differ"), lines
    assert lines[4:] == ROWS, lines
