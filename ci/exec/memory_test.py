"""How much memory of the host large memory of the device takes under `warpcheck exec`:
memory_test.py WARPCHECK NVCC SOURCES.

What programs do with it is in vgpu/cudart/programs/verdicts/calls/large_memory.cu.
"""

import resource
import subprocess
import sys
import unittest

from exec_testing import HERE, WARPCHECK, Source, build

Source("calls/large_memory.cu", "memory.cu")


def setUpModule():
    build("memory.cu", "memory", "-cudart", "shared")


def peak_megabytes(*words, **more):
    """The output of `exec`, and the peak memory of its processes."""
    measured = ("import resource, subprocess, sys\n"
                "result = subprocess.run(sys.argv[1:])\n"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)\n"
                "sys.exit(result.returncode)\n")
    result = subprocess.run(["python3", "-c", measured, WARPCHECK, "exec", *words], cwd=HERE,
                            capture_output=True, text=True, check=False, **more)
    *lines, peak = result.stdout.splitlines()
    return lines, int(peak), result


class LittleOfMuch(unittest.TestCase):
    def test_what_is_not_touched_costs_nothing(self):
        lines, peak, result = peak_megabytes("--memory", "16G", "--", "./memory", "sparse")
        self.assertEqual((lines, result.returncode), (["cudaSuccess"], 0), result.stderr)
        self.assertLess(peak, 400)

    def test_what_is_freed_is_given_back(self):
        for jobs in ("1", "8"):
            lines, peak, result = peak_megabytes("--jobs", jobs, "--", "./memory", "in-turn")
            self.assertEqual((lines, result.returncode), (["cudaSuccess"], 0), result.stderr)
            self.assertLess(peak, 400, jobs)


class NoneLeft(unittest.TestCase):
    def test_where_the_hosts_address_space_is_small(self):
        limit = 3 << 30

        def small():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for jobs in ("1", "16"):
            lines, _, result = peak_megabytes("--jobs", jobs, "--", "./memory", "until-none", str(8 << 20),
                                              preexec_fn=small)
            self.assertEqual(lines, ["cudaErrorMemoryAllocation, all of it"], result.stderr)
            self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
