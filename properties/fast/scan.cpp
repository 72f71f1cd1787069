// Scans in one pass over the data: of ints, of floats, and of an operation that does not commute.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/required_classes.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/fast/scan_lookback.hpp"
#include "properties/element_numbers.hpp"
#include "properties/fast/offset_array.hpp"
#include "reference/scan.hpp"

namespace warpcheck {

template <class T>
struct LookbackScan {
  std::vector<T> in;
  int offset = 0;  // of the first element, from an aligned address
};
using IntLookback = LookbackScan<int>;
using FloatLookback = LookbackScan<float>;
FIELDS(IntLookback, in, offset);
FIELDS(FloatLookback, in, offset);

// Maps x -> factor * x + term, composed from the first to the last.
struct AffineLookback {
  std::vector<std::uint32_t> factors;
  std::vector<std::uint32_t> terms;
};
FIELDS(AffineLookback, factors, terms);

namespace {

template <class T, int length_max, int tile>
LookbackScan<T> draw_scan(Draw& draw) {
  const int n = draw(sizes({.max = length_max, .block = tile}));
  return {draw(vectors(n, numbers<T>())), draw_offset(draw)};
}

template <class T>
bool is_scan(const LookbackScan<T>& input) {
  return is_offset(input.offset);
}

template <class T, class Scan>
std::vector<T> run_scan(Device& device, const LookbackScan<T>& input, Scan scan) {
  const OffsetArray<T> in(device, input.in, input.offset);
  auto out = device.array<T>(input.in.size());
  auto scratch = device.array<std::uint64_t>(fast::scan_lookback_scratch(input.in.size()) / 8);
  device.check(scan(in.data(), out.data(), input.in.size(), scratch.data()));
  return out.download();
}

template <fast::Size size>
std::vector<int> run_ints(Device& device, const IntLookback& input) {
  return run_scan(device, input,
                  [](auto... arguments) { return fast::scan_lookback(arguments..., size); });
}

template <class T>
std::vector<T> scanned(const LookbackScan<T>& input) {
  return reference::inclusive_scan(input.in);
}

// Factor and term of each map, alternating.
using Maps = std::vector<std::uint32_t>;

Maps run_maps(Device& device, const AffineLookback& input) {
  const std::size_t n = input.factors.size();
  std::vector<fast::Affine> maps(n);
  for (std::size_t i = 0; i < n; ++i) maps[i] = {input.factors[i], input.terms[i]};
  const auto in = device.upload(maps);
  auto out = device.array<fast::Affine>(n);
  auto scratch = device.array<std::uint64_t>(fast::scan_lookback_scratch(n) / 8);
  device.check(fast::scan_lookback(in.data(), out.data(), n, scratch.data()));
  Maps values;
  for (const fast::Affine& map : out.download()) {
    values.push_back(map.factor);
    values.push_back(map.term);
  }
  return values;
}

Maps composed(const AffineLookback& input) {
  Maps values;
  std::uint32_t factor = 1;
  std::uint32_t term = 0;
  for (std::size_t i = 0; i < input.factors.size(); ++i) {
    factor *= input.factors[i];
    term = input.factors[i] * term + input.terms[i];
    values.push_back(factor);
    values.push_back(term);
  }
  return values;
}

}  // namespace

KERNEL_PAIR(scan_lookback, IntLookback, std::vector<int>) = {
    .family = "scan",
    .origin = "ours, after Merrill and Garland 2016: one pass, decoupled look-back",
    .domain = is_scan<int>,
    .arbitrary = draw_scan<int, 1'500, 256>,
    .kernel = run_ints<fast::Size::small>,
    .reference = scanned<int>,
    .required_classes = of_array<int>("in"),
};

KERNEL_PAIR(scan_lookback_large, IntLookback, std::vector<int>) = {
    .family = "scan",
    .origin = "ours, after Merrill and Garland 2016: tiles of 8,192 elements",
    .domain = is_scan<int>,
    .arbitrary = draw_scan<int, 20'000, 8'192>,
    .kernel = run_ints<fast::Size::large>,
    .reference = scanned<int>,
    .required_classes = of_array<int>("in"),
};

// Which sums are added depends on what a block finds published.
KERNEL_PAIR(scan_lookback_float, FloatLookback, std::vector<float>) = {
    .family = "scan",
    .origin = "ours, after Merrill and Garland 2016: one pass, decoupled look-back",
    .domain = is_scan<float>,
    .arbitrary = draw_scan<float, 1'500, 256>,
    .kernel =
        [](Device& device, const FloatLookback& input) {
          return run_scan(device, input,
                          [](auto... arguments) { return fast::scan_lookback(arguments...); });
        },
    .reference = scanned<float>,
    .agreement = order_sensitive(within_error_bound([](const FloatLookback& input) {
      return prefix_sum_error_bounds(input.in);
    })),
    .required_classes = of_array<float>("in"),
};

KERNEL_PAIR(scan_lookback_affine, AffineLookback, Maps) = {
    .family = "scan",
    .origin = "ours, after Merrill and Garland 2016: maps composed in order, fenced look-back",
    .domain = [](const AffineLookback& in) { return in.factors.size() == in.terms.size(); },
    .arbitrary =
        [](Draw& draw) {
          const int n = draw(sizes({.max = 1'500, .block = 256}));
          return AffineLookback{draw(vectors(n, integers<std::uint32_t>())),
                                draw(vectors(n, integers<std::uint32_t>()))};
        },
    .kernel = run_maps,
    .reference = composed,
    .required_classes = {"factors.size: zero", "factors.size: one"},
};

// A scan of a prefix is the prefix of the scan, for any offset of the array.
PROPERTY(scan_lookback, prefix_of_the_scan_is_the_scan_of_the_prefix)(IntLookback in) {
  const std::vector<int> whole = run(in);
  in.in.resize(in.in.size() / 2);
  in.offset = 1;
  const std::vector<int> half = run(in);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), whole.begin()));
}

}  // namespace warpcheck
