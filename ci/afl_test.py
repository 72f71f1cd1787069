#!/usr/bin/env python3
"""AFL++ finds the planted defect, because our coverage reaches its map.

  afl_test.py AFL_FUZZ TARGET
"""
import os
import pathlib
import subprocess
import sys
import tempfile

# Data, and no schedule: fuzz/input_layout.hpp.
SEED = bytes([7, 1, 2, 3, 0, 0, 0])
EXECUTIONS = 100_000


def main():
    afl_fuzz, target = sys.argv[1:3]
    environment = {**os.environ, "AFL_NO_UI": "1", "AFL_SKIP_CPUFREQ": "1", "AFL_NO_AFFINITY": "1",
                   "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_BENCH_UNTIL_CRASH": "1"}
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / "seeds").mkdir()
        (root / "seeds" / "one").write_bytes(SEED)
        ran = subprocess.run([afl_fuzz, "-i", root / "seeds", "-o", root / "out", "-s", "1",
                              "-E", str(EXECUTIONS), "--", target], env=environment, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        found = root / "out" / "default"
        crashes = [path for path in (found / "crashes").glob("id:*")]
        kept = list((found / "queue").glob("id:*"))
        if not crashes:
            sys.exit(f"no crash after {EXECUTIONS} executions, {len(kept)} inputs kept\n{ran.stdout[-3000:]}")
        # The target is not instrumented, so entries are kept for our coverage alone.
        if len(kept) < 2:
            sys.exit(f"only {len(kept)} inputs kept: no coverage reached AFL's map")
        again = subprocess.run([target, crashes[0]], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
        if again.returncode == 0 or "in planted_service_kernel " not in again.stdout:
            sys.exit(f"the crash does not show again\n{again.stdout}")
    print(f"AFL++ kept {len(kept)} inputs and found the planted defect")


main()
