"""`exec --against gpu` with a fake driver in place of the vendor's: what is reported for each kind of difference.

Usage: against_test.py NVCC WARPCHECK FAKE_DRIVER_DIRECTORY SOURCE_DIRECTORY
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

NVCC, WARPCHECK, DRIVER, SOURCE = sys.argv[1:5]
LINE = next(number for number, line in enumerate((pathlib.Path(SOURCE) / "square.cu").read_text().splitlines(), 1)
            if "out[i] =" in line)


class Against(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.directory = pathlib.Path(cls.scratch.name)
        subprocess.run([NVCC, "-lineinfo", "-arch=compute_75", "-cudart", "shared", f"{SOURCE}/square.cu", "-o",
                        cls.directory / "square"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_against(self, device):
        self.report = self.directory / "report.json"
        self.report.unlink(missing_ok=True)
        return subprocess.run([WARPCHECK, "exec", "--against", "gpu", "--json", self.report, "--", "./square"],
                              cwd=self.directory, capture_output=True, text=True,
                              env=os.environ | {"LD_LIBRARY_PATH": DRIVER, "FAKE_DEVICE": device})

    def findings(self):
        return json.loads(self.report.read_text())["findings"]

    def test_equal_results_are_silent(self):
        run = self.run_against("right")
        self.assertEqual((run.returncode, run.stdout), (0, "81\n"), run.stderr)
        self.assertEqual(self.findings(), [])

    def test_the_first_launch_buffer_and_element_are_told(self):
        run = self.run_against("wrong")
        self.assertEqual((run.returncode, run.stdout), (66, "81\n"), run.stderr)
        first = self.findings()[0]
        self.assertEqual((first["kind"], first["severity"], first["kernel"]), ("mismatch", "error", "square"))
        self.assertEqual([(side["role"], side["line"], side["thread"]) for side in first["accesses"]],
                         [("write", LINE, [3, 0, 0])])
        self.assertEqual(first["lack"], "other-device")
        self.assertTrue(first["object"].startswith("element 3 of the allocation of 400 bytes at 0x"), first["object"])
        self.assertEqual(first["message"],
                         "launch 1: 0x00000009 here, 0x0000000a on fake, sm_90, driver for CUDA 13.0; 1 element differs; "
                         "the device gives this result at every level of the assembler's optimisation")

    def test_a_miscompilation_is_told_with_its_levels_and_a_reproducer(self):
        run = self.run_against("optimises")
        self.assertEqual(run.returncode, 66, run.stderr)
        first = self.findings()[0]
        self.assertIn("with -O0, -O1 the device agrees with the virtual GPU; a smaller kernel that shows it is in "
                      "square-launch1.ptx", first["message"])
        ptx = (self.directory / "square-launch1.ptx").read_text()
        self.assertIn("// grid (2, 1, 1), block (64, 1, 1), 0 bytes of dynamic shared memory", ptx)
        self.assertIn("st.global", ptx)
        self.assertNotIn(".loc", ptx)

    def test_a_launch_that_fails_there_is_not_compared(self):
        run = self.run_against("fails")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("launches of square against the GPU: on fake, sm_90, driver for CUDA 13.0: cuCtxSynchronize "
                      "failed with 700", run.stderr)

    def test_no_device_is_told_by_name(self):
        run = self.run_against("none")
        self.assertEqual((run.returncode, run.stdout), (2, "81\n"))
        self.assertIn("--against gpu: no launch is compared: cuInit failed with 100", run.stderr)

    def test_an_unknown_engine_is_bad_usage(self):
        run = subprocess.run([WARPCHECK, "exec", "--against", "cpu", "--", "./square"], cwd=self.directory,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--against", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
