#!/usr/bin/env python3
"""Checks includes.

- They point one way, as the CMake list of directories does: each directory may include itself and
  those listed for it; kernels/ and reference/ include nothing of ours but their own headers.
- No header that a pair file includes, itself or through others, includes one of SLOW.
- Inside the rooms of ci/floors.txt no file includes one of a higher floor.
The last two checks also check themselves: they must find an include that is planted for them.
"""
import fnmatch
import pathlib
import re
import sys
import tempfile

ENGINE = ["vgpu/ptx", "vgpu/program", "vgpu/machine", "vgpu/schedule", "vgpu/check", "vgpu/cudart"]
MAY_INCLUDE = {
    "vgpu/ptx": [],
    "vgpu/program": ["vgpu/ptx"],
    "vgpu/symbolic": ["vgpu/ptx", "vgpu/program"],
    # schedule/ is below machine/, because the machine asks a strategy what to run next.
    "vgpu/schedule": [],
    "vgpu/machine": ["vgpu/ptx", "vgpu/program", "vgpu/schedule"],
    "vgpu/check": ENGINE[:4],
    "vgpu/cudart": ENGINE[:5],
    "vgpu/libraries": ["vgpu/cudart", "vgpu/schedule"],
    "vgpu/litmus": ENGINE,
    "vgpu/real": [],
    "vgpu/conformance": ENGINE[:4] + ["vgpu/real"],
    "vgpu/differential": ENGINE[:5] + ["vgpu/conformance", "vgpu/real"],
    "model": [],
    "model/compare": ENGINE + ["model"],
    "kernels": [],
    "reference": [],
    "harness": ENGINE,
    "properties": ["harness", "kernels", "reference"],
    "fuzz": ENGINE + ["harness", "properties"],
    "campaign": ENGINE + ["harness", "fuzz", "properties"],
    "cli": ENGINE + ["vgpu/symbolic", "vgpu/real", "model", "harness", "fuzz", "campaign"],
    "bench": ENGINE + ["harness", "kernels", "properties", "reference"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')

# What pair files include: all that an installed copy offers them, and what those of properties/ use.
PAIR_HEADER = "harness/warpcheck.hpp"
# They would be most of the time that a user waits after each edit of a pair.
SLOW = {"nlohmann/json.hpp": "harness/input/json_values.hpp has functions that write and read JSON"}
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def owner(path):
    return max((name for name in MAY_INCLUDE if path.startswith(name + "/")), key=len, default=None)


def includes_of(path):
    """The line numbers and the targets of all includes in a file."""
    lines = path.read_text().splitlines()
    return [(number, match.group(1)) for number, line in enumerate(lines, 1) if (match := ANY_INCLUDE.match(line))]


def slow_includes(root):
    """The includes of SLOW that a pair file would get."""
    pairs = [path.relative_to(root).as_posix() for path in sorted((root / "properties").rglob("*.cpp"))
             if not path.stem.endswith("_test")]
    included_by = dict.fromkeys([PAIR_HEADER, *pairs])
    waiting = list(included_by)
    errors = []
    for name in waiting:
        for number, target in includes_of(root / name):
            if target in SLOW:
                chain, parent = "", included_by[name]
                while parent:
                    chain, parent = f"{chain} <- {parent}", included_by[parent]
                errors.append(f"{name}:{number}: pair files must not include {target}, which takes long to compile; "
                              f"{SLOW[target]}{chain and f' ({name}{chain})'}")
            elif target not in included_by and (root / target).is_file():
                included_by[target] = name
                waiting.append(target)
    return errors


def planted_include_is_found():
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / "harness").mkdir()
        (root / "properties").mkdir()
        for name, included in {PAIR_HEADER: ["vector", "harness/a.hpp"], "harness/a.hpp": ["harness/b.hpp"],
                               "harness/b.hpp": ["string", "nlohmann/json.hpp"],
                               "properties/tree.cpp": ["harness/warpcheck.hpp"],
                               "properties/tree_test.cpp": ["nlohmann/json.hpp"]}.items():
            (root / name).write_text("".join(f'#include "{each}"\n' if "harness" in each else f"#include <{each}>\n"
                                             for each in included))
        told = slow_includes(root)
        return len(told) == 1 and told[0].startswith("harness/b.hpp:2: pair files must not include nlohmann/json.hpp") \
            and told[0].endswith("(harness/b.hpp <- harness/a.hpp <- harness/warpcheck.hpp)")


def floors_of(text):
    """{room: [(floor, patterns)]}, from the ground up."""
    rooms = {}
    for line in text.splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if not line.startswith(" "):
            floors = rooms[words[0]] = []
        elif line.startswith("   "):
            floors[-1][1].extend(words)
        else:
            floors.append((words[0], words[1:]))
    return rooms


def is_test(name):
    return "_test" in name or "/testing/" in name or "/programs/" in name


def upward_includes(root, rooms):
    """["FILE -> FILE: FLOOR includes the higher FLOOR"] of all rooms."""
    upward = []
    for room, floors in rooms.items():
        def floor_of(name):
            return next(i for i, (_, patterns) in enumerate(floors)
                        if any(fnmatch.fnmatch(name[len(room) + 1:], pattern) for pattern in patterns))
        for path in sorted((root / room).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in {".hpp", ".cpp"} or is_test(name):
                continue
            for _, target in includes_of(path):
                if target.startswith(room + "/") and not is_test(target) and floor_of(target) > floor_of(name):
                    upward.append(f"{name} -> {target}: {floors[floor_of(name)][0]} includes the higher "
                                  f"{floors[floor_of(target)][0]} (ci/floors.txt)")
    return upward


def planted_floors_are_found():
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / "room" / "low").mkdir(parents=True)
        (root / "room" / "low" / "a.hpp").write_text('#include "room/b.hpp"\n')
        (root / "room" / "b.hpp").write_text('#include "room/low/a.hpp"\n')
        rooms = floors_of("room\n  ground  low/*\n          none/*\n  top  *\n")
        return upward_includes(root, rooms) == [
            "room/low/a.hpp -> room/b.hpp: ground includes the higher top (ci/floors.txt)"]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    errors = []
    for name, allowed in MAY_INCLUDE.items():
        for path in sorted((root / name).rglob("*")):
            if path.suffix not in {".hpp", ".cpp", ".cu", ".cuh"}:
                continue
            relative = path.relative_to(root).as_posix()
            if owner(relative) != name:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                target = owner(match.group(1)) if match else None
                if target and target != name and target not in allowed:
                    errors.append(f"{relative}:{number}: {name} must not include {target}")
    errors += slow_includes(root)
    if not planted_include_is_found():
        errors.append("ci/check_includes.py does not find a planted include of nlohmann/json.hpp")
    errors += upward_includes(root, floors_of((root / "ci/floors.txt").read_text()))
    if not planted_floors_are_found():
        errors.append("ci/check_includes.py does not find a planted include of a higher floor")
    print("\n".join(errors) or "includes point one way, and pair files include no slow header")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
