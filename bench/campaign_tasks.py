#!/usr/bin/env python3
"""The coverage of one campaign compared with that of four nodes that share the same CPU time.

  campaign_tasks.py WARPCHECK [CPU_SECONDS [RUNS [PAIR...]]]

RUNS (3) times, each with its own seed: a campaign of one worker, until it has used CPU_SECONDS (120) of
CPU time, then four nodes of one worker each that share a directory and use the same CPU time together, so
that other work on the machine does not matter.  Then a fresh campaign replays the corpora of both, and its
count of features is printed.
"""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TASKS = 4
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(sessions):
    """CPU seconds of the processes of these sessions, including those that have ended and were waited for."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) in sessions:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICK


def search(commands, seconds):
    """Runs the commands in parallel until they have used this many seconds of CPU time."""
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True) for command in commands]
    sessions = {process.pid for process in processes}
    used = 0
    while used < seconds:
        time.sleep(0.2)
        used = cpu_seconds(sessions)
        assert all(process.poll() is None for process in processes), "a search has ended by itself"
    for process in processes:
        process.send_signal(signal.SIGINT)
    for process in processes:
        assert process.wait() == 130, process.returncode
    return used


def features(warpcheck, directory, pairs):
    """The features that a fresh campaign counts that begins with all inputs of the directory, and the number
    of inputs that it keeps."""
    merged = subprocess.run([warpcheck, "campaign", directory, "--jobs", "1", "--runs", "1", *pairs],
                            capture_output=True, text=True)
    assert merged.returncode in (0, 1), merged
    with tempfile.TemporaryDirectory() as fresh:
        shutil.copytree(pathlib.Path(directory, "corpus"), pathlib.Path(fresh, "corpus"))
        ended = subprocess.run([warpcheck, "campaign", fresh, "--jobs", "1", "--runs", "1", *pairs],
                               capture_output=True, text=True)
        assert ended.returncode in (0, 1), ended
        with sqlite3.connect(pathlib.Path(fresh, "warpcheck.db")) as store:
            return store.execute("SELECT SUM(features), SUM(entries) FROM progress").fetchone()


def main():
    warpcheck = str(pathlib.Path(sys.argv[1]).resolve())
    seconds, runs = (int(word) for word in (sys.argv[2:4] + ["120", "3"][len(sys.argv[2:4]):]))
    pairs = ["--pairs", ",".join(sys.argv[4:])] if sys.argv[4:] else []
    for seed in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as shared:
            common = ["--jobs", "1", "--seed", str(seed), *pairs]
            used = search([[warpcheck, "campaign", one, *common]], seconds)
            used_by_tasks = search([[warpcheck, "campaign", shared, "--node", f"{task}/{TASKS}", *common]
                                    for task in range(1, TASKS + 1)], seconds)
            alone, entries = features(warpcheck, one, pairs)
            together, entries_together = features(warpcheck, shared, pairs)
        print(f"seed {seed}: one campaign {alone} features, {entries} entries ({used:.0f} s of CPU); "
              f"{TASKS} tasks {together} features, {entries_together} entries ({used_by_tasks:.0f} s); "
              f"ratio {together / alone:.3f}", flush=True)


main()
