// `warpcheck kernel --prove` as a user runs it: right kernels are proved, and each has a planted
// twin that a run refutes, with the kind and the line.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/shell_test_fixture.hpp"

namespace {

struct Twin {
  const char* name;    // of the kernel
  const char* source;  // from line 1
  const char* from;    // what the planted twin has otherwise
  const char* to;
  const char* kind;  // of its finding
  int line;          // that the report names

  [[nodiscard]] std::string text(bool is_planted) const {
    std::string text = source;
    if (!is_planted) return text;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << name;
    return text.replace(at, std::string(from).size(), to);
  }
};

constexpr Twin kTwins[] = {
    {"saxpy", R"(// lengths: x = n, y = n
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
})",
     "if (i < n)", "", "out-of-bounds", 5},
    {"strided", R"(// lengths: x = n, y = n
__global__ void strided(int n, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] = x[i];
})",
     "i < n", "i <= n", "out-of-bounds", 4},
    {"scatter", R"(// values: perm = distinct
__global__ void scatter(const float* in, const int* perm, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[perm[i]] = in[i];
})",
     "[perm[i]]", "[perm[i] / 2]", "data-race", 5},
    {"tile", R"(// launch: blockDim.x == 16, blockDim.y == 16, blockDim.z == 1
__global__ void tile(const float* in, float* out, int rows, int columns) {
  __shared__ float t[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < columns && y < rows) t[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  int tx = blockIdx.y * 16 + threadIdx.x, ty = blockIdx.x * 16 + threadIdx.y;
  if (tx < rows && ty < columns) out[ty * rows + tx] = t[threadIdx.x][threadIdx.y];
})",
     "__syncthreads();", "", "data-race", 8},
    {"halving", R"(// launch: blockDim.x == 256
__global__ void halving(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
})",
     "t < d", "t <= d", "data-race", 8},
    {"doubling", R"(// launch: blockDim.x == 256
__global__ void doubling(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  for (int d = 1; d < 256; d *= 2) {
    __syncthreads();
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
  }
  out[blockIdx.x * blockDim.x + t] = s[t];
})",
     "    __syncthreads();\n    s[t]", "    s[t]", "data-race", 9},
    {"rotate", R"(// launch: blockDim.x == 128
__global__ void rotate(int* a) {
  __shared__ int s[128];
  s[threadIdx.x] = a[threadIdx.x + blockIdx.x * blockDim.x];
  __syncthreads();
  a[threadIdx.x + blockIdx.x * blockDim.x] = s[(threadIdx.x + 1) % blockDim.x];
})",
     "% blockDim.x", "", "out-of-bounds", 6},
    {"swapped", R"(// launch: blockDim.x == 128
__global__ void swapped(float* out, const float* in, int steps) {
  __shared__ float a[128], b[128];
  float *from = a, *to = b;
  int t = threadIdx.x;
  from[t] = in[t];
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    to[t] = from[t] + (t > 0 ? from[t - 1] : 0);
    float* other = from; from = to; to = other;
    __syncthreads();
  }
  out[t + 128 * blockIdx.x] = from[t];
})",
     "    __syncthreads();\n  }", "  }", "data-race", 9},
    {"same_datum", R"(// launch: blockDim.x == 128
__global__ void same_datum(const unsigned* key, unsigned* seen, float* half) {
  unsigned k = key[blockIdx.x * 128 + threadIdx.x];
  seen[k & 63] = k & 63;
  half[threadIdx.x & 63] = threadIdx.x & 63;
})",
     "= threadIdx.x & 63", "= threadIdx.x", "data-race", 5},
    {"rows_of_the_grid", R"(// launch: blockDim.x == 16, blockDim.y == 16, blockDim.z == 1
__global__ void rows_of_the_grid(float* c, int w) {
  // requires: w == 16 * gridDim.x
  c[w * 16 * blockIdx.y + 16 * blockIdx.x + w * threadIdx.y + threadIdx.x] = blockIdx.x;
})",
     "16 * blockIdx.x +", "8 * blockIdx.x +", "data-race", 4},
    {"stencil", R"(__global__ void stencil(const float* in, float* out, int n) {
  __shared__ float s[258];
  int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + 1;
  s[l] = g < n ? in[g] : 0;
  if (threadIdx.x == 0) s[0] = g > 0 && g - 1 < n ? in[g - 1] : 0;
  if (threadIdx.x == blockDim.x - 1) s[l + 1] = g + 1 < n ? in[g + 1] : 0;
  __syncthreads();
  if (g < n) out[g] = s[l - 1] + s[l] + s[l + 1];
})",
     "__syncthreads();", "", "data-race", 8},
    {"rows_of_elements", R"(__global__ void rows_of_elements(int rows, const int* begin,
    const int* column, const float* x, float* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int e = begin[row]; e < begin[row + 1]; ++e)
    sum += x[column[e]];
  y[row] = sum;
})",
     "e < begin", "e <= begin", "out-of-bounds", 7},
    {"flag", R"(__global__ void flag(int* found) {
  if (threadIdx.x % 2 == 0)
    *found = 1;
})",
     "= 1", "= threadIdx.x", "data-race", 3},
    {"counter", R"(// values: n = 300..1000
__global__ void counter(const int* in, int* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0)
    atomicAdd(sum, 1);
})",
     "atomicAdd(sum, 1)", "*sum += 1", "data-race", 5},
    {"odd_even", R"(__global__ void odd_even(int* a, int n) {
  for (int phase = 0; phase < n; ++phase) {
    int i = 2 * threadIdx.x + phase % 2;
    if (i + 1 < n && a[i] > a[i + 1]) { int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; }
    __syncthreads();
  }
})",
     "__syncthreads();", "", "data-race", 4},
    {"shuffled", R"(__global__ void shuffled(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0)
    out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
})",
     "threadIdx.x % 32 == 0", "threadIdx.x % 16 == 0", "data-race", 6},
    {"image", R"(struct Image { int width, height; float* p; };
__global__ void image(Image im) {
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < im.height; y += gridDim.y * blockDim.y)
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < im.width; x += gridDim.x * blockDim.x)
      im.p[y * im.width + x] = threadIdx.y;
})",
     "y * im.width", "im.width", "data-race", 5},
    {"ping_pong", R"(__global__ void ping_pong(int* a, int n, int rounds) {
  extern __shared__ int s[];
  int *from = s, *to = s + blockDim.x;
  int t = threadIdx.x;
  from[t] = t < n ? a[t] : 0;
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    to[t] = from[t] + from[t == 0 ? 0 : t - 1];
    int* x = from; from = to; to = x;
  }
  if (t < n) a[t] = from[t];
})",
     "__syncthreads();", "", "data-race", 8},
    {"interval", R"(//--blockDim=64 --gridDim=16
__global__ void interval(int* a) {
  a[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
})",
     "* 64", "* 63", "data-race", 3},
    {"uniform", R"(//--blockDim=64 --gridDim=1
__global__ void uniform(int* a, int n) {
  if (n > 3)
    __syncthreads();
  a[threadIdx.x] = n;
})",
     "n > 3", "threadIdx.x > 3", "barrier-divergence", 4},
    {"multiple", R"(// launch: blockDim.x == 64
// requires: n % 64 == 0
// lengths: a = n
__global__ void multiple(int* a, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (blockIdx.x < n / 64)
    a[i] = n;
})",
     "n / 64)", "n / 64 + 1)", "out-of-bounds", 7},
    {"warps", R"(// launch: blockDim.x == 64
__global__ void warps(int* a) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  a[blockIdx.x * 64 + warp * 32 + 31 - lane] = lane;
})",
     "warp * 32", "warp * 31", "data-race", 4},
    {"clipped", R"(// lengths: in = n, out = n
__global__ void clipped(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[min(i + 1, n - 1)] + in[max(i - 1, 0)];
})",
     "max(i - 1, 0)", "i - 1", "out-of-bounds", 5},
    {"neighbour", R"(__global__ void neighbour(const int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n)
    b[i] = a[i + 1];
})",
     "const int* a, int* b, int n) {\n", "int* a, int* b, int n) {\n  b = a;\n", "data-race", 5},
    {"through_pointer", R"(//--blockDim=64 --gridDim=1
typedef void (*Store)(int*, int);
__device__ __noinline__ void own(int* a, int v) { a[threadIdx.x] = threadIdx.x; }
__device__ __noinline__ void behind(int* a, int v) { a[threadIdx.x + 64] = v; }
__global__ void through_pointer(int* a, int v) {
  Store f = v > 5 ? own : behind;
  f(a, v);
})",
     "a[threadIdx.x] =", "a[threadIdx.x / 2] =", "data-race", 3},
    {"counted", R"(//--blockDim=64 --gridDim=1
__global__ void counted(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  int odd = __syncthreads_count(threadIdx.x % 2);
  a[threadIdx.x] = s[63 - threadIdx.x] + odd;
})",
     "__syncthreads_count(threadIdx.x % 2)", "2", "data-race", 6},
    {"leaving", R"(//--blockDim=64 --gridDim=1
__global__ void leaving(int* a, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x >= n) return;
  __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x];
})",
     "__syncthreads();", "", "data-race", 7},
    {"ticket", R"(// lengths: out = 1024
__global__ void ticket(int* out, unsigned* next) {
  unsigned place = atomicAdd(next, 1);
  if (place < 1024) out[place] = threadIdx.x;
})",
     "out[place]", "out[place / 2]", "data-race", 4},
    {"lockstep", R"(//--blockDim=64 --gridDim=1 --warp-sync=32
__global__ void lockstep(int* s) {
  const unsigned i = threadIdx.x, lane = i & 31;
  if (lane >= 1) s[i] = s[i - 1] + s[i];
  if (lane >= 2) s[i] = s[i - 2] + s[i];
  if (lane >= 4) s[i] = s[i - 4] + s[i];
})",
     "i & 31", "i", "data-race", 4},
    {"twisted", R"(//--blockDim=64 --gridDim=1
__global__ void twisted(int* a) {
  a[__brev(threadIdx.x) >> 26] = threadIdx.x;
})",
     ">> 26", ">> 27", "data-race", 3},
    {"invariant", R"(//--blockDim=64 --gridDim=2
__global__ void invariant(int* a) {
  for (int i = 0; __invariant(i <= 100), __invariant(__write_implies(a, i > 0)), i < 100; ++i)
    a[blockIdx.x * 64 + threadIdx.x] += i;
})",
     "i <= 100", "i <= 99", "trap", 3},
    {"queue", R"(//--blockDim=64 --gridDim=2
__global__ void queue(const int* in, int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (in[blockIdx.x * 64 + threadIdx.x] > 0) out[blockIdx.x * 64 + atomicAdd(&count, 1)] = 1;
})",
     "__syncthreads();", "", "data-race", 4},
    {"pairs", R"(//--blockDim=64 --gridDim=2
__global__ void pairs(int* a, unsigned stride) {
  __requires(__is_pow2(stride) && stride >= 1 && stride <= 64);
  unsigned i = blockIdx.x * 64 + threadIdx.x, low = 2 * i - (i & (stride - 1));
  a[low + stride] = a[low];
})",
     "2 * i", "i", "data-race", 5},
    {"nested", R"(// values: n = 0..20
//--blockDim=64 --gridDim=1
__global__ void nested(int* a, int n) {
  for (int k = 0; k < n; ++k)
    for (int j = k; j > 0; --j) {
      a[threadIdx.x] += j;
      __syncthreads();
    }
  a[threadIdx.x] += n;
})",
     "j = k", "j = k + threadIdx.x % 2", "barrier-divergence", 7},
    {"column", R"(__global__ void column(float* a, const float* b, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows)
    for (int k = 0; k < columns; ++k) a[row * columns + k] = b[k];
})",
     "row * columns + k]", "row + k]", "data-race", 4},
};

// The line of GPUVerify, which speaks of all kernels of a file; empty: there is none.
std::string header_of(const Twin& twin) {
  const std::string source = twin.source;
  const std::size_t at = source.find("//--");
  return at == std::string::npos ? "" : source.substr(at, source.find('\n', at) - at);
}

std::set<std::string> headers() {
  std::set<std::string> all;
  for (const Twin& twin : kTwins) all.insert(header_of(twin));
  return all;
}

// Kernels of one file, which is compiled once: those whose twins have the same header.
class KernelProof : public ShellTest, public testing::WithParamInterface<std::string> {
 protected:
  struct Kernel {
    const Twin* twin;
    int first_line = 0;
    std::string report;  // the part of the output that is about it
  };
  struct Proved {
    std::vector<Kernel> kernels;
    Outcome outcome;
  };

  [[nodiscard]] Proved prove(bool is_planted) const {
    Proved proved;
    std::string text = GetParam() + "\n", names;
    for (const Twin& twin : kTwins) {
      if (header_of(twin) != GetParam()) continue;
      const auto lines = static_cast<int>(std::ranges::count(text, '\n'));
      proved.kernels.push_back({.twin = &twin, .first_line = lines + 1});
      text += without_header(twin.text(is_planted)) + "\n";
      names += std::string(" ") + twin.name;
    }
    std::ofstream(directory_ / "kernel.cu") << text;
    proved.outcome =
        shell("CUDA_HOME=" WARPCHECK_CUDA_HOME " " WARPCHECK_PROGRAM " kernel kernel.cu" + names +
              " --prove --trials 40");
    split(proved);
    return proved;
  }

 private:
  // The lines keep their numbers.
  [[nodiscard]] static std::string without_header(std::string text) {
    const std::size_t size = GetParam().size();
    return size == 0 ? text : text.replace(text.find(GetParam()), size, "//");
  }

  // A part begins with the kernel's signature.
  static void split(Proved& proved) {
    const std::string out = "\n" + proved.outcome.out;
    std::size_t end = out.size();
    for (auto kernel = proved.kernels.rbegin(); kernel != proved.kernels.rend(); ++kernel) {
      const std::size_t begin = out.rfind(std::string("\n") + kernel->twin->name + "(", end);
      ASSERT_NE(begin, std::string::npos) << kernel->twin->name << out;
      kernel->report = out.substr(begin, end - begin);
      end = begin;
    }
  }
};

TEST_P(KernelProof, ARightKernelIsProvedForEverySize) {
  const Proved proved = prove(false);
  EXPECT_EQ(proved.outcome.status, 0) << proved.outcome.out;
  for (const Kernel& kernel : proved.kernels) {
    EXPECT_NE(kernel.report.find(std::string("\n") + kernel.twin->name +
                                 ": proved for every size, launch and datum of the domain"),
              std::string::npos)
        << kernel.report;
  }
}

TEST_P(KernelProof, ItsPlantedTwinIsRefutedByARun) {
  const Proved proved = prove(true);
  EXPECT_EQ(proved.outcome.status, 1) << proved.outcome.out;
  for (const auto& [twin, first_line, report] : proved.kernels) {
    EXPECT_NE(report.find(std::string("\nFAIL ") + twin->name), std::string::npos) << report;
    EXPECT_EQ(report.find("proved for every size"), std::string::npos) << report;
    EXPECT_NE(report.find(twin->kind), std::string::npos) << report;
    EXPECT_NE(report.find("kernel.cu:" + std::to_string(first_line + twin->line - 1)),
              std::string::npos)
        << report;
  }
}

class HugeNumbers : public ShellTest {
 protected:
  [[nodiscard]] Outcome kernel(const char* source, const std::string& options) const {
    std::ofstream(directory_ / "kernel.cu") << source;
    return shell("CUDA_HOME=" WARPCHECK_CUDA_HOME " " WARPCHECK_PROGRAM " kernel kernel.cu " +
                 options + " --trials 20");
  }
};

constexpr const char* kThreadNumber = R"(// lengths: out = n
template <class Index>
__global__ void fill(float* out, long long n) {
  Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}
)";

TEST_F(HugeNumbers, AnIndexThatWrapsIsRefutedByASparseRunWithTheSmallestNumber) {
  const Outcome outcome = kernel(kThreadNumber, "--prove --instantiate 'fill<int>'");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  for (const char* const expected :
       {"fill_int: refuted", "out-of-bounds on global memory",
        "write by block (8388608,0,0) thread (0,0,0)  kernel.cu:5",
        "input: n=2147483649; launch {grid 8388609, block 256}",
        "an integer wraps at kernel.cu:4 ((1) wraps: 8,388,608 * 256 is 2,147,483,648"}) {
    EXPECT_NE(outcome.out.find(expected), std::string::npos) << expected << "\n" << outcome.out;
  }
}

TEST_F(HugeNumbers, WithBits64ItIsProved) {
  const Outcome outcome =
      kernel(kThreadNumber, "--prove --instantiate 'fill<long long>' --json report.json");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  const auto report = nlohmann::json::parse(std::ifstream(directory_ / "report.json"));
  EXPECT_EQ(report.at("every_size").at("pairs").at(0).at("kernels").at(0).at("answer"), "proved");
  EXPECT_NE(outcome.out.find("domain: n = 0 .. 1099511627776;"), std::string::npos) << outcome.out;
}

TEST_F(HugeNumbers, OneBlockARowIsAGridOfAsManyBlocksAsRows) {
  const Outcome outcome = kernel(R"(// values: rows = 0..100000, pitch = 0..100000
// lengths: m = rows * pitch
__global__ void clear(char* m, int rows, int pitch) {
  int row = blockIdx.x, column = threadIdx.x;
  if (row < rows && column < pitch) m[row * pitch + column] = 0;
}
)",
                                 "--prove");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  for (const char* const expected : {"clear: refuted", "out-of-bounds on global memory",
                                     "kernel.cu:5", "an integer wraps at kernel.cu:5"}) {
    EXPECT_NE(outcome.out.find(expected), std::string::npos) << expected << "\n" << outcome.out;
  }
}

TEST_F(HugeNumbers, ALimitIsTheLargestNumberThatIsProvedAndTheCaseAboveReplays) {
  const Outcome outcome = kernel(R"(// lengths: out = n
__global__ void stride(float* out, int n) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    out[i] = 1;
}
)",
                                 "--limits --cases cases");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  for (const char* const expected :
       {"limit: n is right up to 1073741824; at 1073741825 out-of-bounds at kernel.cu:5: "
        "an integer wraps at kernel.cu:4 ((1) wraps: ",
        "replay: warpcheck replay cases/stride/"}) {
    EXPECT_NE(outcome.out.find(expected), std::string::npos) << expected << "\n" << outcome.out;
  }
  const Outcome replay = shell(WARPCHECK_PROGRAM " replay cases/stride/*.case");
  EXPECT_EQ(replay.status, 1) << replay.out;
  EXPECT_NE(replay.out.find("input: n=1073741825;"), std::string::npos) << replay.out;
}

INSTANTIATE_TEST_SUITE_P(Twins, KernelProof, testing::ValuesIn(headers()));

}  // namespace
