// Litmus programs: small CUDA programs with the expected findings written in them.
//
// A program is a kernel and the host code that launches it.  Above the kernel stands what the
// checkers must say, and the lines that take part are marked:
//
//   // expect: data-race shared [note] [independent|lockstep] [optimized|unoptimized]
//   // expect: clean
//   __global__ void neighbours(int* out) {
//     ...
//     s[threadIdx.x] = 1;    //~ write
//   }
//   LITMUS(neighbours) { neighbours<<<1, 64>>>(zeroed<int>(64)); }
//
// Several `expect` lines add up; a warp model or a build in one limits it to that.  `clean` wants
// silence, notes included.  Each mark names the role of one side of a finding at that line, and
// every side of every finding must be marked.  Marks at the line of a LITMUS macro stand for the
// host.  A clean twin stands beside every program that is not clean.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

namespace warpcheck::litmus {

struct Program {
  const char* name;
  const char* file;
  void (*run)();
};

// All of them, in the order of the link.
inline std::vector<Program>& programs() {
  static std::vector<Program> all;
  return all;
}

struct Registration {
  explicit Registration(const Program& program) { programs().push_back(program); }
};

// Device memory; the trial's end frees it.
template <typename T>
T* unwritten(std::size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  return static_cast<T*>(memory);
}

template <typename T>
T* zeroed(std::size_t count) {
  T* const memory = unwritten<T>(count);
  cudaMemset(memory, 0, count * sizeof(T));
  return memory;
}

template <typename T>
void copy_out(const T* device, std::size_t count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
}

}  // namespace warpcheck::litmus

#define LITMUS(name)                                                                           \
  static void run_##name();                                                                    \
  static const warpcheck::litmus::Registration register_##name({#name, __FILE__, run_##name}); \
  static void run_##name()
