#!/usr/bin/env python3
"""Checks how many sources are compiled again when a central table or type changes.

  compile_coupling_test.py REPOSITORY

For each file of LIMITS: of all .cpp files, production and tests, at most so many percent include it, themselves or
through headers.  If there are more, the test names the includes whose removal frees most sources.
A header that only names a type by pointer or reference declares it; an enum with a fixed underlying type can be
declared too (vgpu/ptx/vocabulary.hpp declares Opcode).
The test also tests itself: it must find an include that is planted for it.
"""
import collections
import pathlib
import re
import sys
import tempfile

LIMITS = {  # percent
    "vgpu/ptx/opcodes.def": 15,      # changes with every new instruction
    "vgpu/program/program.hpp": 40,  # what an instruction carries
}
FOLDERS = ["bench", "campaign", "cli", "fuzz", "harness", "kernels", "model", "properties", "reference", "vgpu"]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
NAMED = 8  # includes that a failure names


def includes_below(root):
    """{file: the files of ours that it includes}."""
    files = {path.relative_to(root).as_posix(): path for folder in FOLDERS for path in (root / folder).rglob("*")
             if path.suffix in {".cpp", ".hpp", ".def"}}
    included = {}
    for name, path in files.items():
        beside = pathlib.PurePosixPath(name).parent
        targets = INCLUDE.findall(path.read_text(errors="replace"))
        included[name] = {each for target in targets for each in (target, (beside / target).as_posix()) if each in files}
    return included


def includers_of(included):
    by_target = collections.defaultdict(set)
    for name, targets in included.items():
        for target in targets:
            by_target[target].add(name)
    return by_target


def dependents(by_target, header, without=None):
    """All files that include the header, themselves or through others, if the include `without` is gone."""
    found, waiting = {header}, [header]
    for target in waiting:
        for name in by_target[target]:
            if name not in found and (name, target) != without:
                found.add(name)
                waiting.append(name)
    return found


def sources(names):
    return {name for name in names if name.endswith(".cpp")}


def best_cuts(by_target, header):
    """The includes in headers whose removal frees most sources: [(freed, header, target)], best first."""
    found = dependents(by_target, header)
    cuts = [(name, target) for target in found for name in by_target[target] if not name.endswith(".cpp")]
    before = len(sources(found))
    freed = [(before - len(sources(dependents(by_target, header, without=cut))), *cut) for cut in cuts]
    return sorted(freed, key=lambda each: (-each[0], each))[:NAMED]


def errors_of(root, limits):
    included = includes_below(root)
    by_target = includers_of(included)
    total = len(sources(included))
    errors, counts = [], []
    for header, limit in limits.items():
        count = len(sources(dependents(by_target, header)))
        counts.append(f"{header}: {count} of {total} sources, {100 * count / total:.1f} %")
        if header not in included:
            errors.append(f"{header} does not exist: name the file that has its content today")
        elif 100 * count > limit * total:
            errors.append(f"{counts[-1]} include it, and at most {limit} % may; removed, these includes free most:")
            errors += [f"  {name} -> {target}: {freed}" for freed, name, target in best_cuts(by_target, header) if freed]
    return errors, counts


def planted_include_is_found():
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / "vgpu").mkdir()
        for name, target in {"vgpu/table.def": "", "vgpu/op.hpp": "vgpu/table.def", "vgpu/limits.hpp": "vgpu/op.hpp",
                             "vgpu/a.cpp": "vgpu/limits.hpp", "vgpu/b.cpp": "limits.hpp", "vgpu/c.cpp": "vgpu/op.hpp",
                             "vgpu/d.cpp": "string"}.items():
            (root / name).write_text(f'#include "{target}"\n' if target else "")
        told, _ = errors_of(root, {"vgpu/table.def": 50})
        allowed, counts = errors_of(root, {"vgpu/table.def": 75})
        return (told[0].startswith("vgpu/table.def: 3 of 4 sources, 75.0 % include it, and at most 50 % may")
                and told[1:] == ["  vgpu/op.hpp -> vgpu/table.def: 3", "  vgpu/limits.hpp -> vgpu/op.hpp: 2"]
                and allowed == [] and counts == ["vgpu/table.def: 3 of 4 sources, 75.0 %"])


def main():
    errors, counts = errors_of(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve(), LIMITS)
    if not planted_include_is_found():
        errors.append("ci/compile_coupling_test.py does not find a planted include")
    print("\n".join(errors or counts))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
