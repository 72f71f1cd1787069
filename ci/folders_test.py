#!/usr/bin/env python3
"""Holds the folders to what docs/develop/architecture.md says of them.

  folders_test.py REPOSITORY

- The tree at the head of that page fits on one screen, and every folder that it names exists.
- Every folder that holds sources is in the tree, or the comment that the next CMakeLists.txt above it
  begins with names it; `*/` there stands for any.
- Every CMakeLists.txt below the root begins with a comment: what lives there, and what does not.
- No folder holds more than about 40 files.
- The page has the floors of ci/floors.txt.
"""
import pathlib
import re
import sys

from check_includes import floors_of

LINES_MAX = 56  # of the tree
FILES_MAX = 42  # of a folder with sources
TOP = ["bench", "campaign", "ci", "cli", "examples", "fuzz", "harness", "kernels", "model", "properties", "reference",
       "vgpu"]
SOURCES = {".cpp", ".hpp", ".cu", ".cuh"}
# What a folder's own project begins with, as its users see it.
PROJECTS_OF_USERS = {"examples/saxpy"}


def tree_of(page):
    """The lines of the tree, and the folders that it names.

    A line begins with one or several of them, "order/ race/".  Indentation says which folder they are in."""
    lines = next(block for block in re.findall(r"^```\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
                 if block.startswith("cli/")).splitlines()
    folders, above = set(), {}
    for line in lines:
        indent = len(line) - len(line.lstrip())
        parent = above.get(indent - 2, "")
        names = re.findall(r"\w+", re.match(r" *(?:\w+/ *)+", line).group(0))
        folders |= {parent + name for name in names}
        above[indent] = parent + names[0] + "/"
    return lines, folders


def head_of(cmake):
    """The comment that a CMakeLists.txt begins with."""
    return re.match(r"(?:#.*\n)*", cmake.read_text()).group(0)


def name_of(root, folder):
    return folder.relative_to(root).as_posix()


def named_above(root, folder):
    """Whether the next CMakeLists.txt above names it at its head."""
    for parent in folder.parents:
        if (parent / "CMakeLists.txt").is_file() and parent != root:
            below = folder.relative_to(parent).as_posix()
            names = rf"\b{re.escape(below)}/" + (r"|\*/" if folder.parent == parent else "")
            return re.search(names, head_of(parent / "CMakeLists.txt"))
    return name_of(root, folder) in PROJECTS_OF_USERS


def wrong_floors(page, floors):
    rows = {room: ", ".join(name for name, _ in of_room) for room, of_room in floors_of(floors).items()}
    return [f"docs/develop/architecture.md does not have the row | {room} | {names} |"
            for room, names in rows.items() if f"| {room.split('/')[-1]} | {names} |" not in page]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    lines, named = tree_of((root / "docs/develop/architecture.md").read_text())
    told = [f"docs/develop/architecture.md names {name}, which is no folder" for name in sorted(named)
            if not (root / name).is_dir()]
    if len(lines) > LINES_MAX:
        told.append(f"docs/develop/architecture.md: the tree has {len(lines)} lines, {LINES_MAX} at most expected")
    folders = [each for top in TOP for each in [root / top, *sorted((root / top).rglob("*"))] if each.is_dir()]
    for folder in folders:
        name = name_of(root, folder)
        files = [each for each in folder.iterdir() if each.is_file()]
        cmake = folder / "CMakeLists.txt"
        if cmake.is_file() and name not in PROJECTS_OF_USERS and len(head_of(cmake)) < 20:
            told.append(f"{name}/CMakeLists.txt does not begin with what lives there")
        if not any(each.suffix in SOURCES for each in files):
            continue
        if len(files) > FILES_MAX:
            told.append(f"{name} holds {len(files)} files, {FILES_MAX} at most expected")
        if name not in named and not named_above(root, folder):
            told.append(f"neither docs/develop/architecture.md nor the CMakeLists.txt above it names {name}")
    told += wrong_floors((root / "docs/develop/architecture.md").read_text(), (root / "ci/floors.txt").read_text())
    if not wrong_floors("| room | roof, cellar |", "room\n  cellar low/*\n  roof *\n"):
        told.append("folders_test.py does not find floors that are in the wrong order")
    print("\n".join(told) or f"{len(folders)} folders are as the page says")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
