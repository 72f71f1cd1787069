// Histograms and sorts of keys: each digit, byte or key counted in shared memory, tiles in one
// sweep.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/required_classes.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/fast/histogram_fast.hpp"
#include "kernels/fast/radix_sort_onesweep.hpp"
#include "properties/element_numbers.hpp"
#include "properties/fast/offset_array.hpp"
#include "reference/histogram.hpp"
#include "reference/sort.hpp"

namespace warpcheck {

struct FastByteCounts {
  std::vector<std::uint8_t> in;
  int offset = 0;  // of the first byte, from an aligned address
  int blocks = 1;  // at most
};
FIELDS(FastByteCounts, in, offset, blocks);

struct FastKeyCounts {
  std::vector<std::uint32_t> in;
  int offset = 0;  // of the first key, from an aligned address
  int bins = 1;
  int blocks = 1;  // at most
};
FIELDS(FastKeyCounts, in, offset, bins, blocks);

template <class T>
struct OnesweepSort {
  std::vector<T> in;
  int offset = 0;  // of the first key, from an aligned address
};
using WordOnesweep = OnesweepSort<std::uint32_t>;
using IntOnesweep = OnesweepSort<int>;
using FloatOnesweep = OnesweepSort<float>;
using LongOnesweep = OnesweepSort<std::uint64_t>;
using DoubleOnesweep = OnesweepSort<double>;
FIELDS(WordOnesweep, in, offset);
FIELDS(IntOnesweep, in, offset);
FIELDS(FloatOnesweep, in, offset);
FIELDS(LongOnesweep, in, offset);
FIELDS(DoubleOnesweep, in, offset);

struct KeyValueOnesweep {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> values;
};
FIELDS(KeyValueOnesweep, keys, values);

namespace {

using Words = std::vector<std::uint32_t>;

constexpr int kBinsMax = 65'536;
constexpr int kBlocksMax = 64;

// --- histograms ----------------------------------------------------------------------------------

bool has_blocks(int blocks) { return blocks >= 1 && blocks <= kBlocksMax; }

template <int length_max, int tile>
FastByteCounts draw_bytes(Draw& draw) {
  const int n = draw(sizes({.max = length_max, .block = tile}));
  return {draw(byte_streams(n)), draw_offset(draw), static_cast<int>(draw.between(1, 4))};
}

template <fast::Size size>
Words run_bytes(Device& device, const FastByteCounts& input) {
  const OffsetArray<std::uint8_t> in(device, input.in, input.offset);
  auto counts = device.upload(Words(256));
  device.check(fast::histogram_bytes(in.data(), counts.data(), input.in.size(),
                                     static_cast<unsigned>(input.blocks), size));
  return counts.download();
}

Words counted_bytes(const FastByteCounts& input) { return reference::histogram(input.in, 0); }

// Keys around the bins, a few of them outside; numbers of bins just below and above what fits in 48
// KiB, and in any block.
FastKeyCounts draw_keys(Draw& draw) {
  const int n = draw(sizes({.max = 1'000, .block = 256}));
  const auto bins = static_cast<int>(!draw.once_in(8)  ? draw.between(1, 600)
                                     : draw.once_in(4) ? draw.between(kBinsMax - 8, kBinsMax)
                                                       : draw.between(12'287, 12'290));
  Words in = draw(vectors(n, integers<std::uint32_t>()));
  for (std::uint32_t& key : in) {
    if (key >= static_cast<std::uint32_t>(bins)) key %= static_cast<std::uint32_t>(bins) + 2;
  }
  return {std::move(in), draw_offset(draw), bins, static_cast<int>(draw.between(1, 4))};
}

Words run_keys(Device& device, const FastKeyCounts& input) {
  const OffsetArray<std::uint32_t> in(device, input.in, input.offset);
  auto counts = device.upload(Words(static_cast<std::size_t>(input.bins)));
  device.check(fast::histogram_keys(in.data(), counts.data(), input.in.size(),
                                    static_cast<unsigned>(input.bins),
                                    static_cast<unsigned>(input.blocks)));
  return counts.download();
}

Words counted_keys(const FastKeyCounts& input) {
  Words counts(static_cast<std::size_t>(input.bins));
  for (const std::uint32_t key : input.in) {
    if (key < counts.size()) ++counts[key];
  }
  return counts;
}

// --- sorts ---------------------------------------------------------------------------------------

template <class T, int length_max, int tile>
OnesweepSort<T> draw_sort(Draw& draw) {
  const int n = draw(sizes({.max = length_max, .block = tile}));
  return {draw(vectors(n, numbers<T>())), draw_offset(draw)};
}

template <class T>
bool is_sort(const OnesweepSort<T>& input) {
  return is_offset(input.offset);
}

template <class T, class... Size>
std::vector<T> run_sort(Device& device, const OnesweepSort<T>& input, Size... size) {
  const OffsetArray<T> in(device, input.in, input.offset);
  auto out = device.array<T>(input.in.size());
  auto scratch =
      device.array<std::uint64_t>(fast::radix_sort_onesweep_scratch(input.in.size()) / 8 + 1);
  device.check(
      fast::radix_sort_onesweep(in.data(), out.data(), input.in.size(), scratch.data(), size...));
  return out.download();
}
template <fast::Size size>
Words run_words(Device& device, const WordOnesweep& input) {
  return run_sort(device, input, size);
}
template <class T>
std::vector<T> run_small(Device& device, const OnesweepSort<T>& input) {
  return run_sort(device, input);
}

template <class T>
std::vector<T> sorted(const OnesweepSort<T>& input) {
  return reference::radix_sort(input.in);
}

std::vector<std::uint64_t> sorted_longs(const LongOnesweep& input) {
  std::vector<std::uint64_t> keys = input.in;
  std::ranges::sort(keys);
  return keys;
}

// The total order of IEEE 754.
std::vector<double> sorted_doubles(const DoubleOnesweep& input) {
  std::vector<double> keys = input.in;
  std::ranges::sort(keys, [](double a, double b) {
    const auto key = [](double x) {
      const auto bits = std::bit_cast<std::int64_t>(x);
      return bits < 0 ? bits ^ std::int64_t{0x7fffffffffffffff} : bits;
    };
    return key(a) < key(b);
  });
  return keys;
}

Words run_by_key(Device& device, const KeyValueOnesweep& input) {
  const std::size_t n = input.keys.size();
  const auto keys = device.upload(input.keys);
  const auto values = device.upload(input.values);
  auto sorted_keys = device.array<std::uint32_t>(n);
  auto sorted_values = device.array<std::uint32_t>(n);
  auto scratch = device.array<std::uint64_t>(fast::radix_sort_onesweep_scratch(n) / 8 + 1);
  device.check(fast::radix_sort_onesweep_by_key(keys.data(), values.data(), sorted_keys.data(),
                                                sorted_values.data(), n, scratch.data()));
  Words out = sorted_keys.download();
  const Words sorted = sorted_values.download();
  out.insert(out.end(), sorted.begin(), sorted.end());
  return out;
}

Words sorted_by_key(const KeyValueOnesweep& input) {
  reference::KeysAndValues sorted = reference::radix_sort_by_key({input.keys, input.values});
  sorted.keys.insert(sorted.keys.end(), sorted.values.begin(), sorted.values.end());
  return sorted.keys;
}

}  // namespace

// --- pairs ---------------------------------------------------------------------------------------

KERNEL_PAIR(histogram_bytes_fast, FastByteCounts, Words) = {
    .family = "histogram",
    .origin = "ours: a shared counter of each byte for each lane",
    .domain =
        [](const FastByteCounts& in) { return is_offset(in.offset) && has_blocks(in.blocks); },
    .arbitrary = draw_bytes<3'000, 1'024>,
    .kernel = run_bytes<fast::Size::small>,
    .reference = counted_bytes,
    .required_classes = {"in.size: zero", "in.size: one", "in: constant", "in: few distinct"},
};

KERNEL_PAIR(histogram_bytes_fast_large, FastByteCounts, Words) = {
    .family = "histogram",
    .origin = "ours: a shared counter of each byte for each lane, 64 KiB a tile",
    .domain =
        [](const FastByteCounts& in) { return is_offset(in.offset) && has_blocks(in.blocks); },
    .arbitrary = draw_bytes<70'000, 65'536>,
    .kernel = run_bytes<fast::Size::large>,
    .reference = counted_bytes,
};

KERNEL_PAIR(histogram_keys_fast, FastKeyCounts, Words) = {
    .family = "histogram",
    .origin = "ours: shared counters of keys, in slices where not all fit",
    .domain =
        [](const FastKeyCounts& in) {
          return is_offset(in.offset) && in.bins >= 1 && in.bins <= kBinsMax &&
                 has_blocks(in.blocks);
        },
    .arbitrary = draw_keys,
    .kernel = run_keys,
    .reference = counted_keys,
    .required_classes = {"in.size: zero", "in.size: one"},
};

#define ONESWEEP_PAIR(name, T, length_max, tile, run_function, reference_function, ...) \
  KERNEL_PAIR(name, OnesweepSort<T>, std::vector<T>) = {                                \
      .family = "sort",                                                                 \
      .origin = "ours, after Adinets and Merrill 2022: one sweep for each digit",       \
      .domain = is_sort<T>,                                                             \
      .arbitrary = draw_sort<T, length_max, tile>,                                      \
      .kernel = run_function,                                                           \
      .reference = reference_function,                                                  \
      .agreement = __VA_ARGS__,                                                         \
      .required_classes = of_array<T>("in"),                                            \
  }

ONESWEEP_PAIR(radix_sort_onesweep, std::uint32_t, 1'500, 512, run_words<fast::Size::small>,
              sorted<std::uint32_t>, exactly());
ONESWEEP_PAIR(radix_sort_onesweep_large, std::uint32_t, 10'000, 9'216, run_words<fast::Size::large>,
              sorted<std::uint32_t>, exactly());
ONESWEEP_PAIR(radix_sort_onesweep_int, int, 1'500, 512, run_small<int>, sorted<int>, exactly());
ONESWEEP_PAIR(radix_sort_onesweep_float, float, 1'500, 512, run_small<float>, sorted<float>,
              bitwise());
ONESWEEP_PAIR(radix_sort_onesweep_long, std::uint64_t, 1'500, 512, run_small<std::uint64_t>,
              sorted_longs, exactly());
ONESWEEP_PAIR(radix_sort_onesweep_double, double, 1'500, 512, run_small<double>, sorted_doubles,
              bitwise());

KERNEL_PAIR(radix_sort_onesweep_by_key, KeyValueOnesweep, Words) = {
    .family = "sort",
    .origin = "ours, after Adinets and Merrill 2022: keys with values, stable",
    .domain = [](const KeyValueOnesweep& in) { return in.keys.size() == in.values.size(); },
    .arbitrary =
        [](Draw& draw) {
          const int n = draw(sizes({.max = 1'500, .block = 512}));
          return KeyValueOnesweep{draw(vectors(n, integers<std::uint32_t>())),
                                  draw(vectors(n, integers<std::uint32_t>()))};
        },
    .kernel = run_by_key,
    .reference = sorted_by_key,
    .required_classes = {"keys: few distinct", "keys.size: zero", "keys.size: one"},
};

}  // namespace warpcheck
