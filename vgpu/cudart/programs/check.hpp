// What every program here ends with: its own verdict, printed.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

// Ends the program where a call of the runtime fails.
inline void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Prints "right" or "wrong"; the program's exit status.
inline int verdict(bool is_right) {
  std::puts(is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
