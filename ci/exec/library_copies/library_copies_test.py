"""CUB and thrust in a folder of the project, as CPM, FetchContent and submodules bring them, under
`warpcheck exec`: library_copies_test.py WARPCHECK NVCC SOURCE_DIRECTORY CUDA_INCLUDE.

The library is recognised by what it is: its findings are weighed, and its calls named, as those of the
toolkit's own copy.  A header of the program's own is none of it, whatever its folder and namespace are.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from exec_testing import HERE, NVCC, SOURCES, WARPCHECK

CUDA_INCLUDE = pathlib.Path(sys.argv[4])
FILES = pathlib.Path(SOURCES, "ci", "exec", "library_copies")
SOURCE = FILES / "library_copies.cu"
OWN_HEADER = FILES / "cub_sums.cuh"  # copied to a folder `cub`
# The folder of releases before 13 is the toolkit's include folder itself.
LIBRARY = CUDA_INCLUDE / "cccl" if (CUDA_INCLUDE / "cccl").exists() else CUDA_INCLUDE


def setUpModule():
    project = HERE / "project"
    for name in ("cub", "thrust", "cuda", "nv"):
        shutil.copytree(LIBRARY / name, project / "third_party" / name)
    (project / "cub").mkdir()
    shutil.copy(SOURCE, project / "program.cu")
    shutil.copy(OWN_HEADER, project / "cub" / "sums.cuh")
    for name, library in (("copy", ["-Ithird_party"]), ("toolkit", [])):
        subprocess.run([NVCC, "-arch=compute_80", "-lineinfo", "-Xcompiler", "-g", *library, "program.cu",
                        "-o", HERE / name], check=True, cwd=project)


def line_of(marker, source=SOURCE):
    lines = source.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"// {marker}"))


def findings(program, mode, status):
    report = HERE / "report.json"
    result = subprocess.run([WARPCHECK, "exec", "--json", str(report), "--", f"./{program}", mode],
                            cwd=HERE, capture_output=True, text=True, timeout=300)
    assert result.returncode == status, (result.returncode, result.stderr)
    return json.loads(report.read_text())["findings"]


def lines(finding):
    return {(pathlib.Path(side["file"]).name, side["line"]) for side in finding["accesses"]}


class Copies(unittest.TestCase):
    def test_known_patterns_are_notes(self):
        for program in ("copy", "toolkit"):
            for mode in ("remove", "unique"):
                with self.subTest(program=program, mode=mode):
                    found = findings(program, mode, 0)
                    self.assertTrue(found)
                    for each in found:
                        self.assertEqual((each["severity"], each["kind"]), ("note", "data-race"))

    def test_an_output_that_overlaps_the_input_is_an_error(self):
        for program in ("copy", "toolkit"):
            for mode in ("overlap", "overlap by key"):
                with self.subTest(program=program, mode=mode):
                    self.assertIn("data-race", [each["kind"] for each in findings(program, mode, 66)
                                                if each["severity"] == "error"])

    def test_a_variable_that_is_handed_to_them_is_the_programs(self):
        for program in ("copy", "toolkit"):
            with self.subTest(program=program):
                (found,) = findings(program, "unset", 66)
                self.assertEqual(found["kind"], "uninitialized-read")
                self.assertIn(("program.cu", line_of("unset")), lines(found))

    def test_a_failed_call_is_at_the_programs_line(self):
        for program in ("copy", "toolkit"):
            with self.subTest(program=program):
                (found,) = [each for each in findings(program, "failed call", 0)
                            if each["kind"] == "api-error"]
                self.assertEqual(lines(found), {("program.cu", line_of("failed call"))})


class OwnHeaders(unittest.TestCase):
    def test_a_race_is_at_the_header(self):
        found = findings("copy", "own header", 66)
        races = [each for each in found if each["kind"] == "data-race" and each["space"] == "shared"]
        self.assertTrue(races)
        for each in races:
            self.assertEqual(each["severity"], "error")
            self.assertLessEqual(lines(each), {("sums.cuh", line_of("own race", OWN_HEADER)),
                                               ("sums.cuh", line_of("own race", OWN_HEADER) + 1)})

    def test_a_variable_that_is_not_set_is_found(self):
        (found,) = findings("copy", "own unset", 66)
        self.assertEqual(found["kind"], "uninitialized-read")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
