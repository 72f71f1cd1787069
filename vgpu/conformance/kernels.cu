// Whole kernels whose results are compared with a real GPU's, bit for bit.
//
// Built with -fmad=false, so that the final assembler has nothing to contract.  Each takes what the
// kernels of single forms take: operands in columns of 8-byte cells, results likewise; their
// number is that of the threads.  whole_kernels.def lists them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

using Cell = unsigned long long;

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned thread_count() { return gridDim.x * blockDim.x; }

template <class T>
__device__ T operand(const Cell* operands, unsigned which) {
  return *reinterpret_cast<const T*>(&operands[which * thread_count() + thread_number()]);
}

template <class T>
__device__ void give(Cell* results, T value) {
  *reinterpret_cast<T*>(&results[thread_number()]) = value;
}

}  // namespace

#define UNARY(name, type, expression)                                    \
  extern "C" __global__ void name(const Cell* operands, Cell* results) { \
    const type x = operand<type>(operands, 0);                           \
    give(results, expression);                                           \
  }
#define BINARY(name, type, expression)                                   \
  extern "C" __global__ void name(const Cell* operands, Cell* results) { \
    const type x = operand<type>(operands, 0);                           \
    const type y = operand<type>(operands, 1);                           \
    give(results, expression);                                           \
  }
#define HORIZONTAL(name, type, ...)                                      \
  extern "C" __global__ void name(const Cell* operands, Cell* results) { \
    __shared__ type values[128];                                         \
    const unsigned lane = threadIdx.x;                                   \
    values[lane] = operand<type>(operands, 0);                           \
    __syncthreads();                                                     \
    __VA_ARGS__                                                          \
  }

#include "vgpu/conformance/whole_kernels.def"
