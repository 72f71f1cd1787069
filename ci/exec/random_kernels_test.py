"""Random kernels have the same results in the interpreter and in machine code, optimised and not,
and no finding: random_kernels_test.py WARPCHECK NVCC SOURCE_DIRECTORY.

Kernel 9 of seed 7 is one whose lanes meet in a function in different rounds of a loop.
"""

import os
import sys
import unittest

import random_kernels
from exec_testing import HERE, build, run


class RandomKernels(unittest.TestCase):
    def test_all_ways_have_the_same_results(self):
        (HERE / "kernels.cu").write_text(random_kernels.program(seed=7, count=20))
        results = {}
        for build_name, options in (("optimised", ()), ("debug", ("-G",))):
            program = build("kernels.cu", build_name, "-w", "-fmad=false", *options)
            # none: the widest instructions of the host; auto: compiled while it runs
            for level, compile in (("baseline", "never"), ("avx2", "always"), (None, "always"),
                                   (None, "auto")):
                environment = dict(os.environ)
                environment.pop("WARPCHECK_SIMD", None)
                if level is not None:
                    environment["WARPCHECK_SIMD"] = level
                result = run("--compile", compile, "--", program, env=environment)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("no findings; 20 launches of 20 kernels", result.stderr)
                results[build_name, level, compile] = result.stdout
        expected = results["optimised", "baseline", "never"]
        self.assertEqual(len(expected.splitlines()), 20)
        for way, found in results.items():
            self.assertEqual(found, expected, way)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
