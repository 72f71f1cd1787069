"""Memory that is freed too early, twice or never, used before it is allocated, or copied onto itself,
under `warpcheck exec`: the findings name the calls that allocated and freed it.  lifetime_test.py WARPCHECK NVCC SOURCE_DIRECTORY.
"""

import json
import sys
import unittest

from exec_testing import HERE, Source, build, findings_of, run

SOURCE = Source("lifetime_programs.cu", "lifetime.cu")


def setUpModule():
    build("lifetime.cu", "lifetime", "-g")
    build("lifetime.cu", "plain", "-cudart", "shared")


def sides(finding):
    return [(side["role"], side["line"]) for side in finding["accesses"]]


class Lifetime(unittest.TestCase):
    def assert_found(self, mode, kind, expected, message):
        finding, = findings_of("./lifetime", mode, 66)
        self.assertEqual(finding["kind"], kind)
        self.assertEqual(sides(finding), [(role, SOURCE.line_of(at)) for role, at in expected])
        self.assertEqual(finding["message"], message)

    def test_a_kernel_that_uses_freed_memory(self):
        self.assert_found("kernel", "use-after-free",
                          [("write", "the store"), ("host free", "the owner's free")],
                          "(1) uses memory that has been freed; (2) freed it")

    def test_a_copy_of_freed_memory(self):
        self.assert_found("copy", "use-after-free",
                          [("host copy", "the copy"), ("host free", "the owner's free")],
                          "cudaMemcpy of 4 bytes uses memory that has been freed; (2) freed it")

    def test_memory_that_is_freed_twice(self):
        self.assert_found("twice", "invalid-free",
                          [("host free", "the owner's free"), ("host free", "freed first")],
                          "cudaFree of memory that has been freed; (2) freed it")

    def test_memory_that_a_stream_frees(self):
        self.assert_found("stream", "use-after-free",
                          [("write", "the store"), ("host free", "freed in a stream")],
                          "(1) uses memory that has been freed; (2) freed it")
        self.assert_found("stream-twice", "invalid-free",
                          [("host free", "freed again in a stream"),
                           ("host free", "freed in a stream")],
                          "cudaFreeAsync of memory that has been freed; (2) freed it")

    def test_streams_and_events_that_have_been_destroyed(self):
        found = findings_of("./lifetime", "handles", 66)
        self.assertEqual(
            [(each["kind"], *sides(each), each["message"]) for each in found],
            [(kind, (role, SOURCE.line_of(at)), f"{what} that has been destroyed")
             for kind, role, at, what in (
                 ("use-after-free", "host call", "asks the destroyed stream",
                  "cudaStreamQuery uses a stream"),
                 ("use-after-free", "host call", "launches in it", "cudaLaunchKernel uses a stream"),
                 ("use-after-free", "host call", "records the destroyed event",
                  "cudaEventRecord uses an event"),
                 ("invalid-free", "host free", "destroys it again",
                  "cudaEventDestroy of an event"))])

    def test_memory_of_a_pool_that_another_stream_uses_too_early(self):
        self.assert_found("too-early", "data-race",
                          [("write", "the store"), ("host allocation", "allocated in a stream")],
                          "nothing orders the kernel of (1) and cudaMallocAsync (2): they are in "
                          "different streams")
        self.assert_found("fill-too-early", "data-race",
                          [("host allocation", "allocated in a stream"), ("host write", "the fill")],
                          "nothing orders cudaMallocAsync (1) and cudaMemsetAsync (2): they are in "
                          "different streams")
        self.assertEqual(findings_of("./lifetime", "ordered", 0), [])

    def test_a_copy_onto_what_it_reads(self):
        self.assert_found("overlap", "data-race",
                          [("host copy", "the overlap"), ("host write", "the overlap")],
                          "cudaMemcpy may not copy between places that overlap: nothing orders its "
                          "reads (1) and its writes (2)")

    def test_memory_in_the_place_of_freed_memory_is_no_finding(self):
        self.assertEqual(findings_of("./lifetime", "again", 0), [])

    def test_every_place_that_leaves_memory_behind(self):
        report = HERE / "leaks.json"
        result = run("--leaks", "--json", str(report), "--", "./lifetime", "leak")
        self.assertEqual(result.returncode, 66, result.stderr)
        found = json.loads(report.read_text())["findings"]
        self.assertEqual(
            sorted((each["kind"], each["object"], each["count"], *sides(each)) for each in found),
            sorted(("leak", f"allocation of {size} bytes", count,
                    ("host allocate", SOURCE.line_of(at)))
                   for size, count, at in ((64, 1, "allocated for the device"),
                                           (128, 1, "allocated as managed"),
                                           (192, 1, "allocated for the host"),
                                           (320, 3, "the helper's allocation"))))

    def test_without_debug_information_the_functions_are_named(self):
        result = run("--leaks", "--", "./plain", "leak")
        self.assertRegex(result.stderr, r"nothing has freed what \(1\) allocated; \(1\) is in "
                                        r"leak\+0x\w+\n")
        result = run("--", "./plain", "kernel")
        self.assertRegex(result.stderr, r"that has been freed; \(2\) freed it; \(2\) is in "
                                        r"Free::operator\(\)\(int\*\) const\+0x\w+\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
