"""What several runs of `warpcheck exec` give: outputs_test.py WARPCHECK NVCC SOURCE_DIRECTORY.

The program is that of programs_test.py.
"""

import json
import re
import sys
import unittest

from exec_testing import HERE, Source, build, run

Source("programs.cu", "programs.cu")


def setUpModule():
    build("programs.cu", "shared", "-cudart", "shared")


class Outputs(unittest.TestCase):
    """Several runs are compared by the data that reaches the host."""

    def findings(self, mode, *options, runs="8"):
        path = HERE / "outputs.json"
        result = run("--runs", runs, "--json", str(path), *options, "--", "./shared", mode)
        return result, [each for each in json.loads(path.read_text())["findings"]
                        if each["kind"] == "schedule-dependent"]

    def test_bytes_that_are_copied_to_the_host(self):
        result, (finding,) = self.findings("last-writer")
        self.assertEqual(finding["severity"], "error")
        self.assertEqual(finding["kernel"], "last_writer")
        self.assertEqual(finding["object"],
                         "at byte 0 of copy 1 to the host, by cudaMemcpy of 4 bytes")
        self.assertEqual(finding["message"],
                         "0x000003e8 (1000), under the default schedule 0x000003e9 (1001); "
                         "line 1 of standard output: \"the last is 1000\", under the default "
                         "schedule \"the last is 1001\"")
        self.assertEqual(finding["accesses"], [])
        self.assertEqual(result.returncode, 66)
        seen = re.search(r"first seen in run \d+: (--strategy random --seed \d+)\n", result.stderr)
        again = run(*seen.group(1).split(), "--", "./shared", "last-writer")
        self.assertEqual(again.stdout, "the last is 1000\n")
        self.assertEqual(result.stdout.count("the last is"), 8)
        self.assertEqual(result.stderr, self.findings("last-writer")[0].stderr)

    def test_files(self):
        result, (finding,) = self.findings("file")
        self.assertRegex(finding["message"], "; file result.txt, at byte 15$")
        self.assertEqual(result.returncode, 66)

    def test_memory_of_host_and_device(self):
        result, (finding,) = self.findings("managed")
        self.assertEqual(finding["object"], "in memory of host and device")
        self.assertIn("0x000003e8 (1000), under the default schedule 0x000003e9 (1001)",
                      finding["message"])
        self.assertEqual(result.returncode, 66)

    def test_an_order_of_arrival_that_a_program_may_have(self):
        result, (finding,) = self.findings("tickets")
        self.assertEqual((finding["severity"], finding["kernel"]), ("note", "tickets"))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_text_that_device_code_prints(self):
        _, (finding,) = self.findings("print-last")
        self.assertEqual(finding["object"], "text printed by device code")
        self.assertRegex(finding["message"], r'^line 1 of standard output: "last is [1-3]", '
                                             r'under the default schedule "last is 0"; kernel announce '
                                             r'can observe the order of threads: programs.cu:\d+ '
                                             r'ld.volatile.global')
        self.assertEqual((finding["severity"], finding["kernel"]), ("note", "announce"))
        result, findings = self.findings("print-order")
        self.assertEqual(findings, [], result.stderr)

    def test_what_comes_from_the_host_alone(self):
        result, findings = self.findings("stopwatch")
        self.assertEqual(findings, [])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("not compared", result.stderr)
        result, findings = self.findings("noise")
        self.assertEqual(findings, [])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("========= outputs were not compared: they differ between two runs under the "
                      "same schedule as well\n", result.stderr)

    def test_only_where_it_is_wanted(self):
        self.assertEqual(run("--", "./shared", "last-writer").returncode, 0)
        self.assertEqual(self.findings("last-writer", "--check", "race,bounds")[1], [])
        self.assertEqual(len(self.findings("last-writer", "--check", "output")[1]), 1)

    def test_against_the_first_of_the_runs(self):
        _, (finding,) = self.findings("last-writer", "--strategy", "random")
        self.assertIn(", under --strategy random --seed 1 (run 1) ", finding["message"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
