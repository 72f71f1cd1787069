"""Programs that have the toolkit's static runtime library inside, as nvcc builds them by default,
under `warpcheck exec`.  Arguments: WARPCHECK NVCC SOURCE_DIRECTORY TOOLKIT_INCLUDE TOOLKIT_LIBRARIES.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from exec_testing import HERE, LIBRARIES, NVCC, Source, Verdicts, run, run_with_findings

INCLUDE = f"-I{sys.argv[4]}"
TOOLKIT_LIBRARIES = pathlib.Path(sys.argv[5])
SOURCE = Source("static_programs.cu", "programs.cu")
VERDICTS_SEEN = Verdicts("static_runtime")

# One object is used for programs at fixed and at any addresses, and for a library.
OPTIONS = ["-arch=compute_75", "-lineinfo"]
LINKED = {"program": [], "fixed": ["-Xcompiler", "-no-pie"], "shared": ["-cudart", "shared"],
          "unlinked": ["-Xcompiler", "-static"], "libstatic.so": ["-shared"]}

OTHER_WAYS = f"link it again with `nvcc -L {LIBRARIES}` (or with `nvcc -cudart shared`)"
STRIPPED = ("it is stripped, so the functions of the toolkit's static CUDA runtime in it cannot be "
            f"found; do not strip it, or {OTHER_WAYS}")
NOT_ALLOWED = ("the toolkit's static CUDA runtime is linked in, and its functions cannot be led to "
               f"the virtual GPU (mprotect: Permission denied); {OTHER_WAYS}")

# Opens each library twice, and uses it on memory of its own.
OPENER = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** arguments) {
  int status = 0;
  for (int i = 2; i < 2 * count; ++i) {
    void* library = dlopen(arguments[i / 2], RTLD_NOW);
    if (library == NULL) return puts(dlerror()), 1;
    status |= ((int (*)(int))dlsym(library, "use_device"))(0);
    dlclose(library);
  }
  return status;
}
"""

# Its memory is that of the library that it needs.
NEEDING = r"""
#include <cuda_runtime_api.h>
#include <stdio.h>
int scale_by_three(int* data, int n);
int main(void) {
  int host[2] = {1, 2}, *data;
  if (cudaMalloc((void**)&data, sizeof host) != cudaSuccess) return 1;
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  if (scale_by_three(data, 2) != 0) return 1;
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  return printf("%d %d\n", host[0], host[1]) != 4;
}
"""

# Runs a command whose calls of mprotect(any, more than LENGTH bytes, PROTECTION) fail.
PROTECTED = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise)
#define ABOVE(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, value, 0, otherwise)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
int main(int count, char** arguments) {
  const unsigned protection = atoi(arguments[1]), length = atoi(arguments[2]);
  struct sock_filter filter[] = {LOAD(nr), IS(SYS_mprotect, 5),
                                 LOAD(args[2]), IS(protection, 3),
                                 LOAD(args[1]), ABOVE(length, 1),
                                 ANSWER(SECCOMP_RET_ERRNO | EACCES), ANSWER(SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 90;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 91;
  execv(arguments[3], arguments + 3);
  return 92;
}
"""
READ_WRITE, READ_EXECUTE = "3", "5"

# A runtime of nobody: functions of its names, in the order in which they stand here.
RUNTIME = r"""
#include <stdio.h>
#include <string.h>
#define IN_LIBRARY __attribute__((visibility("hidden"), noipa, aligned(16)))
int cudaOfTheProgram(void) { return 5; }
IN_LIBRARY void** __cudaRegisterFatBinary(void* wrapper) { return wrapper; }
IN_LIBRARY int cudaFutureFunction(int value) { return value; }
#if RELEASE <= 12
IN_LIBRARY int cudaGetDeviceProperties_v2(void* properties, int device) { return 100 + device; }
#endif
#if RELEASE <= 11
IN_LIBRARY int cudaBindTexture(void) { return 100; }
#endif
#ifdef SHORT
__asm__(".balign 16\n.globl cudaProfilerStart\n.hidden cudaProfilerStart\n"
        ".type cudaProfilerStart, @function\ncudaProfilerStart: xor %eax, %eax\nret\n"
        ".size cudaProfilerStart, 3\n.byte 0x90\nbehind_it: nop\n");
#endif
IN_LIBRARY int cudaGetDeviceCount(int* count) { return *count = 100; }
int main(void) {
  int count = 0;
  printf("%d, own %d, ", cudaGetDeviceCount(&count), cudaOfTheProgram());
#if RELEASE == 12
  char properties[1032];
  memset(properties, 0, sizeof properties);
  printf("properties %d: %s, ", cudaGetDeviceProperties_v2(properties, 0), properties);
#endif
  printf("%d, future %d\n", count, cudaFutureFunction(1));
  return 0;
}
"""


# Memory of one runtime is the other's.
TWO_RELEASES = r"""
#include <dlfcn.h>
#include <stdio.h>
#ifdef INSIDE
int cudaGetLastError(void);
#endif
int main(int count, char** names) {
#ifdef INSIDE
  cudaGetLastError();
#endif
  void* first = dlopen(names[1], RTLD_NOW | RTLD_LOCAL);
  void* second = dlopen(names[2], RTLD_NOW | RTLD_LOCAL);
  if (first == NULL || second == NULL) return puts(dlerror()), 1;
  int (*allocate)(void**, size_t) = dlsym(first, "cudaMalloc");
  int (*fill)(void*, int, size_t) = dlsym(second, "cudaMemset");
  int (*copy)(void*, const void*, size_t, int) = dlsym(first, "cudaMemcpy");
  int (*release)(void*) = dlsym(second, "cudaFree");
  void* memory = NULL;
  char host = 0;
  const int allocated = allocate(&memory, 1), filled = fill(memory, 5, 1);
  const int copied = copy(&host, memory, 1, 2);
  printf("%d %d %d %d %d\n", allocated, filled, copied, host, release(memory));
  return count != 3;
}
"""


def compile_c(text, name, *options):
    subprocess.run(["gcc", "-O1", "-x", "c", "-", "-x", "none", "-o", name, *options], input=text,
                   text=True, check=True, cwd=HERE)
    return f"./{name}"


def copy(name, new, strip=False):
    shutil.copy(HERE / name, HERE / new)
    if strip:
        subprocess.run(["strip", new], check=True, cwd=HERE)
    return f"./{new}"


def setUpModule():
    subprocess.run([NVCC, *OPTIONS, "-Xcompiler", "-fPIC", "-c", "programs.cu"], check=True,
                   cwd=HERE)
    for name, options in LINKED.items():
        subprocess.run([NVCC, *options, "programs.o", "-o", name], check=True, cwd=HERE,
                       capture_output=True)
    subprocess.run([NVCC, *OPTIONS, "-rdc=true", "-G", "programs.cu", "-o", "separate"], check=True,
                   cwd=HERE, capture_output=True)
    compile_c(OPENER, "opener", "-ldl")


def tearDownModule():
    VERDICTS_SEEN.check()


class StaticTest(unittest.TestCase):
    OUTPUT = "1 device\nscaled by 3\nright\n"

    def assert_silent(self, result, output=OUTPUT, launches=1):
        self.assertEqual(result.stdout, output)
        end = f"{launches} launch{'es' if launches > 1 else ''} of 1 kernel"
        self.assertEqual(result.stderr.splitlines()[1:],
                         [f"========= no findings; {end}",
                          "========= exit status 0: the program's own"])
        self.assertEqual(result.returncode, 0)

    def assert_refused(self, result, reason, status, output=""):
        self.assertEqual(result.stdout, output)
        self.assertEqual(result.stderr.splitlines()[1:],
                         [f"========= refused: {reason}",
                          "========= the program never loaded the CUDA runtime library: nothing "
                          "was checked",
                          "========= exit status 2: something is not supported; the program's own "
                          f"is {status}"])
        self.assertEqual(result.returncode, 2)

    def assert_refused_before(self, result, text):
        self.assertEqual((result.stdout, result.stderr), ("", f"warpcheck: {text}\n"))
        self.assertEqual(result.returncode, 2)


class Programs(StaticTest):
    def test_is_right_and_silent_however_it_is_linked(self):
        for name in ("program", "fixed", "separate", "shared"):
            with self.subTest(name):
                self.assert_silent(run_with_findings(f"./{name}", verdicts=VERDICTS_SEEN)[0])

    def test_what_is_wrong_is_found_at_its_line(self):
        for name in ("program", "fixed", "separate"):
            with self.subTest(name):
                result, _ = run_with_findings(f"./{name}", "wrong", VERDICTS_SEEN)
                self.assertEqual(result.stdout, self.OUTPUT)
                self.assertEqual(result.returncode, 66)
                self.assertIn(
                    "========= out-of-bounds on global memory 4 bytes, 0 bytes past the end of an "
                    "allocation of 128 bytes, in kernel overrun\n", result.stderr)
                self.assertRegex(result.stderr,
                                 r"\(1\) write by block \(0,0,0\) thread \(0,0,0\)  "
                                 rf"\S*programs.cu:{SOURCE.line_of('overrun')}   st\.(global\.)?u32")
                self.assertIn("========= 1 error; 2 launches of 2 kernels\n", result.stderr)

    # exit() destroys thread-local objects, and static ones that are younger than the program's,
    # before the program's.  What is freed is overwritten here, so a use of it shows.
    def test_a_kernel_that_is_launched_first_by_a_destructor(self):
        environment = {**os.environ, "MALLOC_PERTURB_": "165"}
        for name in ("program", "shared"):
            with self.subTest(name):
                result, _ = run_with_findings(f"./{name}", "at-end", VERDICTS_SEEN, env=environment)
                first, rest = self.OUTPUT.split("\n", 1)
                self.assertEqual(result.stdout, f"{first}\n35\n{rest}35\ncudaSuccess\n")
                self.assertIn("========= no findings; 3 launches of 3 kernels\n", result.stderr)

    def test_the_file_stays_as_it_is(self):
        before = (HERE / "program").read_bytes()
        self.assert_silent(run("--", "./program"))
        self.assertEqual((HERE / "program").read_bytes(), before)

    def test_a_program_that_is_started_in_other_ways(self):
        script = HERE / "script"
        script.write_text("#!/bin/sh\n./program && rm ./program.copy && exit 0\n")
        script.chmod(0o755)
        copy("program", "program.copy")
        self.assert_silent(run("--", "./script"))
        self.assertFalse((HERE / "program.copy").exists())
        (linker,) = pathlib.Path("/lib64").glob("ld-linux-x86-64.so.2")
        self.assert_silent(run("--", str(linker), "./program"))

    def test_an_audit_library_of_the_user_stays(self):
        environment = {**os.environ, "LD_AUDIT": "/nonexistent/audit.so"}
        result = run("--", "/usr/bin/env", env=environment)
        self.assertIn(f"LD_AUDIT={LIBRARIES}/libwarpcheck_redirect.so:/nonexistent/audit.so\n",
                      result.stdout)

    def test_a_program_without_cuda(self):
        result = run("--", "/bin/echo", "nothing")
        self.assertEqual(result.stdout, "nothing\n")
        self.assertEqual(result.stderr.splitlines()[1:],
                         ["========= the program never loaded the CUDA runtime library: nothing "
                          "was checked", "========= exit status 0: the program's own"])


class Libraries(StaticTest):
    def test_a_library_that_is_needed(self):
        static = [str(TOOLKIT_LIBRARIES / "libcudart_static.a"), "-lrt", "-ldl", "-lpthread"]
        for name, options in (("needs_shared", [f"{LIBRARIES}/libcudart.so.13"]),
                              ("needs_static", static)):
            with self.subTest(name):
                program = compile_c(NEEDING, name, INCLUDE, "./libstatic.so", "-Wl,-rpath,$ORIGIN",
                                    *options)
                self.assert_silent(run("--", program), "1 device\nscaled by 3\n3 6\n")

    def test_a_library_that_is_opened(self):
        self.assert_silent(run("--", "./opener", "./libstatic.so"), self.OUTPUT * 2, launches=2)

    def test_a_library_that_a_program_opens_that_has_a_static_runtime_itself(self):
        copy("libstatic.so", "libother.so")
        self.assert_silent(run("--", "./opener", "./libstatic.so", "./libother.so"),
                           self.OUTPUT * 4, launches=4)

    def test_beside_the_virtual_gpus_own_static_library(self):
        program = compile_c(NEEDING, "two", INCLUDE, "./libstatic.so", "-Wl,-rpath,$ORIGIN",
                            f"{LIBRARIES}/libcudart_static.a", "-lm")
        self.assert_refused_before(
            run("--", program),
            "./two: its library ./libstatic.so has the toolkit's static CUDA runtime inside, and "
            f"the program that of the virtual GPU; link both with `nvcc -L {LIBRARIES}`, or neither")

    def test_one_virtual_gpu_for_the_runtimes_of_both_releases(self):
        program = compile_c(TWO_RELEASES, "releases", "-ldl")
        result = run("--", program, "libcudart.so.12", "libcudart.so.13")
        self.assertEqual((result.stdout, result.returncode), ("0 0 0 5 0\n", 0), result.stderr)

    def test_no_second_virtual_gpu(self):
        program = compile_c(TWO_RELEASES, "second", "-DINSIDE", f"{LIBRARIES}/libcudart_static.a",
                            "-ldl", "-lm", "-lpthread")
        result = run("--", program, "libcudart.so.13", "libcudart.so.13")
        self.assertIn(
            "========= refused: the program has the virtual GPU inside (libcudart_static.a of "
            "`warpcheck libdir`), and another library of the process needs the shared one "
            "(libwarpcheck_gpu.so), so there would be two; link it with `nvcc -cudart shared`, and "
            "run it under `warpcheck exec`\n", result.stderr)
        self.assertEqual((result.stdout, result.returncode), ("", 2))


class Refusals(StaticTest):
    def test_a_stripped_program(self):
        copy("program", "stripped", strip=True)
        self.assert_refused_before(run("--", "./stripped"), f"./stripped: {STRIPPED}")
        self.assert_refused(run("--", "/usr/bin/env", "./stripped"),
                            f"{HERE.resolve()}/stripped: {STRIPPED}", 2)
        self.assertEqual(run("--unsupported-exitcode", "9", "--", "./stripped").returncode, 9)

    def test_a_stripped_library(self):
        copy("libstatic.so", "libstripped.so", strip=True)
        result = run("--", "./opener", "./libstripped.so")
        self.assertIn(f"========= refused: ./libstripped.so: {STRIPPED}\n", result.stderr)
        self.assertEqual(result.returncode, 2)
        program = compile_c("int use_device(int); int main(void) { return use_device(0); }\n",
                            "needs_stripped", "./libstripped.so", "-Wl,-rpath,$ORIGIN")
        self.assert_refused_before(
            run("--", program),
            f"./needs_stripped: its library ./libstripped.so: {STRIPPED}")

    def test_where_code_cannot_be_changed(self):
        compile_c(PROTECTED, "protected")
        warpcheck = sys.argv[1]
        for protection, length in ((READ_EXECUTE, 0), (READ_WRITE, 65536), (READ_EXECUTE, 65536)):
            with self.subTest(protection=protection, length=length):
                result = subprocess.run(
                    [HERE / "protected", protection, str(length), warpcheck, "exec", "--",
                     "./program"], cwd=HERE, capture_output=True, text=True, timeout=120)
                self.assert_refused(result, f"{HERE.resolve()}/program: {NOT_ALLOWED}", 2)

    def test_an_installation_that_is_damaged(self):
        warpcheck = pathlib.Path(sys.argv[1])
        (HERE / "bin").mkdir()
        (HERE / "lib").mkdir()
        shutil.copy(warpcheck, HERE / "bin" / "warpcheck")
        shutil.copytree(LIBRARIES, HERE / "lib" / "warpcheck", symlinks=True)
        audit = HERE.resolve() / "lib" / "warpcheck" / "libwarpcheck_redirect.so"
        audit.write_bytes(b"")
        result = subprocess.run([HERE / "bin" / "warpcheck", "exec", "--", "./program"], cwd=HERE,
                                capture_output=True, text=True, timeout=120)
        self.assertIn(f"object '{audit}' cannot be loaded as audit interface", result.stderr)
        self.assertIn("========= refused: cuGetExportTable is not supported by the virtual device: "
                      "its tables are not documented; a CUDA runtime of the toolkit asks for one "
                      "where it was not led to the virtual GPU\n", result.stderr)
        self.assertEqual(result.returncode, 2)

    def test_without_a_dynamic_linker(self):
        self.assert_refused_before(
            run("--", "./unlinked"),
            "./unlinked: the toolkit's static CUDA runtime is linked in, and so is the C library "
            "(-static), so nothing can take its place; link it again without -static")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_with_rights_of_another_user(self):
        copy("program", "privileged")
        os.chown(HERE / "privileged", 65534, -1)
        (HERE / "privileged").chmod(0o4755)
        self.assert_refused_before(
            run("--", "./privileged"),
            "./privileged: the toolkit's static CUDA runtime is linked in, and the system lets "
            "nothing take its place in a program that runs with the rights of another user, or "
            f"with capabilities; {OTHER_WAYS}")


class OtherRuntimes(StaticTest):
    """Functions are recognised by their names and their places."""

    def runtime(self, release, *options):
        return compile_c(RUNTIME, f"release_{release}", f"-DRELEASE={release}",
                         "-fno-toplevel-reorder", *options)

    def assert_future_function_is_refused(self, result, output):
        self.assertEqual(result.stdout, output)
        self.assertIn("========= refused: cudaFutureFunction is not supported by the virtual "
                      "device\n", result.stderr)
        self.assertEqual(result.returncode, 2)

    def test_a_function_that_the_virtual_gpu_does_not_know(self):
        self.assert_future_function_is_refused(run("--", self.runtime(13)),
                                               "0, own 5, 1, future 801\n")

    def test_release_12_has_functions_of_its_own(self):
        self.assert_future_function_is_refused(
            run("--", self.runtime(12)),
            "0, own 5, properties 0: warpcheck virtual GPU, 1, future 801\n")

    def test_an_older_release(self):
        self.assert_refused_before(
            run("--", self.runtime(11)),
            "./release_11: it has the toolkit's static CUDA runtime of release 11 or an older one "
            "inside; there are 13 and 12")

    def test_a_function_without_room(self):
        self.assert_refused_before(
            run("--", self.runtime(13, "-DSHORT")),
            "./release_13: there is no room for a jump in cudaProfilerStart of the toolkit's static "
            f"CUDA runtime in it (4 bytes); {OTHER_WAYS}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
