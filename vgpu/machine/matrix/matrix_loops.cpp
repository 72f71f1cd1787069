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
template <class OfDoubles, class OfInts>
WARPCHECK_INLINE OfDoubles powers_of_two(const OfInts& exponent) {
  using OfWides [[gnu::vector_size(sizeof(OfDoubles))]] = std::int64_t;
  return reinterpret_cast<OfDoubles>(__builtin_convertvector(exponent + 1023, OfWides) << 52);
}

// Truncates toward zero; numbers are below 2^31, except where the sum is not used.
WARPCHECK_INLINE Doubles truncated(const Doubles& x) {
  return __builtin_convertvector(__builtin_convertvector(x, FourInts), Doubles);
}

template <class T>
void add_up(const RowsProduct<T>& product, double* sums) {
  const std::uint32_t columns = product.columns;
  for (std::uint32_t row = 0; row < product.rows; ++row) {
    const T* const a = &product.a[row * product.depth];
    const int* const a_exponents = &product.a_exponents[row * product.depth];
    for (std::uint32_t column = 0; column < columns; column += 4) {
      const std::uint32_t to = row * columns + column;
      const Doubles c = doubles_at(&product.c[to]);
      Doubles plain = c;  // detects infinities and NaN
      auto greatest = load<FourInts>(&product.c_exponents[to]);
      for (std::uint32_t k = product.first; k < product.end; ++k) {
        const std::uint32_t at = k * columns + column;
        plain += static_cast<double>(a[k]) * doubles_at(&product.b[at]);
        const FourInts exponent = a_exponents[k] + load<FourInts>(&product.b_exponents[at]);
        greatest = greatest > exponent ? greatest : exponent;
      }
      const Doubles scale = powers_of_two<Doubles>(product.kept_bits - greatest);
      Doubles sum = truncated(c * scale);
      for (std::uint32_t k = product.first; k < product.end; ++k) {
        const Doubles b = doubles_at(&product.b[k * columns + column]);
        sum += truncated(static_cast<double>(a[k]) * b * scale);
      }
      const Doubles rounded = sum * powers_of_two<Doubles>(greatest - product.kept_bits);
      const Wides finite = plain - plain == 0;
      const Wides nonzero = __builtin_convertvector(greatest > kNoExponent / 2, Wides);
      const Doubles result = (finite & nonzero) != 0 ? rounded : plain;
      __builtin_memcpy(&sums[to], &result, sizeof result);
    }
  }
}

// What the sums are where all products are zero.
[[gnu::noinline]] void add_up_zeros(const RowsProduct<float>& product, std::uint32_t row,
                                    std::uint32_t column, std::uint32_t count, double* sums) {
  for (std::uint32_t j = column; j < column + count; ++j) {
    const std::uint32_t to = row * product.columns + j;
    float plain = product.c[to];
    bool is_zero = true;
    for (std::uint32_t k = product.first; k < product.end; ++k) {
      const float of_k = product.a[row * product.depth + k] * product.b[k * product.columns + j];
      is_zero &= of_k == 0;
      plain += of_k;
    }
    if (is_zero) sums[to] = static_cast<double>(plain);
  }
}

// Vectors of as many columns as are added up at once.
struct EightColumns {
  static constexpr std::uint32_t kCount = 8;
  using OfFloats = Floats;
  using OfInts = Ints;
  using OfWrappingInts = WrappingInts;
  using OfDoubles = Doubles;
  using HalfInts = FourInts;
};
#if defined(__AVX512F__)
struct SixteenColumns {
  static constexpr std::uint32_t kCount = 16;
  using OfFloats = float __attribute__((vector_size(64)));
  using OfInts = int __attribute__((vector_size(64)));
  using OfWrappingInts = unsigned __attribute__((vector_size(64)));
  using OfDoubles = double __attribute__((vector_size(64)));
  using HalfInts = Ints;
};
using WideColumns = SixteenColumns;
#else
using WideColumns = EightColumns;
#endif

template <class Half, class Whole>
WARPCHECK_INLINE Half half_of(const Whole& whole, bool upper) {
  Half half;
  __builtin_memcpy(&half, reinterpret_cast<const char*>(&whole) + (upper ? sizeof half : 0),
                   sizeof half);
  return half;
}

template <class Vector>
WARPCHECK_INLINE bool any_below(const Vector& ints, int bound) {
  const Vector below = ints < bound;
  int any = 0;
  for (unsigned i = 0; i < sizeof below / sizeof any; ++i) any |= below[i];
  return any != 0;
}

// Adds up some rows of a vector of columns.
template <class Columns, std::uint32_t kRows>
WARPCHECK_INLINE void add_up_columns(const RowsProduct<float>& product, std::uint32_t row,
                                     std::uint32_t column, double* sums) {
  using OfFloats = typename Columns::OfFloats;
  using OfInts = typename Columns::OfInts;
  using OfWrappingInts = typename Columns::OfWrappingInts;
  using OfDoubles = typename Columns::OfDoubles;
  using HalfInts = typename Columns::HalfInts;
  constexpr int kLowest = -100;
  // Products whose sum is an int; they are below 2^(2 + kept_bits).
  const std::uint32_t in_part = product.kept_bits > 22 ? 8 : 64;
  const std::uint32_t columns = product.columns, depth = product.depth;
  const float* const a = &product.a[row * depth];
  const int* const a_exponents = &product.a_exponents[row * depth];
  OfInts of_products[kRows], bounded[kRows];
  OfFloats scale[kRows];
  OfWrappingInts part[kRows];
  OfDoubles low[kRows], high[kRows];
  for (OfInts& exponents : of_products) exponents = OfInts{} + 2 * kNoExponent;
  for (std::uint32_t k = product.first; k < product.end; ++k) {
    const auto of_b = load<OfInts>(&product.b_exponents[k * columns + column]);
    for (std::uint32_t i = 0; i < kRows; ++i) {
      const OfInts exponent = a_exponents[i * depth + k] + of_b;
      of_products[i] = of_products[i] > exponent ? of_products[i] : exponent;
    }
  }
  for (std::uint32_t i = 0; i < kRows; ++i) {
    const std::uint32_t at = (row + i) * columns + column;
    const auto of_c = load<OfInts>(&product.c_exponents[at]);
    const OfInts greatest = of_products[i] > of_c ? of_products[i] : of_c;
    bounded[i] = greatest > kLowest ? greatest : OfInts{} + kLowest;
    scale[i] = reinterpret_cast<OfFloats>((product.kept_bits + 127 - bounded[i]) << 23);
    const OfInts addend =
        __builtin_convertvector(load<OfFloats>(&product.c[at]) * scale[i], OfInts);
    part[i] = reinterpret_cast<OfWrappingInts>(addend);
    low[i] = high[i] = OfDoubles{};
  }
  for (std::uint32_t k = product.first; k < product.end;) {
    const std::uint32_t end = k + in_part < product.end ? k + in_part : product.end;
    for (; k < end; ++k) {
      const auto b = load<OfFloats>(&product.b[k * columns + column]);
      for (std::uint32_t i = 0; i < kRows; ++i) {
        const OfFloats exact = a[i * depth + k] * b;
        part[i] +=
            reinterpret_cast<OfWrappingInts>(__builtin_convertvector(exact * scale[i], OfInts));
      }
    }
    for (std::uint32_t i = 0; i < kRows; ++i) {
      const auto whole = reinterpret_cast<OfInts>(part[i]);
      low[i] += __builtin_convertvector(half_of<HalfInts>(whole, false), OfDoubles);
      high[i] += __builtin_convertvector(half_of<HalfInts>(whole, true), OfDoubles);
      part[i] = OfWrappingInts{};
    }
  }
  for (std::uint32_t i = 0; i < kRows; ++i) {
    const HalfInts kept = HalfInts{} + product.kept_bits;
    low[i] *= powers_of_two<OfDoubles>(half_of<HalfInts>(bounded[i], false) - kept);
    high[i] *= powers_of_two<OfDoubles>(half_of<HalfInts>(bounded[i], true) - kept);
    double* const to = &sums[(row + i) * columns + column];
    __builtin_memcpy(to, &low[i], sizeof low[i]);
    __builtin_memcpy(to + Columns::kCount / 2, &high[i], sizeof high[i]);
    if (any_below(of_products[i], kNoExponent / 2)) [[unlikely]] {
      add_up_zeros(product, row + i, column, Columns::kCount, sums);
    }
  }
}

template <class Columns>
WARPCHECK_INLINE void add_up_all_rows(const RowsProduct<float>& product, std::uint32_t column,
                                      double* sums) {
  constexpr std::uint32_t kRows = 2;  // at once: each element of b is used as often
  std::uint32_t row = 0;
  for (; row + kRows <= product.rows; row += kRows) {
    add_up_columns<Columns, kRows>(product, row, column, sums);
  }
  if (row < product.rows) add_up_columns<Columns, 1>(product, row, column, sums);
}

void add_up_narrow(const RowsProduct<float>& product, double* sums) {
  std::uint32_t column = 0;
  for (; column + WideColumns::kCount <= product.columns; column += WideColumns::kCount) {
    add_up_all_rows<WideColumns>(product, column, sums);
  }
  if (column < product.columns) add_up_all_rows<EightColumns>(product, column, sums);
}

// All sums are exact, so it does not matter whether products are fused with them.
template <class Columns, std::uint32_t kRows>
WARPCHECK_INLINE void add_up_columns_exactly(const RowsProduct<float>& product, std::uint32_t row,
                                             std::uint32_t column, std::uint32_t* bits) {
  using OfFloats = typename Columns::OfFloats;
  const std::uint32_t columns = product.columns, depth = product.depth;
  const float* const a = &product.a[row * depth];
  OfFloats sums[kRows];
  for (std::uint32_t i = 0; i < kRows; ++i) {
    sums[i] = load<OfFloats>(&product.c[(row + i) * columns + column]);
  }
  for (std::uint32_t k = product.first; k < product.end; ++k) {
    const auto b = load<OfFloats>(&product.b[k * columns + column]);
    for (std::uint32_t i = 0; i < kRows; ++i) sums[i] += a[i * depth + k] * b;
  }
  for (std::uint32_t i = 0; i < kRows; ++i) {
    __builtin_memcpy(&bits[(row + i) * columns + column], &sums[i], sizeof sums[i]);
  }
}

template <class Columns>
WARPCHECK_INLINE void add_up_all_rows_exactly(const RowsProduct<float>& product,
                                              std::uint32_t column, std::uint32_t* bits) {
  constexpr std::uint32_t kRows = 4;
  std::uint32_t row = 0;
  for (; row + kRows <= product.rows; row += kRows) {
    add_up_columns_exactly<Columns, kRows>(product, row, column, bits);
  }
  for (; row < product.rows; ++row) add_up_columns_exactly<Columns, 1>(product, row, column, bits);
}

void add_up_exactly(const RowsProduct<float>& product, std::uint32_t* bits) {
  std::uint32_t column = 0;
  for (; column + WideColumns::kCount <= product.columns; column += WideColumns::kCount) {
    add_up_all_rows_exactly<WideColumns>(product, column, bits);
  }
  if (column < product.columns) add_up_all_rows_exactly<EightColumns>(product, column, bits);
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
    case RegisterFloat::lone_f16:
      return read_words(words, count, values,
                        [](std::uint32_t word) { return from_half(word & 0xffff); });
    case RegisterFloat::lone_bf16:
      return read_words(words, count, values,
                        [](std::uint32_t word) { return from_bfloat(word & 0xffff); });
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
  Ints low = Ints{} - kNoExponent, high = Ints{} + kNoExponent, low_bit = low;
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Ints magnitude = load<Ints>(&values[i]) & 0x7fffffff;
    const Ints field = magnitude >> 23;
    const Ints plain = (field > 1 ? field : Ints{} + 1) - 127;
    const Ints bounded = plain > lowest ? plain : Ints{} + lowest;
    const Ints exponent = magnitude != 0 ? bounded : Ints{} + kNoExponent;
    const Ints or_none = magnitude != 0 ? bounded : Ints{} - kNoExponent;
    low = low < or_none ? low : or_none;
    high = high > exponent ? high : exponent;
    // The last bit of the significand, as a float; subnormals have a significand without 2^23.
    const Ints significand = (magnitude & 0x7fffff) | (field != 0 ? Ints{} + 0x800000 : Ints{});
    const Ints last = significand & -significand;
    const auto place =
        (reinterpret_cast<Ints>(__builtin_convertvector(last, Floats)) >> 23) - (127 + 23);
    const Ints bit = magnitude != 0 ? plain + place : Ints{} - kNoExponent;
    low_bit = low_bit < bit ? low_bit : bit;
    __builtin_memcpy(&exponents[i], &exponent, sizeof exponent);
  }
  ExponentBounds bounds;
  for (unsigned i = 0; i < 8; ++i) {
    bounds.lowest = bounds.lowest < low[i] ? bounds.lowest : low[i];
    bounds.highest = bounds.highest > high[i] ? bounds.highest : high[i];
    bounds.lowest_bit = bounds.lowest_bit < low_bit[i] ? bounds.lowest_bit : low_bit[i];
  }
  return bounds;
}

bool round_to_half(const SumRounding& rounding, const double* sums, std::uint32_t count,
                   std::uint32_t* bits) {
  constexpr int kFirst = 1023 - 14, kLast = 1023 + 15;  // exponents of doubles
  Wides others{};
  for (std::uint32_t i = 0; i < count; i += 4) {
    const Wides x = load<Wides>(&sums[i]) & static_cast<std::int64_t>(~rounding.dropped);
    const Wides magnitude = x & INT64_MAX;
    const Wides exponent = magnitude >> 52;
    others |= (magnitude != 0) & ((exponent < kFirst) | (exponent > kLast));
    const auto exact = reinterpret_cast<WrappingWides>(magnitude);
    const WrappingWides nearest = exact + ((std::uint64_t{1} << 41) - 1) + (exact >> 42 & 1);
    const Wides half = (reinterpret_cast<Wides>(nearest) >> 42) - (std::int64_t{1023 - 15} << 10);
    const Wides rounded = magnitude != 0 ? half : Wides{};
    const Wides result = rounded | ((x < 0) & static_cast<std::int64_t>(kHalfSign));
    const FourInts words = __builtin_convertvector(result, FourInts);
    __builtin_memcpy(&bits[i], &words, sizeof words);
  }
  return (others[0] | others[1] | others[2] | others[3]) == 0;
}

bool round_to_single(const SumRounding& rounding, const double* sums, std::uint32_t count,
                     std::uint32_t* bits) {
  constexpr std::int64_t kBelowSingle = (std::int64_t{1} << 29) - 1;
  Wides others{};
  for (std::uint32_t i = 0; i < count; i += 4) {
    const Wides x = load<Wides>(&sums[i]) & static_cast<std::int64_t>(~rounding.dropped);
    const auto magnitude = reinterpret_cast<Doubles>(x & INT64_MAX);
    others |= (magnitude != 0) & ~((magnitude >= 0x1p-126) & (magnitude < 0x1p128));
    const auto result =
        __builtin_convertvector(reinterpret_cast<Doubles>(x & ~kBelowSingle), FourFloats);
    __builtin_memcpy(&bits[i], &result, sizeof result);
  }
  return (others[0] | others[1] | others[2] | others[3]) == 0;
}

bool round(const SumRounding& rounding, const double* sums, std::uint32_t count,
           std::uint32_t* bits) {
  return rounding.to_half ? round_to_half(rounding, sums, count, bits)
                          : round_to_single(rounding, sums, count, bits);
}

}  // namespace

const MatrixLoops kMatrixLoops{add_up<float>,  add_up<double>,  add_up_narrow,
                               add_up_exactly, add_up_integers, add_up_doubles,
                               read,           find_exponents,  round};

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
