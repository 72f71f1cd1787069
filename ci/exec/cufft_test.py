"""Programs with cuFFT under `warpcheck exec`: cufft_test.py WARPCHECK NVCC SOURCE_DIRECTORY."""

import json
import unittest

from exec_testing import HERE, Source, build, findings_of, run

SOURCE = Source("cufft.cu", "cufft.cu")


def setUpModule():
    build("cufft.cu", "cufft", "-g", "-lcufft")


def findings(mode, expect=66):
    return findings_of("./cufft", mode, expect)


def sides(finding):
    return [(side["role"], side["line"]) for side in finding["accesses"]]


class RightPrograms(unittest.TestCase):
    def test_are_right_and_silent(self):
        for mode in ("round-trip", "real", "layouts", "graph", "managed"):
            with self.subTest(mode):
                self.assertEqual(findings(mode, expect=0), [])

    def test_get_the_same_bytes_under_any_schedule(self):
        result = run("--runs", "3", "--", "./cufft", "round-trip")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_are_answered_as_documented(self):
        result = run("--", "./cufft", "statuses")
        self.assertEqual(result.stdout, "8 3 4 0 4 1 0 1 1 0 0 0 0 13 4 0 512\n")
        self.assertIn("returned CUFFT_INVALID_PLAN: 1 is no plan, or has been destroyed",
                      result.stderr)


class Defects(unittest.TestCase):
    def found(self, mode, kind, marker, message):
        (finding,) = findings(mode)
        self.assertEqual(finding["kind"], kind)
        self.assertIn(message, finding["message"])
        self.assertIn(SOURCE.line_of(marker), [line for _, line in sides(finding)])
        return finding

    def test_an_output_that_is_too_short(self):
        self.found("short-output", "out-of-bounds", "short output",
                   "output of cufftExecR2C, 13 complex")

    def test_a_distance_that_is_too_long(self):
        self.found("wrong-distance", "out-of-bounds", "wrong distance",
                   "output of cufftExecR2C, 13 complex, 3 of them 24 apart")

    def test_an_input_that_nothing_has_written(self):
        finding = self.found("uninitialized", "uninitialized-read", "uninitialized",
                             "data of cufftExecC2C, 24 complex")
        self.assertIn(("library read", SOURCE.line_of("uninitialized")), sides(finding))

    def test_a_stream_that_does_not_wait(self):
        finding = self.found("unordered", "data-race", "unordered",
                             "nothing orders the kernel of (1) and (2), data of cufftExecC2C, "
                             "24 complex: they are in different streams")
        self.assertEqual(sides(finding), [("write", SOURCE.line_of("the kernel")),
                                          ("library read", SOURCE.line_of("unordered"))])

    def test_a_plan_in_two_streams(self):
        finding = self.found("shared-work-area", "data-race", "first user",
                             "nothing orders work area of cufftExecC2C, 192 bytes (1) and work area "
                             "of cufftExecC2C, 192 bytes (2): they are in different streams")
        self.assertEqual(sides(finding), [("library write", SOURCE.line_of("first user")),
                                          ("library write", SOURCE.line_of("second user"))])

    def test_data_that_has_been_freed(self):
        self.found("freed", "use-after-free", "freed", "data of cufftExecC2C, 24 complex")

    def test_a_work_area_that_has_been_freed(self):
        self.found("freed-work-area", "use-after-free", "freed work area",
                   "work area of cufftExecC2C, 192 bytes")

    def test_what_a_transform_has_made_of_its_input(self):
        self.found("consumed-input", "uninitialized-read", "inverse",
                   "input of cufftExecC2R, which it overwrites, 13 complex")


    def test_a_host_that_does_not_wait(self):
        result = run("--json", str(HERE / "report.json"), "--", "./cufft", "managed-too-early")
        (finding,) = json.loads((HERE / "report.json").read_text())["findings"]
        # The host reads before the device writes, and gets the old values.
        self.assertEqual((result.returncode, result.stdout), (66, "sum: 1, not 24\n"), result.stderr)
        self.assertEqual((finding["kind"], finding["message"]),
                         ("data-race", "the host does not wait for data of cufftExecC2C, 24 complex "
                          "(2) before (1)"))
        self.assertEqual(sides(finding), [("host read", SOURCE.line_of("read by the host")),
                                          ("library write", SOURCE.line_of("of managed memory"))])


class Refusals(unittest.TestCase):
    def test_name_the_function(self):
        result = run("--", "./cufft", "callbacks")
        self.assertEqual((result.returncode, result.stdout), (2, "16\n"), result.stderr)
        self.assertIn("cufftXtClearCallback", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=["cufft_test"])
