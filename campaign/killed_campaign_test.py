#!/usr/bin/env python3
"""A campaign over every second specimen and some clean pairs is killed a hundred times, at moments drawn
from a fixed seed, and then run to its end: stored data is never lost and never goes back to an earlier
stage, and in the end every expected defect is stored once, shrunk and confirmed.

usage: killed_campaign_test.py WARPCHECK REPOSITORY
"""
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from campaign_testing import expected_of_half, seed_corpora

KILLS = 100
LONGEST_SECONDS = 0.35
CLEAN = ["histogram_shared", "reduce_max", "scan_tree"]
STAGES = ["found", "shrunk", "confirmed"]


def stored(directory):
    """{(pair, hash): (kind, stage, executions)}, read as another process would."""
    store = directory / "warpcheck.db"
    if not store.exists():
        return {}
    with sqlite3.connect(store) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if database.execute("PRAGMA user_version").fetchone() == (0,):
            return {}  # killed before the schema existed
        rows = database.execute("SELECT pair, hash, kind, stage, found_at, found_text FROM findings")
        found = {row[:2]: row[2:] for row in rows.fetchall()}
    database.close()
    return found


def check_nothing_is_lost(before, after):
    for key, (kind, stage, *origin) in before.items():
        assert key in after, f"{key} was stored and is lost"
        assert after[key][0] == kind and list(after[key][2:]) == origin, f"{key} was stored again"
        assert STAGES.index(after[key][1]) >= STAGES.index(stage), f"{key} went back: {after[key]}"


def main():
    warpcheck, repository = sys.argv[1], pathlib.Path(sys.argv[2])
    expected = expected_of_half(warpcheck, 1)
    specimens = sorted({pair for pair, _ in expected})
    moments = random.Random(20260101)
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch) / "campaign"
        seed_corpora(directory, repository, specimens)
        command = [warpcheck, "campaign", str(directory), "--pairs", ",".join(specimens + CLEAN),
                   "--jobs", "2", "--shrink-trials", "300", "--stop-when-found"]
        before = {}
        growth = set()
        for _ in range(KILLS):
            process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(moments.uniform(0, LONGEST_SECONDS))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            after = stored(directory)
            check_nothing_is_lost(before, after)
            before = after
            growth.add(len(after))
        # All pairs at once: with two workers, most of the time would go to pairs whose findings are known.
        command[command.index("--jobs") + 1] = "8"
        final = subprocess.run(command, capture_output=True, text=True)
        assert final.returncode == 1, final
        after = stored(directory)
        check_nothing_is_lost(before, after)
        confirmed = {(pair, kind) for (pair, _), (kind, stage, *_) in after.items()
                     if stage == "confirmed"}
        assert expected <= confirmed, f"missing: {expected - confirmed}\n{final.stdout}"
        unexpected = {(pair, row[0]) for (pair, _), row in after.items()} - expected
        assert not unexpected, unexpected
        for pair, finding in after:
            assert (directory / "cases" / pair / f"{finding}.case").exists()
        print(f"{len(after)} findings; {len(growth)} states were killed; {len(before)} findings "
              "were stored before the last start")


if __name__ == "__main__":
    main()
