"""Programs with cuBLAS under `warpcheck exec`: cublas_test.py WARPCHECK NVCC CXX NM CASES GENERATED

CASES (cases/) says itself whether what it got is right, and must call every function that is not
refused (GENERATED has lists of them); of programs/defects.cu each defect must be found at the line
that is marked with its name, and the twins without them are silent.
"""

import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WARPCHECK, NVCC, CXX, NM, CASES, GENERATED = sys.argv[1:7]
HERE = pathlib.Path(__file__).parent
PROGRAMS = HERE / "programs"
RECORDINGS = HERE.parent / "recordings"
sys.path.insert(0, str(HERE.parent))
from compare_recordings import differing, lines_of  # noqa: E402
sys.path.append(str(HERE.parents[2] / "ci"))
import verdict_tables  # noqa: E402
LIBRARIES = subprocess.run([WARPCHECK, "libdir"], check=True, capture_output=True,
                           text=True).stdout.strip()
DEFECTS = PROGRAMS / "defects.cu"
FOUND, UNSUPPORTED = 66, 2

# Calls that the documentation calls invalid, where a GPU answers success; what they compute is said
# nowhere, so here they get the documentation's status.
ACCEPTED = ("incx 0", "syrk of complex by C", "herk by T")
# What a GPU refuses as not supported, and what is computed here: vectors of scalars.
REFUSED = "cublasLtMatmulDescDestroy 19 "

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
    "short_band": ("out-of-bounds", ["library read"],
                   "44 bytes at byte 0 of an allocation of 40 bytes",
                   "(1) A of cublasSgbmv, 4 x 4, 1 below and 1 above the diagonal, ld 3 takes up 44 "
                   "bytes, which are not inside one allocation"),
    "short_packed": ("out-of-bounds", ["library read"],
                     "40 bytes at byte 0 of an allocation of 36 bytes",
                     "(1) AP of cublasSspmv, 10 elements takes up 40 bytes, which are not inside "
                     "one allocation"),
    "short_of_batch": ("out-of-bounds", ["library read"],
                       "64 bytes at byte 0 of an allocation of 60 bytes",
                       "(1) A[1] of cublasStrsmBatched, 4 x 4, ld 4, lower triangle takes up 64 "
                       "bytes, which are not inside one allocation"),
    "unwritten_triangle": ("uninitialized-read", ["library read", "host copy"],
                           "allocation of 16 bytes [12], first of a copy of 16 bytes",
                           "(2) takes a value made from bytes that nothing had written: A of "
                           "cublasStrsv, 4 x 4, ld 4, lower triangle"),
    "unwritten_symmetric": ("uninitialized-read", ["library read", "host copy"],
                            "allocation of 64 bytes [4], first of a copy of 64 bytes",
                            "(2) takes a value made from bytes that nothing had written: A of "
                            "cublasSsymm, 4 x 4, ld 4, lower triangle"),
    "race_in_triangle": ("data-race", ["write", "library read"], "allocation of 64 bytes [4]",
                         "nothing orders the kernel of (1) and (2), A of cublasStrmv, 4 x 4, ld 4, "
                         "lower triangle: they are in different streams"),
    "race_in_band": ("data-race", ["write", "library read"], "allocation of 48 bytes [4]",
                     "nothing orders the kernel of (1) and (2), A of cublasSgbmv, 4 x 4, 1 "
                     "below and 1 above the diagonal, ld 3: they are in different streams"),
    "short_bias": ("out-of-bounds", ["library read"],
                   "32 bytes at byte 0 of an allocation of 28 bytes",
                   "(1) bias of cublasLtMatmul, 8 elements takes up 32 bytes, which are not inside "
                   "one allocation"),
    "short_aux": ("out-of-bounds", ["library write"],
                  "256 bytes at byte 0 of an allocation of 252 bytes",
                  "(1) the auxiliary matrix of cublasLtMatmul, 8 x 8, ld 8 takes up 256 bytes, "
                  "which are not inside one allocation"),
    "race": ("data-race", ["write", "library read"], "allocation of 128 bytes [0]",
             "nothing orders the kernel of (1) and (2), x of cublasSaxpy, 32 elements: they are "
             "in different streams"),
    "freed": ("use-after-free", ["library read", "host free"],
              "32 bytes at byte 0 of an allocation of 32 bytes",
              "(1) x of cublasScopy, 8 elements is in memory that has been freed; (2) freed "
              "it"),
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
                      "(1) returned CUBLAS_STATUS_INVALID_VALUE: lda is 3, less than 4"),
    "destroyed": ("api-error", ["host call"], "cublasSscal(n 8, incx 1)",
                  "(1) returned CUBLAS_STATUS_NOT_INITIALIZED: the handle is none that "
                  "cublasCreate() gave, or has been destroyed"),
}


class CuBlas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.here = pathlib.Path(cls.room.name)
        cls.table = verdict_tables.Table("libraries", WARPCHECK, "cublas")
        # Linked as nvcc does by default: the runtime is inside, cuBLAS is shared.
        subprocess.run([NVCC, "-arch=compute_75", "-g", "-lineinfo", DEFECTS, "-o",
                        cls.here / "defects", "-lcublas", "-lcublasLt"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()
        problems = cls.table.problems_of_part()
        assert not problems, "\n".join(problems)

    def run_program(self, *command):
        report = self.here / "report.json"
        report.unlink(missing_ok=True)
        result = subprocess.run([WARPCHECK, "exec", "--json", report, "--", *command], cwd=self.here,
                                capture_output=True, text=True, timeout=300)
        if not report.exists():
            return result, None
        found = json.loads(report.read_text())
        program, *mode = command
        self.table.add(pathlib.Path(program).name, " ".join(mode), found["findings"],
                       verdict_tables.sources_of(DEFECTS))
        return result, found

    def compile(self, text, name, *options):
        subprocess.run([CXX, "-x", "c", "-", "-o", self.here / name, "-Wl,--no-as-needed", "-x",
                        "none", *options], input=text, text=True, check=True)
        return f"./{name}"

    def test_every_function_gives_what_its_definition_says(self):
        result, report = self.run_program(CASES, "--called", "called.txt")
        self.assertEqual((result.stdout, report["findings"], result.returncode), ("right\n", [], 0),
                         result.stderr)
        called = set((self.here / "called.txt").read_text().split())
        done = {name for file in ("done.txt", "lt_done.txt")
                for name in pathlib.Path(GENERATED, file).read_text().split()}
        self.assertGreater(len(done), 500)
        self.assertEqual(done - called, set(), "functions without a case in cases/")

    # Notes tell the calls that are wrong.
    def test_what_it_answers_agrees_with_recordings_of_gpus(self):
        result, report = self.run_program(CASES, "--record", "ours.txt")
        self.assertEqual((result.stdout, result.returncode), ("right\n", 0), result.stderr)
        self.assertEqual({found["kind"] for found in report["findings"]}, {"api-error"})
        ours = lines_of(self.here / "ours.txt")
        self.assertGreater(len(ours), 5000)
        for recording in sorted(RECORDINGS.glob("cublas-*.txt.xz")):
            with self.subTest(recording.name):
                different, count, lacking = differing(lines_of(recording), ours)
                print(f"{recording.name}: {count} lines compared, {lacking} are not recorded")
                different = [lines for lines in different if not lines[0].startswith(REFUSED)]
                self.assertEqual(different, [(f"{name} 1 status: 0", f"{name} 1 status: 7")
                                             for name in ACCEPTED])
                self.assertGreater(count, 6000)
        # A recording that is damaged, or another, is no agreement.
        damaged = self.here / "damaged.txt.xz"
        damaged.write_bytes(lzma.compress("\n".join(ours).encode())[:-20])
        with self.assertRaises((lzma.LZMAError, EOFError)):
            lines_of(damaged)
        at = next(i for i, line in enumerate(ours) if line.startswith("cublasSgemm_v2 1 "))
        name, last = ours[at].rsplit(" ", 1)
        other = f"{name} {float(last) + 1}"
        self.assertEqual(differing(ours[:at] + [other] + ours[at + 1:], ours),
                         ([(other, ours[at])], len(ours), 0))
        self.assertEqual(differing(ours, ours[:-1])[0], [(ours[-1], "nothing:")])
        self.assertEqual(differing(ours[:-1], ours), ([], len(ours) - 1, 1))

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
                line = lines["short_bias" if name == "short_aux" else name]
                self.assertEqual((pathlib.Path(at["file"]).name, at["line"]), ("defects.cu", line))
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
        for name in ("libcublas.so.13", "libcublas.so", "./toolkit/libcublas.so.13",
                     "libcublas.so.12"):
            result, _ = self.run_program(opener, name)
            self.assertEqual((result.stdout, result.returncode), ("right\n", 0), result.stderr)

    def test_a_program_of_release_12(self):
        text = """int cublasCreate_v2(void**);
            int cublasLtCreate(void**);
            int cufftCreate(int*);
            int cusolverDnCreate(void**);
            int main(void) {
              void* handle;
              int plan;
              return cublasCreate_v2(&handle) + cublasLtCreate(&handle) + cufftCreate(&plan) +
                     cusolverDnCreate(&handle);
            }
            """
        libraries = ("libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12", "libcufft.so.11",
                     "libcusolver.so.11")
        program = self.compile(text, "of_12", *(f"{LIBRARIES}/{name}" for name in libraries))
        result, report = self.run_program(program)
        self.assertEqual((result.returncode, report["findings"]), (0, []), result.stderr)

    def test_the_static_library_is_refused(self):
        text = "int cublasCreate_v2(void) { return 0; }\nint main(void) { return cublasCreate_v2(); }\n"
        program = self.compile(text, "with_static", f"{LIBRARIES}/libcudart.so.13")
        result, _ = self.run_program(program)
        self.assertEqual(result.returncode, UNSUPPORTED)
        self.assertIn("libcublas_static.a is linked in", result.stderr)

    def test_it_exports_what_the_vendors_does(self):
        for library, listed in (("libcublas.so.13", "functions.txt"),
                                ("libcublas.so.12", "functions.txt"),
                                ("libcublasLt.so.12", "lt_functions.txt"),
                                ("libcublasLt.so.13", "lt_functions.txt")):
            out = subprocess.run([NM, "-D", "--defined-only", f"{LIBRARIES}/{library}"], check=True,
                                 capture_output=True, text=True).stdout
            names = sorted(line.split()[2] for line in out.splitlines() if "@@" in line)
            wanted = (HERE / listed).read_text().split()
            self.assertEqual(names, sorted(f"{name}@@{library}" for name in wanted))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
