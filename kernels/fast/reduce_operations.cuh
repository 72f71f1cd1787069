// The operations of reduce_fast, and compensated addition, which makes kahan_sum_fast of it.
#pragma once

#include <climits>
#include <cmath>
#include <cstdint>

#include "kernels/fast/reduce_fast.hpp"
#include "kernels/fast/tiles.cuh"

namespace fast {

template <class T>
struct Sum {
  using State = T;
  using Result = T;
  __device__ static State identity() { return 0; }
  __device__ static State combine(State a, State b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    } else {
      return a + b;
    }
  }
  __device__ static void take(State& state, T value, std::uint64_t) {
    state = combine(state, value);
  }
  __device__ static Result result(State state) { return state; }
};

// Floats: NaN is left out, so it is the identity; +0 is greater than -0.
template <class T, bool greatest>
struct Extreme {
  using State = T;
  using Result = T;
  __device__ static State identity() {
    if constexpr (std::is_floating_point_v<T>) return NAN;
    return greatest ? INT_MIN : INT_MAX;
  }
  __device__ static State combine(State a, State b) {
    if constexpr (std::is_floating_point_v<T>) return greatest ? fmaxf(a, b) : fminf(a, b);
    return greatest ? (a > b ? a : b) : (a < b ? a : b);
  }
  __device__ static void take(State& state, T value, std::uint64_t) {
    state = combine(state, value);
  }
  __device__ static Result result(State state) { return state; }
};
template <class T>
using Maximum = Extreme<T, true>;
template <class T>
using Minimum = Extreme<T, false>;

// The index of the first greatest number, kNowhere where there is none.  NaN is left out; +0 is
// greater than -0.

template <class T>
struct IndexOfMaximum {
  struct State {
    std::uint64_t index;
    std::int32_t key;  // in the order of the numbers
    std::int32_t unused;
  };
  using Result = std::uint64_t;

  __device__ static std::int32_t key_of(T value) {
    const auto bits = same_bits<std::int32_t>(value);
    if constexpr (std::is_floating_point_v<T>) return bits < 0 ? bits ^ INT_MAX : bits;
    return bits;
  }
  __device__ static bool is_number(T value) { return value == value; }

  __device__ static State identity() { return {kNowhere, INT_MIN, 0}; }
  __device__ static State combine(const State& a, const State& b) {
    if (a.key != b.key) return a.key > b.key ? a : b;
    return a.index < b.index ? a : b;
  }
  // Elements of one state come in ascending order, but for those behind the last full tile.
  __device__ static void take(State& state, T value, std::uint64_t index) {
    if (is_number(value)) state = combine(state, {index, key_of(value), 0});
  }
  __device__ static Result result(const State& state) { return state.index; }
};

// A sum, and apart from it the sum of what rounding took from it: Sum2 of Ogita, Rump and Oishi,
// "Accurate Sum and Dot Product", SIAM J. Sci. Comput. 26 (2005), on a tree.  The result is off by
// at most u |sum| + gamma(n - 1)^2 sum|x_i| (their proposition 4.5 holds for any order). Where a
// sum overflows or is of infinities, what was lost is no number, and the sum is the result.
struct CompensatedSum {
  struct State {
    float sum;
    float lost;
  };
  using Result = float;

  __device__ static State identity() { return {0, 0}; }
  // TwoSum (Knuth, TAOCP 4.2.2): a + b == the sum + what it lost.  Intrinsics, so that no option of
  // the compiler changes the operations.
  __device__ static State two_sum(float a, float b) {
    const float sum = __fadd_rn(a, b);
    const float b_part = __fsub_rn(sum, a);
    const float a_part = __fsub_rn(sum, b_part);
    return {sum, __fadd_rn(__fsub_rn(a, a_part), __fsub_rn(b, b_part))};
  }
  __device__ static State combine(const State& a, const State& b) {
    const State sum = two_sum(a.sum, b.sum);
    return {sum.sum, __fadd_rn(__fadd_rn(a.lost, b.lost), sum.lost)};
  }
  __device__ static void take(State& state, float value, std::uint64_t) {
    const State sum = two_sum(state.sum, value);
    state = {sum.sum, __fadd_rn(state.lost, sum.lost)};
  }
  __device__ static Result result(const State& state) {
    const float whole = __fadd_rn(state.sum, state.lost);
    return whole == whole ? whole : state.sum;
  }
};

}  // namespace fast
