"""On which devices `warpcheck exec` runs a program, and which programs it refuses by name:
refusals_test.py WARPCHECK NVCC SOURCE_DIRECTORY.
"""

import subprocess
import sys
import unittest

from exec_testing import HERE, LIBRARIES, NVCC, PROGRAMS, Source, link, run

SOURCE = Source("ends/programs.cu", "programs.cu")
line_of = SOURCE.line_of


def setUpModule():
    link(PROGRAMS, "shared", "-cudart", "shared")


# Opens the libraries that it is given.
OPENER = r"""
#include <dlfcn.h>
extern "C" int cudaGetDeviceCount(int* count);
int main(int count, char** arguments) {
  int devices;
  if (cudaGetDeviceCount(&devices) != 0) return 1;
  for (int i = 1; i < count; ++i) dlopen(arguments[i], RTLD_NOW);
}
"""

# Asks for all the shared memory that the device has for a block, and tells which PTX has run.
DEVICE = r"""
#include <cstdio>
__global__ void tell(int* target, int last) {
  extern __shared__ int large[];
#ifdef __CUDA_ARCH__
  large[last] = __CUDA_ARCH__ / 10;
#endif
  *target = large[last];
}
int main() {
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  const int bytes = device.sharedMemPerBlockOptin;
  int* target;
  int result = 0;
  cudaMalloc(&target, sizeof *target);
  const cudaError_t more = cudaFuncSetAttribute(
      tell, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes + 1);
  cudaFuncSetAttribute(tell, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  tell<<<1, 1, bytes>>>(target, bytes / 4 - 1);
  cudaMemcpy(&result, target, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(target);
  std::printf("sm_%d%d, %d KiB, PTX for %d, more: %s\n", device.major, device.minor,
              bytes / 1024, result, cudaGetErrorName(more));
}
"""


# As the runtime in a library of the vendor's begins.
ITS_RUNTIME = r"""
#include <dlfcn.h>
__attribute__((constructor)) static void begin(void) {
  const void* table;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*get)(const void**, const void*) = dlsym(driver, "cuGetExportTable");
  get(&table, "0123456789abcdef");
}
"""


class Devices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (HERE / "device.cu").write_text(DEVICE)
        cls.build("old_and_new", 75, 90)
        cls.build("new", 86)

    @staticmethod
    def build(name, *targets):
        wanted = [word for each in targets
                  for word in ("-gencode", f"arch=compute_{each},code=compute_{each}")]
        subprocess.run([NVCC, *wanted, "-cudart", "shared", "device.cu", "-o", name], check=True,
                       cwd=HERE)

    def assert_device(self, text, *words):
        result = run(*words)
        self.assertEqual(result.stdout, f"{text}, more: cudaErrorInvalidValue\n")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_newest_ptx_decides(self):
        self.assert_device("sm_90, 227 KiB, PTX for 90", "--", "./old_and_new")
        self.assert_device("sm_86, 99 KiB, PTX for 86", "--", "./new")

    def test_another_device_runs_the_newest_ptx_that_it_can(self):
        for device, text in (("sm_75", "64 KiB, PTX for 75"), ("sm_80", "163 KiB, PTX for 75"),
                             ("sm_100", "227 KiB, PTX for 90"), ("sm_120", "99 KiB, PTX for 90")):
            with self.subTest(device):
                self.assert_device(f"{device}, {text}", "--device", device, "--", "./old_and_new")

    def test_the_toolkits_device_runtime_does_not_decide(self):
        subprocess.run([NVCC, "-arch=compute_80", "-rdc=true", "-cudart", "shared", "device.cu",
                        "-o", "separate", "-lcudadevrt"], check=True, cwd=HERE)
        self.assert_device("sm_80, 163 KiB, PTX for 80", "--", "./separate")

    def test_a_device_that_there_is_not(self):
        result = run("--device", "sm_12", "--", "./new")
        self.assertEqual(result.returncode, 2)
        self.assertIn("sm_12", result.stderr)


class Refusals(unittest.TestCase):
    def assert_refused(self, result, *texts):
        self.assertEqual(result.returncode, 2, result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)

    def test_an_instruction_is_named_with_its_lines(self):
        result = run("--", "./shared", "refused-kernel")
        self.assert_refused(result, "========= refused: ", "special register '%pm0'",
                            f"programs.cu:{line_of('refused')}")
        self.assertRegex(result.stderr, r"(PTX:|PTX line )\d+")
        self.assertEqual(result.stdout, "error: cudaErrorNotSupported\n")

    def test_a_call_is_named(self):
        result = run("--", "./shared", "refused-call")
        self.assert_refused(result, "========= refused: cudaDestroyExternalMemory")
        self.assertEqual(result.stdout, "cudaErrorNotSupported\n")

    def test_what_is_no_program(self):
        (HERE / "text").write_text("no program\n")
        self.assert_refused(run("--", "./nothing"), "./nothing: No such file or directory")
        self.assert_refused(run("--", "shared"), "no such program in $PATH; is it ./shared?")
        self.assert_refused(run("--", "./text"), "cannot be executed (chmod +x ./text?)")
        (HERE / "text").chmod(0o755)
        self.assert_refused(run("--", "./text"), "neither an ELF program for x86-64 nor a script")
        self.assert_refused(run("--", str(HERE)), "a directory, not a program")

    def test_another_release_of_the_library(self):
        library = HERE / "libcudart.so.11.0"
        subprocess.run(["gcc", "-shared", "-x", "c", "/dev/null", "-o", library,
                        "-Wl,-soname,libcudart.so.11.0"], check=True)
        subprocess.run(["gcc", "-x", "c", "-", "-o", HERE / "old", "-Wl,--no-as-needed", "-x",
                        "none", library], input="int main(void) { return 0; }", text=True,
                       check=True)
        self.assert_refused(run("--", "./old"), "it needs libcudart.so.11.0")

    def library(self, name, *needs, soname=None, source="void in_library(void) {}\n"):
        path = HERE / name
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", path,
                        f"-Wl,-soname,{soname or name}", "-Wl,--no-as-needed", "-x", "none",
                        *needs], input=source, text=True, check=True)
        return str(path)

    def program(self, name, *options):
        subprocess.run(["g++", "-x", "c++", "-", "-o", HERE / name, "-Wl,--no-as-needed", "-x",
                        "none", f"{LIBRARIES}/libcudart.so.13", *options], input=OPENER, text=True,
                       check=True)
        return f"./{name}"

    def test_a_library_of_machine_code(self):
        blas = self.library("libcudnn.so.9")
        self.assert_refused(run("--", self.program("multiplies", blas)),
                            "./multiplies: it needs a library that cannot be used here: "
                            "libcudnn.so.9 holds machine code of real GPUs")

    def test_the_driver(self):
        decoder = self.library("libnvcuvid.so.1")
        self.assert_refused(run("--", self.program("decodes", decoder)),
                            "libnvcuvid.so.1 is of the driver of a real GPU")

    def test_a_library_that_a_library_of_the_program_needs(self):
        own = self.library("libown.so", self.library("libcudnn.so.9"))
        self.assert_refused(run("--", self.program("transforms", own, "-Wl,-rpath,$ORIGIN")),
                            "./libown.so needs a library that cannot be used here: "
                            "libcudnn.so.9 holds machine code")

    def test_a_library_that_is_opened_at_run_time(self):
        self.library("libcudnn.so.9")
        program = self.program("opens")
        # Frameworks open many libraries, and use few.
        self.assertEqual(run("--", program, "./nothing.so").returncode, 0)
        self.assertEqual(run("--", program, "./libcudnn.so.9").returncode, 0)
        self.library("libcudnn.so.9", source=ITS_RUNTIME)
        result = run("--", program, "./libcudnn.so.9")
        self.assert_refused(result, "========= refused: libcudnn.so.9 holds machine code")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
