"""Programs with cuSPARSE under `warpcheck exec`: cusparse_test.py WARPCHECK NVCC NM DONE

programs/sparse.cu says itself whether what it got is right, and must call every function that is not
refused (DONE lists them); each defect must be found at the line that is marked with its name, and
the twins without them are silent.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WARPCHECK, NVCC, NM, DONE = sys.argv[1:5]
SOURCE = pathlib.Path(__file__).parent / "programs" / "sparse.cu"
FOUND, UNSUPPORTED = 66, 2

# Each defect: the line's name, its kind, the roles of its sides, what it is about, and the message.
EXPECTED = {
    "short_values": ("spmv", "out-of-bounds", ["library read"],
                     "24 bytes at byte 0 of an allocation of 20 bytes",
                     "(1) values of cusparseSpMV, 6 elements takes up 24 bytes, which are not inside "
                     "one allocation"),
    "short_offsets": ("spmv", "out-of-bounds", ["library read"],
                      "20 bytes at byte 0 of an allocation of 16 bytes",
                      "(1) row offsets of cusparseSpMV, 5 elements takes up 20 bytes, which are not "
                      "inside one allocation"),
    "stray_column": ("spmv", "out-of-bounds", ["library read"],
                     "4 bytes, 0 bytes past the end of an allocation of 12 bytes",
                     "(1) x[3] of cusparseSpMV takes up 4 bytes, which are not inside one "
                     "allocation"),
    "short_x": ("spmv", "out-of-bounds", ["library read"],
                "12 bytes at byte 0 of an allocation of 8 bytes",
                "(1) x of cusparseSpMV, 3 x 1, ld 3 takes up 12 bytes, which are not inside one "
                "allocation"),
    "no_buffer": ("no_buffer", "out-of-bounds", ["library write"],
                  "externalBuffer of cusparseSpMV, 256 elements", "(1) is a null pointer"),
    "unwritten_x": ("unwritten_x", "uninitialized-read", ["library read", "host copy"],
                    "allocation of 16 bytes [0], first of a copy of 8 bytes",
                    "(2) takes a value made from bytes that nothing had written: x of "
                    "cusparseSpMV, 3 x 1, ld 3"),
    "race": ("race", "data-race", ["write", "library read"], "allocation of 12 bytes [0]",
             "nothing orders the kernel of (1) and (2), x of cusparseSpMV, 3 x 1, ld 3: they are in "
             "different streams"),
}


class CuSparse(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.here = pathlib.Path(cls.room.name)
        subprocess.run([NVCC, "-std=c++17", "-arch=compute_75", "-g", "-lineinfo", "-w", SOURCE,
                        "-o", cls.here / "sparse", "-lcusparse"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def run_program(self, mode):
        report = self.here / "report.json"
        report.unlink(missing_ok=True)
        result = subprocess.run([WARPCHECK, "exec", "--json", report, "--", "./sparse", mode],
                                cwd=self.here, capture_output=True, text=True, timeout=300)
        return result, json.loads(report.read_text())["findings"]

    def test_every_function_gives_what_its_definition_says(self):
        result, findings = self.run_program("right")
        self.assertEqual((result.stdout, findings, result.returncode), ("right\n", [], 0),
                         result.stderr)
        done = set(pathlib.Path(DONE).read_text().split())
        out = subprocess.run([NM, "-D", "--undefined-only", self.here / "sparse"], check=True,
                             capture_output=True, text=True).stdout
        called = set(re.findall(r"\bcusparse\w+", out))
        self.assertGreater(len(done), 80)
        self.assertEqual(done - called, set(), "functions that programs/sparse.cu does not call")

    def test_defects_are_found_and_their_twins_are_silent(self):
        lines = {name: i + 1 for i, line in enumerate(SOURCE.read_text().splitlines(), 1)
                 for name in re.findall(r"//~ (\w+)$", line)}
        for name, (line, kind, roles, what, message) in EXPECTED.items():
            with self.subTest(name):
                result, findings = self.run_program(name)
                self.assertEqual(len(findings), 1, result.stderr)
                sides = findings[0]["accesses"]
                self.assertEqual((findings[0]["kind"], [side["role"] for side in sides],
                                  findings[0]["object"], findings[0]["message"]),
                                 (kind, roles, what, message))
                self.assertIn(lines[line], [side["line"] for side in sides])
                self.assertEqual(result.returncode, FOUND)
        result, findings = self.run_program("clean")
        self.assertEqual((findings, result.returncode), ([], 0), result.stderr)

    def test_a_function_that_is_not_done_is_refused_when_it_is_called(self):
        result, _ = self.run_program("refused")
        self.assertEqual(result.returncode, UNSUPPORTED)
        self.assertIn("refused: cusparseSpMatGetStridedBatch is not supported", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
