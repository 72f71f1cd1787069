"""Modules that nvJitLink makes run, of PTX and of what NVRTC and libNVVM make for link-time
optimisation under `warpcheck exec`; other inputs are refused by name.

jit_link_test.py NVCC WARPCHECK BUILD_DIRECTORY LIBRARIES NVVM_INCLUDE

The last two are directories of the toolkit.
"""

import json
import os
import pathlib
import subprocess
import sys

NVCC, WARPCHECK = sys.argv[1:3]
BUILD = pathlib.Path(sys.argv[3])
HERE = pathlib.Path(__file__).parent
LIBRARIES, NVVM_INCLUDE = map(pathlib.Path, sys.argv[4:6])
UNSUPPORTED, FOUND = 2, 66

os.makedirs(BUILD, exist_ok=True)
program, report = BUILD / "jit_link", BUILD / "report.json"
subprocess.run([NVCC, "-arch=compute_80", "-std=c++17", f"-I{NVVM_INCLUDE}",
                HERE / "jit_link_test.cu", "-o", program, f"-L{LIBRARIES}/stubs", f"-L{LIBRARIES}",
                "-lnvJitLink", "-lnvrtc", "-lcuda"], check=True)


def run(*words):
    return subprocess.run([WARPCHECK, "exec", "--json", report, "--", program, *words],
                          capture_output=True, text=True, timeout=300)


def demand(is_met, what, result):
    if not is_met:
        sys.exit(f"expected {what}\n{result.returncode}\n{result.stdout}{result.stderr}")


# In a toolkit's folder of its own, or beside the other libraries.
nvvm = next((path for directory in ("../nvvm/lib64", "../../../nvvm/lib64", ".")
             for path in sorted((LIBRARIES / directory).glob("libnvvm.so.*"))), None)
if nvvm is None:
    sys.exit(f"no libnvvm.so beside {LIBRARIES}")
for words in (["ptx"], ["nvrtc"], ["nvvm", nvvm]):
    result = run(*words)
    demand((result.returncode, result.stdout) == (0, "right\n"), f"a module that runs: {words}",
           result)

# The lines are those of the source that NVRTC compiled.
result = run("overrun")
sides = [(finding["kind"], pathlib.Path(side["file"]).name, side["line"])
         for finding in json.loads(report.read_text())["findings"]
         for side in finding["accesses"]]
demand(result.returncode == FOUND and set(sides) == {("out-of-bounds", "source.cu", 5)},
       f"an overrun at source.cu:5, not {sides}", result)

result = run("lto")
refused = "1 cuLinkAddData of code for link-time optimisation is not supported; "
demand(result.returncode == UNSUPPORTED and result.stdout.startswith(refused) and
       "code for link-time optimisation" in result.stderr, "a refusal", result)

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
demand((result.returncode, result.stdout) == (0, f"{ours}\n"), ours, result)
