#!/usr/bin/env python3
"""fuzz/cases holds all that a hunt finds, so that a hunt leaves the tree as it is.

  hunt_cases_test.py WARPCHECK REPOSITORY

Hunts the specimens twice: from nothing, which must find no file that is not committed, and over a
copy of what is, which must change nothing.  Cases that an earlier hunt found stay.
"""
import filecmp
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile


def files(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.case"))


def main():
    warpcheck, committed = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]) / "fuzz" / "cases"
    listed = json.loads(subprocess.run([warpcheck, "list", "--json"], capture_output=True, check=True).stdout)
    specimens = ",".join(pair["name"] for pair in listed["pairs"] if pair["expects"])
    with tempfile.TemporaryDirectory() as directory:
        fresh, copy = pathlib.Path(directory) / "fresh", pathlib.Path(directory) / "copy"
        shutil.copytree(committed, copy)
        for cases in (fresh, copy):
            hunt = subprocess.run([warpcheck, "hunt", "--pairs", specimens, "--cases", str(cases)],
                                  text=True, stdout=subprocess.PIPE, check=False)
            if hunt.returncode != 0:
                sys.exit(hunt.stdout)
            if new := set(files(cases)) - set(files(committed)):
                sys.exit(f"not committed: {sorted(new)}")
        changed = [name for name in files(committed)
                   if not filecmp.cmp(committed / name, copy / name, shallow=False)]
        sys.exit(f"changed: {changed}" if changed else 0)


main()
