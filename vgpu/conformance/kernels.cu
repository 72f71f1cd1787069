// Whole kernels whose results are compared with a real GPU's, bit for bit.
//
// Built with -fmad=false, so that neither nvcc nor the final assembler has anything to contract:
// what is fused says so.  Each takes what the kernels of single forms take: operands in columns of
// 8-byte cells, results likewise; their number is that of the threads.  whole_kernels.def lists
// them.
#include "vgpu/conformance/numeric/floats.cuh"
#include "vgpu/conformance/numeric/integers.cuh"
#include "vgpu/conformance/numeric/packed.cuh"
#include "vgpu/conformance/numeric/types.cuh"

namespace {

__device__ int greatest_of_warp(int value) {
  for (int by = 16; by != 0; by /= 2) value = max(value, __shfl_xor_sync(0xffffffff, value, by));
  return value;
}

}  // namespace

#define KERNEL(name) extern "C" __global__ void name(const Cell* operands, Cell* results)
#define UNARY_TO(name, result, type, expression) \
  KERNEL(name) {                                 \
    const type x = operand<type>(operands, 0);   \
    give<result>(results, expression);           \
  }
#define BINARY_TO(name, result, type, expression) \
  KERNEL(name) {                                  \
    const type x = operand<type>(operands, 0);    \
    const type y = operand<type>(operands, 1);    \
    give<result>(results, expression);            \
  }
#define TERNARY(name, type, expression)        \
  KERNEL(name) {                               \
    const type x = operand<type>(operands, 0); \
    const type y = operand<type>(operands, 1); \
    const type z = operand<type>(operands, 2); \
    give<type>(results, expression);           \
  }
#define QUATERNARY(name, type, expression)     \
  KERNEL(name) {                               \
    const type x = operand<type>(operands, 0); \
    const type y = operand<type>(operands, 1); \
    const type z = operand<type>(operands, 2); \
    const type w = operand<type>(operands, 3); \
    give<type>(results, expression);           \
  }
#define WIDE(name, type, expression)                             \
  KERNEL(name) {                                                 \
    const type x = static_cast<type>(wide_operand(operands, 0)); \
    const type y = static_cast<type>(wide_operand(operands, 2)); \
    give_wide(results, static_cast<u128>(expression));           \
  }
#define PAIRED(name, type, expression)                                                         \
  KERNEL(name) {                                                                               \
    const Pair<type> x = fast_two_sum(operand<type>(operands, 0), operand<type>(operands, 1)); \
    const Pair<type> y = fast_two_sum(operand<type>(operands, 2), operand<type>(operands, 3)); \
    const Pair<type> result = expression;                                                      \
    give<type>(results, result.high, 0);                                                       \
    give<type>(results, result.low, 1);                                                        \
  }
#define HORIZONTAL(name, type, ...)                                     \
  KERNEL(name) {                                                        \
    __shared__ __align__(16) unsigned char storage[128 * sizeof(type)]; \
    type* const values = reinterpret_cast<type*>(storage);              \
    const unsigned lane = threadIdx.x;                                  \
    values[lane] = operand<type>(operands, 0);                          \
    __syncthreads();                                                    \
    __VA_ARGS__                                                         \
  }
#define ABOUT(name, type, ulps, expression) UNARY_TO(name, type, type, expression)
#define ABOUT_TWO(name, type, ulps, expression) BINARY_TO(name, type, type, expression)
#if __CUDA_ARCH__ >= 800
#define FROM_80(...) __VA_ARGS__
#else
#define FROM_80(...)
#endif

#include "vgpu/conformance/whole_kernels.def"
