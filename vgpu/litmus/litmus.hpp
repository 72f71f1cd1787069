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

// What the functions below have allocated.
inline std::vector<void*>& owned_memory() {
  static std::vector<void*> owned;
  return owned;
}

// Device memory, freed by release() or after the program.
template <typename T>
T* unwritten(std::size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  owned_memory().push_back(memory);
  return static_cast<T*>(memory);
}

inline void release(void* memory) {
  std::erase(owned_memory(), memory);
  cudaFree(memory);
}

inline void release_all() {
  while (!owned_memory().empty()) release(owned_memory().back());
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
