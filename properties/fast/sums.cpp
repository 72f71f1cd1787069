// Reductions in one launch, and compensated sums: of a sequence, and of the products in a product
// of matrices.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/generators/generators_matrices.hpp"
#include "harness/input/required_classes.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/fast/kahan_matmul_fast.hpp"
#include "kernels/fast/reduce_fast.hpp"
#include "properties/element_numbers.hpp"
#include "properties/fast/offset_array.hpp"
#include "reference/exact.hpp"
#include "reference/exact_sum.hpp"
#include "reference/reduce.hpp"

namespace warpcheck {

template <class T>
struct FastReduction {
  std::vector<T> in;
  int offset = 0;  // of the first element, from an aligned address
  int blocks = 1;  // at most
};
using IntFastReduction = FastReduction<int>;
using FloatFastReduction = FastReduction<float>;
FIELDS(IntFastReduction, in, offset, blocks);
FIELDS(FloatFastReduction, in, offset, blocks);

// Two n x n matrices of finite numbers, in row-major order.
struct FastProduct {
  int n = 0;
  std::vector<float> a;
  std::vector<float> b;
};
FIELDS(FastProduct, n, a, b);

namespace {

constexpr int kSumBlocksMax = 64;
constexpr int kFastRowsMax = 80;

bool are_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

template <class T>
bool is_reduction(const FastReduction<T>& input) {
  return is_offset(input.offset) && input.blocks >= 1 && input.blocks <= kSumBlocksMax;
}
bool is_finite_reduction(const FloatFastReduction& input) {
  return is_reduction(input) && are_finite(input.in);
}

template <class T, int length_max, int tile>
FastReduction<T> draw_reduction(Draw& draw) {
  const int n = draw(sizes({.max = length_max, .block = tile}));
  const auto blocks = static_cast<int>(draw.once_in(3) ? 1 : draw.between(2, 8));
  return {draw(vectors(n, numbers<T>())), draw_offset(draw), blocks};
}

// Half of them are chosen so that lost low bits matter.
FloatFastReduction draw_finite_reduction(Draw& draw) {
  FloatFastReduction input = draw_reduction<float, 1'500, 512>(draw);
  if (draw.once_in(2) && !input.in.empty()) {
    input.in = draw(swamped_matrices<float>(1, input.in.size()));
  }
  std::replace_if(
      input.in.begin(), input.in.end(), [](float x) { return !std::isfinite(x); }, 0.0F);
  return input;
}

template <class Result, class T, class Reduce>
Result run_reduction(Device& device, const FastReduction<T>& input, Reduce reduce) {
  const OffsetArray<T> in(device, input.in, input.offset);
  const auto blocks = static_cast<unsigned>(input.blocks);
  auto out = device.array<typename Result::value_type>(1);
  auto scratch = device.array<std::uint64_t>(fast::reduce_fast_scratch(blocks) / 8);
  device.check(cudaMemset(scratch.data(), 0, sizeof(std::uint32_t)));
  device.check(reduce(in.data(), out.data(), input.in.size(), scratch.data(), blocks));
  return out.download();
}

bool is_product(const FastProduct& input) {
  const auto elements = static_cast<std::size_t>(input.n) * static_cast<std::size_t>(input.n);
  return input.n >= 0 && input.n <= kFastRowsMax && input.a.size() == elements &&
         input.b.size() == elements && are_finite(input.a) && are_finite(input.b);
}

FastProduct draw_product(Draw& draw) {
  const int n = draw(matrix_sizes({.max = 40, .tile = 32}));
  const auto rows = static_cast<std::size_t>(n);
  if (draw.once_in(4)) {
    return {n, draw(swamped_matrices<float>(rows, rows)), std::vector<float>(rows * rows, 1)};
  }
  const Gen<float> finite = floats<float>({.nan = false, .infinities = false});
  return {n, draw(matrices(rows, rows, finite)), draw(matrices(rows, rows, finite))};
}

// In exact arithmetic compensations are 0, and a wider sum is the sum.
std::vector<Exact> product_in_exact_arithmetic(const FastProduct& input, const ExactData& exact) {
  return reference::matrix_product(exact(input.a), exact(input.b),
                                   static_cast<std::size_t>(input.n));
}

using Product = cudaError_t (*)(const float*, const float*, float*, unsigned);

template <Product product>
std::vector<double> run_product(Device& device, const FastProduct& input) {
  const auto a = device.upload(input.a);
  const auto b = device.upload(input.b);
  auto c = device.array<float>(input.a.size());
  device.check(product(a.data(), b.data(), c.data(), static_cast<unsigned>(input.n)));
  const std::vector<float> values = c.download();
  return {values.begin(), values.end()};
}

std::vector<double> exact_product(const FastProduct& input) {
  return reference::exact_matmul(input.a, input.b, input.n);
}

std::vector<double> product_bounds(const FastProduct& input) {
  const auto n = static_cast<std::size_t>(input.n);
  std::vector<double> bounds(n * n);
  std::vector<float> column(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) column[k] = input.b[k * n + j];
    for (std::size_t i = 0; i < n; ++i) {
      bounds[i * n + j] = kahan_dot_error_bound(std::span(input.a).subspan(i * n, n), column);
    }
  }
  return bounds;
}

std::vector<std::uint64_t> index_of_maximum(const FloatFastReduction& input) {
  const float greatest = reference::maximum(input.in);
  for (std::size_t i = 0; i < input.in.size(); ++i) {
    const bool same_zero = std::signbit(input.in[i]) == std::signbit(greatest);
    if (input.in[i] == greatest && same_zero) return {i};
  }
  return {fast::kNowhere};
}

}  // namespace

// --- reductions ----------------------------------------------------------------------------------

#define FAST_REDUCTION_PAIR(name, T, Result, length_max, tile, function, reference_of, ...) \
  KERNEL_PAIR(name, FastReduction<T>, Result) = {                                           \
      .family = "reduce",                                                                   \
      .origin = "ours: one launch, the last block to end reduces the results",              \
      .domain = is_reduction<T>,                                                            \
      .arbitrary = draw_reduction<T, length_max, tile>,                                     \
      .kernel =                                                                             \
          [](Device& device, const FastReduction<T>& input) {                               \
            return run_reduction<Result>(device, input,                                     \
                                         [](auto... arguments) { return function; });       \
          },                                                                                \
      .reference = [](const FastReduction<T>& input) -> Result {                            \
        return {reference_of(input.in)};                                                    \
      },                                                                                    \
      .agreement = __VA_ARGS__,                                                             \
      .required_classes = of_array<T>("in"),                                                \
  }

FAST_REDUCTION_PAIR(sum_fast, int, std::vector<int>, 1'500, 512,
                    fast::sum_fast(arguments..., fast::Size::small), reference::sum, exactly());
FAST_REDUCTION_PAIR(sum_fast_large, int, std::vector<int>, 20'000, 8'192,
                    fast::sum_fast(arguments..., fast::Size::large), reference::sum, exactly());
FAST_REDUCTION_PAIR(sum_fast_float, float, std::vector<float>, 1'500, 512,
                    fast::sum_fast(arguments...), reference::sum,
                    within_error_bound([](const FloatFastReduction& input) {
                      return std::vector<double>{sum_error_bound(input.in)};
                    }));
FAST_REDUCTION_PAIR(maximum_fast, float, std::vector<float>, 1'500, 512,
                    fast::maximum_fast(arguments...), reference::maximum, exactly());
FAST_REDUCTION_PAIR(minimum_fast, int, std::vector<int>, 1'500, 512,
                    fast::minimum_fast(arguments...), reference::minimum, exactly());

KERNEL_PAIR(index_of_maximum_fast, FloatFastReduction, std::vector<std::uint64_t>) = {
    .family = "reduce",
    .origin = "ours: one launch, the first of the greatest numbers",
    .domain = is_reduction<float>,
    .arbitrary = draw_reduction<float, 1'500, 512>,
    .kernel =
        [](Device& device, const FloatFastReduction& input) {
          return run_reduction<std::vector<std::uint64_t>>(device, input, [](auto... arguments) {
            return fast::index_of_maximum_fast(arguments...);
          });
        },
    .reference = index_of_maximum,
    .required_classes = of_array<float>("in"),
};

// --- compensated sums ----------------------------------------------------------------------------

KERNEL_PAIR(kahan_sum_fast, FloatFastReduction, std::vector<double>) = {
    .family = "kahan",
    .origin = "ours, after Ogita, Rump and Oishi 2005, in one launch",
    .domain = is_finite_reduction,
    .arbitrary = draw_finite_reduction,
    .kernel =
        [](Device& device, const FloatFastReduction& input) {
          const auto sum = run_reduction<std::vector<float>>(
              device, input, [](auto... arguments) { return fast::kahan_sum_fast(arguments...); });
          return std::vector<double>(sum.begin(), sum.end());
        },
    .reference = [](const FloatFastReduction& in) -> std::vector<double> {
      return {reference::exact_sum(in.in)};
    },
    .agreement = within_error_bound<float>([](const FloatFastReduction& input) {
      return std::vector<double>{kahan_sum_error_bound(input.in)};
    }),
    .required_classes = {"in.size: zero", "in.size: one", "in: contains subnormal"},
};

KERNEL_PAIR(kahan_matmul_fast, FastProduct, std::vector<double>) = {
    .family = "kahan",
    .origin = "ours, after Kahan 1965: 8 x 4 compensated sums a thread, tiles in shared memory",
    .domain = is_product,
    .arbitrary = draw_product,
    .kernel = run_product<fast::kahan_matmul_fast>,
    .reference = exact_product,
    .agreement = within_error_bound<float>(product_bounds),
    .exact_reference = product_in_exact_arithmetic,
    .required_classes = {"n: zero", "n: one", "n: odd", "n: prime"},
};

KERNEL_PAIR(wide_matmul_fast, FastProduct, std::vector<double>) = {
    .family = "kahan",
    .origin = "ours: the same with sums in double",
    .domain = is_product,
    .arbitrary = draw_product,
    .kernel = run_product<fast::wide_matmul_fast>,
    .reference = exact_product,
    .agreement = within_error_bound<float>(product_bounds),
    .exact_reference = product_in_exact_arithmetic,
    .required_classes = {"n: zero", "n: one", "n: odd", "n: prime"},
};

}  // namespace warpcheck
