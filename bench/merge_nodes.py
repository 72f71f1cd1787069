#!/usr/bin/env python3
"""How long the campaign of a directory takes to merge the results of many nodes.

  merge_nodes.py WARPCHECK [NODES [ENTRIES [PAIR...]]]

Makes NODES (100) directories of ENTRIES (1,000) corpus entries each, all different, divided among the pairs
(all clean ones), then runs `campaign DIR` there and prints its time and that of reading and
writing the same files, in one run.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time


def entries_of(node, count):
    random_bytes = random.Random(node)
    return [random_bytes.randbytes(random_bytes.randrange(20, 400)) for _ in range(count)]


def main():
    warpcheck = sys.argv[1]
    nodes, entries = (int(word) for word in (sys.argv[2:4] + ["100", "1000"][len(sys.argv[2:4]):]))
    listed = json.loads(subprocess.run([warpcheck, "list", "--json"], check=True,
                                       capture_output=True).stdout)["pairs"]
    pairs = sys.argv[4:] or [pair["name"] for pair in listed if not pair["expects"]]
    with tempfile.TemporaryDirectory() as scratch:
        begin = time.monotonic()
        for node in range(1, nodes + 1):
            for number, entry in enumerate(entries_of(node, entries)):
                corpus = pathlib.Path(scratch, "nodes", str(node), "corpus", pairs[number % len(pairs)])
                corpus.mkdir(parents=True, exist_ok=True)
                (corpus / f"entry-{node}-{number}").write_bytes(entry)
        written = time.monotonic() - begin
        begin = time.monotonic()
        ended = subprocess.run([warpcheck, "campaign", scratch, "--pairs", ",".join(pairs)],
                               capture_output=True, text=True)
        merged = time.monotonic() - begin
        assert ended.returncode in (0, 1), ended
        kept = sum(1 for path in pathlib.Path(scratch, "corpus").glob("*/*"))
        print(f"{nodes} nodes of {entries} entries: {merged:.1f} s, {kept} entries kept; "
              f"writing the same files by Python took {written:.1f} s")


main()
