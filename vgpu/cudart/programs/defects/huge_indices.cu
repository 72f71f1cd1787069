// Indices of 32 bits in launches for more than 2^31 elements: the same kernels with 64 bits are
// right.  Arrays are larger than the memory of most hosts, and only blocks at which an index may be
// wrong run.
//
// exec: --sparse
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// defect thread_number: out-of-bounds; (1) is outside every allocation: an index of 32 bits has wrapped? 2^32 elements away lies an allocation of 10125938592 bytes
// defect row_times_pitch: out-of-bounds; (1) is outside every allocation: an index of 32 bits has wrapped? 2^32 elements away lies an allocation of 10125938592 bytes
// defect byte_offset: out-of-bounds; (1) is outside every allocation: an index of 32 bits has wrapped? 2^32 elements away lies an allocation of 10125938592 bytes
// defect stride: data-race; nothing orders blocks of one kernel launch
// defect volume: out-of-bounds; (1) is outside every allocation: an index of 32 bits has wrapped? 2^32 elements away lies an allocation of 10125938592 bytes
// defect reversed: out-of-bounds; (1) is outside every allocation: an index of 32 bits has wrapped? 2^32 elements away lies an allocation of 10125938592 bytes
// defect items: out-of-bounds; (1) is outside every allocation: an index of 32 bits has wrapped? 2^32 elements away lies an allocation of 10125938592 bytes
// defect next_round: out-of-bounds; (1) is outside every allocation: an index of 32 bits has wrapped? 2^32 elements away lies an allocation of 10125938592 bytes
// clang-format on
#include <cstdint>
#include <cstring>

#include "../check.hpp"

constexpr std::int64_t kMany = (std::int64_t{1} << 31) + 1000;  // elements

template <class Index>
__global__ void thread_number(float* out, std::int64_t n) {
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;  //~ thread_number
}

template <class Index>
__global__ void row_times_pitch(float* out, Index width, Index height, Index pitch) {
  const Index x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) out[y * pitch + x] = 1;  //~ row_times_pitch
}

template <class Index>
__global__ void byte_offset(char* out, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Index offset = static_cast<Index>(i) * static_cast<Index>(sizeof(double));
  *reinterpret_cast<double*>(out + offset) = 1;  //~ byte_offset
}

template <class Index>
__global__ void stride(char* out, Index step, std::int64_t n) {
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i * step] = static_cast<char>(blockIdx.x >> 18);  //~ stride
}

template <class Index>
__global__ void volume(float* out, Index width, Index height, Index depth) {
  const Index x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x < width && z < depth) out[(z * height + y) * width + x] = 1;  //~ volume
}

template <class Index>
__global__ void reversed(float* out, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[static_cast<Index>(n) - 1 - static_cast<Index>(i)] = 1;  //~ reversed
}

template <class Index>
__global__ void items(short* out, std::int64_t n) {
  constexpr Index kItems = 4;
  const Index first = (static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x) * kItems;
  for (Index k = 0; k < kItems; ++k) {
    if (first + k < n) out[first + k] = 1;  //~ items
  }
}

template <class Index>
__global__ void next_round(float* out, std::int64_t n) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x, round = 0;
       i < n && round < 4; i += step, ++round) {
    out[i] = 1;  //~ next_round
  }
}

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + 255) / 256); }

template <class Index>
void run_unsigned(char* out) {
  constexpr std::int64_t kStep = 64, kThreads = (std::int64_t{1} << 32) / kStep + 512;
  stride<Index><<<blocks_for(kThreads), 256>>>(out, kStep, kThreads);
  finish();
}

template <class Index>
void run(const char* name, void* memory) {
  const auto is = [&](const char* each) { return *name == '\0' || std::strcmp(name, each) == 0; };
  auto* const out = static_cast<float*>(memory);
  if (is("thread_number")) thread_number<Index><<<blocks_for(kMany), 256>>>(out, kMany);
  if (is("row_times_pitch")) {
    row_times_pitch<Index><<<dim3(4, 50'000), 256>>>(out, 1000, 50'000, 48'000);
  }
  if (is("byte_offset")) {
    byte_offset<Index><<<blocks_for(kMany / 4), 256>>>(static_cast<char*>(memory), kMany / 4);
  }
  if (is("volume")) volume<Index><<<dim3(4, 1500, 1500), 256>>>(out, 1000, 1500, 1500);
  if (is("reversed")) reversed<Index><<<blocks_for(kMany), 256>>>(out, kMany);
  if (is("items")) items<Index><<<blocks_for(kMany / 4), 256>>>(static_cast<short*>(memory), kMany);
  if (is("next_round")) next_round<Index><<<1 << 22, 256>>>(out, kMany);
  finish();
}

int main(int, char** arguments) {
  const char* const defect = arguments[1] == nullptr ? "" : arguments[1];
  void* memory = nullptr;
  require(cudaMalloc(&memory, (kMany + 48'000'000 * 8) * sizeof(float)));
  if (std::strcmp(defect, "stride") == 0) {
    run_unsigned<unsigned>(static_cast<char*>(memory));
  } else if (*defect != '\0') {
    run<int>(defect, memory);
  } else {
    run<std::int64_t>("", memory);
    run_unsigned<std::uint64_t>(static_cast<char*>(memory));
  }
  require(cudaFree(memory));
  return verdict(true);
}
