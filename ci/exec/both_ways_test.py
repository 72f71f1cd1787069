"""Programs report the same bytes whether their kernels are interpreted or run as machine code, each in
both builds: both_ways_test.py WARPCHECK NVCC SOURCE_DIRECTORY.

Every mode of the programs, except those that wait, that end differently each time, or that need
arguments.
"""

import pathlib
import re
import sys
import unittest

from exec_testing import HERE, SOURCES, WARPCHECK, Source, build

sys.path.append(str(pathlib.Path(SOURCES, "vgpu", "cudart", "programs")))
import both_ways

PROGRAMS = {
    "programs.cu": {"noise", "stopwatch", "wait", "race-wait", "echo", "copies", "file", "threads"},
    "jobs_programs.cu": {"long"},
    "stream_jobs_programs.cu": set(),
}


class BothWays(unittest.TestCase):
    def compare(self, program, mode):
        results = [both_ways.run(WARPCHECK, compile, HERE / "report.json", ["--jobs", "1", "--leaks"],
                                 [HERE / program, *mode.split()], cwd=HERE)
                   for compile in ("never", "always")]
        self.assertEqual(both_ways.difference(*results), "", f"{program} {mode}")
        self.assertIn("launch", results[0].messages, mode)

    def test_every_mode(self):
        for file, left_out in PROGRAMS.items():
            text = Source(file, file).text
            modes = dict.fromkeys(re.findall(r'(?:mode == |is\()"([\w-]+)"', text))
            for options in ([], ["-G"]):
                program = build(file, "program", *options)
                for mode in [each for each in modes if each not in left_out]:
                    with self.subTest(file=file, mode=mode, options=options):
                        self.compare(program, "clean 3" if mode == "clean" else mode)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
