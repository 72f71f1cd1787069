#!/usr/bin/env python3
"""fuzz/cases contains everything that a hunt finds, so that a hunt does not change the tree.

  hunt_cases_test.py WARPCHECK REPOSITORY

Hunts the specimens with a copy of the committed cases: no file may be added or changed.  Cases of earlier
hunts stay.  A hunt does not read existing cases.
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
        copy = pathlib.Path(directory) / "cases"
        shutil.copytree(committed, copy)
        hunt = subprocess.run([warpcheck, "hunt", "--pairs", specimens, "--cases", str(copy)],
                              text=True, stdout=subprocess.PIPE, check=False)
        if hunt.returncode != 0:
            sys.exit(hunt.stdout)
        if new := set(files(copy)) - set(files(committed)):
            sys.exit(f"not committed: {sorted(new)}")
        changed = [name for name in files(committed)
                   if not filecmp.cmp(committed / name, copy / name, shallow=False)]
        sys.exit(f"changed: {changed}" if changed else 0)


main()
