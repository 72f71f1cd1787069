"""`warpcheck exec` without room for its temporary files: full_disk_test.py WARPCHECK NVCC
SOURCE_DIRECTORY.  Skipped (77) where a test may not mount a file system.
"""

import subprocess
import sys
import unittest

from exec_testing import HERE, WARPCHECK

SKIPPED = 77
FULL = HERE / "full"


def on_small_disk(*command):
    """Runs a command in a namespace in which FULL is a file system of one page."""
    script = f'mount -t tmpfs -o size=4k none {FULL} && export TMPDIR={FULL} && exec "$@"'
    return subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *command],
                          capture_output=True, text=True, timeout=60)


class FullDisk(unittest.TestCase):
    def test_is_told_before_the_program_starts(self):
        result = on_small_disk(WARPCHECK, "exec", "--", "/bin/echo", "started")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr,
                         rf"^warpcheck: {FULL}/warpcheck-exec-\w+: No space left on device; free "
                         r"some space there, or set TMPDIR to another directory for temporary "
                         r"files\n$")


if __name__ == "__main__":
    FULL.mkdir()
    try:
        if on_small_disk("true").returncode != 0:
            sys.exit(SKIPPED)
    except FileNotFoundError:  # no unshare
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
