// Sorts by one block: lists, merges of lists and both together, over u32, int, float in total order
// and keys with values; and the published defects of lists and merges.
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/required_classes.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/merge_lists.hpp"
#include "kernels/radix_sort.hpp"
#include "kernels/radix_sort_lists.hpp"
#include "kernels/specimens/merge_lists_atomic.hpp"
#include "kernels/specimens/merge_lists_tree.hpp"
#include "kernels/specimens/shared_arrays_alias.hpp"
#include "reference/sort.hpp"

namespace warpcheck {

using Words = std::vector<std::uint32_t>;

// The launch's block has a thread for each list.  Merges get sorted lists: they are made of the
// elements before the launch, so that any elements are an input.
struct WordSort {
  Words in;
  LaunchConfig launch;
};
FIELDS(WordSort, in, launch);

struct IntSort {
  std::vector<int> in;
  LaunchConfig launch;
};
FIELDS(IntSort, in, launch);

struct FloatSort {
  std::vector<float> in;
  LaunchConfig launch;
};
FIELDS(FloatSort, in, launch);

struct KeyValueSort {
  Words keys;
  Words values;
  LaunchConfig launch;
};
FIELDS(KeyValueSort, keys, values, launch);

namespace {

constexpr int kListsMax = 1024;

template <class Input>
using Element = typename decltype(Input::in)::value_type;

// --- domains and generators ----------------------------------------------------------------------

bool is_one_block(const LaunchConfig& launch) {
  return launch.grid == Dim3(1) && launch.block == Dim3(launch.block.x) && launch.block.x >= 1 &&
         static_cast<int>(launch.block.x) <= kListsMax && launch.shared_bytes == 0;
}

template <class Input>
bool is_sortable(const Input& input) {
  return is_one_block(input.launch);
}

bool has_values(const KeyValueSort& input) {
  return is_one_block(input.launch) && input.values.size() == input.keys.size();
}

// What fits in 48 KiB of shared memory twice.
bool fits_shared_memory_twice(const WordSort& input) {
  return is_one_block(input.launch) && input.in.size() <= 6'144;
}

// Half of them have a special meaning in some code: the value for "no element" in a merge, the sign
// bit, both zeros, NaNs that differ in their payload.
template <class T>
Gen<T> keys();
template <>
Gen<std::uint32_t> keys() {
  return one_of(integers<std::uint32_t>(),
                elements_of<std::uint32_t>({0, 1, 0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff}));
}
template <>
Gen<int> keys() {
  return one_of(integers<int>(), elements_of<int>({0, -1, std::numeric_limits<int>::min(),
                                                   std::numeric_limits<int>::max()}));
}
template <>
Gen<float> keys() {
  const auto of_bits = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  return one_of(floats<float>(),
                elements_of<float>({0.0F, -0.0F, of_bits(0x7f800000), of_bits(0xff800000),
                                    of_bits(0x7f800001), of_bits(0x7fffffff), of_bits(0xff800001),
                                    of_bits(0xffffffff)}));
}

// Few lists for few elements, as many lists as elements, one more or less, and any number.  A merge
// takes a round of the whole block for each element, so their product is limited.
LaunchConfig draw_lists(Draw& draw, int n) {
  constexpr int kWarpRoundsMax = 600;
  const int lists_max = std::clamp(32 * kWarpRoundsMax / std::max(n, 1), 1, kListsMax);
  if (draw.once_in(8)) return {.block = draw(blocks(static_cast<std::uint32_t>(lists_max)))};
  if (draw.once_in(4))
    return {.block = std::clamp(n + 1 - static_cast<int>(draw.below(3)), 1, lists_max)};
  return {.block = draw(sizes({.min = 1, .max = std::min(64, lists_max)}))};
}

constexpr int kElementsMax = 300;

template <class Input>
Input draw_sort(Draw& draw) {
  const int n = draw(sizes({.max = kElementsMax}));
  return {draw(vectors(n, keys<Element<Input>>())), draw_lists(draw, n)};
}

KeyValueSort draw_key_values(Draw& draw) {
  const int n = draw(sizes({.max = kElementsMax}));
  // With probability 1/2 few keys, so that many are equal and the order of values shows.
  const auto few = integers<std::uint32_t>(0, 3);
  auto of_keys = draw(vectors(n, draw.below(2) == 0 ? few : keys<std::uint32_t>()));
  return {std::move(of_keys), draw(vectors(n, integers<std::uint32_t>())), draw_lists(draw, n)};
}

// --- kernels and references ----------------------------------------------------------------------

using Merge = cudaError_t (*)(const std::uint32_t*, std::uint32_t*, int, dim3);

Words sorted_lists(const WordSort& input) {
  return reference::radix_sort_lists(input.in, input.launch.block.x);
}

Words run_sort_lists(Device& device, const WordSort& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<std::uint32_t>(input.in.size());
  auto scratch = device.array<std::uint32_t>(input.in.size());
  device.check(::radix_sort_lists(in.data(), out.data(), scratch.data(),
                                  static_cast<int>(input.in.size()), input.launch.block));
  return out.download();
}

Words run_shared_arrays_alias(Device& device, const WordSort& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<std::uint32_t>(input.in.size());
  device.check(shared_arrays_alias_published(
      in.data(), out.data(), static_cast<int>(input.in.size()), input.launch.block));
  return out.download();
}

template <Merge merge>
Words run_merge(Device& device, const WordSort& input) {
  const auto lists = device.upload(sorted_lists(input));
  auto out = device.array<std::uint32_t>(input.in.size());
  device.check(
      merge(lists.data(), out.data(), static_cast<int>(input.in.size()), input.launch.block));
  return out.download();
}

template <class Input>
decltype(Input::in) run_sort(Device& device, const Input& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<Element<Input>>(input.in.size());
  auto scratch = device.array<std::uint32_t>(2 * input.in.size());
  device.check(::radix_sort(in.data(), out.data(), scratch.data(),
                            static_cast<int>(input.in.size()), input.launch.block));
  return out.download();
}

// Keys, then their values.
Words run_sort_by_key(Device& device, const KeyValueSort& input) {
  const std::size_t n = input.keys.size();
  const auto in_keys = device.upload(input.keys);
  const auto in_values = device.upload(input.values);
  auto out_keys = device.array<std::uint32_t>(n);
  auto out_values = device.array<std::uint32_t>(n);
  auto scratch = device.array<std::uint64_t>(2 * n);
  device.check(radix_sort_by_key(in_keys.data(), in_values.data(), out_keys.data(),
                                 out_values.data(), scratch.data(), static_cast<int>(n),
                                 input.launch.block));
  Words out = out_keys.download();
  const Words values = out_values.download();
  out.insert(out.end(), values.begin(), values.end());
  return out;
}

template <class Input>
decltype(Input::in) sorted(const Input& input) {
  return reference::radix_sort(input.in);
}

Words sorted_by_key(const KeyValueSort& input) {
  reference::KeysAndValues sorted = reference::radix_sort_by_key({input.keys, input.values});
  sorted.keys.insert(sorted.keys.end(), sorted.values.begin(), sorted.values.end());
  return sorted.keys;
}

// Bits, which distinguish all NaNs and both zeros.
Words bits_of(const std::vector<float>& values) {
  Words bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

Words run_sort_floats(Device& device, const FloatSort& input) {
  return bits_of(run_sort(device, input));
}

Words sorted_floats(const FloatSort& input) { return bits_of(sorted(input)); }

}  // namespace

// --- clean pairs ---------------------------------------------------------------------------------

KERNEL_PAIR(radix_sort_lists, WordSort, Words) = {
    .family = "sort",
    .origin = "ours: each thread an interleaved list, binary, least significant digit first",
    .domain = is_sortable<WordSort>,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_sort_lists,
    .reference = sorted_lists,
    .required_classes = of_array<std::uint32_t>("in", {"launch: idle threads",
                                                       "launch: fewer threads than elements"}),
};

KERNEL_PAIR(merge_lists_atomic, WordSort, Words) = {
    .family = "sort",
    .origin = "ours: k-way merge by atomicMin over the heads of lists",
    .domain = is_sortable<WordSort>,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_merge<merge_lists_atomic>,
    .reference = sorted<WordSort>,
    .required_classes = of_array<std::uint32_t>("in", {"launch: idle threads",
                                                       "launch: fewer threads than elements"}),
};

KERNEL_PAIR(merge_lists_tree, WordSort, Words) = {
    .family = "sort",
    .origin = "ours: k-way merge by a tree over the heads of lists",
    .domain = is_sortable<WordSort>,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_merge<merge_lists_tree>,
    .reference = sorted<WordSort>,
    .required_classes = of_array<std::uint32_t>("in", {"launch: idle threads",
                                                       "launch: fewer threads than elements"}),
};

KERNEL_PAIR(radix_sort, WordSort, Words) = {
    .family = "sort",
    .origin = "ours: interleaved lists, merged by a tree",
    .domain = is_sortable<WordSort>,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_sort<WordSort>,
    .reference = sorted<WordSort>,
    .required_classes = of_array<std::uint32_t>("in", {"launch: idle threads",
                                                       "launch: fewer threads than elements"}),
};

KERNEL_PAIR(radix_sort_signed, IntSort, std::vector<int>) = {
    .family = "sort",
    .origin = "ours: interleaved lists, merged by a tree; signed keys",
    .domain = is_sortable<IntSort>,
    .arbitrary = draw_sort<IntSort>,
    .kernel = run_sort<IntSort>,
    .reference = sorted<IntSort>,
    .required_classes = of_array<int>("in", {"launch: idle threads",
                                             "launch: fewer threads than elements"}),
};

// The output is the floats' bits.
KERNEL_PAIR(radix_sort_float, FloatSort, Words) = {
    .family = "sort",
    .origin = "ours: interleaved lists, merged by a tree; floats in total order",
    .domain = is_sortable<FloatSort>,
    .arbitrary = draw_sort<FloatSort>,
    .kernel = run_sort_floats,
    .reference = sorted_floats,
    .required_classes = of_array<float>("in", {"launch: idle threads",
                                               "launch: fewer threads than elements"}),
};

// The output is the sorted keys, then their values.
KERNEL_PAIR(radix_sort_key_value, KeyValueSort, Words) = {
    .family = "sort",
    .origin = "ours: interleaved lists, merged by a tree; keys with values, stable",
    .domain = has_values,
    .arbitrary = draw_key_values,
    .kernel = run_sort_by_key,
    .reference = sorted_by_key,
    .size = [](const KeyValueSort& input) { return input.keys.size(); },
    .required_classes = of_array<std::uint32_t>("keys", {"keys: few distinct"}),
};

// --- published defects ---------------------------------------------------------------------------

KERNEL_PAIR(merge_lists_atomic_published, WordSort, Words) = {
    .family = "sort",
    .origin = "published: the winner's number is reset while it is being read",
    .expects = {"data-race", "uninitialized-read", "mismatch"},
    .domain = is_sortable<WordSort>,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_merge<merge_lists_atomic_published>,
    .reference = sorted<WordSort>,
};

KERNEL_PAIR(merge_lists_tree_published, WordSort, Words) = {
    .family = "sort",
    .origin = "published: no barrier after a round, wrong winner, a power of two of lists",
    .expects = {"data-race", "mismatch"},
    .domain = is_sortable<WordSort>,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_merge<merge_lists_tree_published>,
    .reference = sorted<WordSort>,
};

KERNEL_PAIR(merge_lists_tree_no_barrier_published, WordSort, Words) = {
    .family = "sort",
    .origin = "published: no barrier after a round",
    .expects = {"data-race", "mismatch"},
    .domain = is_sortable<WordSort>,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_merge<merge_lists_tree_no_barrier_published>,
    .reference = sorted<WordSort>,
};

KERNEL_PAIR(merge_lists_tree_wrong_winner_published, WordSort, Words) = {
    .family = "sort",
    .origin = "published: the root of a subtree is recorded for the winner",
    .expects = {"mismatch"},
    .domain = is_sortable<WordSort>,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_merge<merge_lists_tree_wrong_winner_published>,
    .reference = sorted<WordSort>,
};

KERNEL_PAIR(merge_lists_tree_power_of_two_published, WordSort, Words) = {
    .family = "sort",
    .origin = "published: a tree for a power of two of lists",
    .expects = {"mismatch"},
    .domain = is_sortable<WordSort>,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_merge<merge_lists_tree_power_of_two_published>,
    .reference = sorted<WordSort>,
};

KERNEL_PAIR(shared_arrays_alias_published, WordSort, Words) = {
    .family = "sort",
    .origin = "published: two extern __shared__ arrays that are one",
    .expects = {"mismatch"},
    .domain = fits_shared_memory_twice,
    .arbitrary = draw_sort<WordSort>,
    .kernel = run_shared_arrays_alias,
    .reference = sorted_lists,
};

// --- claims --------------------------------------------------------------------------------------

namespace {

// The same input with other elements, or other lists.
template <class Input>
Input with(Input input, decltype(Input::in) elements) {
  input.in = std::move(elements);
  return input;
}
template <class Input>
Input with_lists(Input input, std::uint32_t lists) {
  input.launch.block = lists;
  return input;
}

// Another number of lists: one for three, 1 where there was one.
std::uint32_t other_lists(const LaunchConfig& launch) { return 1 + launch.block.x / 3; }

// All elements in another order: every k-th, k near n / 1.618 and coprime to n.
template <class T>
std::vector<T> permuted(const std::vector<T>& values) {
  const std::size_t n = values.size();
  std::size_t step = 1 + n * 5 / 8;
  while (std::gcd(step, n) > 1) ++step;
  std::vector<T> others;
  others.reserve(n);
  for (std::size_t i = 0; i < n; ++i) others.push_back(values[(i + 1) * step % n]);
  return others;
}

template <class T>
std::vector<T> left_half(const std::vector<T>& values) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2)};
}
template <class T>
std::vector<T> right_half(const std::vector<T>& values) {
  return {values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end()};
}

// A pair's output as elements of its input.
std::vector<float> elements(const Words& bits, const FloatSort&) {
  std::vector<float> values;
  for (const std::uint32_t word : bits) values.push_back(std::bit_cast<float>(word));
  return values;
}
template <class Input>
decltype(Input::in) elements(const decltype(Input::in)& out, const Input&) {
  return out;
}

template <class T>
bool ascends(const T& a, const T& b) {
  if constexpr (std::floating_point<T>) {
    return total_less(a, b);
  } else {
    return a < b;
  }
}

template <class T>
std::vector<T> merged(const std::vector<T>& left, const std::vector<T>& right) {
  std::vector<T> all;
  std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(all),
             ascends<T>);
  return all;
}

// Whether both have the same elements with the same counts; floats by their bits.
template <class T>
bool same_elements(std::vector<T> a, std::vector<T> b) {
  std::sort(a.begin(), a.end(), ascends<T>);
  std::sort(b.begin(), b.end(), ascends<T>);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return !ascends(x, y) && !ascends(y, x); });
}

}  // namespace

// Claims of every sort of elements that are their own keys.
#define SORT_CLAIMS(pair, Input)                                                  \
  PROPERTY(pair, order_of_the_input_does_not_matter)(Input input) {               \
    EXPECT_EQ(run(with(input, permuted(input.in))), run(input));                  \
  }                                                                               \
  PROPERTY(pair, number_of_lists_does_not_matter)(Input input) {                  \
    EXPECT_EQ(run(with_lists(input, other_lists(input.launch))), run(input));     \
  }                                                                               \
  PROPERTY(pair, sorted_elements_stay)(Input input) {                             \
    const Output out = run(input);                                                \
    EXPECT_EQ(run(with(input, elements(out, input))), out);                       \
  }                                                                               \
  PROPERTY(pair, merged_sorts_of_halves_are_the_sort_of_the_whole)(Input input) { \
    const auto left = elements(run(with(input, left_half(input.in))), input);     \
    const auto right = elements(run(with(input, right_half(input.in))), input);   \
    EXPECT_TRUE(identical(merged(left, right), elements(run(input), input)));     \
  }                                                                               \
  PROPERTY(pair, nothing_is_lost_or_added)(Input input) {                         \
    EXPECT_TRUE(same_elements(elements(run(input), input), input.in));            \
  }

SORT_CLAIMS(merge_lists_atomic, WordSort)
SORT_CLAIMS(merge_lists_tree, WordSort)
SORT_CLAIMS(radix_sort, WordSort)
SORT_CLAIMS(radix_sort_signed, IntSort)
SORT_CLAIMS(radix_sort_float, FloatSort)

namespace {

// Every `lists`-th element, from the list's first one on.
WordSort list_alone(const WordSort& input, std::size_t list) {
  WordSort alone;
  for (std::size_t i = list; i < input.in.size(); i += input.launch.block.x) {
    alone.in.push_back(input.in[i]);
  }
  return alone;
}

std::size_t lists_with_elements(const WordSort& input) {
  return std::min<std::size_t>(input.launch.block.x, input.in.size());
}

}  // namespace

PROPERTY(radix_sort_lists, lists_do_not_matter_to_each_other)(WordSort input) {
  const WordSort out = with(input, run(input));
  // The first, a middle and the last: each costs a launch.
  const std::size_t lists = lists_with_elements(input);
  if (lists == 0) return;
  for (const std::size_t list : {std::size_t{0}, lists / 2, lists - 1}) {
    EXPECT_EQ(run(list_alone(input, list)), list_alone(out, list).in);
  }
}
PROPERTY(radix_sort_lists, sorted_lists_stay)(WordSort input) {
  const Words out = run(input);
  EXPECT_EQ(run(with(input, out)), out);
}
PROPERTY(radix_sort_lists, nothing_is_lost_or_added_in_any_list)(WordSort input) {
  const WordSort out = with(input, run(input));
  for (std::size_t list = 0; list < lists_with_elements(input); ++list) {
    EXPECT_TRUE(same_elements(list_alone(out, list).in, list_alone(input, list).in));
  }
}
// Lists are interleaved so that neighbouring threads read neighbouring elements: then a warp moves
// at most one sector more than it needs.  Where lists differ in length, the loop that nvcc unrolls
// has lanes in two rows at a time, so here they do not.
PROPERTY(radix_sort_lists, neighbours_read_neighbouring_elements)(WordSort input) {
  input.in.resize(input.in.size() - input.in.size() % input.launch.block.x);
  if (input.in.empty()) return;
  const auto reads = counters_of(input).at("kernels/radix_sort_lists.cu:9");
  EXPECT_GT(reads.requests, 0U);
  EXPECT_LE(reads.excess_sectors(), reads.requests);
}
PROPERTY(radix_sort_lists, a_single_list_is_sorted_whole)(WordSort input) {
  const Words out = run(with_lists(input, 1));
  EXPECT_TRUE(std::is_sorted(out.begin(), out.end()));
}

namespace {

using KeyValues = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

KeyValues pairs_of(const Words& keys_then_values) {
  const std::size_t n = keys_then_values.size() / 2;
  KeyValues pairs;
  for (std::size_t i = 0; i < n; ++i) {
    pairs.emplace_back(keys_then_values[i], keys_then_values[n + i]);
  }
  return pairs;
}

KeyValues pairs_of(const KeyValueSort& input) {
  KeyValues pairs;
  for (std::size_t i = 0; i < input.keys.size(); ++i) {
    pairs.emplace_back(input.keys[i], input.values[i]);
  }
  return pairs;
}

}  // namespace

PROPERTY(radix_sort_key_value, values_do_not_matter_to_keys)(KeyValueSort input) {
  KeyValueSort other = input;
  other.values = input.keys;
  EXPECT_EQ(left_half(run(other)), left_half(run(input)));
}
PROPERTY(radix_sort_key_value, number_of_lists_does_not_matter)(KeyValueSort input) {
  EXPECT_EQ(run(with_lists(input, other_lists(input.launch))), run(input));
}
PROPERTY(radix_sort_key_value, order_of_the_input_does_not_matter_to_pairs)(KeyValueSort input) {
  const KeyValueSort other{permuted(input.keys), permuted(input.values), input.launch};
  const Words out = run(input);
  const Words out_of_other = run(other);
  EXPECT_EQ(left_half(out_of_other), left_half(out));
  EXPECT_TRUE(same_elements(pairs_of(out_of_other), pairs_of(out)));
}
PROPERTY(radix_sort_key_value, sorted_pairs_stay)(KeyValueSort input) {
  const Words out = run(input);
  EXPECT_EQ(run({left_half(out), right_half(out), input.launch}), out);
}
PROPERTY(radix_sort_key_value, merged_sorts_of_halves_are_the_sort_of_the_whole)
(KeyValueSort input) {
  const auto left = pairs_of(run({left_half(input.keys), left_half(input.values), input.launch}));
  const auto right =
      pairs_of(run({right_half(input.keys), right_half(input.values), input.launch}));
  KeyValues all;
  // Of equal keys, those of the left half come first.
  std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(all),
             [](const auto& a, const auto& b) { return a.first < b.first; });
  EXPECT_EQ(all, pairs_of(run(input)));
}
PROPERTY(radix_sort_key_value, nothing_is_lost_or_added)(KeyValueSort input) {
  EXPECT_TRUE(same_elements(pairs_of(run(input)), pairs_of(input)));
}

}  // namespace warpcheck
