"""Programs with cuSOLVER under `warpcheck exec`: cusolver_test.py WARPCHECK NVCC NM DONE"""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from programs_testing import Programs, main  # noqa: E402

EXPECTED = {
    "short_matrix": ("cholesky", "out-of-bounds", ["library read"],
                     "128 bytes at byte 0 of an allocation of 120 bytes",
                     "(1) A of cusolverDnDpotrf, 4 x 4, ld 4, lower triangle takes up 128 bytes, "
                     "which are not inside one allocation"),
    "short_workspace": ("cholesky", "out-of-bounds", ["library write"],
                        "512 bytes at byte 0 of an allocation of 32 bytes",
                        "(1) Workspace of cusolverDnDpotrf, 64 elements takes up 512 bytes, which "
                        "are not inside one allocation"),
    "unwritten_pivots": ("unwritten_pivots", "uninitialized-read", ["library read"],
                         "allocation of 16 bytes [0]",
                         "(1) uses addresses or indices made from bytes that nothing has written: "
                         "devIpiv of cusolverDnDgetrs, 4 elements"),
    "race": ("race", "data-race", ["write", "library read"], "allocation of 32 bytes [0]",
             "nothing orders the kernel of (1) and (2), B of cusolverDnDgetrs, 4 x 1, ld 4: they are "
             "in different streams"),
    "used_again": ("used_again", "uninitialized-read", ["library read", "host copy"],
                   "allocation of 128 bytes [0], first of a copy of 128 bytes",
                   "(2) takes a value made from bytes that nothing had written: A of "
                   "cusolverDnDgesvd, 4 x 4, ld 4"),
}


class CuSolver(Programs, unittest.TestCase):
    SOURCE = HERE / "programs" / "dense.cu"
    LIBRARY = "cusolver"
    EXPECTED = EXPECTED
    REFUSED = "cusolverDnDsyevj_bufferSize"
    DONE_LEAST = 60


if __name__ == "__main__":
    main()
