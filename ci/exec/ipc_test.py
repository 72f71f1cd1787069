"""Device memory that two processes of one program share, without `warpcheck exec`:
ipc_test.py WARPCHECK NVCC SOURCE_DIRECTORY.

Under it they may: vgpu/cudart/programs/verdicts/host_memory/processes.cu.
"""

import subprocess
import sys
import unittest

from exec_testing import HERE, LIBRARIES, Source, build

Source("host_memory/processes.cu", "processes.cu")


class WithoutExec(unittest.TestCase):
    def test_it_is_refused_by_name(self):
        build("processes.cu", "processes", "-L", LIBRARIES)
        result = subprocess.run([HERE / "processes", "memory"], capture_output=True, text=True,
                                timeout=60, cwd=HERE)
        self.assertIn("cudaEventCreateWithFlags, cudaEventInterprocess: only processes under one "
                      "`warpcheck exec` share anything", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
