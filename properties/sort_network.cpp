// Sorts by comparison networks, which are certified for all data by the 0-1 principle.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/sort_network.hpp"
#include "reference/sort.hpp"

namespace warpcheck {

template <class T>
struct NetworkSort {
  std::vector<T> in;
  LaunchConfig launch;
};
using IntNetworkSort = NetworkSort<int>;
using FloatNetworkSort = NetworkSort<float>;
using WordNetworkSort = NetworkSort<std::uint32_t>;
FIELDS(IntNetworkSort, in, launch);
FIELDS(FloatNetworkSort, in, launch);
FIELDS(WordNetworkSort, in, launch);

namespace {

template <class Input>
using Element = typename decltype(Input::in)::value_type;

template <class Input>
bool fits_network(const Input& input) {
  const LaunchConfig& launch = input.launch;
  const bool has_nan = std::ranges::any_of(input.in, [](auto x) { return x != x; });
  return launch.grid == Dim3(1) && launch.block == Dim3(launch.block.x) && launch.block.x >= 1 &&
         launch.block.x <= 1024 && launch.shared_bytes == 0 && !has_nan &&
         input.in.size() <= static_cast<std::size_t>(kSortNetworkMax);
}

template <class T>
Gen<T> keys_without_nan() {
  if constexpr (std::is_floating_point_v<T>) {
    return floats<T>({.nan = false});
  } else {
    return integers<T>();
  }
}

template <class Input>
Input draw_network_sort(Draw& draw) {
  const int n = draw(sizes({.max = 300}));
  return {draw(vectors(n, keys_without_nan<Element<Input>>())),
          {.block = draw(sizes({.min = 1, .max = 256}))}};
}

template <class Input>
using Sort = cudaError_t (*)(const Element<Input>*, Element<Input>*, int, dim3);

template <class Input, Sort<Input> sort>
decltype(Input::in) run_network(Device& device, const Input& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<Element<Input>>(input.in.size());
  device.check(sort(in.data(), out.data(), static_cast<int>(input.in.size()), input.launch.block));
  return out.download();
}

template <class Input>
decltype(Input::in) sorted_keys(const Input& input) {
  return reference::radix_sort(input.in);
}

template <class Input>
std::vector<Exact> sorted_exactly(const Input& input, const ExactData& exact) {
  return sorted(exact(input.in));
}

}  // namespace

#define NETWORK_KERNEL_PAIR(name, Input, sort, of)                                        \
  KERNEL_PAIR(name, Input, decltype(Input::in)) = {                                       \
      .family = "sort",                                                                   \
      .origin = of,                                                                       \
      .domain = fits_network<Input>,                                                      \
      .arbitrary = draw_network_sort<Input>,                                              \
      .kernel = run_network<Input, sort>,                                                 \
      .reference = sorted_keys<Input>,                                                    \
      .exact_reference = sorted_exactly<Input>,                                           \
      .required_classes = {"in.size: zero", "in.size: power of two +-1", "in: reversed"}, \
  }
NETWORK_KERNEL_PAIR(bitonic_sort, IntNetworkSort, ::bitonic_sort,
                    "ours, after Batcher 1968: bitonic, by min and max");
NETWORK_KERNEL_PAIR(bitonic_sort_float, FloatNetworkSort, ::bitonic_sort,
                    "ours, after Batcher 1968: bitonic, by min and max");
NETWORK_KERNEL_PAIR(odd_even_merge_sort, WordNetworkSort, ::odd_even_merge_sort,
                    "ours, after Batcher 1968: odd-even merges, by selections");
#undef NETWORK_KERNEL_PAIR

}  // namespace warpcheck
