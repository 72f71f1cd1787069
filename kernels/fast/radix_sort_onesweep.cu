#include "kernels/fast/radix_sort_onesweep.hpp"

#include "kernels/fast/radix_sort_onesweep.cuh"

namespace fast {
namespace {

using LargeSort = SortShape<384, 24, 4, 2, 264>;  // the fastest on an H200 (bench/gpu)
using SmallSort = SortShape<256, 2, 2, 1, 2>;
constexpr unsigned kCountBlocks = 1056;  // more than any device holds at once

template <class Shape, class Key>
cudaError_t sort_keys(const void* in, void* out, std::uint64_t n, void* scratch,
                      KeyCode<Key> code) {
  return launch_radix_sort_onesweep<Key, NoValue, Shape>(
      {static_cast<const Key*>(in), nullptr, static_cast<Key*>(out), nullptr}, n, scratch, code,
      kCountBlocks);
}

}  // namespace

std::size_t radix_sort_onesweep_scratch(std::uint64_t n) {
  return radix_sort_onesweep_scratch<std::uint64_t, std::uint32_t, SmallSort>(n);
}

cudaError_t radix_sort_onesweep(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n,
                                void* scratch, Size size) {
  const auto code = KeyCode<std::uint32_t>::unsigned_numbers();
  return size == Size::large ? sort_keys<LargeSort>(in, out, n, scratch, code)
                             : sort_keys<SmallSort>(in, out, n, scratch, code);
}

cudaError_t radix_sort_onesweep(const std::int32_t* in, std::int32_t* out, std::uint64_t n,
                                void* scratch) {
  return sort_keys<SmallSort>(in, out, n, scratch, KeyCode<std::uint32_t>::signed_numbers());
}

cudaError_t radix_sort_onesweep(const float* in, float* out, std::uint64_t n, void* scratch) {
  return sort_keys<SmallSort>(in, out, n, scratch, KeyCode<std::uint32_t>::floats());
}

cudaError_t radix_sort_onesweep(const std::uint64_t* in, std::uint64_t* out, std::uint64_t n,
                                void* scratch) {
  return sort_keys<SmallSort>(in, out, n, scratch, KeyCode<std::uint64_t>::unsigned_numbers());
}

cudaError_t radix_sort_onesweep(const double* in, double* out, std::uint64_t n, void* scratch) {
  return sort_keys<SmallSort>(in, out, n, scratch, KeyCode<std::uint64_t>::floats());
}

cudaError_t radix_sort_onesweep_by_key(const std::uint32_t* keys, const std::uint32_t* values,
                                       std::uint32_t* sorted_keys, std::uint32_t* sorted_values,
                                       std::uint64_t n, void* scratch) {
  return launch_radix_sort_onesweep<std::uint32_t, std::uint32_t, SmallSort>(
      {keys, values, sorted_keys, sorted_values}, n, scratch,
      KeyCode<std::uint32_t>::unsigned_numbers(), kCountBlocks);
}

}  // namespace fast
