#include "vgpu/machine/matrix/matrix_loops.hpp"

#include "vgpu/machine/compute/lane_half.hpp"
#include "vgpu/machine/compute/lanes.hpp"

// How such vectors are passed does not matter, since all functions that take them are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

// Four or eight columns.
using Doubles = double __attribute__((vector_size(32)));
using Wides = std::int64_t __attribute__((vector_size(32)));
using FourInts = int __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(32)));
using Ints = int __attribute__((vector_size(32)));
// Wrap around, where signed sums that are not used in the end could overflow.
using WrappingWides = std::uint64_t __attribute__((vector_size(32)));
using WrappingInts = unsigned __attribute__((vector_size(32)));

template <class Vector, class T>
WARPCHECK_INLINE Vector load(const T* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

WARPCHECK_INLINE Doubles doubles_at(const double* from) { return load<Doubles>(from); }
WARPCHECK_INLINE Doubles doubles_at(const float* from) {
  return __builtin_convertvector(load<FourFloats>(from), Doubles);
}

// Returns 2^exponent, for exponents of normal doubles.
WARPCHECK_INLINE Doubles powers_of_two(const FourInts& exponent) {
  return reinterpret_cast<Doubles>(__builtin_convertvector(exponent + 1023, Wides) << 52);
}

// Truncates toward zero; numbers are below 2^31, except where the sum is not used.
WARPCHECK_INLINE Doubles truncated(const Doubles& x) {
  return __builtin_convertvector(__builtin_convertvector(x, FourInts), Doubles);
}

template <class T>
void add_up(const RowProduct<T>& product, double* sums) {
  const std::uint32_t columns = product.columns;
  for (std::uint32_t column = 0; column < columns; column += 4) {
    const Doubles c = doubles_at(&product.c[column]);
    Doubles plain = c;  // detects infinities and NaN
    auto greatest = load<FourInts>(&product.c_exponents[column]);
    for (std::uint32_t k = product.first; k < product.end; ++k) {
      const std::uint32_t at = k * columns + column;
      plain += static_cast<double>(product.a[k]) * doubles_at(&product.b[at]);
      const FourInts exponent = product.a_exponents[k] + load<FourInts>(&product.b_exponents[at]);
      greatest = greatest > exponent ? greatest : exponent;
    }
    const Doubles scale = powers_of_two(product.kept_bits - greatest);
    Doubles sum = truncated(c * scale);
    for (std::uint32_t k = product.first; k < product.end; ++k) {
      const Doubles b = doubles_at(&product.b[k * columns + column]);
      sum += truncated(static_cast<double>(product.a[k]) * b * scale);
    }
    const Doubles rounded = sum * powers_of_two(greatest - product.kept_bits);
    const Wides finite = plain - plain == 0;
    const Wides nonzero = __builtin_convertvector(greatest > kNoExponent / 2, Wides);
    const Doubles result = (finite & nonzero) != 0 ? rounded : plain;
    __builtin_memcpy(&sums[column], &result, sizeof result);
  }
}

WARPCHECK_INLINE FourInts half_of(const Ints& ints, bool upper) {
  return upper ? FourInts{ints[4], ints[5], ints[6], ints[7]}
               : FourInts{ints[0], ints[1], ints[2], ints[3]};
}

// What the sums are where all products are zero.
[[gnu::noinline]] void add_up_zeros(const RowProduct<float>& product, std::uint32_t column,
                                    const Ints& of_products, double* sums) {
  auto plain = load<Floats>(&product.c[column]);
  for (std::uint32_t k = product.first; k < product.end; ++k) {
    plain += product.a[k] * load<Floats>(&product.b[k * product.columns + column]);
  }
  for (unsigned i = 0; i < 8; ++i) {
    if (of_products[i] < kNoExponent / 2) sums[column + i] = static_cast<double>(plain[i]);
  }
}

WARPCHECK_INLINE bool any_below(const Ints& ints, int bound) {
  const Wides below = reinterpret_cast<Wides>(ints < bound);
  return (below[0] | below[1] | below[2] | below[3]) != 0;
}

void add_up_narrow(const RowProduct<float>& product, double* sums) {
  constexpr std::uint32_t kPart = 8;  // products of less than 2^27 whose sum is an int
  constexpr int kLowest = -100;
  const std::uint32_t columns = product.columns;
  for (std::uint32_t column = 0; column < columns; column += 8) {
    Ints of_products = Ints{} + 2 * kNoExponent;
    for (std::uint32_t k = product.first; k < product.end; ++k) {
      const Ints exponent =
          product.a_exponents[k] + load<Ints>(&product.b_exponents[k * columns + column]);
      of_products = of_products > exponent ? of_products : exponent;
    }
    const auto of_c = load<Ints>(&product.c_exponents[column]);
    const Ints greatest = of_products > of_c ? of_products : of_c;
    const Ints bounded = greatest > kLowest ? greatest : Ints{} + kLowest;
    const auto scale = reinterpret_cast<Floats>((product.kept_bits + 127 - bounded) << 23);
    const Ints of_addend = __builtin_convertvector(load<Floats>(&product.c[column]) * scale, Ints);
    auto part = reinterpret_cast<WrappingInts>(of_addend);
    Doubles low{}, high{};
    for (std::uint32_t k = product.first; k < product.end;) {
      const std::uint32_t end = k + kPart < product.end ? k + kPart : product.end;
      for (; k < end; ++k) {
        const Floats exact = product.a[k] * load<Floats>(&product.b[k * columns + column]);
        part += reinterpret_cast<WrappingInts>(__builtin_convertvector(exact * scale, Ints));
      }
      const auto whole = reinterpret_cast<Ints>(part);
      low += __builtin_convertvector(half_of(whole, false), Doubles);
      high += __builtin_convertvector(half_of(whole, true), Doubles);
      part = WrappingInts{};
    }
    low *= powers_of_two(half_of(bounded, false) - product.kept_bits);
    high *= powers_of_two(half_of(bounded, true) - product.kept_bits);
    __builtin_memcpy(&sums[column], &low, sizeof low);
    __builtin_memcpy(&sums[column + 4], &high, sizeof high);
    if (any_below(of_products, kNoExponent / 2)) add_up_zeros(product, column, of_products, sums);
  }
}

void add_up_integers(const std::int32_t* a, const std::int32_t* b, std::uint32_t depth,
                     std::uint32_t columns, std::int32_t* sums) {
  for (std::uint32_t column = 0; column < columns; column += 8) {
    Ints sum{};
    for (std::uint32_t k = 0; k < depth; ++k) sum += a[k] * load<Ints>(&b[k * columns + column]);
    __builtin_memcpy(&sums[column], &sum, sizeof sum);
  }
}

#if defined(__FMA__)
bool add_up_doubles(const double* a, const double* b, std::uint32_t depth, std::uint32_t columns,
                    double* sums) {
  bool is_number = true;
  for (std::uint32_t column = 0; column < columns; column += 4) {
    auto sum = _mm256_loadu_pd(&sums[column]);
    for (std::uint32_t k = 0; k < depth; ++k) {
      sum = _mm256_fmadd_pd(_mm256_set1_pd(a[k]), _mm256_loadu_pd(&b[k * columns + column]), sum);
    }
    is_number &= _mm256_movemask_pd(_mm256_cmp_pd(sum, sum, _CMP_UNORD_Q)) == 0;
    _mm256_storeu_pd(&sums[column], sum);
  }
  return is_number;
}
#else
constexpr auto add_up_doubles = nullptr;
#endif

template <class Float>
WARPCHECK_INLINE void read_words(const std::uint32_t* words, std::uint32_t count, float* values,
                                 Float float_of_word) {
#pragma GCC ivdep
  for (std::uint32_t i = 0; i < count; ++i) values[i] = float_of_word(words[i]);
}

template <class Float>
WARPCHECK_INLINE void read_pairs(const std::uint32_t* words, std::uint32_t count, float* values,
                                 Float float_of_half) {
#pragma GCC ivdep
  for (std::uint32_t i = 0; i < count; ++i) {
    values[2 * i] = float_of_half(words[i] & 0xffff);
    values[2 * i + 1] = float_of_half(words[i] >> 16);
  }
}

void read(RegisterFloat type, const std::uint32_t* words, std::uint32_t count, float* values) {
  constexpr std::uint32_t kUsedOfTf32 = ~0u << 13;
  switch (type) {
    case RegisterFloat::f16:
#if defined(__F16C__)
      for (std::uint32_t i = 0; i < count; i += 4) {
        __m128i eight;
        __builtin_memcpy(&eight, &words[i], sizeof eight);
        _mm256_storeu_ps(&values[2 * i], _mm256_cvtph_ps(eight));
      }
      return;
#else
      return read_pairs(words, count, values, [](std::uint32_t half) { return from_half(half); });
#endif
    case RegisterFloat::bf16:
      return read_pairs(words, count, values, [](std::uint32_t half) { return from_bfloat(half); });
    case RegisterFloat::f32:
      return read_words(words, count, values,
                        [](std::uint32_t word) { return float_of<float>(word); });
    case RegisterFloat::tf32:
      return read_words(words, count, values,
                        [](std::uint32_t word) { return float_of<float>(word & kUsedOfTf32); });
  }
}

ExponentBounds find_exponents(const float* values, std::uint32_t count, int lowest,
                              int* exponents) {
  Ints low = Ints{} - kNoExponent, high = Ints{} + kNoExponent;
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Ints magnitude = load<Ints>(&values[i]) & 0x7fffffff;
    const Ints field = magnitude >> 23;
    const Ints plain = (field > 1 ? field : Ints{} + 1) - 127;
    const Ints bounded = plain > lowest ? plain : Ints{} + lowest;
    const Ints exponent = magnitude != 0 ? bounded : Ints{} + kNoExponent;
    const Ints or_none = magnitude != 0 ? bounded : Ints{} - kNoExponent;
    low = low < or_none ? low : or_none;
    high = high > exponent ? high : exponent;
    __builtin_memcpy(&exponents[i], &exponent, sizeof exponent);
  }
  ExponentBounds bounds;
  for (unsigned i = 0; i < 8; ++i) {
    bounds.lowest = bounds.lowest < low[i] ? bounds.lowest : low[i];
    bounds.highest = bounds.highest > high[i] ? bounds.highest : high[i];
  }
  return bounds;
}

// Rounds to a format whose normal numbers have the biased exponents of doubles from kFirst to
// kLast.
template <int kFirst, int kLast, class Magnitude>
WARPCHECK_INLINE bool round_to(const SumRounding& rounding, const double* sums, std::uint32_t count,
                               std::uint32_t* bits, std::uint32_t sign, Magnitude magnitude_of) {
  Wides others{};
  for (std::uint32_t i = 0; i < count; i += 4) {
    const Wides x = load<Wides>(&sums[i]) & static_cast<std::int64_t>(~rounding.dropped);
    const Wides magnitude = x & INT64_MAX;
    const Wides exponent = magnitude >> 52;
    others |= (magnitude != 0) & ((exponent < kFirst) | (exponent > kLast));
    const Wides rounded = magnitude != 0 ? magnitude_of(magnitude) : Wides{};
    const Wides result = rounded | ((x < 0) & static_cast<std::int64_t>(sign));
    const FourInts words = __builtin_convertvector(result, FourInts);
    __builtin_memcpy(&bits[i], &words, sizeof words);
  }
  return (others[0] | others[1] | others[2] | others[3]) == 0;
}

bool round(const SumRounding& rounding, const double* sums, std::uint32_t count,
           std::uint32_t* bits) {
  if (rounding.to_half) {
    return round_to<1023 - 14, 1023 + 15>(
        rounding, sums, count, bits, kHalfSign, [](const Wides& magnitude) {
          const auto exact = reinterpret_cast<WrappingWides>(magnitude);
          const WrappingWides nearest = exact + ((std::uint64_t{1} << 41) - 1) + (exact >> 42 & 1);
          return (reinterpret_cast<Wides>(nearest) >> 42) - (std::int64_t{1023 - 15} << 10);
        });
  }
  return round_to<1023 - 126, 1023 + 127>(
      rounding, sums, count, bits, FloatLayout<float>::kSign,
      [](const Wides& magnitude) { return (magnitude >> 29) - (std::int64_t{1023 - 127} << 23); });
}

}  // namespace

const MatrixLoops kMatrixLoops{add_up<float>,  add_up<double>, add_up_narrow,  add_up_integers,
                               add_up_doubles, read,           find_exponents, round};

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
