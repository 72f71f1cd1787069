"""Modules that nvJitLink makes of PTX run; other inputs are refused by name.

jit_link_test.py NVCC WARPCHECK BUILD_DIRECTORY
"""

import os
import pathlib
import subprocess
import sys

NVCC, WARPCHECK = sys.argv[1:3]
BUILD = pathlib.Path(sys.argv[3])
HERE = pathlib.Path(__file__).parent
UNSUPPORTED = 2

os.makedirs(BUILD, exist_ok=True)
program = BUILD / "jit_link"
subprocess.run([NVCC, "-arch=compute_80", "-std=c++17", HERE / "jit_link_test.cu", "-o", program,
                "-lnvJitLink", "-lcuda"], check=True)


def run(*words):
    return subprocess.run([WARPCHECK, "exec", "--", program, *words], capture_output=True,
                          text=True, timeout=300)


result = run()
if result.returncode != 0 or result.stdout != "right\n":
    sys.exit(f"expected a module that runs\n{result.returncode}\n{result.stdout}{result.stderr}")

result = run("lto")
expected = ("1 the virtual GPU links PTX, and fatbinaries that carry it; this input carries none\n")
if result.returncode != UNSUPPORTED or result.stdout != expected or \
        "code for link-time optimisation" not in result.stderr:
    sys.exit(f"expected a refusal\n{result.returncode}\n{result.stdout}{result.stderr}")

# A program that finds the toolkit's by itself opens it by its path.
elsewhere = BUILD / "elsewhere" / "libnvJitLink.so.13"
os.makedirs(elsewhere.parent, exist_ok=True)
elsewhere.touch()
opened = f"""
import ctypes, re
ctypes.CDLL({str(elsewhere)!r})
print(*sorted(set(re.findall(r"\\S*libnvJitLink\\S*", open("/proc/self/maps").read()))))
"""
result = subprocess.run([WARPCHECK, "exec", "--", sys.executable, "-c", opened],
                        capture_output=True, text=True, timeout=300)
ours = pathlib.Path(WARPCHECK).resolve().parent / "lib" / "warpcheck" / "libnvJitLink.so.13"
if result.returncode != 0 or result.stdout != f"{ours}\n":
    sys.exit(f"expected {ours}\n{result.returncode}\n{result.stdout}{result.stderr}")
