// Histograms of bytes: two clean kernels, and the published one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/histogram.hpp"
#include "kernels/specimens/histogram_shared.hpp"
#include "reference/histogram.hpp"

namespace warpcheck {

using Bytes = std::vector<std::uint8_t>;
using Counts = std::vector<std::uint32_t>;

struct HistogramInput {
  Bytes in;
  std::uint32_t start = 0;  // the initial value of every counter
  LaunchConfig launch;
};
FIELDS(HistogramInput, in, start, launch);

namespace {

constexpr std::uint32_t kBlockMax = 1024;
constexpr int kBlocksMax = 64;

// Threads stride through the input, so any launch is valid.
bool is_row_of_blocks(const HistogramInput& input) {
  const auto is_row = [](const Dim3& extents) {
    return extents.x >= 1 && extents.y == 1 && extents.z == 1;
  };
  const LaunchConfig& launch = input.launch;
  return is_row(launch.grid) && is_row(launch.block) && launch.block.x <= kBlockMax &&
         launch.grid.x <= kBlocksMax && launch.shared_bytes == 0;
}

// Half of the launches have a thread for each byte, up to the limit of blocks; half are arbitrary.
LaunchConfig draw_launch(Draw& draw, int n) {
  const std::uint32_t block = draw(blocks(kBlockMax));
  const std::int64_t covering = std::max<std::int64_t>(1, (n + block - 1) / block);
  const std::int64_t grid = draw.between(0, 1) == 0 ? covering : draw.between(1, 4);
  return {.grid = std::min<std::int64_t>(grid, kBlocksMax), .block = block};
}

HistogramInput draw_histogram(Draw& draw) {
  const int n = draw(sizes({.max = 2'000, .block = kHistogramBins}));
  HistogramInput input;
  input.in = draw(byte_streams(n));
  // Counters near their maximum wrap around after a few bytes.
  if (draw.once_in(3)) input.start = static_cast<std::uint32_t>(0 - draw.between(0, 8));
  input.launch = draw_launch(draw, n);
  return input;
}

using HistogramLaunch = cudaError_t (*)(const std::uint8_t*, std::uint32_t*, int, dim3, dim3);

template <HistogramLaunch histogram>
Counts run_histogram(Device& device, const HistogramInput& input) {
  const auto bytes = device.upload(input.in);
  auto counts = device.upload(Counts(kHistogramBins, input.start));
  device.check(histogram(bytes.data(), counts.data(), static_cast<int>(input.in.size()),
                         input.launch.grid, input.launch.block));
  return counts.download();
}

Counts counted(const HistogramInput& input) { return reference::histogram(input.in, input.start); }

// Classes that a search of a histogram must draw.
const std::vector<ValueClass<HistogramInput>> kClasses{
    {"a counter wraps around",
     [](const HistogramInput& input) {
       const Counts counts = counted(input);
       return std::ranges::any_of(counts, [&](std::uint32_t count) { return count < input.start; });
     }},
    {"a thread for each bin",
     [](const HistogramInput& input) { return input.launch.block.x == kHistogramBins; }},
    {"more threads than bins",
     [](const HistogramInput& input) { return input.launch.block.x > kHistogramBins; }},
    {"fewer threads than bins",
     [](const HistogramInput& input) { return input.launch.block.x < kHistogramBins; }},
};
const std::vector<std::string> kRequired{"in.size: zero",
                                         "in.size: one",
                                         "in: constant",
                                         "in: few distinct",
                                         "in: sorted",
                                         "in: contains highest",
                                         "launch: several blocks",
                                         "launch: fewer threads than elements",
                                         "launch: block not a multiple of 32",
                                         "a counter wraps around",
                                         "a thread for each bin",
                                         "more threads than bins",
                                         "fewer threads than bins"};

}  // namespace

// --- clean pairs ---------------------------------------------------------------------------------

KERNEL_PAIR(histogram_global, HistogramInput, Counts) = {
    .family = "histogram",
    .origin = "published: an atomic addition to global memory for each byte",
    .domain = is_row_of_blocks,
    .arbitrary = draw_histogram,
    .kernel = run_histogram<histogram_global>,
    .reference = counted,
    .classes = kClasses,
    .required_classes = kRequired,
};

KERNEL_PAIR(histogram_shared, HistogramInput, Counts) = {
    .family = "histogram",
    .origin = "ours: shared counters for each block, any number of threads",
    .domain = is_row_of_blocks,
    .arbitrary = draw_histogram,
    .kernel = run_histogram<histogram_shared>,
    .reference = counted,
    .classes = kClasses,
    .required_classes = kRequired,
};

// --- published defects ---------------------------------------------------------------------------

KERNEL_PAIR(histogram_shared_published, HistogramInput, Counts) = {
    .family = "histogram",
    .origin = "published: shared counters, one owned by each thread",
    .expects = {"out-of-bounds", "mismatch"},
    .domain = is_row_of_blocks,
    .arbitrary = draw_histogram,
    .kernel = run_histogram<histogram_shared_published>,
    .reference = counted,
    .classes = kClasses,
    .required_classes = kRequired,
};

// --- claims --------------------------------------------------------------------------------------

namespace {

// The increments of the counters.
Counts added(Counts counts, std::uint32_t start) {
  for (std::uint32_t& count : counts) count -= start;
  return counts;
}

Counts sums(Counts counts, const Counts& others) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += others[i];
  return counts;
}

HistogramInput with_bytes(HistogramInput input, Bytes bytes) {
  input.in = std::move(bytes);
  return input;
}

}  // namespace

#define HISTOGRAM_CLAIMS(pair)                                                                 \
  PROPERTY(pair, every_byte_is_counted_once)(HistogramInput input) {                           \
    const Counts counts = added(run(input), input.start);                                      \
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), input.in.size()); \
  }                                                                                            \
  PROPERTY(pair, order_does_not_matter)(HistogramInput input) {                                \
    Bytes sorted = input.in;                                                                   \
    std::ranges::sort(sorted);                                                                 \
    EXPECT_EQ(run(with_bytes(input, sorted)), run(input));                                     \
  }                                                                                            \
  PROPERTY(pair, histogram_of_a_concatenation_is_the_sum)(HistogramInput input) {              \
    const auto middle = input.in.begin() + static_cast<std::ptrdiff_t>(input.in.size() / 2);   \
    const Counts left = run(with_bytes(input, Bytes(input.in.begin(), middle)));               \
    const Counts right = run(with_bytes(input, Bytes(middle, input.in.end())));                \
    EXPECT_EQ(run(input), sums(left, added(right, input.start)));                              \
  }

HISTOGRAM_CLAIMS(histogram_global)
HISTOGRAM_CLAIMS(histogram_shared)

}  // namespace warpcheck
