#!/usr/bin/env python3
"""The gallery and README.md show the tool's output; the gallery for every specimen.

  gallery_test.py WARPCHECK REPOSITORY

Every block of these pages that ends with a replay command must be the output of that command, and
every pair that expects a finding must have such a block.
"""
import json
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```\n(FAIL .*?^replay: warpcheck replay (\S+)\n)```$", re.MULTILINE | re.DOTALL)


def main():
    warpcheck, repository = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    run = lambda *arguments: subprocess.run([warpcheck, *arguments], cwd=repository, text=True,
                                            capture_output=True, check=False)
    shown, wrong = set(), []
    pages = [repository / "README.md", *sorted((repository / "docs" / "use" / "gallery").glob("*.md"))]
    for page in pages:
        for block, case in BLOCK.findall(page.read_text()):
            shown.add(block.split()[1].split(".")[0])
            replayed = run("replay", case)
            if replayed.stdout != block:
                wrong.append(f"{page.name} shows\n{block}but the replay prints\n"
                             f"{replayed.stdout}{replayed.stderr}")
    pairs = json.loads(run("list", "--json").stdout)["pairs"]
    missing = {pair["name"] for pair in pairs if pair["expects"]} - shown
    if missing:
        wrong.append(f"no report of {', '.join(sorted(missing))}\n")
    sys.exit("\n".join(wrong) or 0)


main()
