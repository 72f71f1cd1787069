"""Host functions of streams that access memory of kernels, under `warpcheck exec`:
host_functions_test.py WARPCHECK NVCC SOURCE_DIRECTORY.
"""

import sys
import unittest

from exec_testing import Source, build, run_with_findings

SOURCE = Source("host_function_programs.cu", "functions.cu")


def setUpModule():
    build("functions.cu", "functions", "-g")


class HostFunctions(unittest.TestCase):
    def assert_race(self, mode, sides, message):
        result, found = run_with_findings("./functions", mode)
        self.assertEqual((result.returncode, len(found)), (66, 1), result.stderr)
        finding, = found
        self.assertEqual((finding["kind"], finding["severity"], finding["lack"]),
                         ("data-race", "error", "order-of-launches"))
        self.assertEqual([(one["role"], one["file"], one["line"]) for one in finding["accesses"]],
                         [(role, "functions.cu", SOURCE.line_of(marker)) for role, marker in sides])
        self.assertEqual(finding["message"], message)

    def assert_silent(self, mode, output):
        result, found = run_with_findings("./functions", mode)
        self.assertEqual((result.returncode, result.stdout, found), (0, output, []), result.stderr)

    def test_a_copy_in_another_stream(self):
        message = ("nothing orders cudaMemcpyAsync ({}) and the host function of ({}): they are in "
                   "different streams")
        self.assert_race("pinned", [("host write", "copied"), ("host read", "the function reads")],
                         message.format(1, 2))
        self.assert_race("callback",
                         [("host read", "the function reads"), ("host write", "copied")],
                         message.format(2, 1))

    def test_a_kernel_in_another_stream(self):
        message = ("nothing orders the kernel of (1) and the host function of (2): they are in "
                   "different streams")
        self.assert_race("managed",
                         [("write", "the store"), ("host read", "managed memory is read")],
                         message)
        self.assert_race("writes",
                         [("read", "the load"), ("host write", "managed memory is written")],
                         message)

    def test_functions_that_their_stream_or_an_event_orders(self):
        for mode, output in (("pinned-in-order", "999\n"), ("event", "999\n"),
                             ("managed-in-order", "999\n"), ("prepares", "0\n")):
            with self.subTest(mode):
                self.assert_silent(mode, output)

    def test_what_a_thread_requests_that_a_function_has_told(self):
        self.assert_silent("told", "-1\n")
        for mode in ("not-told", "after-another-wait"):
            with self.subTest(mode):
                self.assert_race(mode, [("write", "the store"), ("read", "the load")],
                                 "nothing orders these two kernel launches: their streams are not "
                                 "synchronised")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
