// `warpcheck kernel` and `new --kernel` as a user runs them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

TEST_F(KernelCommand, LengthsAreWhatBothBuildsNeed) {
  // The optimised build does not load the last element: whatever it is, 63 remains.
  write("search.cu", R"(__global__ void search(int* where, const int* keys) {
  int k = 0;
  for (k = 0; k < 63; ++k)
    if (keys[k] == threadIdx.x) break;
  if (k == 63 && keys[63] == 5) k = 63;
  where[threadIdx.x] = k;
}
)");
  const Outcome outcome = kernel("search.cu --trials 20 --block 64 --grid 1");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  expect_contains(outcome.out, "  lengths: where = 64; keys = 64\n");
}

TEST_F(KernelCommand, SeveralKernelsAreTriedAndStructsAndVectorsAreMade) {
  write("kernels.cu", kSource);
  const Outcome outcome = kernel("kernels.cu previous clear --json report.json");
  EXPECT_EQ(outcome.status, 1) << outcome.out;  // the worst one
  expect_contains(outcome.out, "FAIL previous");
  expect_contains(outcome.out,
                  "clear(int32 image.width, int32 image.height, int32 image.pitch, float4* "
                  "image.pixels, float color.x, float color.y, float color.z, float color.w)");
  expect_contains(outcome.out, "PASS clear   300 trials");
  const auto report = nlohmann::json::parse(read("report.json"));
  EXPECT_EQ(report["assumed"][0], "previous: n = 0..1000");
  EXPECT_EQ(report["claims"].size(), 2u);
  EXPECT_EQ(report["claims"][1]["pair"], "clear");
}

TEST_F(KernelCommand, ATemplateIsInstantiated) {
  write("kernels.cu", kSource);
  const Outcome outcome = kernel("kernels.cu --instantiate 'rotate<int, 128>'");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  expect_contains(outcome.out, "rotate<int, 128>(const int* in, int* out, int32 n)   kernels.cu\n");
  // values[128] of (t + 1) % n, if n is larger.
  expect_contains(outcome.out,
                  "note: with 128 threads of a block the kernel leaves its shared memory");
  expect_contains(outcome.out, "required: n > 0\n");
  expect_contains(outcome.out, "data-race on shared memory values[");
}

TEST_F(KernelCommand, LibrariesAskForNoExtents) {
  write("groups.cu",
        "#include <cooperative_groups.h>\n"
        "__global__ void doubled(int* values, int n) {\n"
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  cooperative_groups::this_thread_block().sync();\n"
        "  if (cooperative_groups::this_thread_block().thread_rank() < 512 && i < n) values[i] *= "
        "2;\n"
        "}\n"
        "__global__ void cube(int* values) { values[threadIdx.z] = threadIdx.y; }\n");
  const Outcome outcome = kernel("groups.cu doubled");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  expect_contains(outcome.out, "  launches: block 256, grid drawn");
  EXPECT_EQ(outcome.out.find("constant memory"), std::string::npos) << outcome.out;
}

TEST_F(KernelCommand, AnOverrunOfSharedMemoryDoesNotShrinkTheBlock) {
  write("shift.cu",
        "__global__ void shift(const int* in, int* out, int n) {\n"
        "  __shared__ int tile[256];\n"
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  tile[threadIdx.x] = i < n ? in[i] : 0;\n"
        "  __syncthreads();\n"
        "  if (i < n) out[i] = tile[threadIdx.x + 1];\n"
        "}\n");
  const Outcome outcome = kernel("shift.cu");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  expect_contains(outcome.out, "out-of-bounds on shared memory");
  expect_contains(outcome.out, "shift.cu:6");
  expect_contains(outcome.out, "with 256 threads of a block the kernel leaves its shared memory");
  // With fewer threads a value that nothing has written reaches the host.
  const Outcome fewer = kernel("shift.cu --block 64");
  EXPECT_EQ(fewer.status, 1) << fewer.out;
  expect_contains(fewer.out, "uninitialized-read on shared memory");
}

TEST_F(KernelCommand, RowsAscendUnlessSomebodySaysOtherwise) {
  write("rows.cu",
        "__global__ void fill(int rows, const int* begin, float* out) {\n"
        "  const int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (row >= rows) return;\n"
        "  for (int k = begin[row]; k < begin[row + 1]; ++k) out[k] = row;\n"
        "}\n");
  const Outcome ascending = kernel("rows.cu");
  EXPECT_EQ(ascending.status, 0) << ascending.out;
  expect_contains(ascending.out, "lengths: begin = rows + 1; out = 64\n");
  expect_contains(ascending.out, "note: values of begin ascend in 0..64");
  const Outcome any = kernel("rows.cu --let begin=0..63");
  EXPECT_EQ(any.status, 1) << any.out;
  expect_contains(any.out, "data-race on global memory");
}

TEST_F(KernelCommand, StoresOfOneConstantPreventNoProofAndStoresOfOneDatumDo) {
  const auto tried = [&](const std::string& stored) {
    write("flag.cu",
          "__global__ void flag(const int* in, int* found, int n) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (i < n) *found = " +
              stored + ";\n}\n");
    return kernel("flag.cu --let n=300 --grid 2 --block 256 --length in=64 --trials 20").out;
  };
  expect_contains(tried("7"), "proved for all data and schedules at 1 of its sizes");
  expect_contains(tried("in[0]"), "tried only: a note: ");
}

TEST_F(KernelCommand, ValuesAreThoseThatTheKernelIsMadeFor) {
  write("kernel.cu", R"(__global__ void locked(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *sum += 1;
  __threadfence();
  atomicExch(lock, 0);
}
__global__ void counted_down(int* a) {
  int v = a[blockIdx.x];
  while (__syncthreads_or(v > 0)) --v;
  a[blockIdx.x] = v;
}
__global__ void up_to_the_border(const int* in, int* out, int width, int step) {
  out[blockIdx.x] = in[min(int(blockIdx.x) / step, width - 1)];
}
)");
  const Outcome outcome =
      kernel("kernel.cu locked counted_down up_to_the_border --block 1 --grid 2 --trials 10");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  expect_contains(outcome.out, "note: lock begins with zeros: with others the kernel does not end");
  expect_contains(outcome.out,
                  "note: a has values of -64..64 in trials: with larger ones the kernel runs long "
                  "(--let a=LOW..HIGH)");
  expect_contains(outcome.out,
                  "note: width is at least 1: with width = 0 the kernel leaves its arrays "
                  "(--let width=0..1000 shows it)");
  expect_contains(outcome.out, "note: step is at least 1: the kernel divides by step");
}

TEST_F(KernelCommand, OperationsOfAWarpWithoutAMaskAreOfWarpsInLockstep) {
  write("kernel.cu", R"(//--blockDim=32 --gridDim=2
__global__ void summed(const int* in, int* out) {
  int v = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down(v, d);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}
)");
  const Outcome outcome = kernel("kernel.cu --trials 60");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
}

TEST_F(KernelCommand, WhatNobodySaysIsAConditionOfTheAnswer) {
  write("kernel.cu", R"(__global__ void filled(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = 1;
}
__global__ void faces(const float* cell, float* face, int cells) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f <= cells) face[f] = (f > 0 ? cell[f - 1] : 0) + (f < cells ? cell[f] : 0);
}
__global__ void scattered(const float* in, const int* perm, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[perm[i]] = in[i];
}
__global__ void counted(const int* in, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[in[i]] += 1;
}
__global__ void parted(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, low = 4 * i, high = low + 4;
  if (i < n)
    for (int k = 0; k < 4; ++k) out[in[4 * i + k] < 0 ? low++ : high--] = in[4 * i + k];
}
)");
  const Outcome outcome =
      kernel("kernel.cu filled faces scattered counted parted --trials 60 --json report.json");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  const auto report = nlohmann::json::parse(read("report.json"));
  std::vector<std::string> verdicts;
  for (const auto& claim : report["claims"]) verdicts.push_back(claim["verdict"]);
  EXPECT_EQ(verdicts, (std::vector<std::string>{"FAIL: out-of-bounds", "ok", "ok",
                                                "FAIL: data-race", "FAIL: data-race"}))
      << outcome.out;
  expect_contains(outcome.out, "  lengths: out = n\n");
  expect_contains(outcome.out, "--length 'out=n + 1' says that they are meant");
  expect_contains(outcome.out, "; if face has cells + 1 elements\n");
  expect_contains(outcome.out,
                  "  where elements of perm are equal: data-race at kernel.cu:11; nothing says");
  expect_contains(outcome.out, "; if no two elements of perm are equal\n");
  const Outcome replayed = run("replay --expect-recorded fuzz/cases/scattered/*.case");
  EXPECT_EQ(replayed.status, 0) << replayed.out;
}

TEST_F(KernelCommand, BlocksThatAreItemsCoverTheNumbers) {
  write("kernel.cu", R"(__global__ void rows(const float* in, float* out, int n) {
  const int row = blockIdx.x;
  if (row > n) return;
  if (threadIdx.x == 0) out[row] = in[row];
}
__global__ void embedded(const int* ids, const float* table, float* out, int tokens, int vocab, int dim) {
  const int t = blockIdx.x, id = t < tokens ? ids[t] : -1;
  if (t >= tokens) return;
  for (int d = threadIdx.x; d < dim; d += blockDim.x)
    out[t * dim + d] = id < 0 || id > vocab ? 0.f : table[id * dim + d];
}
__global__ void kept(const int* slot, const float* in, float* out, int tokens, int slots, int dim) {
  const int t = blockIdx.x, s = t < tokens ? slot[t] : -1;
  if (s < 0 || s >= slots) return;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) out[s * dim + d] = in[t * dim + d];
}
__global__ void taken(const int* in, int* out, int* ticket, int n) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1);
  __syncthreads();
  const int i = mine * blockDim.x + threadIdx.x;
  if (i >= 0 && i < n) out[i] = in[i];
}
__global__ void window(const float* in, const float* w, float* out, int n, int k) {
  extern __shared__ float tile[];
  const int base = blockIdx.x * blockDim.x;
  for (int t = threadIdx.x; t < (int)blockDim.x + k - 1; t += blockDim.x)
    tile[t] = base + t < n + k - 1 ? in[base + t] : 0.f;
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < k; ++j) sum += tile[threadIdx.x + j] * w[j];
  if (base + threadIdx.x < n) out[base + threadIdx.x] = sum;
}
)");
  const Outcome outcome =
      kernel("kernel.cu rows embedded kept taken window --trials 100 --json report.json");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  const auto report = nlohmann::json::parse(read("report.json"));
  std::vector<std::string> verdicts;
  for (const auto& claim : report["claims"]) verdicts.push_back(claim["verdict"]);
  EXPECT_EQ(verdicts, (std::vector<std::string>{"FAIL: out-of-bounds", "FAIL: out-of-bounds", "ok",
                                                "ok", "ok"}))
      << outcome.out;
  expect_contains(outcome.out, "  lengths: in = n; out = n\n");
  expect_contains(outcome.out,
                  "  lengths: ids = tokens; table = vocab * dim; out = tokens * dim\n");
  expect_contains(outcome.out, "; if no two elements of slot are equal\n");
  expect_contains(outcome.out, "(blockDim.x + k - 1) * 4 bytes of dynamic shared memory\n");
}

TEST_F(KernelCommand, ConstantsOfTheCodeAreTheExtentsOfItsBlock) {
  write("tiles.cu", R"(__global__ void transpose(float* out, const float* in, int rows, int cols) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, u = blockIdx.y * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += blockDim.y) {
    const int y = blockIdx.y * 32 + j;
    if (x < cols && y < rows) tile[j][threadIdx.x] = in[y * cols + x];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += blockDim.y) {
    const int v = blockIdx.x * 32 + j;
    if (u < rows && v < cols) out[v * rows + u] = tile[threadIdx.x][j];
  }
}
)");
  const Outcome right = kernel("tiles.cu --trials 60 --build optimized");
  EXPECT_EQ(right.status, 0) << right.out;
  expect_contains(right.out, "  with other blocks: ");
  expect_contains(right.out, "\ntranspose, if a block has 32,8 threads:\n");
  expect_contains(right.out, "  lengths: out = rows * cols; in = rows * cols\n");
  const Outcome given = kernel("tiles.cu --trials 60 --build optimized --block 16,16");
  EXPECT_EQ(given.status, 1) << given.out;
}

TEST_F(KernelCommand, WhatCannotBeMadeIsRefusedWithAReason) {
  write("kernels.cu", kSource);
  // Before any kernel runs.
  expect_one_line_error(kernel("kernels.cu clear pointers"),
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
                  "cudaLaunchKernel(reinterpret_cast<const void*>(&previous), grid, block, "
                  "arguments,");
}

}  // namespace
