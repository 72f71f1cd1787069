// Integer arithmetic of whole programs: what the kernels of integers.def call.
#pragma once

#include "vgpu/conformance/numeric/types.cuh"

namespace {

// The unsigned type of as many bits.
template <class T>
struct UnsignedOf;
template <>
struct UnsignedOf<s8> {
  using Type = u8;
};
template <>
struct UnsignedOf<u8> {
  using Type = u8;
};
template <>
struct UnsignedOf<s16> {
  using Type = u16;
};
template <>
struct UnsignedOf<u16> {
  using Type = u16;
};
template <>
struct UnsignedOf<s32> {
  using Type = u32;
};
template <>
struct UnsignedOf<u32> {
  using Type = u32;
};
template <>
struct UnsignedOf<s64> {
  using Type = u64;
};
template <>
struct UnsignedOf<u64> {
  using Type = u64;
};
template <>
struct UnsignedOf<s128> {
  using Type = u128;
};
template <>
struct UnsignedOf<u128> {
  using Type = u128;
};
template <class T>
using Unsigned = typename UnsignedOf<T>::Type;

template <class T>
constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(1);
template <class T>
constexpr unsigned kBits = 8 * sizeof(T);

template <class T>
__device__ bool is_negative(T x) {
  if constexpr (kIsSigned<T>) return x < T(0);
  return false;
}

template <class T>
__device__ T wrapped_product(T x, T y) {
  // Wide enough, so that 16-bit ones are no signed products.
  return static_cast<T>(
      static_cast<Unsigned<T>>(1ull * static_cast<Unsigned<T>>(x) * static_cast<Unsigned<T>>(y)));
}
template <>
__device__ u128 wrapped_product(u128 x, u128 y) {
  return x * y;
}
template <>
__device__ s128 wrapped_product(s128 x, s128 y) {
  return static_cast<s128>(static_cast<u128>(x) * static_cast<u128>(y));
}
template <class T>
__device__ T wrapped_sum(T x, T y) {
  return static_cast<T>(static_cast<Unsigned<T>>(x) + static_cast<Unsigned<T>>(y));
}
template <class T>
__device__ T wrapped_difference(T x, T y) {
  return static_cast<T>(static_cast<Unsigned<T>>(x) - static_cast<Unsigned<T>>(y));
}
template <class T>
__device__ Unsigned<T> magnitude(T x) {
  return is_negative(x) ? static_cast<Unsigned<T>>(0 - static_cast<Unsigned<T>>(x))
                        : static_cast<Unsigned<T>>(x);
}

// Division that is defined for all operands.
template <class T>
__device__ T quotient(T x, T y) {
  if (y == T(0)) return x;
  if (kIsSigned<T> && y == T(-1)) return wrapped_difference(T(0), x);
  return static_cast<T>(x / y);
}
template <class T>
__device__ T remainder_of(T x, T y) {
  if (y == T(0)) return x;
  if (kIsSigned<T> && y == T(-1)) return T(0);
  return static_cast<T>(x % y);
}
// Rounded down, whatever the signs.
template <class T>
__device__ T floor_modulo(T x, T y) {
  const T rest = remainder_of(x, y);
  return rest != T(0) && is_negative(rest) != is_negative(y) ? wrapped_sum(rest, y) : rest;
}
template <class T>
__device__ T quotient_and_remainder(T x, T y) {
  return wrapped_sum(wrapped_product(quotient(x, y), T(31)), remainder_of(x, y));
}
template <class T>
__device__ T divided_by_constants(T x) {
  T sum = static_cast<T>(x / T(3));
  sum = wrapped_sum(sum, static_cast<T>(x / T(7)));
  sum = wrapped_sum(sum, static_cast<T>(x % T(10)));
  sum = wrapped_sum(sum, static_cast<T>(x / T(16)));
  sum = wrapped_sum(sum, static_cast<T>(x % T(100)));
  return wrapped_sum(sum, static_cast<T>(x / T(125)));
}
template <class T>
__device__ T decimal_digits(T x) {
  Unsigned<T> rest = magnitude(x), sum = 0;
  for (; rest != 0; rest = static_cast<Unsigned<T>>(rest / 10)) {
    sum = static_cast<Unsigned<T>>(sum * 3 + rest % 10);
  }
  return static_cast<T>(sum);
}

template <class T>
__device__ T greatest_common_divisor(T x, T y) {
  Unsigned<T> a = magnitude(x), b = magnitude(y);
  while (b != 0) {
    const Unsigned<T> rest = static_cast<Unsigned<T>>(a % b);
    a = b;
    b = rest;
  }
  return static_cast<T>(a);
}
// Stein's, by shifts alone.
template <class T>
__device__ T binary_common_divisor(T x, T y) {
  Unsigned<T> a = magnitude(x), b = magnitude(y);
  if (a == 0 || b == 0) return static_cast<T>(a | b);
  unsigned twos = 0;
  for (; ((a | b) & 1) == 0; ++twos) a >>= 1, b >>= 1;
  while ((a & 1) == 0) a >>= 1;
  while (b != 0) {
    while ((b & 1) == 0) b >>= 1;
    if (a > b) {
      const Unsigned<T> old = a;
      a = b;
      b = old;
    }
    b -= a;
  }
  return static_cast<T>(a << twos);
}
template <class T>
__device__ T power(T x, unsigned exponent) {
  T result = T(1);
  for (unsigned rest = exponent; rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result = wrapped_product(result, x);
    x = wrapped_product(x, x);
  }
  return result;
}
template <class T>
__device__ T square_root_of_integer(T x) {
  Unsigned<T> rest = magnitude(x), root = 0;
  for (Unsigned<T> bit = static_cast<Unsigned<T>>(Unsigned<T>(1) << (kBits<T> - 2)); bit != 0;
       bit = static_cast<Unsigned<T>>(bit >> 2)) {
    const Unsigned<T> tried = static_cast<Unsigned<T>>(root + bit);
    root = static_cast<Unsigned<T>>(root >> 1);
    if (rest < tried) continue;
    rest = static_cast<Unsigned<T>>(rest - tried);
    root = static_cast<Unsigned<T>>(root + bit);
  }
  return static_cast<T>(wrapped_sum(wrapped_product(root, Unsigned<T>(3)), rest));
}

template <class T>
__device__ T saturated_sum(T x, T y) {
  const T sum = wrapped_sum(x, y);
  if (!kIsSigned<T>) return sum < x ? static_cast<T>(~T(0)) : sum;
  const Unsigned<T> most = static_cast<Unsigned<T>>(~Unsigned<T>(0)) >> 1;
  const bool overflows = is_negative(x) == is_negative(y) && is_negative(sum) != is_negative(x);
  if (!overflows) return sum;
  return is_negative(x) ? static_cast<T>(~most) : static_cast<T>(most);
}
template <class T>
__device__ T saturated_difference(T x, T y) {
  if (!kIsSigned<T>) return x < y ? T(0) : static_cast<T>(x - y);
  const T negated = wrapped_difference(T(0), y);
  return saturated_sum(x, negated);
}
// Without a wider type.
template <class T>
__device__ T average(T x, T y) {
  return static_cast<T>((x & y) + ((x ^ y) >> 1));
}
template <class T>
__device__ T rotated(T x, unsigned by) {
  const Unsigned<T> bits = static_cast<Unsigned<T>>(x);
  by %= kBits<T>;
  if (by == 0) return x;
  return static_cast<T>(static_cast<Unsigned<T>>(bits << by) |
                        static_cast<Unsigned<T>>(bits >> (kBits<T> - by)));
}
template <class T>
__device__ T shifted(T x, unsigned by) {
  by %= kBits<T>;
  const T left = static_cast<T>(static_cast<Unsigned<T>>(x) << by);
  return static_cast<T>(left ^ static_cast<T>(x >> by) ^
                        static_cast<T>(static_cast<Unsigned<T>>(x) >> (by / 2)));
}
template <class T>
__device__ T counted_bits(T x) {
  Unsigned<T> rest = static_cast<Unsigned<T>>(x);
  T count = 0;
  for (; rest != 0; rest = static_cast<Unsigned<T>>(rest & (rest - 1))) ++count;
  const Unsigned<T> gray = static_cast<Unsigned<T>>(x) ^ (static_cast<Unsigned<T>>(x) >> 1);
  return wrapped_sum(count, static_cast<T>(gray));
}
template <class T>
__device__ T clamped_between(T x, T y) {
  const T low = x < y ? x : y, high = x < y ? y : x;
  const T middle = average(low, high);
  return static_cast<T>(wrapped_difference(high, middle) ^ wrapped_difference(middle, low));
}
// The sign of x, and how often y fits in it by subtraction of shifted ones: division by hand.
template <class T>
__device__ T long_division(T x, T y) {
  Unsigned<T> rest = 0, result = 0;
  const Unsigned<T> dividend = magnitude(x), divisor = magnitude(y);
  if (divisor == 0) return x;
  for (int bit = static_cast<int>(kBits<T>) - 1; bit >= 0; --bit) {
    const bool carries = (rest >> (kBits<T> - 1)) != 0;
    rest = static_cast<Unsigned<T>>((rest << 1) | ((dividend >> bit) & 1));
    if (!carries && rest < divisor) continue;
    rest = static_cast<Unsigned<T>>(rest - divisor);
    result = static_cast<Unsigned<T>>(result | (Unsigned<T>(1) << bit));
  }
  return static_cast<T>(result ^ static_cast<Unsigned<T>>(rest * 5));
}

__device__ u32 high_product(u32 x, u32 y) { return __umulhi(x, y); }
__device__ s32 high_product(s32 x, s32 y) { return __mulhi(x, y); }
__device__ u64 high_product(u64 x, u64 y) { return __umul64hi(x, y); }
__device__ s64 high_product(s64 x, s64 y) { return __mul64hi(x, y); }

__device__ u32 product_modulo(u32 x, u32 y, u32 z) {
  return z == 0 ? x : static_cast<u32>(u64{x} * y % z);
}
__device__ u64 product_modulo(u64 x, u64 y, u64 z) {
  return z == 0 ? x : static_cast<u64>(u128{x} * y % z);
}
__device__ s32 product_modulo(s32 x, s32 y, s32 z) {
  return z == 0 ? x : static_cast<s32>(s64{x} * y % z);
}
__device__ s64 product_modulo(s64 x, s64 y, s64 z) {
  return z == 0 ? x : static_cast<s64>(s128{x} * y % z);
}

// Words of a number, added, subtracted and multiplied as assembler programs do.
struct Words {
  u32 word[4];
};
__device__ Words words_of(u128 x) { return {{u32(x), u32(x >> 32), u32(x >> 64), u32(x >> 96)}}; }
__device__ u128 number_of(const Words& x) {
  return u128{x.word[3]} << 96 | u128{x.word[2]} << 64 | u128{x.word[1]} << 32 | x.word[0];
}
__device__ u128 words_added(u128 x, u128 y) {
  Words a = words_of(x);
  const Words b = words_of(y);
  asm("add.cc.u32 %0, %0, %4; addc.cc.u32 %1, %1, %5; addc.cc.u32 %2, %2, %6; addc.u32 %3, %3, %7;"
      : "+r"(a.word[0]), "+r"(a.word[1]), "+r"(a.word[2]), "+r"(a.word[3])
      : "r"(b.word[0]), "r"(b.word[1]), "r"(b.word[2]), "r"(b.word[3]));
  return number_of(a);
}
__device__ u128 words_subtracted(u128 x, u128 y) {
  Words a = words_of(x);
  const Words b = words_of(y);
  asm("sub.cc.u32 %0, %0, %4; subc.cc.u32 %1, %1, %5; subc.cc.u32 %2, %2, %6; subc.u32 %3, %3, %7;"
      : "+r"(a.word[0]), "+r"(a.word[1]), "+r"(a.word[2]), "+r"(a.word[3])
      : "r"(b.word[0]), "r"(b.word[1]), "r"(b.word[2]), "r"(b.word[3]));
  return number_of(a);
}
// x - y, or y - x where that borrows: the flag that sub.cc leaves, read by addc.
__device__ u128 words_distance(u128 x, u128 y) {
  const u64 a0 = u64(x), a1 = u64(x >> 64), b0 = u64(y), b1 = u64(y >> 64);
  u64 low = 0, high = 0, is_greater = 0;
  asm("sub.cc.u64 %0, %3, %5; subc.cc.u64 %1, %4, %6; addc.u64 %2, 0, 0;"
      : "=l"(low), "=l"(high), "=l"(is_greater)
      : "l"(a0), "l"(a1), "l"(b0), "l"(b1));
  const u128 difference = u128{high} << 64 | low;
  return is_greater != 0 ? difference : 0 - difference;
}
__device__ u128 words_multiplied(u64 x, u64 y) {
  u32 r[4];
  const u32 a0 = u32(x), a1 = u32(x >> 32), b0 = u32(y), b1 = u32(y >> 32);
  asm("mul.lo.u32 %0, %4, %6;\n\t"
      "mul.hi.u32 %1, %4, %6;\n\t"
      "mad.lo.cc.u32 %1, %5, %6, %1;\n\t"
      "madc.hi.u32 %2, %5, %6, 0;\n\t"
      "mad.lo.cc.u32 %1, %4, %7, %1;\n\t"
      "madc.hi.cc.u32 %2, %4, %7, %2;\n\t"
      "addc.u32 %3, 0, 0;\n\t"
      "mad.lo.cc.u32 %2, %5, %7, %2;\n\t"
      "madc.hi.u32 %3, %5, %7, %3;"
      : "=&r"(r[0]), "=&r"(r[1]), "=&r"(r[2]), "=&r"(r[3])
      : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
  return number_of({{r[0], r[1], r[2], r[3]}});
}
// Montgomery's: x * y / 2^64 modulo an odd m.
__device__ u64 montgomery_product(u64 x, u64 y, u64 m) {
  m |= 1;
  u64 inverse = m;  // right to three bits
  for (int step = 0; step < 5; ++step) inverse *= 2 - m * inverse;
  const u128 product = u128{x} * y;
  const u64 q = u64(product) * inverse;
  const u64 high = u64(product >> 64), reduced = u64(u128{q} * m >> 64);
  return high < reduced ? high - reduced + m : high - reduced;
}
__device__ bool is_prime_by(u32 n, u32 base) {
  if (n < 2 || n % 2 == 0) return n == 2;
  u32 odd = n - 1;
  unsigned twos = 0;
  for (; odd % 2 == 0; odd /= 2) ++twos;
  u64 x = 1, factor = base % n;
  for (u32 rest = odd; rest != 0; rest /= 2, factor = factor * factor % n) {
    if (rest % 2 != 0) x = x * factor % n;
  }
  if (x == 0 || x == 1 || x == n - 1) return true;
  for (unsigned step = 1; step < twos; ++step) {
    x = x * x % n;
    if (x == n - 1) return true;
  }
  return false;
}
__device__ u32 prime_bits(u32 n) {
  u32 bits = 0;
  for (u32 base = 2; base < 8; ++base) bits = bits << 1 | (is_prime_by(n, base) ? 1 : 0);
  return bits;
}

__device__ u64 mixed_64(u64 x) {  // the finalizer of MurmurHash3 (Appleby)
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}
__device__ u32 mixed_32(u32 x) {
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}
__device__ u32 crc_32(u32 x, u32 crc) {
  for (int bit = 0; bit < 32; ++bit) {
    const bool divides = ((crc ^ x) & 1) != 0;
    crc = (crc >> 1) ^ (divides ? 0xedb88320u : 0);
    x >>= 1;
  }
  return crc;
}
__device__ u64 carryless_product(u32 x, u32 y) {
  u64 sum = 0;
  for (int bit = 0; bit < 32; ++bit) sum ^= (y >> bit & 1) != 0 ? u64{x} << bit : 0;
  return sum;
}
__device__ u64 interleaved(u32 x, u32 y) {
  const auto spread = [](u64 v) {
    v = (v | v << 16) & 0x0000ffff0000ffffull;
    v = (v | v << 8) & 0x00ff00ff00ff00ffull;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0full;
    v = (v | v << 2) & 0x3333333333333333ull;
    return (v | v << 1) & 0x5555555555555555ull;
  };
  return spread(x) | spread(y) << 1;
}
// Four rounds of Philox 2x32 (Salmon et al., SC 2011).
__device__ u64 philox(u32 x, u32 y, u32 key) {
  for (int round = 0; round < 4; ++round) {
    const u64 product = u64{0xd256d193u} * x;
    x = u32(product >> 32) ^ key ^ y;
    y = u32(product);
    key += 0x9e3779b9u;
  }
  return u64{y} << 32 | x;
}

}  // namespace
