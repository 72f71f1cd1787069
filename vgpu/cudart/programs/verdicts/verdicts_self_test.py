"""Tests verdicts_test.py: verdicts_self_test.py NVCC WARPCHECK BUILD_DIRECTORY

The cases of expectations/two_sides.cu are run once.  Their results fit its comments; they fit no copy
of these comments that expects something else.
"""

import pathlib
import sys

import verdicts_test

SOURCE = pathlib.Path(__file__).resolve().parent / "expectations" / "two_sides.cu"
# case: what stands in the text, and what else could stand there
WRONG = [
    ("right", "// expect right: clean", "// expect right: note data-race equal"),
    ("right", "// expect right: clean", "// expect right: clean\n// status right: 1"),
    ("right", "// prints right: right", "// prints right: righ"),
    ("missing", "error data-race store load\n// says", "clean\n// says"),
    ("missing", "error data-race store load\n// says", "note data-race store load\n// says"),
    ("missing", "error data-race store load\n// says", "error deadlock store load\n// says"),
    ("missing", "error data-race store load\n// says", "error data-race store\n// says"),
    ("missing", "error data-race store load\n// says", "error data-race store load equal\n// says"),
    ("missing", "error data-race store load\n// says", "error data-race x0 store load\n// says"),
    ("missing", "values[t] = t;  //~ store", "values[t] = t;\n//~ store"),
    ("missing", "// says missing: no", "// says missing: a"),
    ("missing", "// says missing", "// status missing: 0\n// says missing"),
    ("missing", "// says", "// expect missing: error trap\n// says"),
    ("same", "note data-race equal", "error data-race equal"),
    ("same", "note data-race equal", "clean"),
]
# Comments that are wrong in themselves.
UNREADABLE = [
    ("// case right: | | right\n", ""),
    ("// case right: | | right\n", "// case right: | | right\n// case right: | | wrong\n"),
    ("// case right: | | right\n", "// case right: | | right\n// case nothing: | | right\n"),
    ("// expect same", "// expect equal"),
    ("note data-race equal", "hint data-race equal"),
    ("// expect right: clean", "// expect right: clean\n// expect right: note data-race equal"),
    ("// expect right: clean", "// expects right: clean"),
    ("//~ equal", ""),
    ("//~ equal", "//~ equal other"),
]


def altered(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


def main(nvcc, warpcheck, directory):
    program = verdicts_test.Program(SOURCE)
    files, problems = verdicts_test.build_all(nvcc, pathlib.Path(directory), [program])
    results = {}
    for case in program.cases.values() if not problems else []:
        results[case.name], differs = verdicts_test.run(warpcheck, program, case,
                                                        *files[program.name, case.name])
        problems += [*program.problems, *program.judge(case, results[case.name]), *filter(None, [differs])]
    for name, old, new in WRONG if not problems else []:
        other = verdicts_test.Program(SOURCE, altered(program.text, old, new))
        if not other.judge(other.cases[name], results[name]):
            problems.append(f"{name} also fits {new}")
    for old, new in UNREADABLE:
        if not verdicts_test.Program(SOURCE, altered(program.text, old, new)).problems:
            problems.append(f"nothing is wrong with {new or 'a text without'} {old if not new else ''}")
    print(f"{len(results)} results, {len(WRONG) + len(UNREADABLE)} wrong expectations")
    return "\n".join(problems) or 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
