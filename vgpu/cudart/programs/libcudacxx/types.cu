// Types of the standard library on the device: span, array, tuple, optional, variant, complex,
// mdspan, expected, bit operations, chrono.
// MUTANT: a span is made of more than there is.
// expect: out-of-bounds
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/expected>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

#include "check.hpp"

namespace std_ = cuda::std;

__device__ std_::optional<int> half(int value) {
  if (value % 2 != 0) return std_::nullopt;
  return value / 2;
}
__device__ std_::expected<int, char> checked(int value) {
  if (value > 10) return std_::unexpected<char>('!');
  return value;
}

__global__ void use(const int* in, int n, float* out) {
#ifdef MUTANT
  const std_::span<const int> values(in, n + 1);
#else
  const std_::span<const int> values(in, n);
#endif
  int k = 0;
  int sum = 0;
  for (const int value : values.subspan(4)) sum += value;  //~
  out[k++] = sum;
  const std_::mdspan<const int, std_::extents<int, 4, std_::dynamic_extent>> matrix(in, 4);
  out[k++] = matrix(2, 3);
  out[k++] = half(10).value_or(-1) + half(3).value_or(-1);
  out[k++] = checked(20).has_value() + checked(5).value() + checked(11).error();
  const auto [first, second] = std_::make_tuple(1, 2.5f);
  out[k++] = first + second;
  const std_::variant<int, float> either = 3.5f;
  out[k++] = std_::visit([](auto value) { return static_cast<float>(value); }, either);
  const std_::complex<float> z(3, 4);
  out[k++] = std_::abs(z) + (z * std_::conj(z)).real();
  out[k++] = std_::popcount(255u) + std_::countl_zero(1u) + std_::bit_cast<int>(2.0f) / (1 << 24);
  const std_::array<int, 3> array = {5, 6, 7};
  out[k++] = std_::accumulate(array.begin(), array.end(), 0) + std_::get<0>(array);
  const auto begin = std_::chrono::high_resolution_clock::now();
  out[k++] = std_::chrono::high_resolution_clock::now() >= begin;
  out[k++] = std_::numeric_limits<short>::max() + std_::gcd(12, 18);
}

int main() {
  const int n = 16;
  Buffer<int> in(n);
  Buffer<float> out(11);
  for (int i = 0; i < n; ++i) in[i] = i * i;
  use<<<1, 1>>>(in, n, out);
  finish();
  const float expected[] = {1226, 121, 4, 38, 3.5f, 3.5f, 30, 103, 23, 1, 32773};
  bool is_right = true;
  for (int i = 0; i < 11; ++i) is_right &= out[i] == expected[i];
  if (!is_right) {
    for (const float each : out) printf("%g ", each);
  }
  return verdict(is_right);
}
