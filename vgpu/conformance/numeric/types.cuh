// The types that numeric kernels name, as in forms.def, and how threads get and give their values.
//
// Operands stand in columns of 8-byte cells, as many as threads, results likewise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

using s8 = signed char;
using u8 = unsigned char;
using s16 = short;
using u16 = unsigned short;
using s32 = int;
using u32 = unsigned;
using s64 = long long;
using u64 = unsigned long long;
using s128 = __int128;
using u128 = unsigned __int128;
using f16 = __half;
using f16x2 = __half2;
using bf16 = __nv_bfloat16;
using bf16x2 = __nv_bfloat162;
using f32 = float;
using f64 = double;

using Cell = unsigned long long;

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned thread_count() { return gridDim.x * blockDim.x; }

template <class T>
__device__ T operand(const Cell* operands, unsigned which) {
  return *reinterpret_cast<const T*>(&operands[which * thread_count() + thread_number()]);
}
template <class T>
__device__ void give(Cell* results, T value, unsigned which = 0) {
  *reinterpret_cast<T*>(&results[which * thread_count() + thread_number()]) = value;
}

// Numbers of 128 bits, and unevaluated sums of two floats, have two cells.
template <class T>
struct Pair {
  T high, low;
};
__device__ u128 wide_operand(const Cell* operands, unsigned which) {
  return u128{operand<u64>(operands, which)} << 64 | operand<u64>(operands, which + 1);
}
__device__ void give_wide(Cell* results, u128 value) {
  give(results, static_cast<u64>(value >> 64), 0);
  give(results, static_cast<u64>(value), 1);
}

}  // namespace
