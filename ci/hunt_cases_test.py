#!/usr/bin/env python3
"""fuzz/cases contains everything that a hunt finds, so that a hunt does not change the tree.

  hunt_cases_test.py WARPCHECK REPOSITORY

Hunts the specimens with a copy of the committed cases: no file may be added or changed.  Cases of earlier
hunts stay.  A hunt does not read existing cases.  What it finds are the verdicts of docs/develop/verdicts/hunt.txt.
"""
import filecmp
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import verdict_tables


def files(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.case"))


def verdicts(warpcheck, repository, pairs, report):
    """How the verdicts of these pairs differ from those of the table."""
    table = verdict_tables.Table("hunt", warpcheck)
    found = {finding["case"]: [] for finding in report["findings"]}
    for finding in report["findings"]:
        found[finding["case"]].append(finding)
    files = {side["file"]: repository / side["file"] for finding in report["findings"]
             for side in finding["accesses"] if (repository / side["file"]).is_file()}
    sources = verdict_tables.sources_of(*files.values())
    for failure in report["failures"]:
        table.add(failure["pair"], f"{failure['build']} {failure['warp_model']}", found[failure["case"]], sources)
    for pair in pairs - table.rows.keys():
        table.add(pair, "", [], sources)
    return table.problems(pairs)


def main():
    warpcheck, repository = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    committed = repository / "fuzz" / "cases"
    listed = json.loads(subprocess.run([warpcheck, "list", "--json"], capture_output=True, check=True).stdout)
    specimens = {pair["name"] for pair in listed["pairs"] if pair["expects"]}
    with tempfile.TemporaryDirectory() as directory:
        copy, report = pathlib.Path(directory) / "cases", pathlib.Path(directory) / "report.json"
        shutil.copytree(committed, copy)
        hunt = subprocess.run([warpcheck, "hunt", "--pairs", ",".join(sorted(specimens)), "--cases", str(copy),
                               "--json", str(report)], text=True, stdout=subprocess.PIPE, check=False)
        if hunt.returncode != 0:
            sys.exit(hunt.stdout)
        if new := set(files(copy)) - set(files(committed)):
            sys.exit(f"not committed: {sorted(new)}")
        changed = [name for name in files(committed)
                   if not filecmp.cmp(committed / name, copy / name, shallow=False)]
        if changed:
            sys.exit(f"changed: {changed}")
        problems = verdicts(warpcheck, repository, specimens, json.loads(report.read_text()))
        sys.exit("\n".join(problems) or 0)


main()
