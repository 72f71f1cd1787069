#!/usr/bin/env python3
"""Rejects fixed names of temporary files: two runs at the same time would share them.

  temporary_names_test.py REPOSITORY

Tests in C++ use vgpu/cudart/testing/temporary_directory.hpp, tests in Python tempfile.TemporaryDirectory().
The test also checks itself: it must find every name that is planted for it.
"""
import pathlib
import re
import sys

TOP = ["bench", "campaign", "ci", "cli", "examples", "fuzz", "harness", "model", "properties", "vgpu"]
CPP = {".cpp", ".hpp", ".cu", ".cuh"}
# Their names come from mkdtemp().
UNIQUE = {"cli/exec/run_directory.cpp", "cli/kernel/temporary_files.hpp", "harness/gpu/gpu_run.cpp",
          "vgpu/cudart/testing/temporary_directory.hpp"}
FIXED = re.compile(r"\bTempDir\(|\btemp_directory_path\(|\bmk[ds]?temp\(|\btmp(nam|file)\(|\bgettempdir\("
                   r"|[\"'=]/(var/)?tmp\b")
OF_CPP = "use TemporaryDirectory of vgpu/cudart/testing/temporary_directory.hpp"
OF_PYTHON = "use tempfile.TemporaryDirectory()"
PLANTED = ["testing::TempDir() + \"a\"", "fs::temp_directory_path() / \"a\"", "open('/tmp/a')", "X=/tmp/a",
           "tempfile.gettempdir()", "tempfile.mktemp()", "std::tmpnam(name)", "::mkstemp(name)"]


def fixed_names(name, text):
    way = OF_CPP if pathlib.Path(name).suffix in CPP else OF_PYTHON
    return [f"{name}:{number}: {line.strip()}: {way}" for number, line in enumerate(text.splitlines(), 1)
            if FIXED.search(line)]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    told = [f"this test does not find {each}" for each in PLANTED if not fixed_names("planted.py", each)]
    for path in (path for top in TOP for path in sorted((root / top).rglob("*"))):
        name = path.relative_to(root).as_posix()
        if path.suffix in CPP | {".py"} and name not in UNIQUE and path.resolve() != pathlib.Path(__file__).resolve():
            told += fixed_names(name, path.read_text())
    print("\n".join(told) or "no temporary file has a fixed name")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
