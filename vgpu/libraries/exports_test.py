"""What a library in place of the vendor's exports: exports_test.py NM TOOLKIT_DIRECTORY DIRECTORY
LIBRARY...

Every name of the toolkit's library at the same version node, and not one more.
"""

import pathlib
import subprocess
import sys
import unittest

NM, TOOLKIT, DIRECTORY, *LIBRARIES = sys.argv[1:]


def names(directory, library):
    out = subprocess.run([NM, "-D", "--defined-only", str(pathlib.Path(directory, library))],
                         check=True, capture_output=True, text=True).stdout
    return sorted(line.split()[2] for line in out.splitlines() if line.split()[1] in "TWi")


class Exports(unittest.TestCase):
    def test_are_those_of_the_toolkit(self):
        for library in LIBRARIES:
            with self.subTest(library):
                self.assertEqual(names(DIRECTORY, library), names(TOOLKIT, library))


if __name__ == "__main__":
    unittest.main(argv=["exports_test"])
