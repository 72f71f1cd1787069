"""Large memory under `warpcheck exec`: memory_test.py WARPCHECK NVCC SOURCES.

Allocations larger than a 32-bit offset can reach, untouched memory, and the answers to a
program when no memory is left.
"""

import json
import pathlib
import resource
import subprocess
import sys
import unittest

from exec_testing import HERE, NVCC, SOURCES, WARPCHECK, run

SOURCE = pathlib.Path(SOURCES, "ci", "exec", "memory_programs.cu")
SUM = 384 * 385 // 2


def setUpModule():
    (HERE / "memory.cu").write_text(SOURCE.read_text())
    subprocess.run([NVCC, "-arch=compute_75", "-lineinfo", "-cudart", "shared", "memory.cu", "-o",
                    "memory"], check=True, cwd=HERE)


def line_of(marker):
    lines = SOURCE.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"// {marker}"))


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


class LargeAllocations(unittest.TestCase):
    def test_kernels_copies_and_fills_go_across_every_edge(self):
        for mode in ("across", "across-managed"):
            result = run("--memory", "16G", "--", "./memory", mode)
            self.assertEqual(result.stdout, f"{SUM} right\n" * 2, mode)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_findings_name_the_whole(self):
        path = HERE / "report.json"
        result = run("--memory", "16G", "--json", str(path), "--", "./memory", "defects")
        self.assertEqual(result.returncode, 66)
        whole = "allocation of 6442450944 bytes"
        seen = {(finding["kind"], finding["object"], finding["accesses"][0]["line"])
                for finding in json.loads(path.read_text())["findings"]}
        at = (4 << 30) // 4
        shift, store = line_of("the shift"), line_of("the store")
        self.assertIn(("data-race", f"{whole} [{at - 31}], 4 bytes", shift), seen)
        self.assertIn(("out-of-bounds", f"4 bytes, 0 bytes past the end of an {whole}", store),
                      seen)
        self.assertIn(("uninitialized-read",
                       f"{whole} [{(4 << 30) + 28}], first of a copy of 8 bytes", 0), seen)
        self.assertIn(("use-after-free", f"4 bytes at byte {4 << 30} of an {whole}", store), seen)
        self.assertEqual(len(seen), 4, seen)


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
    def test_is_an_answer_and_no_end(self):
        result = run("--memory", "64M", "--", "./memory", "until-none", str(4 << 20))
        self.assertEqual(result.stdout, "cudaErrorMemoryAllocation, all of it\n")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_where_the_hosts_address_space_is_small(self):
        limit = 3 << 30

        def small():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        lines, _, result = peak_megabytes("--", "./memory", "until-none", str(8 << 20),
                                          preexec_fn=small)
        self.assertEqual(lines, ["cudaErrorMemoryAllocation, all of it"], result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
