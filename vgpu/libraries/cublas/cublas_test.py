"""Programs with cuBLAS under `warpcheck exec`: cublas_test.py WARPCHECK NVCC CXX NM

programs/results.cpp says itself whether what it got is right; of programs/defects.cu each defect must
be found at the line that is marked with its name, and the twins without them are silent.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WARPCHECK, NVCC, CXX, NM = sys.argv[1:5]
HERE = pathlib.Path(__file__).parent
PROGRAMS = HERE / "programs"
LIBRARIES = subprocess.run([WARPCHECK, "libdir"], check=True, capture_output=True,
                           text=True).stdout.strip()
DEFECTS = PROGRAMS / "defects.cu"
FOUND, UNSUPPORTED = 66, 2

OPENER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** names) {
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(names[i], RTLD_NOW);
    int (*create)(void**) = library ? (int (*)(void**))dlsym(library, "cublasCreate_v2") : 0;
    void* handle = 0;
    if (!create || create(&handle) != 0) return printf("%s\\n", dlerror()), 1;
  }
  return puts("right") < 0;
}
"""

# Each defect: its kind, the roles of its sides, what it is about, and the message.
EXPECTED = {
    "short_operand": ("out-of-bounds", ["library read"],
                      "64 bytes at byte 0 of an allocation of 60 bytes",
                      "(1) A of cublasSgemm, 4 x 4, ld 4 takes up 64 bytes, which are not inside "
                      "one allocation"),
    "wide_leading": ("out-of-bounds", ["library read"],
                     "76 bytes at byte 0 of an allocation of 64 bytes",
                     "(1) A of cublasSgemv, 4 x 4, ld 5 takes up 76 bytes, which are not inside "
                     "one allocation"),
    "long_stride": ("out-of-bounds", ["library write"],
                    "132 bytes at byte 0 of an allocation of 128 bytes",
                    "(1) C of cublasSgemmStridedBatched, 4 x 4, ld 4, 2 of them 17 apart takes up "
                    "132 bytes, which are not inside one allocation"),
    "uninitialized": ("uninitialized-read", ["library read", "host copy"],
                      "allocation of 64 bytes [4], first of a copy of 64 bytes",
                      "(2) takes a value made from bytes that nothing had written: A of "
                      "cublasSgemm, 4 x 4, ld 4"),
    "uninitialized_result": ("uninitialized-read", ["library read"],
                             "x of cublasSdot, 8 elements",
                             "(1) gives the host a value made from bytes that nothing has "
                             "written: result of cublasSdot"),
    "race": ("data-race", ["write", "library read"], "allocation of 128 bytes [0]",
             "nothing orders the kernel of (1) and (2), x of cublasSaxpy, 32 elements: they are "
             "in different streams"),
    "freed": ("use-after-free", ["library read"],
              "32 bytes at byte 0 of an allocation of 32 bytes",
              "(1) x of cublasScopy, 8 elements is in memory that has been freed"),
    "scalar_on_device": ("out-of-bounds", ["library read"], "alpha of cublasSscal",
                         "(1) is device memory, and the host reads it: the function is told that "
                         "the pointer is one to memory of the host"),
    "scalar_on_host": ("out-of-bounds", ["library read"], "alpha of cublasSscal",
                       "(1) is memory of the host, which no code on the device can reach"),
    "captured": ("out-of-bounds", ["library read"],
                 "36 bytes at byte 0 of an allocation of 32 bytes",
                 "(1) x of cublasSaxpy, 9 elements takes up 36 bytes, which are not inside one "
                 "allocation"),
    "small_leading": ("api-error", ["host call"],
                      "cublasSgemm(m 4, n 4, k 4, lda 3, ldb 4, ldc 4)",
                      "(1) answered CUBLAS_STATUS_INVALID_VALUE: lda is 3, less than 4"),
    "destroyed": ("api-error", ["host call"], "cublasSscal(n 8, incx 1)",
                  "(1) answered CUBLAS_STATUS_NOT_INITIALIZED: the handle is none that "
                  "cublasCreate() gave, or has been destroyed"),
}


class CuBlas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.here = pathlib.Path(cls.room.name)
        # Linked as nvcc does by default: the runtime is inside, cuBLAS is shared.
        subprocess.run([NVCC, "-arch=compute_75", "-g", "-lineinfo", DEFECTS, "-o",
                        cls.here / "defects", "-lcublas"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def run_program(self, *command):
        report = self.here / "report.json"
        report.unlink(missing_ok=True)
        result = subprocess.run([WARPCHECK, "exec", "--json", report, "--", *command], cwd=self.here,
                                capture_output=True, text=True, timeout=300)
        return result, json.loads(report.read_text()) if report.exists() else None

    def compile(self, text, name, *options):
        subprocess.run([CXX, "-x", "c", "-", "-o", self.here / name, "-Wl,--no-as-needed", "-x",
                        "none", *options], input=text, text=True, check=True)
        return f"./{name}"

    def test_results_are_what_the_definitions_say(self):
        subprocess.run([NVCC, "-std=c++17", "-cudart", "shared", PROGRAMS / "results.cpp", "-o",
                        self.here / "results", "-lcublas", "-lcublasLt"], check=True)
        result, report = self.run_program("./results")
        self.assertEqual((result.stdout, report["findings"], result.returncode), ("right\n", [], 0),
                         result.stderr)

    def test_defects_are_found_and_their_twins_are_silent(self):
        lines = {name: i + 1 for i, line in enumerate(DEFECTS.read_text().splitlines(), 1)
                 for name in re.findall(r"//~ (\w+)$", line)}
        for name, (kind, roles, what, message) in EXPECTED.items():
            with self.subTest(name):
                result, report = self.run_program("./defects", name)
                self.assertEqual(len(report["findings"]), 1, result.stderr)
                found = report["findings"][0]
                sides = found["accesses"]
                self.assertEqual((found["kind"], [side["role"] for side in sides], found["object"],
                                  found["message"]), (kind, roles, what, message))
                at = sides[0] if kind != "data-race" else sides[1]
                self.assertEqual((pathlib.Path(at["file"]).name, at["line"]),
                                 ("defects.cu", lines[name]))
                self.assertEqual(result.returncode, 0 if kind == "api-error" else FOUND)
        result, report = self.run_program("./defects", "clean")
        self.assertEqual((report["findings"], result.returncode), ([], 0), result.stderr)

    def test_a_function_that_is_not_done_is_refused_when_it_is_called(self):
        result, _ = self.run_program("./defects", "refused")
        self.assertEqual(result.returncode, UNSUPPORTED)
        self.assertIn("refused: cublasSetEmulationStrategy is not supported by the virtual device",
                      result.stderr)

    # A search path of the program, or a path that it opens, leads to another file of that name.
    def test_the_library_comes_before_the_programs_own_choice(self):
        (self.here / "toolkit").mkdir(exist_ok=True)
        (self.here / "toolkit" / "libcublas.so.13").write_text("machine code\n")
        opener = self.compile(OPENER, "opener", f"{LIBRARIES}/libcudart.so.13", "-Wl,-rpath,$ORIGIN/toolkit",
                              "-Wl,--disable-new-dtags")
        for name in ("libcublas.so.13", "libcublas.so", "./toolkit/libcublas.so.13"):
            result, _ = self.run_program(opener, name)
            self.assertEqual((result.stdout, result.returncode), ("right\n", 0), result.stderr)

    def test_the_static_library_is_refused(self):
        text = "int cublasCreate_v2(void) { return 0; }\nint main(void) { return cublasCreate_v2(); }\n"
        program = self.compile(text, "with_static", f"{LIBRARIES}/libcudart.so.13")
        result, _ = self.run_program(program)
        self.assertEqual(result.returncode, UNSUPPORTED)
        self.assertIn("libcublas_static.a is linked in", result.stderr)

    def test_it_exports_what_the_vendors_does(self):
        for library, listed in (("libcublas.so.13", "functions.txt"),
                                ("libcublasLt.so.13", "lt_functions.txt")):
            out = subprocess.run([NM, "-D", "--defined-only", f"{LIBRARIES}/{library}"], check=True,
                                 capture_output=True, text=True).stdout
            names = sorted(line.split()[2] for line in out.splitlines() if "@@" in line)
            wanted = (HERE / listed).read_text().split()
            self.assertEqual(names, sorted(f"{name}@@{library}" for name in wanted))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
