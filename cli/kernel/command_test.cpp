// `warpcheck kernel` and `new --kernel` as a user runs them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell_test_fixture.hpp"

namespace {

class KernelCommand : public ShellTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
  }
  // Runs `kernel`, with the toolkit that built the tests.
  [[nodiscard]] Outcome kernel(const std::string& arguments) const {
    return shell("CUDA_HOME=" WARPCHECK_CUDA_HOME " " WARPCHECK_PROGRAM " kernel " + arguments);
  }
};

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in\n" << text;
}

constexpr const char* kSource = R"(struct Image { int width, height, pitch; float4* pixels; };
__global__ void previous(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] - in[i - 1];
}
__global__ void clear(Image image, float4 color) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < image.width && y < image.height && x < image.pitch) {
    image.pixels[y * image.pitch + x] = color;
  }
}
__global__ void pointers(float** rows) { rows[0][0] = 1; }
__global__ void textured(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}
// requires: n > 0
template <class T, int count>
__global__ void rotate(const T* in, T* out, int n) {
  __shared__ T values[count];
  const int t = threadIdx.x;
  if (t < n) values[t] = in[t];
  if (t < n) out[t] = values[(t + 1) % n];  // without a barrier
}
)";

TEST_F(KernelCommand, AFirstVerdictNeedsNoLine) {
  write("kernels.cu", kSource);
  const Outcome outcome = kernel("kernels.cu previous --json report.json");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  expect_contains(outcome.out,
                  "previous(const float* in, float* out, int32 n)   kernels.cu\n"
                  "  assumed: n = 0..1000\n"
                  "  launches: block 256, grid drawn, covering the numbers or 1..3\n"
                  "  lengths: in = n; out = n\n");
  expect_contains(outcome.out, "out-of-bounds on global memory");
  expect_contains(outcome.out, "kernels.cu:4");
  expect_contains(outcome.out,
                  "input: n=1; in: n=1, all in=0.0; out: n=1, all out=0.0; launch {grid 1, block "
                  "256}");
  const auto report = nlohmann::json::parse(read("report.json"));
  EXPECT_EQ(report["command"], "kernel");
  EXPECT_EQ(report["assumed"][0], "n = 0..1000");
  // A case needs neither the file nor nvcc.
  std::filesystem::remove(directory_ / "kernels.cu");
  const Outcome replayed = run("replay --expect-recorded fuzz/cases/previous/*.case");
  EXPECT_EQ(replayed.status, 0) << replayed.out;
  expect_contains(replayed.out, "FAIL previous");
  expect_one_line_error(run("export fuzz/cases/previous/*.case -o previous.cu"),
                        "the source of kernel previous is not known");
}

TEST_F(KernelCommand, StructsAndVectorsAreMade) {
  write("kernels.cu", kSource);
  const Outcome outcome = kernel("kernels.cu clear");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  expect_contains(outcome.out,
                  "clear(int32 image.width, int32 image.height, int32 image.pitch, float4* "
                  "image.pixels, float color.x, float color.y, float color.z, float color.w)");
  expect_contains(outcome.out, "PASS clear   300 trials");
}

TEST_F(KernelCommand, ATemplateIsInstantiated) {
  write("kernels.cu", kSource);
  const Outcome outcome = kernel("kernels.cu --instantiate 'rotate<int, 128>'");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  expect_contains(outcome.out, "rotate<int, 128>(const int* in, int* out, int32 n)   kernels.cu\n");
  expect_contains(outcome.out,
                  "note: blocks of 64 threads: with 256 the kernel leaves its shared memory");
  expect_contains(outcome.out, "required: n > 0\n");
  expect_contains(outcome.out, "data-race on shared memory values[");
}

TEST_F(KernelCommand, WhatCannotBeMadeIsRefusedWithAReason) {
  write("kernels.cu", kSource);
  expect_one_line_error(kernel("kernels.cu pointers"),
                        "parameter 'rows' cannot be made: it is a pointer to pointers");
  expect_one_line_error(kernel("kernels.cu textured"),
                        "parameter 'texture' cannot be made: it is a cudaTextureObject_t");
  expect_one_line_error(kernel("absent.cu"), "cannot read absent.cu: No such file or directory");
}

TEST_F(KernelCommand, WritesThePairOfAKernel) {
  write("kernels.cu", kSource);
  const Outcome outcome = shell("CUDA_HOME=" WARPCHECK_CUDA_HOME " " WARPCHECK_PROGRAM
                                " new --kernel kernels.cu:previous --length out=n");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  expect_contains(outcome.out,
                  "wrote previous_launch.cu\nwrote previous_reference.hpp\n"
                  "wrote previous_pair.cpp\nwrote CMakeLists.txt\n");
  expect_contains(read("previous_pair.cpp"),
                  "struct PreviousInput {\n  int n{};\n  std::vector<float> in{};\n"
                  "  std::vector<float> out{};\n  LaunchConfig launch{};\n};\n"
                  "FIELDS(PreviousInput, n, in, out, launch);\n");
  expect_contains(read("previous_launch.cu"),
                  "previous<<<grid, block, shared_bytes>>>(AnyPointer{in}, AnyPointer{out}, "
                  "AnyNumber<int>{n});");
}

}  // namespace
