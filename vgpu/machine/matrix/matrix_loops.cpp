#include "vgpu/machine/matrix/matrix_loops.hpp"

#include "vgpu/machine/compute/lane_half.hpp"
#include "vgpu/machine/compute/lanes.hpp"

// How such vectors are passed does not matter, since all functions that take them are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

// Four columns.
using Doubles = double __attribute__((vector_size(32)));
using Wides = std::int64_t __attribute__((vector_size(32)));
using Ints = int __attribute__((vector_size(16)));

template <class Vector, class T>
WARPCHECK_INLINE Vector load(const T* from) {
  return *reinterpret_cast<const Vector*>(from);
}

// Returns 2^exponent, for exponents of normal doubles.
WARPCHECK_INLINE Doubles powers_of_two(const Ints& exponent) {
  return reinterpret_cast<Doubles>(__builtin_convertvector(exponent + 1023, Wides) << 52);
}

// Truncates toward zero; numbers are below 2^31, except where the sum is not used.
WARPCHECK_INLINE Doubles truncated(const Doubles& x) {
  return __builtin_convertvector(__builtin_convertvector(x, Ints), Doubles);
}

void add_up(const RowProduct& product, double* sums) {
  for (std::uint32_t column = 0; column < product.columns; column += 4) {
    const auto c = load<Doubles>(&product.c->value[column]);
    Doubles plain = c;  // detects infinities and NaN
    auto greatest = load<Ints>(&product.c->exponent[column]);
    for (std::uint32_t k = product.first; k < product.end; ++k) {
      plain += product.a[k] * load<Doubles>(&product.b[k].value[column]);
      const Ints exponent = product.a_exponents[k] + load<Ints>(&product.b[k].exponent[column]);
      greatest = greatest > exponent ? greatest : exponent;
    }
    const Doubles scale = powers_of_two(product.kept_bits - greatest);
    Doubles sum = truncated(c * scale);
    for (std::uint32_t k = product.first; k < product.end; ++k) {
      sum += truncated(product.a[k] * load<Doubles>(&product.b[k].value[column]) * scale);
    }
    const Doubles rounded = sum * powers_of_two(greatest - product.kept_bits);
    const Wides finite = plain - plain == 0;
    const Wides nonzero = __builtin_convertvector(greatest > kNoExponent / 2, Wides);
    const Doubles result = (finite & nonzero) != 0 ? rounded : plain;
    __builtin_memcpy(&sums[column], &result, sizeof result);
  }
}

void add_up_integers(const std::int32_t* a, const IntegerRow* b, std::uint32_t depth,
                     std::uint32_t columns, std::int32_t* sums) {
  for (std::uint32_t column = 0; column < columns; column += 4) {
    Ints sum{};
    for (std::uint32_t k = 0; k < depth; ++k) sum += a[k] * load<Ints>(&b[k].value[column]);
    __builtin_memcpy(&sums[column], &sum, sizeof sum);
  }
}

template <class Float, class Exponent>
WARPCHECK_INLINE void read_as(const std::uint32_t* words, ElementRow& elements, Float float_of_word,
                              Exponent exponent_of_word) {
  WARPCHECK_EACH_LANE(lane) {
    const float value = float_of_word(words[lane]);
    const int exponent = exponent_of_word(words[lane]);
    elements.value[lane] = static_cast<double>(value);
    elements.exponent[lane] = absolute(value) > 0 ? exponent : kNoExponent;
  }
}

WARPCHECK_INLINE int exponent_of(std::uint32_t field, int bias) {
  const auto biased = static_cast<int>(field);
  return (biased > 1 ? biased : 1) - bias;
}

void read(RegisterFloat type, const std::uint32_t* words, std::uint32_t shift,
          ElementRow& elements) {
  constexpr std::uint32_t kUsedOfTf32 = ~0u << 13;
  const auto single = [](std::uint32_t bits) { return exponent_of(bits >> 23 & 0xff, 127); };
  switch (type) {
    case RegisterFloat::f16:
      return read_as(
          words, elements, [&](std::uint32_t word) { return from_half(word >> shift & 0xffff); },
          [&](std::uint32_t word) { return exponent_of(word >> shift >> 10 & 0x1f, 15); });
    case RegisterFloat::bf16:
      return read_as(
          words, elements, [&](std::uint32_t word) { return from_bfloat(word >> shift); },
          [&](std::uint32_t word) { return single(word >> shift << 16); });
    case RegisterFloat::f32:
      return read_as(
          words, elements, [](std::uint32_t word) { return float_of<float>(word); },
          [&](std::uint32_t word) { return single(word); });
    case RegisterFloat::tf32:
      return read_as(
          words, elements, [](std::uint32_t word) { return float_of<float>(word & kUsedOfTf32); },
          [&](std::uint32_t word) { return single(word); });
  }
}

}  // namespace

const MatrixLoops kMatrixLoops{add_up, add_up_integers, read};

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
