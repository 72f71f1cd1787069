// Reductions: sum, maximum and minimum, in int and float, finished on the device and on the host,
// which must be clean; the published defects; and a planted sum that depends on the schedule.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/required_classes.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/reduce.hpp"
#include "kernels/specimens/planted_atomic_sum.hpp"
#include "kernels/specimens/reduce_max.hpp"
#include "kernels/specimens/reduce_max_host_finish.hpp"
#include "properties/element_numbers.hpp"
#include "reference/exact.hpp"
#include "reference/reduce.hpp"

namespace warpcheck {

// Reductions that choose their own grids.
template <class T>
struct ReducePasses {
  std::vector<T> in{};
  int block = 1;  // threads
};
FIELDS(ReducePasses<int>, in, block);
FIELDS(ReducePasses<float>, in, block);

// Reductions that use the launch's shape.
template <class T>
struct ReduceLaunch {
  std::vector<T> in{};
  LaunchConfig launch{};
};
FIELDS(ReduceLaunch<int>, in, launch);
FIELDS(ReduceLaunch<float>, in, launch);

// One block, with a shared array whose length is a separate parameter.
struct ReduceArray {
  std::vector<int> in{};
  int length = 1;  // elements of the shared array
  LaunchConfig launch{};
};
FIELDS(ReduceArray, in, length, launch);

namespace {

constexpr std::uint32_t kBlockMax = 1024;
constexpr std::uint32_t kGridMax = 1024;

template <class Input>
using Element = typename decltype(Input::in)::value_type;
// One element, as an array, so that a sum can be judged by its error bound.
template <class Input>
using Result = std::vector<Element<Input>>;

// --- domains and generators ----------------------------------------------------------------------

template <class T>
bool has_block(const ReducePasses<T>& input) {
  return input.block >= 1 && input.block <= static_cast<int>(kBlockMax);
}

template <class T>
ReducePasses<T> draw_passes(Draw& draw) {
  const int block = static_cast<int>(draw(blocks(256)));
  // Enough for several passes, but limited for small blocks, which would take too long.
  const int n = draw(sizes({.max = std::min(1'500, 60 * block), .block = 2 * block}));
  return {draw(vectors(n, numbers<T>())), block};
}

bool is_row_of_blocks(const LaunchConfig& launch) {
  const auto is_row = [](const Dim3& extents) {
    return extents.x >= 1 && extents.y == 1 && extents.z == 1;
  };
  return is_row(launch.grid) && is_row(launch.block) && launch.block.x <= kBlockMax &&
         launch.grid.x <= kGridMax && launch.shared_bytes == 0;
}

// Threads stride through the input, so any launch is valid.
template <class T>
bool is_any_launch(const ReduceLaunch<T>& input) {
  return is_row_of_blocks(input.launch);
}

template <class T>
ReduceLaunch<T> draw_any_launch(Draw& draw) {
  const int n = draw(sizes({.max = 1'500}));
  LaunchConfig launch = draw(launches_covering(n, {.block_max = 256, .blocks_max = kGridMax}));
  if (draw.once_in(3)) launch.grid = draw.between(1, 4);
  launch.grid.x = std::min(launch.grid.x, kGridMax);
  return {draw(vectors(n, numbers<T>())), launch};
}

template <class T>
bool has_a_thread_for_each(const ReduceLaunch<T>& input) {
  return is_row_of_blocks(input.launch) && !input.in.empty() &&
         covers(input.launch, input.in.size());
}

ReduceLaunch<int> draw_a_thread_for_each(Draw& draw) {
  const int n = draw(sizes({.min = 1, .max = 1'500}));
  return {draw(vectors(n, integers<int>())),
          draw(launches_covering(n, {.block_max = 256, .blocks_max = kGridMax}))};
}

// The shared array holds at least one element for each thread, as the kernel needs.
bool fits_the_array(const ReduceArray& input) {
  const LaunchConfig& launch = input.launch;
  return is_row_of_blocks(launch) && launch.grid.x == 1 && !input.in.empty() &&
         input.in.size() <= launch.block.x && input.length <= 2 * static_cast<int>(kBlockMax) &&
         input.length >= static_cast<int>(launch.block.x);
}

ReduceArray draw_array(Draw& draw) {
  const int n = draw(sizes({.min = 1, .max = 256}));
  const LaunchConfig launch = draw(launches_covering(n, {.block_max = 256, .blocks_max = 1}));
  const std::uint32_t block = launch.block.x;
  const std::int64_t more = draw.once_in(2) ? std::bit_ceil(block) : draw.between(block, 2 * block);
  const std::int64_t length = draw.once_in(3) ? more : block;
  return {draw(vectors(n, integers<int>())), static_cast<int>(length), launch};
}

// --- kernels -------------------------------------------------------------------------------------

template <class T>
using PassesReduction = cudaError_t (*)(const T*, T*, T*, int, dim3);
template <class T>
using LaunchReduction = cudaError_t (*)(const T*, T*, T*, int, dim3, dim3);

template <class T, PassesReduction<T> reduce>
std::vector<T> run_passes(Device& device, const ReducePasses<T>& input) {
  const int n = static_cast<int>(input.in.size());
  const dim3 block(static_cast<unsigned>(input.block));
  const auto values = device.upload(input.in);
  auto scratch = device.array<T>(reduce_scratch(n, block));
  auto out = device.array<T>(1);
  device.check(reduce(values.data(), out.data(), scratch.data(), n, block));
  return out.download();
}

template <class T, LaunchReduction<T> reduce>
std::vector<T> run_host_finish(Device& device, const ReduceLaunch<T>& input) {
  const auto values = device.upload(input.in);
  auto scratch = device.array<T>(input.launch.grid.x);
  std::vector<T> out(1);
  device.check(reduce(values.data(), out.data(), scratch.data(), static_cast<int>(input.in.size()),
                      input.launch.grid, input.launch.block));
  return out;
}

std::vector<int> run_array(Device& device, const ReduceArray& input) {
  const auto values = device.upload(input.in);
  auto out = device.array<int>(1);
  device.check(reduce_max_published(values.data(), out.data(), static_cast<int>(input.in.size()),
                                    input.length, input.launch.block));
  return out.download();
}

std::vector<float> run_atomic_sum(Device& device, const ReduceLaunch<float>& input) {
  const auto values = device.upload(input.in);
  auto sum = device.array<float>(1);
  sum.fill_bytes(0);
  device.check(planted_atomic_sum(values.data(), sum.data(), static_cast<int>(input.in.size()),
                                  input.launch.grid, input.launch.block));
  return sum.download();
}

// --- references, agreement -----------------------------------------------------------------------

template <class Input>
Result<Input> summed(const Input& input) {
  return {reference::sum(input.in)};
}
template <class Input>
Result<Input> greatest(const Input& input) {
  return {reference::maximum(input.in)};
}
template <class Input>
Result<Input> least(const Input& input) {
  return {reference::minimum(input.in)};
}

template <class Input>
std::vector<Exact> summed_exactly(const Input& input, const ExactData& exact) {
  return {reference::plain_sum(exact(input.in))};
}
// The extremum of no floats is a NaN.
template <class T>
Exact extremum_of_nothing(T of_integers) {
  if constexpr (std::is_floating_point_v<T>) return {std::numeric_limits<T>::quiet_NaN()};
  return {of_integers};
}
template <class Input>
std::vector<Exact> greatest_exactly(const Input& input, const ExactData& exact) {
  using T = Element<Input>;
  const Exact nothing = extremum_of_nothing(std::numeric_limits<T>::min());
  return {reference::greatest_of(exact(input.in), nothing)};
}
template <class Input>
std::vector<Exact> least_exactly(const Input& input, const ExactData& exact) {
  using T = Element<Input>;
  const Exact nothing = extremum_of_nothing(std::numeric_limits<T>::max());
  return {reference::least_of(exact(input.in), nothing)};
}

// The kernels add in another order than the reference.
auto within_sum_bound() {
  return within_error_bound(
      [](const auto& input) { return std::vector<double>{sum_error_bound(input.in)}; });
}
auto within_rounding_of_atomics() {
  return within_error_bound([](const auto& input) {
    return std::vector<double>{sum_error_bound(input.in, Subnormals::flushed)};
  });
}

}  // namespace

// --- clean pairs ---------------------------------------------------------------------------------

#define DEVICE_KERNEL_PAIR(name, T, operation, of_reference, ...) \
  KERNEL_PAIR(name, ReducePasses<T>, std::vector<T>) = {          \
      .family = "reduce",                                         \
      .origin = "ours: as many passes as the length needs",       \
      .domain = has_block<T>,                                     \
      .arbitrary = draw_passes<T>,                                \
      .kernel = run_passes<T, operation>,                         \
      .reference = of_reference<ReducePasses<T>>,                 \
      .agreement = __VA_ARGS__,                                   \
      .exact_reference = of_reference##_exactly<ReducePasses<T>>, \
      .required_classes = of_array<T>("in"),                      \
  }
#define HOST_KERNEL_PAIR(name, T, operation, of_reference, ...)         \
  KERNEL_PAIR(name, ReduceLaunch<T>, std::vector<T>) = {                \
      .family = "reduce",                                               \
      .origin = "ours: one value for each block, finished by the host", \
      .domain = is_any_launch<T>,                                       \
      .arbitrary = draw_any_launch<T>,                                  \
      .kernel = run_host_finish<T, operation>,                          \
      .reference = of_reference<ReduceLaunch<T>>,                       \
      .agreement = __VA_ARGS__,                                         \
      .exact_reference = of_reference##_exactly<ReduceLaunch<T>>,       \
      .required_classes = of_array<T>("in"),                            \
  }

DEVICE_KERNEL_PAIR(reduce_sum, int, reduce_sum, summed, exactly());
DEVICE_KERNEL_PAIR(reduce_max, int, reduce_max, greatest, exactly());
DEVICE_KERNEL_PAIR(reduce_min, int, reduce_min, least, exactly());
DEVICE_KERNEL_PAIR(reduce_sum_float, float, reduce_sum, summed, within_sum_bound());
DEVICE_KERNEL_PAIR(reduce_max_float, float, reduce_max, greatest, exactly());
DEVICE_KERNEL_PAIR(reduce_min_float, float, reduce_min, least, exactly());

HOST_KERNEL_PAIR(reduce_sum_host_finish, int, reduce_sum_host_finish, summed, exactly());
HOST_KERNEL_PAIR(reduce_max_host_finish, int, reduce_max_host_finish, greatest, exactly());
HOST_KERNEL_PAIR(reduce_min_host_finish, int, reduce_min_host_finish, least, exactly());
HOST_KERNEL_PAIR(reduce_sum_float_host_finish, float, reduce_sum_host_finish, summed,
                 within_sum_bound());
HOST_KERNEL_PAIR(reduce_max_float_host_finish, float, reduce_max_host_finish, greatest, exactly());
HOST_KERNEL_PAIR(reduce_min_float_host_finish, float, reduce_min_host_finish, least, exactly());

// --- published defects, and a planted one --------------------------------------------------------

KERNEL_PAIR(reduce_max_published, ReduceArray, std::vector<int>) = {
    .family = "reduce",
    .origin = "published: 0 for what is missing, a tree over an array for powers of two",
    .expects = {"out-of-bounds", "uninitialized-read", "mismatch"},
    .domain = fits_the_array,
    .arbitrary = draw_array,
    .kernel = run_array,
    .reference = greatest<ReduceArray>,
};

KERNEL_PAIR(reduce_max_host_finish_published, ReduceLaunch<int>, std::vector<int>) = {
    .family = "reduce",
    .origin = "published: one value for each block, and n of them copied to the host",
    .expects = {"out-of-bounds"},
    .domain = has_a_thread_for_each<int>,
    .arbitrary = draw_a_thread_for_each,
    .kernel = run_host_finish<int, reduce_max_host_finish_published>,
    .reference = greatest<ReduceLaunch<int>>,
};

KERNEL_PAIR(sum_by_atomics_planted, ReduceLaunch<float>, std::vector<float>) = {
    .family = "reduce",
    .origin = "ours, planted: floats added in the order in which threads come",
    .expects = {"schedule-dependent"},
    .domain = has_a_thread_for_each<float>,
    .arbitrary =
        [](Draw& draw) {
          const int n = draw(sizes({.min = 1, .max = 300}));
          return ReduceLaunch<float>{
              draw(vectors(n, floats<float>({.nan = false, .infinities = false}))),
              draw(launches_covering(n, {.block_max = 256, .blocks_max = kGridMax}))};
        },
    .kernel = run_atomic_sum,
    .reference = summed<ReduceLaunch<float>>,
    .agreement = within_rounding_of_atomics(),
};

// --- claims --------------------------------------------------------------------------------------

namespace {

template <class Input>
Input with(Input input, Result<Input> values) {
  input.in = std::move(values);
  return input;
}

template <class Input>
Input sorted(Input input) {
  std::ranges::sort(input.in, vectors_detail::element_less<Element<Input>>);
  return input;
}

template <class Input>
Input first_half(Input input) {
  input.in.resize(input.in.size() / 2);
  return input;
}
template <class Input>
Input second_half(Input input) {
  const auto middle = input.in.begin() + static_cast<std::ptrdiff_t>(input.in.size() / 2);
  input.in.erase(input.in.begin(), middle);
  return input;
}

int doubled(int x) { return static_cast<int>(2U * static_cast<unsigned>(x)); }
float doubled(float x) { return 2 * x; }

template <class T>
std::vector<T> doubled(std::vector<T> values) {
  for (T& value : values) value = doubled(value);
  return values;
}

// All NaNs as the same bits; both zeros unchanged.
std::vector<std::uint32_t> bits_with_one_nan(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float x : values) {
    bits.push_back(std::isnan(x) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(x));
  }
  return bits;
}
std::vector<int> bits_with_one_nan(const std::vector<int>& values) { return values; }

// The same digits with exponents near 0: no sum of them is subnormal or overflows, so doubling is
// exact at every step.
std::vector<float> tamed(std::vector<float> values) {
  for (float& value : values) {
    int exponent = 0;
    value = std::isfinite(value) ? std::frexp(value, &exponent) : 1;
    value = std::ldexp(value, exponent % 32);
  }
  return values;
}

}  // namespace

#define SUM_CLAIMS(pair, Input)                                                          \
  PROPERTY(pair, order_does_not_matter)(Input input) {                                   \
    EXPECT_EQ(run(sorted(input)), run(input));                                           \
  }                                                                                      \
  PROPERTY(pair, sum_of_a_concatenation_is_the_sum_of_sums)(Input input) {               \
    const std::vector<int> parts{run(first_half(input))[0], run(second_half(input))[0]}; \
    EXPECT_EQ(run(input)[0], reference::sum(parts));                                     \
  }                                                                                      \
  PROPERTY(pair, doubles_with_its_elements)(Input input) {                               \
    EXPECT_EQ(run(with(input, doubled(input.in))), doubled(run(input)));                 \
  }

SUM_CLAIMS(reduce_sum, ReducePasses<int>)
SUM_CLAIMS(reduce_sum_host_finish, ReduceLaunch<int>)

// Another order of the same elements, and another partition of them, stays within the bound.
#define FLOAT_SUM_CLAIMS(pair, Input)                                                            \
  PROPERTY(pair, order_matters_within_the_bound)(Input input) {                                  \
    EXPECT_LE(detail::excess({run(sorted(input))[0], run(input)[0], sum_error_bound(input.in)}), \
              1);                                                                                \
  }                                                                                              \
  PROPERTY(pair, sum_of_a_concatenation_is_near_the_sum_of_sums)(Input input) {                  \
    const float parts = run(first_half(input))[0] + run(second_half(input))[0];                  \
    EXPECT_LE(detail::excess({parts, run(input)[0], sum_error_bound(input.in)}), 1);             \
  }                                                                                              \
  PROPERTY(pair, doubles_with_its_elements)(Input input) {                                       \
    const std::vector<float> values = tamed(input.in);                                           \
    EXPECT_EQ(bits_with_one_nan(run(with(input, doubled(values)))),                              \
              bits_with_one_nan(doubled(run(with(input, values)))));                             \
  }

FLOAT_SUM_CLAIMS(reduce_sum_float, ReducePasses<float>)
FLOAT_SUM_CLAIMS(reduce_sum_float_host_finish, ReduceLaunch<float>)

#define EXTREME_CLAIMS(pair, Input, extreme)                                           \
  PROPERTY(pair, order_does_not_matter)(Input input) {                                 \
    EXPECT_EQ(bits_with_one_nan(run(sorted(input))), bits_with_one_nan(run(input)));   \
  }                                                                                    \
  PROPERTY(pair, extreme_of_a_concatenation_is_the_extreme_of_extremes)(Input input) { \
    const Result<Input> parts{run(first_half(input))[0], run(second_half(input))[0]};  \
    EXPECT_EQ(bits_with_one_nan(run(input)),                                           \
              bits_with_one_nan(Result<Input>{reference::extreme(parts)}));            \
  }                                                                                    \
  PROPERTY(pair, is_its_own_extreme)(Input input) {                                    \
    const Result<Input> once = run(input);                                             \
    EXPECT_EQ(bits_with_one_nan(run(with(input, once))), bits_with_one_nan(once));     \
    Result<Input> beside = input.in;                                                   \
    beside.push_back(once[0]);                                                         \
    EXPECT_EQ(bits_with_one_nan(run(with(input, beside))), bits_with_one_nan(once));   \
  }

EXTREME_CLAIMS(reduce_max, ReducePasses<int>, maximum)
EXTREME_CLAIMS(reduce_min, ReducePasses<int>, minimum)
EXTREME_CLAIMS(reduce_max_float, ReducePasses<float>, maximum)
EXTREME_CLAIMS(reduce_min_float, ReducePasses<float>, minimum)
EXTREME_CLAIMS(reduce_max_host_finish, ReduceLaunch<int>, maximum)
EXTREME_CLAIMS(reduce_min_host_finish, ReduceLaunch<int>, minimum)
EXTREME_CLAIMS(reduce_max_float_host_finish, ReduceLaunch<float>, maximum)
EXTREME_CLAIMS(reduce_min_float_host_finish, ReduceLaunch<float>, minimum)

// Doubling is monotonic for every float, overflow and subnormals included; ints would wrap around.
#define FLOAT_EXTREME_CLAIMS(pair, Input)                             \
  PROPERTY(pair, doubles_with_its_elements)(Input input) {            \
    EXPECT_EQ(bits_with_one_nan(run(with(input, doubled(input.in)))), \
              bits_with_one_nan(doubled(run(input))));                \
  }

FLOAT_EXTREME_CLAIMS(reduce_max_float, ReducePasses<float>)
FLOAT_EXTREME_CLAIMS(reduce_min_float, ReducePasses<float>)
FLOAT_EXTREME_CLAIMS(reduce_max_float_host_finish, ReduceLaunch<float>)
FLOAT_EXTREME_CLAIMS(reduce_min_float_host_finish, ReduceLaunch<float>)

}  // namespace warpcheck
