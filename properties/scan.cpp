// Inclusive scans: six clean kernels, in int and float, and four published defects.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/required_classes.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/scan_hillis_steele.hpp"
#include "kernels/scan_multi_level.hpp"
#include "kernels/scan_pairs.hpp"
#include "kernels/scan_tree.hpp"
#include "kernels/scan_two_level.hpp"
#include "kernels/specimens/scan_hillis_steele.hpp"
#include "kernels/specimens/scan_pairs.hpp"
#include "kernels/specimens/scan_tree.hpp"
#include "kernels/specimens/scan_two_level.hpp"
#include "properties/element_numbers.hpp"
#include "reference/exact.hpp"
#include "reference/scan.hpp"

namespace warpcheck {

using Ints = std::vector<int>;
using Floats = std::vector<float>;

// Scans that use the launch's shape: one block, or a grid of them.
struct IntScan {
  Ints in;
  LaunchConfig launch;
};
FIELDS(IntScan, in, launch);

struct FloatScan {
  Floats in;
  LaunchConfig launch;
};
FIELDS(FloatScan, in, launch);

// Scans that choose their own grids.
struct IntLevels {
  Ints in;
  int block = 2;  // threads
};
FIELDS(IntLevels, in, block);

struct FloatLevels {
  Floats in;
  int block = 2;  // threads
};
FIELDS(FloatLevels, in, block);

namespace {

constexpr int kScanBlockMax = 1024;

template <class Input>
using Element = typename decltype(Input::in)::value_type;

// --- domains and generators ----------------------------------------------------------------------

bool is_one_dimensional(const LaunchConfig& launch) {
  const auto is_row = [](const Dim3& extents) { return extents.y == 1 && extents.z == 1; };
  return is_row(launch.grid) && is_row(launch.block) && launch.shared_bytes == 0;
}

// One block; a thread for each `per_thread` elements.
template <class Input, int per_thread = 1>
bool fits_one_block(const Input& input) {
  const LaunchConfig& launch = input.launch;
  return is_one_dimensional(launch) && launch.grid.x == 1 && launch.block.x >= 1 &&
         launch.block.x <= kScanBlockMax && input.in.size() <= per_thread * launch.block.x;
}

template <class Input, int per_thread = 1>
Input draw_one_block(Draw& draw) {
  const int n = draw(sizes({.max = kScanBlockMax}));
  const int threads = (n + per_thread - 1) / per_thread;
  return {draw(vectors(n, numbers<Element<Input>>())),
          draw(launches_covering(threads, {.block_max = kScanBlockMax, .blocks_max = 1}))};
}

// Up to width * width elements in blocks of width, so that one block can scan the block sums.
template <class Input>
bool fits_two_levels(const Input& input) {
  const LaunchConfig& launch = input.launch;
  return is_one_dimensional(launch) && launch.block.x <= kScanBlockMax &&
         launch.grid.x <= launch.block.x && covers(launch, input.in.size());
}

template <class Input>
Input draw_two_levels(Draw& draw) {
  const int width = static_cast<int>(draw(blocks(64)));
  const int n = draw(sizes({.max = std::min(width * width, 1'500), .block = width}));
  const int needed = std::max(1, (n + width - 1) / width);
  const std::int64_t grid = draw.once_in(4) ? draw.between(needed, width) : needed;
  return {draw(vectors(n, numbers<Element<Input>>())), {.grid = grid, .block = width}};
}

template <class Input>
bool has_levels(const Input& input) {
  return input.block >= 2 && input.block <= kScanBlockMax;
}

template <class Input>
Input draw_levels(Draw& draw) {
  const int block = 1 + static_cast<int>(draw(blocks(128)));
  const int n = draw(sizes({.max = std::min(1'500, 40 * block), .block = block}));
  return {draw(vectors(n, numbers<Element<Input>>())), block};
}

// --- kernels, references, agreement --------------------------------------------------------------

template <class Input>
using OneBlockScan = cudaError_t (*)(const Element<Input>*, Element<Input>*, int, dim3);
template <class Input>
using TwoLevelScan = cudaError_t (*)(const Element<Input>*, Element<Input>*, Element<Input>*, int,
                                     dim3, dim3);

template <class Input, OneBlockScan<Input> scan>
decltype(Input::in) run_one_block(Device& device, const Input& input) {
  const auto values = device.upload(input.in);
  auto sums = device.array<Element<Input>>(input.in.size());
  device.check(
      scan(values.data(), sums.data(), static_cast<int>(input.in.size()), input.launch.block));
  return sums.download();
}

template <class Input, TwoLevelScan<Input> scan>
decltype(Input::in) run_two_levels(Device& device, const Input& input) {
  const auto values = device.upload(input.in);
  auto sums = device.array<Element<Input>>(input.in.size());
  auto block_sums = device.array<Element<Input>>(input.launch.grid.x);
  device.check(scan(values.data(), sums.data(), block_sums.data(),
                    static_cast<int>(input.in.size()), input.launch.grid, input.launch.block));
  return sums.download();
}

template <class Input>
decltype(Input::in) run_levels(Device& device, const Input& input) {
  const int n = static_cast<int>(input.in.size());
  const dim3 block(static_cast<unsigned>(input.block));
  const auto values = device.upload(input.in);
  auto sums = device.array<Element<Input>>(input.in.size());
  auto scratch = device.array<Element<Input>>(scan_multi_level_scratch(n, block));
  device.check(scan_multi_level(values.data(), sums.data(), scratch.data(), n, block));
  return sums.download();
}

template <class Input>
decltype(Input::in) scanned(const Input& input) {
  return reference::inclusive_scan(input.in);
}

template <class Input>
std::vector<Exact> scanned_exactly(const Input& input, const ExactData& exact) {
  return reference::prefix_sums(exact(input.in));
}

// The kernels add in another order than the reference.
auto within_prefix_rounding() {
  return within_error_bound([](const auto& input) { return prefix_sum_error_bounds(input.in); });
}

}  // namespace

// --- clean pairs, int ----------------------------------------------------------------------------

KERNEL_PAIR(scan_hillis_steele, IntScan, Ints) = {
    .family = "scan",
    .origin = "ours, after Hillis and Steele 1986, two buffers",
    .domain = fits_one_block<IntScan>,
    .arbitrary = draw_one_block<IntScan>,
    .kernel = run_one_block<IntScan, scan_hillis_steele>,
    .reference = scanned<IntScan>,
    .exact_reference = scanned_exactly<IntScan>,
    .required_classes = of_array<int>("in", {"launch: block not a multiple of 32",
                                             "launch: idle threads"}),
};

KERNEL_PAIR(scan_tree, IntScan, Ints) = {
    .family = "scan",
    .origin = "ours, after Brent and Kung 1982",
    .domain = fits_one_block<IntScan>,
    .arbitrary = draw_one_block<IntScan>,
    .kernel = run_one_block<IntScan, scan_tree>,
    .reference = scanned<IntScan>,
    .exact_reference = scanned_exactly<IntScan>,
    .required_classes = of_array<int>("in", {"launch: block not a multiple of 32",
                                             "launch: idle threads"}),
};

KERNEL_PAIR(scan_pairs, IntScan, Ints) = {
    .family = "scan",
    .origin = "ours, after Brent and Kung 1982, two elements a thread",
    .domain = fits_one_block<IntScan, 2>,
    .arbitrary = draw_one_block<IntScan, 2>,
    .kernel = run_one_block<IntScan, scan_pairs>,
    .reference = scanned<IntScan>,
    .exact_reference = scanned_exactly<IntScan>,
    .required_classes = of_array<int>("in", {"launch: block not a multiple of 32",
                                             "launch: idle threads"}),
};

KERNEL_PAIR(scan_two_level, IntScan, Ints) = {
    .family = "scan",
    .origin = "ours: block scans, select, scan of the block sums, add",
    .domain = fits_two_levels<IntScan>,
    .arbitrary = draw_two_levels<IntScan>,
    .kernel = run_two_levels<IntScan, scan_two_level>,
    .reference = scanned<IntScan>,
    .exact_reference = scanned_exactly<IntScan>,
    .required_classes = of_array<int>("in", {"launch: several blocks",
                                             "launch: block not a multiple of 32",
                                             "launch: idle threads"}),
};

KERNEL_PAIR(scan_multi_level, IntLevels, Ints) = {
    .family = "scan",
    .origin = "ours: as many levels as the length needs",
    .domain = has_levels<IntLevels>,
    .arbitrary = draw_levels<IntLevels>,
    .kernel = run_levels<IntLevels>,
    .reference = scanned<IntLevels>,
    .exact_reference = scanned_exactly<IntLevels>,
    .required_classes = of_array<int>("in", {"block: odd"}),
};

// --- clean pairs, float --------------------------------------------------------------------------

KERNEL_PAIR(scan_hillis_steele_float, FloatScan, Floats) = {
    .family = "scan",
    .origin = "ours, after Hillis and Steele 1986, two buffers",
    .domain = fits_one_block<FloatScan>,
    .arbitrary = draw_one_block<FloatScan>,
    .kernel = run_one_block<FloatScan, scan_hillis_steele>,
    .reference = scanned<FloatScan>,
    .agreement = within_prefix_rounding(),
    .exact_reference = scanned_exactly<FloatScan>,
    .required_classes = of_array<float>("in", {"launch: block not a multiple of 32",
                                               "launch: idle threads"}),
};

KERNEL_PAIR(scan_tree_float, FloatScan, Floats) = {
    .family = "scan",
    .origin = "ours, after Brent and Kung 1982",
    .domain = fits_one_block<FloatScan>,
    .arbitrary = draw_one_block<FloatScan>,
    .kernel = run_one_block<FloatScan, scan_tree>,
    .reference = scanned<FloatScan>,
    .agreement = within_prefix_rounding(),
    .exact_reference = scanned_exactly<FloatScan>,
    .required_classes = of_array<float>("in", {"launch: block not a multiple of 32",
                                               "launch: idle threads"}),
};

KERNEL_PAIR(scan_pairs_float, FloatScan, Floats) = {
    .family = "scan",
    .origin = "ours, after Brent and Kung 1982, two elements a thread",
    .domain = fits_one_block<FloatScan, 2>,
    .arbitrary = draw_one_block<FloatScan, 2>,
    .kernel = run_one_block<FloatScan, scan_pairs>,
    .reference = scanned<FloatScan>,
    .agreement = within_prefix_rounding(),
    .exact_reference = scanned_exactly<FloatScan>,
    .required_classes = of_array<float>("in", {"launch: block not a multiple of 32",
                                               "launch: idle threads"}),
};

KERNEL_PAIR(scan_two_level_float, FloatScan, Floats) = {
    .family = "scan",
    .origin = "ours: block scans, select, scan of the block sums, add",
    .domain = fits_two_levels<FloatScan>,
    .arbitrary = draw_two_levels<FloatScan>,
    .kernel = run_two_levels<FloatScan, scan_two_level>,
    .reference = scanned<FloatScan>,
    .agreement = within_prefix_rounding(),
    .exact_reference = scanned_exactly<FloatScan>,
    .required_classes = of_array<float>("in", {"launch: several blocks",
                                               "launch: block not a multiple of 32",
                                               "launch: idle threads"}),
};

KERNEL_PAIR(scan_multi_level_float, FloatLevels, Floats) = {
    .family = "scan",
    .origin = "ours: as many levels as the length needs",
    .domain = has_levels<FloatLevels>,
    .arbitrary = draw_levels<FloatLevels>,
    .kernel = run_levels<FloatLevels>,
    .reference = scanned<FloatLevels>,
    .agreement = within_prefix_rounding(),
    .exact_reference = scanned_exactly<FloatLevels>,
    .required_classes = of_array<float>("in", {"block: odd"}),
};

// --- published defects ---------------------------------------------------------------------------

KERNEL_PAIR(scan_hillis_steele_published, IntScan, Ints) = {
    .family = "scan",
    .origin = "published: one buffer, one barrier a round",
    .expects = {"data-race", "mismatch"},
    .domain = fits_one_block<IntScan>,
    .arbitrary = draw_one_block<IntScan>,
    .kernel = run_one_block<IntScan, scan_hillis_steele_published>,
    .reference = scanned<IntScan>,
};

KERNEL_PAIR(scan_tree_published, IntScan, Ints) = {
    .family = "scan",
    .origin = "published: a tree for powers of two",
    .expects = {"mismatch"},
    .domain = fits_one_block<IntScan>,
    .arbitrary = draw_one_block<IntScan>,
    .kernel = run_one_block<IntScan, scan_tree_published>,
    .reference = scanned<IntScan>,
};

KERNEL_PAIR(scan_pairs_published, IntScan, Ints) = {
    .family = "scan",
    .origin = "published: two elements a thread, one bound for both, a tree for powers of two",
    .expects = {"out-of-bounds", "mismatch"},
    .domain = fits_one_block<IntScan, 2>,
    .arbitrary = draw_one_block<IntScan, 2>,
    .kernel = run_one_block<IntScan, scan_pairs_published>,
    .reference = scanned<IntScan>,
};

KERNEL_PAIR(scan_two_level_published, IntScan, Ints) = {
    .family = "scan",
    .origin = "published: twice the threads in the second level, one addend for all in the last",
    .expects = {"out-of-bounds"},
    .domain = fits_two_levels<IntScan>,
    .arbitrary = draw_two_levels<IntScan>,
    .kernel = run_two_levels<IntScan, scan_two_level_published>,
    .reference = scanned<IntScan>,
};

// --- claims --------------------------------------------------------------------------------------

namespace {

Ints differences(const Ints& sums) {
  Ints steps;
  unsigned before = 0;  // unsigned: wraps around as the scan does
  for (const int sum : sums) {
    steps.push_back(static_cast<int>(static_cast<unsigned>(sum) - before));
    before = static_cast<unsigned>(sum);
  }
  return steps;
}

// The two halves of an input, launched as the whole is.
template <class Input>
struct Halves {
  Input left, right;
};

template <class Input>
Halves<Input> halves(const Input& input) {
  const auto middle = input.in.begin() + static_cast<std::ptrdiff_t>(input.in.size() / 2);
  Halves<Input> halves{input, input};
  halves.left.in.assign(input.in.begin(), middle);
  halves.right.in.assign(middle, input.in.end());
  return halves;
}

// The scan of a concatenation: the second part continues from the last sum of the first.
Ints joined(Ints left, const Ints& right) {
  const auto total = static_cast<unsigned>(left.empty() ? 0 : left.back());
  for (const int sum : right) left.push_back(static_cast<int>(total + static_cast<unsigned>(sum)));
  return left;
}

// Bits, so that NaNs and both zeros compare; the first `count` elements.
std::vector<std::uint32_t> leading_bits(const Floats& values, std::size_t count) {
  std::vector<std::uint32_t> bits;
  for (std::size_t i = 0; i < count; ++i) bits.push_back(std::bit_cast<std::uint32_t>(values[i]));
  return bits;
}

}  // namespace

// Claims of every int scan, and how scans of parts make up the scan of the whole.
#define INT_SCAN_CLAIMS(pair, Input)                                     \
  PROPERTY(pair, differences_give_back_the_input)(Input input) {         \
    EXPECT_EQ(differences(run(input)), input.in);                        \
  }                                                                      \
  PROPERTY(pair, scan_of_a_concatenation_joins_the_scans)(Input input) { \
    const auto [left, right] = halves(input);                            \
    EXPECT_EQ(run(input), joined(run(left), run(right)));                \
  }

INT_SCAN_CLAIMS(scan_hillis_steele, IntScan)
INT_SCAN_CLAIMS(scan_tree, IntScan)
INT_SCAN_CLAIMS(scan_pairs, IntScan)
INT_SCAN_CLAIMS(scan_two_level, IntScan)
INT_SCAN_CLAIMS(scan_multi_level, IntLevels)

// The order of additions depends only on an element's place and the block, so the elements after it
// do not change one bit of its sum.
#define FLOAT_SCAN_CLAIMS(pair, Input)                                          \
  PROPERTY(pair, later_elements_do_not_matter)(Input input) {                   \
    const Input left = halves(input).left;                                      \
    const std::size_t count = left.in.size();                                   \
    EXPECT_EQ(leading_bits(run(input), count), leading_bits(run(left), count)); \
  }

FLOAT_SCAN_CLAIMS(scan_hillis_steele_float, FloatScan)
FLOAT_SCAN_CLAIMS(scan_tree_float, FloatScan)
FLOAT_SCAN_CLAIMS(scan_pairs_float, FloatScan)
FLOAT_SCAN_CLAIMS(scan_two_level_float, FloatScan)
FLOAT_SCAN_CLAIMS(scan_multi_level_float, FloatLevels)

}  // namespace warpcheck
