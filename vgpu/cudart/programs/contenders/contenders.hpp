// Small kernels in which one order is missing that only one contender, if it comes first, needs.
// Each is a template: <true> is the twin that has the order.
//
//   program NAME        runs the defect, which is at the lines marked `//~`
//   program NAME fixed  runs the twin
//   program             prints the names
#pragma once

#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

struct Memory {  // zeros at first
  int lock, ticket, serving, flag, arrived, data, result;
  int slot[16];
};

struct Contest {
  const char* name;
  void (*defect)(Memory*);
  void (*twin)(Memory*);
};

inline std::vector<Contest>& contests() {
  static std::vector<Contest> all;
  return all;
}

struct Registration {
  explicit Registration(const Contest& contest) { contests().push_back(contest); }
};

// A kernel template of that name, which gets a Memory*.
#define CONTEST(name, blocks, threads)                                          \
  static void name##_defect(Memory* m) { name<false><<<blocks, threads>>>(m); } \
  static void name##_twin(Memory* m) { name<true><<<blocks, threads>>>(m); }    \
  static const Registration register_##name({#name, name##_defect, name##_twin});

inline int main_of_contests(int count, char** words) {
  for (const Contest& contest : contests()) {
    if (count < 2) {
      std::puts(contest.name);
    } else if (std::strcmp(words[1], contest.name) == 0) {
      Memory* memory = nullptr;
      cudaMalloc(&memory, sizeof *memory);
      cudaMemset(memory, 0, sizeof *memory);
      (count == 2 ? contest.defect : contest.twin)(memory);
      const cudaError_t error = cudaDeviceSynchronize();
      cudaFree(memory);
      return error == cudaSuccess ? 0 : 1;
    }
  }
  return count < 2 ? 0 : 1;
}
