"""`warpcheck exec --prove` and `--budget`: proofs_test.py WARPCHECK NVCC SOURCES."""

import json
import re
import subprocess
import sys
import unittest

from exec_testing import HERE, WARPCHECK, Source, build

SOURCE = Source("proofs.cu", "proofs.cu")


def setUpModule():
    build("proofs.cu", "proofs", "-cudart", "shared")


def run(*words):
    result = subprocess.run([WARPCHECK, "exec", "--json", "report.json", *words], cwd=HERE, capture_output=True,
                            text=True, check=False)
    return result, json.loads((HERE / "report.json").read_text())


class Proofs(unittest.TestCase):
    def test_each_kernel_has_what_its_code_proves(self):
        result, report = run("--prove", "--", "./proofs")
        self.assertEqual(result.returncode, 66, result.stderr)
        self.assertEqual([finding["kind"] for finding in report["findings"]], ["data-race"])
        proved = {re.sub(r"\W.*", "", re.sub(r"^_Z\d+", "", kernel["name"])): kernel["proved"]
                  for kernel in report["kernels"]}
        by_kernel = {name: next(text for mangled, text in proved.items() if mangled.startswith(name))
                     for name in ("doubled", "scattered", "counted", "one_place")}
        self.assertEqual(by_kernel["doubled"], "all data and every schedule")
        self.assertRegex(by_kernel["scattered"],
                         rf"^every schedule; data may decide at (\S*/)?proofs\.cu:{SOURCE.line_of('data decides')} ")
        self.assertRegex(by_kernel["counted"], rf"^nothing: (\S*/)?proofs\.cu:{SOURCE.line_of('order decides')} ")
        self.assertEqual(by_kernel["one_place"], "nothing: it has findings")
        for name, text in by_kernel.items():
            self.assertIn(f"proved for {name} at these sizes: {text}", result.stderr)

    def test_nothing_is_said_unasked(self):
        _, report = run("--", "./proofs")
        self.assertFalse([kernel for kernel in report["kernels"] if "proved" in kernel])


class Budget(unittest.TestCase):
    LEFT_OUT = r"kernel long_sum: (\d+) of 4096 blocks of a launch ran"

    def test_launches_that_take_long_are_sampled_and_it_is_said(self):
        result, report = run("--budget", "0.02", "--", "./proofs", "40")
        self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
        self.assertEqual(report["findings"], [])
        said = [re.search(self.LEFT_OUT, text) for text in report["not_checked"]]
        self.assertEqual(len(said), 1, report["not_checked"])
        self.assertLess(int(said[0].group(1)), 4096)

    def test_the_same_blocks_run_again(self):
        ran = [run("--budget", "0.02", "--", "./proofs", "40")[1]["not_checked"] for _ in range(2)]
        self.assertEqual(ran[0], ran[1])

    def test_small_launches_run_whole(self):
        _, report = run("--budget", "5", "--", "./proofs")
        self.assertEqual(report.get("not_checked", []), [])
        self.assertEqual([finding["kind"] for finding in report["findings"]], ["data-race"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
