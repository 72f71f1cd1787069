"""CUB and thrust in a folder of the project, as CPM, FetchContent and submodules bring them, under
`warpcheck exec`: library_copies_test.py WARPCHECK NVCC SOURCE_DIRECTORY CUDA_INCLUDE.

The library is recognised by what it is: its findings are weighed, and its calls named, as those of the
toolkit's own copy, which vgpu/cudart/programs/verdicts/reach/library_algorithms.cu is built with.  A header of
the program's own is none of it, whatever its folder and namespace are.
"""

import pathlib
import shutil
import subprocess
import sys
import unittest

from exec_testing import HERE, NVCC, Source, Verdicts, run_with_findings

CUDA_INCLUDE = pathlib.Path(sys.argv[4])
SOURCE = Source("reach/library_algorithms.cu", "program.cu")
OWN_HEADER = Source("reach/cub/sums.cuh", "sums.cuh")
# The folder of releases before 13 is the toolkit's include folder itself.
LIBRARY = CUDA_INCLUDE / "cccl" if (CUDA_INCLUDE / "cccl").exists() else CUDA_INCLUDE
VERDICTS_SEEN = Verdicts("library_copies")


def setUpModule():
    project = HERE / "project"
    for name in ("cub", "thrust", "cuda", "nv"):
        shutil.copytree(LIBRARY / name, project / "third_party" / name)
    (project / "cub").mkdir()
    shutil.copy(SOURCE.path, project / "program.cu")
    shutil.copy(OWN_HEADER.path, project / "cub" / "sums.cuh")
    subprocess.run([NVCC, "-arch=compute_80", "-lineinfo", "-Xcompiler", "-g", "-Ithird_party", "program.cu",
                    "-o", HERE / "copy"], check=True, cwd=project)


def tearDownModule():
    VERDICTS_SEEN.check()


def findings(mode, status):
    result, found = run_with_findings("./copy", mode, VERDICTS_SEEN)
    assert result.returncode == status, (result.returncode, result.stderr)
    return found


def lines(finding):
    return {(pathlib.Path(side["file"]).name, side["line"]) for side in finding["accesses"]}


class Copies(unittest.TestCase):
    def test_known_patterns_are_notes(self):
        for mode in ("remove", "unique"):
            with self.subTest(mode):
                found = findings(mode, 0)
                self.assertTrue(found)
                for each in found:
                    self.assertEqual((each["severity"], each["kind"]), ("note", "data-race"))

    def test_an_output_that_overlaps_the_input_is_an_error(self):
        for mode in ("overlap", "overlap by key"):
            with self.subTest(mode):
                self.assertIn("data-race", [each["kind"] for each in findings(mode, 66)
                                            if each["severity"] == "error"])

    def test_a_variable_that_is_handed_to_them_is_the_programs(self):
        (found,) = findings("unset", 66)
        self.assertEqual(found["kind"], "uninitialized-read")
        self.assertIn(("program.cu", SOURCE.line_of("unset")), lines(found))

    def test_a_failed_call_is_at_the_programs_line(self):
        (found,) = [each for each in findings("failed call", 0) if each["kind"] == "api-error"]
        self.assertEqual(lines(found), {("program.cu", SOURCE.line_of("failed_call"))})


class OwnHeaders(unittest.TestCase):
    def test_a_race_is_at_the_header(self):
        found = findings("own header", 66)
        races = [each for each in found if each["kind"] == "data-race" and each["space"] == "shared"]
        self.assertTrue(races)
        line = OWN_HEADER.line_of("own race")
        for each in races:
            self.assertEqual(each["severity"], "error")
            self.assertLessEqual(lines(each), {("sums.cuh", line), ("sums.cuh", line + 1)})

    def test_a_variable_that_is_not_set_is_found(self):
        (found,) = findings("own unset", 66)
        self.assertEqual(found["kind"], "uninitialized-read")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
