"""What the drop-in libraries export: exports_test.py NM READELF TOOLKIT_LIBRARIES TOOLKIT_HEADERS
DIRECTORY.

Every name of the toolkit's library at the same version node, and not one more: what else is inside
must not meet a program's own symbols.
"""

import pathlib
import re
import subprocess
import sys
import unittest

NM, READELF = sys.argv[1], sys.argv[2]
TOOLKIT, INCLUDE, DIRECTORY = map(pathlib.Path, sys.argv[3:6])
FUNCTIONS = pathlib.Path(__file__).parent


def defined(library, *options):
    out = subprocess.run([NM, "--defined-only", *options, str(library)], check=True,
                         capture_output=True, text=True).stdout
    return sorted(tuple(line.split()[1:]) for line in out.splitlines() if len(line.split()) == 3)


def functions(release):
    lines = (FUNCTIONS / f"functions_{release}.txt").read_text().splitlines()
    return [line.split()[0] for line in lines]


def needed(library):
    out = subprocess.run([READELF, "-dW", str(DIRECTORY / library)], check=True,
                         capture_output=True, text=True).stdout
    return {kind: re.findall(rf"\({kind}\).*\[(.*)\]", out)
            for kind in ("NEEDED", "RPATH", "RUNPATH")}


class Exports(unittest.TestCase):
    def test_release_13_has_the_names_and_versions_of_the_toolkits_library(self):
        toolkit = defined(TOOLKIT / "libcudart.so.13", "-D")
        self.assertGreater(len(toolkit), 400)
        self.assertEqual(defined(DIRECTORY / "libcudart.so.13", "-D"), toolkit)

    def test_the_static_library_has_the_same_functions_and_nothing_else(self):
        self.assertEqual(defined(DIRECTORY / "libcudart_static.a", "--extern-only"),
                         sorted(("T", name) for name in functions(13)))

    def test_release_12_has_its_names_at_its_version(self):
        names = [("T", f"{name}@@libcudart.so.12") for name in functions(12)]
        self.assertEqual(defined(DIRECTORY / "libcudart.so.12", "-D"),
                         sorted([*names, ("A", "libcudart.so.12")]))

    def test_the_driver_has_every_function_that_its_headers_declare(self):
        ours = [name for kind, name in defined(DIRECTORY / "libcuda.so.1", "-D")]
        stub = [name for kind, name in defined(TOOLKIT / "stubs" / "libcuda.so", "-D")]
        # The toolkit's stub is without what is shared with graphics APIs.
        self.assertEqual(set(stub) - set(ours), set())
        graphics = "cu(WGL|GL|EGL|VDPAU|Graphics(GL|EGL|VDPAU|ResourceGetMappedEgl)|EventCreateFromEGL)"
        self.assertEqual([name for name in ours if name not in stub and not re.match(graphics, name)],
                         [])
        declared = set()
        for header in ("cuda.h", "cudaProfiler.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h"):
            declared |= set(re.findall(r"CUresult CUDAAPI (cu\w+)\s*\(",
                                       (INCLUDE / header).read_text()))
        self.assertGreater(len(declared), 440)
        self.assertEqual(declared - set(ours), set())

    def test_the_drivers_versions_are_those_of_the_typedefs(self):
        rows = re.findall(r"^DRIVER_FUNCTION\(\w+, (\w+?)(_pt[ds][sz])?, (\d+)\)",
                          (FUNCTIONS.parent / "driver" / "driver_functions.def").read_text(), re.M)
        typedefs = set()
        for header in ("cudaTypedefs.h", "cudaProfilerTypedefs.h", "cudaGLTypedefs.h",
                       "cudaEGLTypedefs.h", "cudaVDPAUTypedefs.h"):
            typedefs |= set(re.findall(r"CUDAAPI \*\s*PFN_(cu\w+?)_v(\d+)(_pt[ds][sz])?\)",
                                       (INCLUDE / header).read_text()))
        self.assertEqual({(name, version, suffix) for name, suffix, version in rows}, typedefs)

    def test_thin_libraries_bring_the_virtual_gpu_that_lies_beside_them(self):
        for library in ("libcudart.so.13", "libcudart.so.12", "libcuda.so.1"):
            found = needed(library)
            self.assertIn("libwarpcheck_gpu.so", found["NEEDED"], library)
            self.assertEqual(found["RPATH"], ["$ORIGIN"], library)
            self.assertEqual(found["RUNPATH"], [], library)

    def test_the_virtual_gpu_brings_no_cpp_runtime_and_exports_private_names_alone(self):
        self.assertFalse([name for name in needed("libwarpcheck_gpu.so")["NEEDED"]
                          if "stdc++" in name or "fmt" in name])
        names = [name for _, name in defined(DIRECTORY / "libwarpcheck_gpu.so", "-D")]
        others = [name for name in names
                  if not re.fullmatch(r"warpcheck_\w+@@WARPCHECK_PRIVATE|WARPCHECK_PRIVATE", name)]
        self.assertEqual(others, [])
        self.assertIn("warpcheck_cudaMalloc@@WARPCHECK_PRIVATE", names)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
