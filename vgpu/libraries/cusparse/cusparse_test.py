"""Programs with cuSPARSE under `warpcheck exec`: cusparse_test.py WARPCHECK NVCC NM DONE"""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from programs_testing import Programs, main  # noqa: E402

EXPECTED = {
    "short_values": ("spmv", "out-of-bounds", ["library read"],
                     "24 bytes at byte 0 of an allocation of 20 bytes",
                     "(1) values of cusparseSpMV, 6 elements takes up 24 bytes, which are not inside "
                     "one allocation"),
    "short_offsets": ("spmv", "out-of-bounds", ["library read"],
                      "20 bytes at byte 0 of an allocation of 16 bytes",
                      "(1) row offsets of cusparseSpMV, 5 elements takes up 20 bytes, which are not "
                      "inside one allocation"),
    "stray_column": ("spmv", "out-of-bounds", ["library read"],
                     "4 bytes, 0 bytes past the end of an allocation of 12 bytes",
                     "(1) x[3] of cusparseSpMV takes up 4 bytes, which are not inside one "
                     "allocation"),
    "short_x": ("spmv", "out-of-bounds", ["library read"],
                "12 bytes at byte 0 of an allocation of 8 bytes",
                "(1) x of cusparseSpMV, 3 x 1, ld 3 takes up 12 bytes, which are not inside one "
                "allocation"),
    "no_buffer": ("no_buffer", "out-of-bounds", ["library write"],
                  "externalBuffer of cusparseSpMV, 256 elements", "(1) is a null pointer"),
    "unwritten_x": ("unwritten_x", "uninitialized-read", ["library read", "host copy"],
                    "allocation of 16 bytes [0], first of a copy of 8 bytes",
                    "(2) takes a value made from bytes that nothing had written: x of "
                    "cusparseSpMV, 3 x 1, ld 3"),
    "race": ("race", "data-race", ["write", "library read"], "allocation of 12 bytes [0]",
             "nothing orders the kernel of (1) and (2), x of cusparseSpMV, 3 x 1, ld 3: they are in "
             "different streams"),
}


class CuSparse(Programs, unittest.TestCase):
    SOURCE = HERE / "programs" / "sparse.cu"
    LIBRARY = "cusparse"
    EXPECTED = EXPECTED
    REFUSED = "cusparseSpMatGetStridedBatch"
    DONE_LEAST = 80

    def test_calls_that_the_documentation_forbids_are_answered_as_a_gpu_answers_them(self):
        result, findings = self.run_program("invalid")
        self.assertEqual(result.stdout, 3 * "CUSPARSE_STATUS_INVALID_VALUE\n", result.stderr)
        self.assertEqual([finding["message"] for finding in findings],
                         ["(1) returned CUSPARSE_STATUS_INVALID_VALUE: " + why for why in
                          ("the matrix is in another format", "the matrix is in another format",
                           "the values of 6 entries are a null pointer")])


if __name__ == "__main__":
    main()
