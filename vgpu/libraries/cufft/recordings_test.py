"""cuFFT under `warpcheck exec`: recordings_test.py WARPCHECK RECORD

What RECORD (record_libraries.cpp) gets agrees with recordings of the vendor's library on GPUs.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

WARPCHECK, RECORD = sys.argv[1:3]
HERE = pathlib.Path(__file__).parent
RECORDINGS = HERE.parent / "recordings"
sys.path.insert(0, str(HERE.parent))
from compare_recordings import differing, lines_of  # noqa: E402

# What a GPU answers success to: executions by a function for another type than the plan's, and without
# a work area.  What these compute is said nowhere.
ACCEPTED = {"another type": 3, "another precision": 3, "no work area": 13}


class CuFft(unittest.TestCase):
    def test_what_it_answers_agrees_with_recordings_of_gpus(self):
        with tempfile.TemporaryDirectory() as room:
            result = subprocess.run([WARPCHECK, "exec", "--", RECORD, "cufft"], cwd=room,
                                    capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        ours = result.stdout.splitlines()
        recordings = sorted(RECORDINGS.glob("cufft-*.txt.xz"))
        self.assertNotEqual(recordings, [])
        for recording in recordings:
            with self.subTest(recording.name):
                different, count, lacking = differing(lines_of(recording), ours)
                print(f"{recording.name}: {count} lines compared, {lacking} are not recorded")
                self.assertEqual(different, [(f"{name}: 0", f"{name}: {status}")
                                             for name, status in ACCEPTED.items()])
                self.assertGreater(count, 100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
