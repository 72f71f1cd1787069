#include "vgpu/machine/matrix/element_products.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/matrix/matrix_elements.hpp"
#include "vgpu/machine/matrix/matrix_loops.hpp"

namespace warpcheck::vgpu {

using ptx::Type;

namespace {

const MatrixLoops& chosen_loops() {
  switch (chosen_simd_level()) {
    case SimdLevel::avx2: return avx2::kMatrixLoops;
    case SimdLevel::avx512: return avx512::kMatrixLoops;
    default: return baseline::kMatrixLoops;
  }
}

// A matrix with the exponents by which its elements are aligned.
template <class T>
struct Aligned {
  std::size_t size = 0;
  std::unique_ptr<T[]> values = std::make_unique_for_overwrite<T[]>(size);
  std::unique_ptr<int[]> exponents = std::make_unique_for_overwrite<int[]>(size);
  ExponentBounds bounds{};
};

// Reads elements, each in the lowest bits of a word.
void read_elements(const MatrixLoops& loops, Type type, std::span<const std::uint32_t> bits,
                   float* values) {
  const auto count = static_cast<std::uint32_t>(bits.size());
  switch (type) {
    case Type::f16: return loops.read(RegisterFloat::lone_f16, bits.data(), count, values);
    case Type::bf16: return loops.read(RegisterFloat::lone_bf16, bits.data(), count, values);
    case Type::f32: return loops.read(RegisterFloat::f32, bits.data(), count, values);
    case Type::tf32: return loops.read(RegisterFloat::tf32, bits.data(), count, values);
    default: break;
  }
  const FloatsOfBytes& floats = floats_of_bytes(type);
  for (std::uint32_t i = 0; i < count; ++i) values[i] = floats[bits[i] & 0xff];
}

Aligned<float> aligned_floats(const MatrixLoops& loops, Type type,
                              std::span<const std::uint32_t> bits, bool negates) {
  Aligned<float> matrix{bits.size()};
  const std::span<float> values(matrix.values.get(), bits.size());
  read_elements(loops, type, bits, values.data());
  if (negates) std::ranges::transform(values, values.begin(), std::negate<>());
  matrix.bounds = loops.find_exponents(values.data(), static_cast<std::uint32_t>(bits.size()),
                                       exponent_min(type), matrix.exponents.get());
  return matrix;
}

Aligned<double> widened(const Aligned<float>& from) {
  Aligned<double> to{from.size};
  std::copy_n(from.values.get(), from.size, to.values.get());
  std::copy_n(from.exponents.get(), from.size, to.exponents.get());
  return to;
}

// b is given by columns, and is needed by rows.
std::vector<std::uint32_t> by_rows(const ElementProduct& product) {
  std::vector<std::uint32_t> rows(product.b.size());
  for (std::uint32_t column = 0; column < product.columns; ++column) {
    for (std::uint32_t k = 0; k < product.depth; ++k) {
      rows[k * product.columns + column] = product.b[column * product.depth + k];
    }
  }
  return rows;
}

MatrixElement factor_of(Type type, std::uint32_t bits) {
  constexpr std::uint32_t kNan = 0xff;
  constexpr int kBias = 127;
  if (type != Type::ue8m0x2) return matrix_element(type, bits & 0x7f);
  if (bits == kNan) return {std::numeric_limits<double>::quiet_NaN(), 0};
  return {exact::power_of_two(static_cast<int>(bits) - kBias), static_cast<int>(bits) - kBias};
}

void scale_element(Aligned<double>& matrix, std::size_t at, double factor) {
  const MatrixElement scaled = normalized_element(matrix.values[at] * factor);
  matrix.values[at] = scaled.value;
  matrix.exponents[at] = scaled.exponent;
}

void scale_factors(const ElementProduct& product, Aligned<double>& a, Aligned<double>& b) {
  const std::uint32_t length = product.depth / product.blocks;
  for (std::uint32_t row = 0; row < product.rows; ++row) {
    for (std::uint32_t k = 0; k < product.depth; ++k) {
      const std::uint32_t bits = product.scale_a[row * product.blocks + k / length];
      scale_element(a, row * product.depth + k, factor_of(product.scale_type, bits).value);
    }
  }
  for (std::uint32_t column = 0; column < product.columns; ++column) {
    for (std::uint32_t k = 0; k < product.depth; ++k) {
      const std::uint32_t bits = product.scale_b[column * product.blocks + k / length];
      scale_element(b, k * product.columns + column, factor_of(product.scale_type, bits).value);
    }
  }
}

template <class T>
void add_rows(const ElementProduct& product, const MatrixLoops& loops, const Aligned<T>& a,
              const Aligned<T>& b, const Aligned<T>& c,
              void (*add)(const RowsProduct<T>& rows, double* sums),
              std::span<std::uint32_t> results) {
  MatrixProduct types;
  types.c = types.d = product.d_type;
  constexpr std::uint32_t kRowsAtOnce = 4;
  std::array<double, std::size_t{kRowsAtOnce} * kMatrixColumnsMax> sums;
  for (std::uint32_t m = 0; m < product.rows; m += kRowsAtOnce) {
    const RowsProduct<T> rows{.a = &a.values[m * product.depth],
                              .a_exponents = &a.exponents[m * product.depth],
                              .b = b.values.get(),
                              .b_exponents = b.exponents.get(),
                              .c = &c.values[m * product.columns],
                              .c_exponents = &c.exponents[m * product.columns],
                              .first = 0,
                              .end = product.depth,
                              .rows = std::min(kRowsAtOnce, product.rows - m),
                              .depth = product.depth,
                              .columns = product.columns,
                              .kept_bits = kKeptBits};
    add(rows, sums.data());
    const std::uint32_t count = rows.rows * product.columns;
    std::uint32_t* const bits = &results[m * product.columns];
    if (loops.round({0, product.d_type == Type::f16}, sums.data(), count, bits)) continue;
    for (std::uint32_t i = 0; i < count; ++i) bits[i] = bits_of_sum(types, sums[i]);
  }
}

void multiply_float_elements(const ElementProduct& product, std::span<std::uint32_t> results) {
  const MatrixLoops& loops = chosen_loops();
  const Aligned<float> a = aligned_floats(loops, product.a_type, product.a, product.negates_a);
  const Aligned<float> b =
      aligned_floats(loops, product.b_type, by_rows(product), product.negates_b);
  const Aligned<float> c = aligned_floats(loops, product.d_type, product.c, false);
  if (product.blocks == 0 && product.scale_shift == 0) {
    if (product.d_type == Type::f32 && are_exact(a.bounds, b.bounds, c.bounds, product.depth)) {
      return loops.add_up_exactly({.a = a.values.get(),
                                   .b = b.values.get(),
                                   .c = c.values.get(),
                                   .end = product.depth,
                                   .rows = product.rows,
                                   .depth = product.depth,
                                   .columns = product.columns},
                                  results.data());
    }
    const auto add = are_narrow(a.bounds, b.bounds, c.bounds) ? loops.add_up_narrow : loops.add_up;
    return add_rows(product, loops, a, b, c, add, results);
  }
  // Scaled elements need not be floats.
  Aligned<double> wide_a = widened(a), wide_b = widened(b), wide_c = widened(c);
  if (product.blocks != 0) scale_factors(product, wide_a, wide_b);
  const double factor = exact::power_of_two(-static_cast<int>(product.scale_shift));
  for (std::size_t i = 0; product.scale_shift != 0 && i < wide_c.size; ++i) {
    scale_element(wide_c, i, factor);
  }
  add_rows(product, loops, wide_a, wide_b, wide_c, loops.add_up_wide, results);
}

std::vector<std::int32_t> integers_of(Type type, std::span<const std::uint32_t> bits) {
  std::vector<std::int32_t> values(bits.size());
  std::ranges::transform(bits, values.begin(), [&](std::uint32_t element) {
    return type == Type::s8 ? static_cast<std::int8_t>(element)
                            : static_cast<std::int32_t>(element & 0xff);
  });
  return values;
}

void multiply_integer_elements(const ElementProduct& product, std::span<std::uint32_t> results) {
  const MatrixLoops& loops = chosen_loops();
  const std::vector<std::int32_t> a = integers_of(product.a_type, product.a);
  const std::vector<std::int32_t> b = integers_of(product.b_type, by_rows(product));
  std::vector<std::int32_t> sums(product.columns);
  for (std::uint32_t m = 0; m < product.rows; ++m) {
    loops.add_up_integers(&a[m * product.depth], b.data(), product.depth, product.columns,
                          sums.data());
    for (std::uint32_t n = 0; n < product.columns; ++n) {
      const std::uint32_t at = m * product.columns + n;
      std::int64_t sum = std::int64_t{static_cast<std::int32_t>(product.c[at])} + sums[n];
      if (product.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      results[at] = static_cast<std::uint32_t>(sum);
    }
  }
}

}  // namespace

void multiply_elements(const ElementProduct& product, std::span<std::uint32_t> results) {
  if (product.d_type == Type::s32) {
    multiply_integer_elements(product, results);
  } else {
    multiply_float_elements(product, results);
  }
}

}  // namespace warpcheck::vgpu
