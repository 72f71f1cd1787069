// Compensated sums and matrix products.  Without contraction they equal the sequential reference
// bit for bit; in other builds they are within the derived bound of the exact result; their naive
// twins are not.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/generators/generators_matrices.hpp"
#include "harness/input/required_classes.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/kahan/kahan_matmul.hpp"
#include "kernels/kahan/kahan_matmul_tiled.hpp"
#include "kernels/kahan/kahan_sum.hpp"
#include "kernels/specimens/kahan_naive.hpp"
#include "reference/exact.hpp"
#include "reference/exact_sum.hpp"
#include "reference/kahan.hpp"

namespace warpcheck {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

// One block sums `in`.
struct KahanSumInput {
  Floats in;
  LaunchConfig launch;
};
FIELDS(KahanSumInput, in, launch);

// Two n x n matrices, in row-major order.
struct KahanMatmulInput {
  int n = 0;
  Floats a;
  Floats b;
};
FIELDS(KahanMatmulInput, n, a, b);

namespace {

constexpr int kElementsMax = 2'000;
constexpr int kRowsMax = 64;

bool all_finite(const Floats& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

// --- inputs --------------------------------------------------------------------------------------

bool is_one_block(const KahanSumInput& input) {
  const auto is_row = [](const Dim3& extents) { return extents.y == 1 && extents.z == 1; };
  const LaunchConfig& launch = input.launch;
  return is_row(launch.grid) && is_row(launch.block) && launch.grid.x == 1 && launch.block.x >= 1 &&
         launch.block.x <= 1024 && launch.shared_bytes == 0 && input.in.size() <= kElementsMax;
}

// Half of them are chosen so that lost low bits matter, half are arbitrary floats.
KahanSumInput draw_sum(Draw& draw) {
  const auto n = static_cast<std::size_t>(draw(sizes({.max = kElementsMax})));
  const std::uint32_t block = draw.once_in(3) ? 1 : draw(blocks(256));
  Floats in = draw.once_in(4) ? draw(swamped_matrices<float>(n == 0 ? 0 : 1, n))
                              : draw(vectors(n, floats<float>()));
  return {std::move(in), {.grid = 1, .block = block}};
}

bool is_square(const KahanMatmulInput& input) {
  if (input.n < 0 || input.n > kRowsMax) return false;
  const auto elements = static_cast<std::size_t>(input.n) * static_cast<std::size_t>(input.n);
  return input.a.size() == elements && input.b.size() == elements;
}

KahanMatmulInput draw_matmul(Draw& draw, const Gen<float>& element) {
  const int n = draw(matrix_sizes({.max = 40, .tile = kKahanTile}));
  const auto rows = static_cast<std::size_t>(n);
  if (draw.once_in(4))
    return {n, draw(swamped_matrices<float>(rows, rows)), Floats(rows * rows, 1)};
  return {n, draw(matrices(rows, rows, element)), draw(matrices(rows, rows, element))};
}
KahanMatmulInput draw_any_matmul(Draw& draw) { return draw_matmul(draw, floats<float>()); }

// Specimens should show rounding, and nothing else.
KahanSumInput draw_finite_sum(Draw& draw) {
  KahanSumInput input = draw_sum(draw);
  std::replace_if(
      input.in.begin(), input.in.end(), [](float x) { return !std::isfinite(x); }, 0.0F);
  return input;
}
KahanMatmulInput draw_finite_matmul(Draw& draw) {
  return draw_matmul(draw, floats<float>({.nan = false, .infinities = false}));
}

// --- kernels -------------------------------------------------------------------------------------

using SumKernel = cudaError_t (*)(const float*, float*, int, dim3);
using MatmulKernel = cudaError_t (*)(const float*, const float*, float*, int);
using TimedMatmulKernel = cudaError_t (*)(const float*, const float*, float*, int, clock_t*);

template <SumKernel sum>
Floats run_sum(Device& device, const KahanSumInput& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<float>(1);
  device.check(sum(in.data(), out.data(), static_cast<int>(input.in.size()), input.launch.block));
  return out.download();
}

template <MatmulKernel matmul>
Floats run_matmul(Device& device, const KahanMatmulInput& input) {
  const auto a = device.upload(input.a);
  const auto b = device.upload(input.b);
  auto c = device.array<float>(input.a.size());
  device.check(matmul(a.data(), b.data(), c.data(), input.n));
  return c.download();
}

struct TimedProduct {
  Floats values;
  std::vector<clock_t> cycles;  // of each block
};

template <TimedMatmulKernel matmul>
TimedProduct run_timed(Device& device, const KahanMatmulInput& input) {
  const auto a = device.upload(input.a);
  const auto b = device.upload(input.b);
  auto c = device.array<float>(input.a.size());
  auto cycles = device.array<clock_t>(static_cast<std::size_t>(kahan_matmul_blocks(input.n)));
  device.check(matmul(a.data(), b.data(), c.data(), input.n, cycles.data()));
  return {c.download(), cycles.download()};
}

template <TimedMatmulKernel matmul>
Floats run_timed_matmul(Device& device, const KahanMatmulInput& input) {
  return run_timed<matmul>(device, input).values;
}

// For pairs whose reference has higher precision than the kernel.
template <auto run, class Input>
Doubles widened(Device& device, const Input& input) {
  const Floats values = run(device, input);
  return {values.begin(), values.end()};
}

// --- references ----------------------------------------------------------------------------------

// The GPU has one NaN for all results (PTX ISA, "Floating Point Instructions").
Floats with_the_gpus_nan(Floats values) {
  for (float& value : values) {
    if (std::isnan(value)) value = std::bit_cast<float>(0x7fffffffU);
  }
  return values;
}

Floats sequential_sum(const KahanSumInput& input) {
  return with_the_gpus_nan(
      {reference::kahan_sum(input.in, static_cast<int>(input.launch.block.x))});
}

Floats sequential_matmul(const KahanMatmulInput& input) {
  return with_the_gpus_nan(reference::kahan_matmul(input.a, input.b, input.n));
}

// Exact if that is a number; else the result of a compensated sum with infinities and NaNs, which
// does not depend on rounding.
Doubles exact_sum(const KahanSumInput& input) {
  if (all_finite(input.in)) return {reference::exact_sum(input.in)};
  return {static_cast<double>(sequential_sum(input)[0])};
}

Doubles exact_matmul(const KahanMatmulInput& input) {
  Doubles products = reference::exact_matmul(input.a, input.b, input.n);
  if (all_finite(input.a) && all_finite(input.b)) return products;
  const Floats sequential = sequential_matmul(input);
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (!std::isfinite(products[i])) products[i] = static_cast<double>(sequential[i]);
  }
  return products;
}

// In exact arithmetic a compensated sum is the sum: its compensation is 0.
std::vector<Exact> plain_sum(const KahanSumInput& input, const ExactData& exact) {
  return {reference::plain_sum(exact(input.in))};
}
std::vector<Exact> plain_product(const KahanMatmulInput& input, const ExactData& exact) {
  return reference::matrix_product(exact(input.a), exact(input.b),
                                   static_cast<std::size_t>(input.n));
}

// -use_fast_math reads subnormals as zeros.
KahanSumInput flushed(KahanSumInput input) {
  input.in = reference::flushed(std::move(input.in));
  return input;
}
KahanMatmulInput flushed(KahanMatmulInput input) {
  input.a = reference::flushed(std::move(input.a));
  input.b = reference::flushed(std::move(input.b));
  return input;
}

// --- agreement -----------------------------------------------------------------------------------

Doubles sum_bound(const KahanSumInput& input, Subnormals subnormals) {
  return {kahan_strided_sum_error_bound(input.in, input.launch.block.x, subnormals)};
}

Doubles matmul_bounds(const KahanMatmulInput& input, Subnormals subnormals) {
  const auto n = static_cast<std::size_t>(input.n);
  Doubles bounds;
  Floats column(n);
  bounds.resize(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) column[k] = input.b[k * n + j];
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = std::span(input.a).subspan(i * n, n);
      bounds[i * n + j] = kahan_dot_error_bound(row, column, subnormals);
    }
  }
  return bounds;
}

auto within_compensated_sum_bound() {
  return within_error_bound<float>(
      [](const KahanSumInput& input) { return sum_bound(input, Subnormals::kept); });
}
auto within_compensated_dot_bound() {
  return within_error_bound<float>(
      [](const KahanMatmulInput& input) { return matmul_bounds(input, Subnormals::kept); });
}
auto within_flushed_sum_bound() {
  return within_error_bound<float>(
      [](const KahanSumInput& input) { return sum_bound(flushed(input), Subnormals::flushed); });
}
auto within_flushed_dot_bound() {
  return within_error_bound<float>([](const KahanMatmulInput& input) {
    return matmul_bounds(flushed(input), Subnormals::flushed);
  });
}

const std::vector<std::string> kOfMatrices{"n: zero",
                                           "n: one",
                                           "n: odd",
                                           "n: prime",
                                           "a: contains NaN",
                                           "b: contains NaN",
                                           "a: contains infinity",
                                           "b: contains infinity",
                                           "a: contains subnormal",
                                           "b: contains subnormal",
                                           "a: contains negative zero"};

}  // namespace

// --- clean pairs, without contraction ------------------------------------------------------------

KERNEL_PAIR(kahan_sum, KahanSumInput, Floats) = {
    .family = "kahan",
    .origin = "ours, after Kahan 1965; -fmad=false",
    .domain = is_one_block,
    .arbitrary = draw_sum,
    .kernel = run_sum<::kahan_sum>,
    .reference = sequential_sum,
    .agreement = bitwise(),
    .exact_reference = plain_sum,
    .required_classes = of_array<float>("in", {"launch: block not a multiple of 32",
                                               "launch: idle threads"}),
};

KERNEL_PAIR(kahan_matmul, KahanMatmulInput, Floats) = {
    .family = "kahan",
    .origin = "published: one thread an element, timed by clock(); -fmad=false",
    .domain = is_square,
    .arbitrary = draw_any_matmul,
    .kernel = run_timed_matmul<::kahan_matmul>,
    .reference = sequential_matmul,
    .agreement = bitwise(),
    .exact_reference = plain_product,
    .required_classes = kOfMatrices,
};

KERNEL_PAIR(kahan_matmul_tiled, KahanMatmulInput, Floats) = {
    .family = "kahan",
    .origin = "ours: the same through tiles in shared memory; -fmad=false",
    .domain = is_square,
    .arbitrary = draw_any_matmul,
    .kernel = run_matmul<kahan_matmul_tiled>,
    .reference = sequential_matmul,
    .agreement = bitwise(),
    .exact_reference = plain_product,
    .required_classes = kOfMatrices,
};

// --- clean pairs, other builds -------------------------------------------------------------------

KERNEL_PAIR(kahan_sum_contracted, KahanSumInput, Doubles) = {
    .family = "kahan",
    .origin = "ours, after Kahan 1965; default build",
    .domain = is_one_block,
    .arbitrary = draw_sum,
    .kernel = widened<run_sum<kahan_sum_contracted>, KahanSumInput>,
    .reference = exact_sum,
    .agreement = within_compensated_sum_bound(),
    .exact_reference = plain_sum,
    .required_classes = of_array<float>("in", {"launch: block not a multiple of 32",
                                               "launch: idle threads"}),
};

KERNEL_PAIR(kahan_sum_fast_math, KahanSumInput, Doubles) = {
    .family = "kahan",
    .origin = "ours, after Kahan 1965; -use_fast_math",
    .domain = is_one_block,
    .arbitrary = draw_sum,
    .kernel = widened<run_sum<kahan_sum_fast_math>, KahanSumInput>,
    .reference = [](const KahanSumInput& input) { return exact_sum(flushed(input)); },
    .agreement = within_flushed_sum_bound(),
    .exact_reference = plain_sum,
    .required_classes = of_array<float>("in", {"launch: block not a multiple of 32",
                                               "launch: idle threads"}),
};

KERNEL_PAIR(kahan_matmul_contracted, KahanMatmulInput, Doubles) = {
    .family = "kahan",
    .origin = "published: one thread an element, timed by clock(); default build",
    .domain = is_square,
    .arbitrary = draw_any_matmul,
    .kernel = widened<run_timed_matmul<kahan_matmul_contracted>, KahanMatmulInput>,
    .reference = exact_matmul,
    .agreement = within_compensated_dot_bound(),
    .exact_reference = plain_product,
    .required_classes = kOfMatrices,
};

KERNEL_PAIR(kahan_matmul_tiled_contracted, KahanMatmulInput, Doubles) = {
    .family = "kahan",
    .origin = "ours: the same through tiles in shared memory; default build",
    .domain = is_square,
    .arbitrary = draw_any_matmul,
    .kernel = widened<run_matmul<kahan_matmul_tiled_contracted>, KahanMatmulInput>,
    .reference = exact_matmul,
    .agreement = within_compensated_dot_bound(),
    .exact_reference = plain_product,
    .required_classes = kOfMatrices,
};

KERNEL_PAIR(kahan_matmul_fast_math, KahanMatmulInput, Doubles) = {
    .family = "kahan",
    .origin = "published: one thread an element, timed by clock(); -use_fast_math",
    .domain = is_square,
    .arbitrary = draw_any_matmul,
    .kernel = widened<run_timed_matmul<kahan_matmul_fast_math>, KahanMatmulInput>,
    .reference = [](const KahanMatmulInput& input) { return exact_matmul(flushed(input)); },
    .agreement = within_flushed_dot_bound(),
    .exact_reference = plain_product,
    .required_classes = kOfMatrices,
};

// --- specimens -----------------------------------------------------------------------------------

KERNEL_PAIR(naive_sum, KahanSumInput, Doubles) = {
    .family = "kahan",
    .origin = "ours: kahan_sum without its compensation, held to its bound",
    .expects = {"mismatch"},
    .domain = [](const KahanSumInput& in) { return is_one_block(in) && all_finite(in.in); },
    .arbitrary = draw_finite_sum,
    .kernel = widened<run_sum<naive_sum>, KahanSumInput>,
    .reference = exact_sum,
    .agreement = within_compensated_sum_bound(),
    .exact_reference = plain_sum,
};

KERNEL_PAIR(naive_matmul, KahanMatmulInput, Doubles) = {
    .family = "kahan",
    .origin = "published beside the compensated one: plain sums, held to its bound",
    .expects = {"mismatch"},
    .domain =
        [](const KahanMatmulInput& in) {
          return is_square(in) && all_finite(in.a) && all_finite(in.b);
        },
    .arbitrary = draw_finite_matmul,
    .kernel = widened<run_matmul<naive_matmul>, KahanMatmulInput>,
    .reference = exact_matmul,
    .agreement = within_compensated_dot_bound(),
    .exact_reference = plain_product,
};

// --- claims --------------------------------------------------------------------------------------

namespace {

// Numbers far from overflow and underflow, even after scaling: between 2^-50 and 2^50, or zero.
float moderate(float value) {
  if (!std::isfinite(value)) return 1;
  if (value == 0 || (std::fabs(value) >= 0x1p-50F && std::fabs(value) <= 0x1p50F)) return value;
  int exponent = 0;
  return std::ldexp(std::frexp(value, &exponent), exponent % 50);
}

Floats moderate(Floats values) {
  for (float& value : values) value = moderate(value);
  return values;
}

KahanSumInput moderate(KahanSumInput input) {
  input.in = moderate(std::move(input.in));
  return input;
}

KahanMatmulInput moderate(KahanMatmulInput input) {
  input.a = moderate(std::move(input.a));
  input.b = moderate(std::move(input.b));
  return input;
}

Floats scaled(Floats values, int exponent) {
  for (float& value : values) value = std::ldexp(value, exponent);
  return values;
}

std::vector<std::uint32_t> bits_of(const Floats& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

double bound_of(const KahanSumInput& input) { return sum_bound(input, Subnormals::kept)[0]; }

Floats transposed(const Floats& matrix, int n) {
  const auto rows = static_cast<std::size_t>(n);
  Floats result(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i) result[i % rows * rows + i / rows] = matrix[i];
  return result;
}

Floats identity(int n) {
  const auto rows = static_cast<std::size_t>(n);
  Floats result(rows * rows, 0);
  for (std::size_t i = 0; i < rows; ++i) result[i * rows + i] = 1;
  return result;
}

// The matrix with zeros in the columns from `begin` to `end`.
Floats without_columns(Floats matrix, int n, int begin, int end) {
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const int column = static_cast<int>(i) % n;
    if (begin <= column && column < end) matrix[i] = 0;
  }
  return matrix;
}

}  // namespace

PROPERTY(kahan_sum, scaling_by_a_power_of_two_is_exact)(KahanSumInput in) {
  const KahanSumInput ordinary = moderate(std::move(in));
  for (const int exponent : {-40, -1, 1, 40}) {
    const KahanSumInput larger{scaled(ordinary.in, exponent), ordinary.launch};
    EXPECT_EQ(bits_of(run(larger)), bits_of(scaled(run(ordinary), exponent)));
  }
}

PROPERTY(kahan_sum, negation_negates_the_sum)(KahanSumInput in) {
  const KahanSumInput ordinary = moderate(std::move(in));
  KahanSumInput negated = ordinary;
  for (float& value : negated.in) value = -value;
  EXPECT_EQ(run(negated)[0], -run(ordinary)[0]);
}

// Both orders are within the bound of the one exact sum.
PROPERTY(kahan_sum, order_matters_by_two_bounds_at_most)(KahanSumInput in) {
  const KahanSumInput forwards = moderate(std::move(in));
  KahanSumInput backwards = forwards;
  std::reverse(backwards.in.begin(), backwards.in.end());
  const double distance = static_cast<double>(run(forwards)[0]) - run(backwards)[0];
  EXPECT_LE(std::fabs(distance), 2 * bound_of(forwards));
}

PROPERTY(kahan_sum, parts_add_up_to_the_whole)(KahanSumInput in) {
  const KahanSumInput whole = moderate(std::move(in));
  const auto middle = whole.in.begin() + static_cast<std::ptrdiff_t>(whole.in.size() / 2);
  const KahanSumInput left{Floats(whole.in.begin(), middle), whole.launch};
  const KahanSumInput right{Floats(middle, whole.in.end()), whole.launch};
  const double of_parts = static_cast<double>(run(left)[0]) + run(right)[0];
  EXPECT_LE(std::fabs(of_parts - run(whole)[0]),
            bound_of(whole) + bound_of(left) + bound_of(right));
}

// Claims that every matrix product must satisfy, bit for bit.
#define KAHAN_MATMUL_CLAIMS(pair)                                                                  \
  PROPERTY(pair, scaling_by_a_power_of_two_is_exact)(KahanMatmulInput in) {                        \
    const KahanMatmulInput ordinary = moderate(std::move(in));                                     \
    for (const int exponent : {-5, 5}) {                                                           \
      const KahanMatmulInput larger{ordinary.n, scaled(ordinary.a, exponent), ordinary.b};         \
      EXPECT_EQ(run(larger), scaled(run(ordinary), exponent));                                     \
    }                                                                                              \
  }                                                                                                \
  PROPERTY(pair, the_identity_changes_nothing)(KahanMatmulInput in) {                              \
    const KahanMatmulInput ordinary = moderate(std::move(in));                                     \
    EXPECT_EQ(run({ordinary.n, ordinary.a, identity(ordinary.n)}), ordinary.a);                    \
    EXPECT_EQ(run({ordinary.n, identity(ordinary.n), ordinary.b}), ordinary.b);                    \
  }                                                                                                \
  /* Products commute, and their order stays: the same bits, NaNs and infinities too. */           \
  PROPERTY(pair, transposed_factors_give_the_transpose)(KahanMatmulInput in) {                     \
    const KahanMatmulInput other{in.n, transposed(in.b, in.n), transposed(in.a, in.n)};            \
    EXPECT_EQ(bits_of(run(other)), bits_of(transposed(run(in), in.n)));                            \
  }                                                                                                \
  PROPERTY(pair, parts_add_up_to_the_whole)(KahanMatmulInput in) {                                 \
    const KahanMatmulInput whole = moderate(std::move(in));                                        \
    const int half = whole.n / 2;                                                                  \
    const Floats left = run({whole.n, without_columns(whole.a, whole.n, half, whole.n), whole.b}); \
    const Floats right = run({whole.n, without_columns(whole.a, whole.n, 0, half), whole.b});      \
    const Doubles bounds = matmul_bounds(whole, Subnormals::kept);                                 \
    const Floats product = run(whole);                                                             \
    for (std::size_t i = 0; i < product.size(); ++i) {                                             \
      const double of_parts = static_cast<double>(left[i]) + right[i];                             \
      EXPECT_LE(std::fabs(of_parts - product[i]), 3 * bounds[i]);                                  \
    }                                                                                              \
  }

KAHAN_MATMUL_CLAIMS(kahan_matmul)
KAHAN_MATMUL_CLAIMS(kahan_matmul_tiled)

// Both matrices reversed as a whole: so is the product, and its terms are added in reverse order.
PROPERTY(kahan_matmul, order_matters_by_two_bounds_at_most)(KahanMatmulInput in) {
  const KahanMatmulInput forwards = moderate(std::move(in));
  KahanMatmulInput backwards = forwards;
  for (Floats* const matrix : {&backwards.a, &backwards.b}) {
    std::reverse(matrix->begin(), matrix->end());
  }
  Floats product = run(backwards);
  std::reverse(product.begin(), product.end());
  const Floats expected = run(forwards);
  const Doubles bounds = matmul_bounds(forwards, Subnormals::kept);
  for (std::size_t i = 0; i < product.size(); ++i) {
    EXPECT_LE(std::fabs(static_cast<double>(product[i]) - expected[i]), 2 * bounds[i]);
  }
}

PROPERTY(kahan_matmul, every_block_measures_its_time)(KahanMatmulInput in) {
  Device device;
  for (const clock_t cycles : run_timed<::kahan_matmul>(device, in).cycles) {
    EXPECT_GT(cycles, in.n);
  }
}

// Tiling changes only from where the factors are read.
PROPERTY(kahan_matmul_tiled, has_the_bits_of_the_untiled_product)(KahanMatmulInput in) {
  Device device;
  EXPECT_EQ(bits_of(run(in)), bits_of(run_timed_matmul<::kahan_matmul>(device, in)));
}

}  // namespace warpcheck
