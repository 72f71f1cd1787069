"""Programs with cuRAND under `warpcheck exec`: curand_test.py WARPCHECK NVCC SOURCE_DIRECTORY."""

import unittest

from exec_testing import Source, build, findings_of, run

SOURCE = Source("curand.cu", "curand.cu")


def setUpModule():
    build("curand.cu", "curand", "-g", "-lcurand")


def findings(mode, expect=66):
    return findings_of("./curand", mode, expect)


class RightPrograms(unittest.TestCase):
    def test_are_right_and_silent(self):
        for mode in ("host", "device"):
            with self.subTest(mode):
                self.assertEqual(findings(mode, expect=0), [])

    # Each sequence that differs from the vendor's is named once, and no other.
    def test_sequences_that_are_not_the_vendors_are_named(self):
        def told(mode):
            lines = run("--", "./curand", mode).stderr.splitlines()
            return [line for line in lines if "not checked: results that follow from" in line]
        behind = " of cuRAND: their sequence differs from that of the vendor's generator"
        self.assertEqual(told("host"), [
            f"========= not checked: results that follow from {numbers}{behind}" for numbers in
            ("Poisson numbers of XORWOW, MRG32k3a and Philox", "numbers of MT19937",
             "scrambled Sobol sequences")])
        self.assertEqual(told("right-order"), [])

    def test_are_answered_as_documented(self):
        result = run("--", "./curand", "statuses")
        self.assertEqual(result.stdout.strip(),
                         "103 101 0 105 103 103 104 104 0 101 0 103 104 0 105 104")
        self.assertIn("returned CURAND_STATUS_LENGTH_NOT_MULTIPLE: 7 normal numbers; this generator "
                      "makes two at a time", result.stderr)


class Defects(unittest.TestCase):
    def found(self, mode, kind, marker, message):
        (finding,) = findings(mode)
        self.assertEqual(finding["kind"], kind)
        self.assertIn(message, finding["message"])
        lines = {side["line"] for side in finding["accesses"]}
        self.assertIn(SOURCE.line_of(marker), lines)
        return lines

    def test_an_output_that_is_too_short(self):
        self.found("short-output", "out-of-bounds", "short output",
                   "output of curandGenerateUniform, 64 elements")

    def test_a_kernel_that_does_not_wait(self):
        lines = self.found("unordered", "data-race", "unordered",
                           "nothing orders the kernel of (1) and (2), output of "
                           "curandGenerateUniform, 64 elements: they are in different streams")
        self.assertIn(SOURCE.line_of("reader"), lines)

    def test_an_output_that_has_been_freed(self):
        self.found("freed", "use-after-free", "freed",
                   "output of curandGenerateUniform, 64 elements")

    def test_memory_of_the_host(self):
        self.found("on-host", "out-of-bounds", "on the host",
                   "(1) is memory of the host, which no code on the device can reach")


if __name__ == "__main__":
    unittest.main(argv=["curand_test"])
