#!/usr/bin/env python3
"""Compares the output of the same executables on a real GPU and under `warpcheck exec`.

    compare_with_gpu.py record FOLDER RECORDING              on a machine with a GPU; needs nothing else
    compare_with_gpu.py compare FOLDER RECORDING WARPCHECK   anywhere

FOLDER contains the programs that ctest -L programs has built (build/vgpu/cudart/programs). AREA/default is
an executable that prints the names of its programs without an argument, and runs the program that an
argument names.  It carries PTX alone, which the driver compiles for its GPU.

Programs print their verdict and, with PROGRAM_DIGESTS set, a digest of each buffer of results
(check.hpp), so that results are compared to the bit.  Each runs several times on both sides: lines that
differ between runs of one side depend on the order of threads, and are left out.
`compare` writes a table in Markdown; status 1: something differs.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

RUNS = 3
TIME_S = 120


def run(command, **more):
    """A program's output as lines, with its status as an additional line."""
    environment = {**os.environ, "PROGRAM_DIGESTS": "1"}
    try:
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                errors="replace", env=environment, timeout=TIME_S, check=False, **more)
    except subprocess.TimeoutExpired:
        return [f"not done in {TIME_S} seconds"]
    return [*result.stdout.splitlines(), f"status {result.returncode}"]


def steady(runs):
    """The lines that are the same in all runs, None where they differ; only the status if the runs have
    different numbers of lines."""
    if len({len(lines) for lines in runs}) != 1:
        runs = [lines[-1:] for lines in runs]
    return [lines[0] if len(set(lines)) == 1 else None for lines in zip(*runs)]


def areas_of(folder):
    return {path.parent.name: path for path in sorted(pathlib.Path(folder).glob("*/default"))}


def name_of_gpu():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def record(arguments):
    recorded = {}
    for area, executable in areas_of(arguments.folder).items():
        names = subprocess.run([executable], capture_output=True, text=True, check=True).stdout.split()
        for name in names:
            recorded[f"{area}/{name}"] = steady([run([executable, name]) for _ in range(RUNS)])
            print(f"{area}/{name}: {recorded[f'{area}/{name}'][-1]}", flush=True)
    what = {"gpu": name_of_gpu(), "programs": recorded}
    pathlib.Path(arguments.recording).write_text(json.dumps(what, indent=1) + "\n")
    return 0


def difference(real, ours):
    """The number of compared lines, and the first difference; '' if there is none."""
    if 1 in (len(real), len(ours)):
        real, ours = real[-1:], ours[-1:]
    if len(real) != len(ours):
        return 0, f"{len(real)} lines there, {len(ours)} here"
    pairs = [pair for pair in zip(real, ours) if None not in pair]
    for there, here in pairs:
        if there != here:
            return len(pairs), f"'{there}' there, '{here}' here"
    return len(pairs), ""


def compare(arguments):
    recording = json.loads(pathlib.Path(arguments.recording).read_text())
    areas = areas_of(arguments.folder)
    seeds = [["--strategy", "random", "--seed", str(seed)] for seed in range(1, RUNS)]
    rows, different = [], 0
    for title, real in recording["programs"].items():
        area, name = title.split("/")
        if area not in areas:
            sys.exit(f"{arguments.folder} lacks {area}/default, which the recording has")
        ours = steady([run([arguments.warpcheck, "exec", "--error-exitcode", "0", *schedule, "--",
                            areas[area], name]) for schedule in ([], *seeds)])
        count, what = difference(real, ours)
        left_out = sum(None in pair for pair in zip(real, ours))
        different += bool(what)
        rows.append(f"| {title} | {count} | {left_out or ''} | {what or 'the same'} |")
    print(f"Programs on {recording['gpu']} and under `exec`: "
          f"{len(rows) - different} are the same, {different} differ\n")
    print("| program | lines compared | that depend on order | result |\n|---|---|---|---|")
    print("\n".join(rows))
    return 1 if different else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for function in (record, compare):
        command = commands.add_parser(function.__name__)
        command.set_defaults(function=function)
        command.add_argument("folder")
        command.add_argument("recording")
        if function is compare:
            command.add_argument("warpcheck")
    arguments = parser.parse_args()
    return arguments.function(arguments)


sys.exit(main())
