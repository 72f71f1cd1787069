// Floating point beyond single operations: what the kernels of floats.def, halves.def and
// conversions.def call.
//
// Sums of two floats: Dekker, "A floating-point technique for extending the available precision",
// Numerische Mathematik 18, 1971; Joldes, Muller, Popescu, "Tight and rigorous error bounds for
// basic building blocks of double-word arithmetic", ACM TOMS 44, 2017.
#pragma once

#include "vgpu/conformance/numeric/types.cuh"

namespace {

__device__ f32 fused(f32 x, f32 y, f32 z) { return fmaf(x, y, z); }
__device__ f64 fused(f64 x, f64 y, f64 z) { return fma(x, y, z); }
__device__ f32 root_of(f32 x) { return sqrtf(x); }
__device__ f64 root_of(f64 x) { return sqrt(x); }

template <class T>
__device__ Pair<T> two_sum(T x, T y) {
  const T sum = x + y;
  const T part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}
template <class T>
__device__ Pair<T> fast_two_sum(T x, T y) {
  const T sum = x + y;
  return {sum, y - (sum - x)};
}
template <class T>
__device__ Pair<T> two_product(T x, T y) {
  const T product = x * y;
  return {product, fused(x, y, -product)};
}
// Without a fused multiply-add: Veltkamp's splitting.
template <class T>
__device__ Pair<T> split_product(T x, T y) {
  const T factor = sizeof(T) == 4 ? T(4097) : T(134217729);
  const T cx = factor * x, cy = factor * y;
  const T xh = cx - (cx - x), yh = cy - (cy - y), xl = x - xh, yl = y - yh;
  const T product = x * y;
  return {product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl};
}
template <class T>
__device__ Pair<T> paired_sum(Pair<T> x, Pair<T> y) {
  const Pair<T> high = two_sum(x.high, y.high), low = two_sum(x.low, y.low);
  const Pair<T> middle = fast_two_sum(high.high, high.low + low.high);
  return fast_two_sum(middle.high, low.low + middle.low);
}
template <class T>
__device__ Pair<T> paired_product(Pair<T> x, Pair<T> y) {
  const Pair<T> high = two_product(x.high, y.high);
  const T cross = fused(x.low, y.high, x.high * y.low);
  return fast_two_sum(high.high, high.low + cross);
}
template <class T>
__device__ Pair<T> paired_quotient(Pair<T> x, Pair<T> y) {
  const T guess = x.high / y.high;
  const Pair<T> product = paired_product(y, {guess, T(0)});
  const T rest = (x.high - product.high) + (x.low - product.low);
  return fast_two_sum(guess, rest / y.high);
}
template <class T>
__device__ Pair<T> paired_root(Pair<T> x) {
  if (x.high == T(0)) return {T(0), T(0)};
  const T root = root_of(x.high);
  const Pair<T> square = two_product(root, root);
  const T rest = ((x.high - square.high) - square.low) + x.low;
  return fast_two_sum(root, rest / (root + root));
}
// Horner's scheme with the error of every step (Graillat, Langlois, Louvet, 2005).
template <class T>
__device__ Pair<T> compensated_polynomial(T x) {
  T value = T(1), error = T(0);
  for (int i = 1; i < 9; ++i) {
    const Pair<T> product = two_product(value, x);
    const Pair<T> sum = two_sum(product.high, (i % 2 == 0 ? T(1) : T(-1)) / T(i));
    value = sum.high;
    error = fused(error, x, product.low + sum.low);
  }
  return {value, error};
}

template <class T>
__device__ T horner(T x) {
  T value = T(0.0078125);
  for (int i = 1; i < 8; ++i) value = fused(value, x, T(1) / T(i));
  return value;
}
template <class T>
__device__ T plain_horner(T x) {
  T value = T(0.0078125);
  for (int i = 1; i < 8; ++i) value = value * x + T(i);
  return value;
}
template <class T>
__device__ T newton_root(T x) {
  T guess = x > T(1) ? x * T(0.5) : T(1);
  for (int i = 0; i < 8; ++i) guess = T(0.5) * (guess + x / guess);
  return guess;
}
template <class T>
__device__ T continued_fraction(T x) {
  T value = T(9);
  for (int i = 8; i > 0; --i) value = T(i) + x / value;
  return value;
}
template <class T>
__device__ T logistic_map(T x) {
  for (int i = 0; i < 20; ++i) x = T(3.75) * x * (T(1) - x);
  return x;
}
template <class T>
__device__ T sorted_middle(T x, T y, T z) {
  const T low = x < y ? x : y, high = x < y ? y : x;
  return z < low ? low : z > high ? high : z;
}
template <class T>
__device__ T determinant(T x, T y, T z, T w) {  // Kahan's, with one rounding that matters
  const T product = y * z;
  const T error = fused(-y, z, product);
  return fused(x, w, -product) + error;
}
template <class T>
__device__ T complex_quotient(T x, T y, T z, T w) {  // Smith's
  const bool swaps = (z < T(0) ? -z : z) < (w < T(0) ? -w : w);
  const T big = swaps ? w : z, small = swaps ? z : w, ratio = small / big;
  const T scale = T(1) / (big + small * ratio);
  return swaps ? (x * ratio + y) * scale : (x + y * ratio) * scale;
}

// ---- software floating point, in integers ----

struct Unpacked {
  u32 sign;
  s32 exponent;
  u64 fraction;
};
// A number of f32: 1.fraction with 23 bits below the point; subnormals are normalized.
__device__ Unpacked unpacked(u32 bits) {
  Unpacked x{bits >> 31, s32(bits >> 23 & 0xff), bits & 0x7fffffu};
  if (x.exponent != 0) {
    x.fraction |= 0x800000u;
  } else if (x.fraction != 0) {
    const int shift = __clz(int(x.fraction)) - 8;
    x.fraction <<= shift;
    x.exponent = 1 - shift;
  }
  return x;
}
// Rounds fraction * 2^(exponent - 150 - extra) to nearest, ties to even.
__device__ u32 packed(u32 sign, s32 exponent, u64 fraction, int extra, bool sticky) {
  if (fraction == 0) return sign << 31;
  const int top = 63 - __clzll(s64(fraction));
  exponent += top - 23 - extra;
  int drop = top - 23;
  if (exponent < 1) {
    drop += 1 - exponent;
    exponent = 0;
  }
  u64 kept = 0;
  if (drop <= 0) {
    kept = fraction << -drop;
  } else if (drop < 64) {
    const u64 rest = fraction & ((u64(1) << drop) - 1), half = u64(1) << (drop - 1);
    kept = fraction >> drop;
    if (rest > half || (rest == half && (sticky || (kept & 1) != 0))) ++kept;
  }
  const u32 magnitude = exponent == 0 ? u32(kept) : (u32(exponent) << 23) + (u32(kept) - 0x800000u);
  if (magnitude >= 0x7f800000u || exponent > 254) return sign << 31 | 0x7f800000u;
  return sign << 31 | magnitude;
}
constexpr u32 kSoftNan = 0x7fffffffu;
__device__ bool is_nan_word(u32 x) { return (x & 0x7fffffffu) > 0x7f800000u; }
__device__ bool is_infinite_word(u32 x) { return (x & 0x7fffffffu) == 0x7f800000u; }

__device__ u32 soft_product(u32 x, u32 y) {
  const u32 sign = (x ^ y) >> 31;
  if (is_nan_word(x) || is_nan_word(y)) return kSoftNan;
  if (is_infinite_word(x) || is_infinite_word(y)) {
    return (x << 1) == 0 || (y << 1) == 0 ? kSoftNan : sign << 31 | 0x7f800000u;
  }
  const Unpacked a = unpacked(x), b = unpacked(y);
  return packed(sign, a.exponent + b.exponent - 127, a.fraction * b.fraction, 23, false);
}
__device__ u32 soft_sum(u32 x, u32 y) {
  if (is_nan_word(x) || is_nan_word(y)) return kSoftNan;
  if (is_infinite_word(x)) return is_infinite_word(y) && x != y ? kSoftNan : x;
  if (is_infinite_word(y)) return y;
  Unpacked a = unpacked(x), b = unpacked(y);
  if (a.fraction == 0 && b.fraction == 0) return x & y;
  if (a.fraction == 0) return y;
  if (b.fraction == 0) return x;
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.fraction < b.fraction)) {
    const Unpacked old = a;
    a = b;
    b = old;
  }
  const int apart = a.exponent - b.exponent;
  const u64 big = a.fraction << 32;
  u64 small = b.fraction << 32;
  bool sticky = false;
  if (apart > 0) {
    const int by = apart < 62 ? apart : 62;
    sticky = (small & ((u64(1) << by) - 1)) != 0;
    small >>= by;
  }
  if (a.sign == b.sign) return packed(a.sign, a.exponent, big + small, 32, sticky);
  // A little less than small is taken away: one less is left, and a little more than that.
  const u64 rest = big - small - (sticky ? 1 : 0);
  return rest == 0 ? 0 : packed(a.sign, a.exponent, rest, 32, sticky);
}
__device__ u32 soft_quotient(u32 x, u32 y) {
  const u32 sign = (x ^ y) >> 31;
  if (is_nan_word(x) || is_nan_word(y)) return kSoftNan;
  if (is_infinite_word(x)) return is_infinite_word(y) ? kSoftNan : sign << 31 | 0x7f800000u;
  if (is_infinite_word(y)) return sign << 31;
  const Unpacked a = unpacked(x), b = unpacked(y);
  if (b.fraction == 0) return a.fraction == 0 ? kSoftNan : sign << 31 | 0x7f800000u;
  const u64 dividend = a.fraction << 36, result = dividend / b.fraction;
  return packed(sign, a.exponent - b.exponent + 127, result, 36, result * b.fraction != dividend);
}
__device__ u32 soft_root(u32 x) {
  if ((x << 1) == 0) return x;
  if (is_nan_word(x) || x >> 31 != 0) return kSoftNan;
  if (is_infinite_word(x)) return x;
  const Unpacked a = unpacked(x);
  const int odd = (a.exponent - 127) & 1;
  u64 rest = a.fraction << (37 + odd), root = 0;
  const u64 whole = rest;
  for (u64 bit = u64(1) << 62; bit != 0; bit >>= 2) {
    const bool fits = rest >= root + bit;
    if (fits) rest -= root + bit;
    root = (root >> 1) + (fits ? bit : 0);
  }
  return packed(0, 127 + (a.exponent - 127 - odd) / 2, root, 7, root * root != whole);
}
__device__ u32 soft_from_integer(u64 x, u32 sign) { return packed(sign, 150, x, 0, false); }
__device__ u16 soft_half(u32 x) {
  const u32 sign = x >> 16 & 0x8000u, magnitude = x & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return u16(sign | 0x7c00u);  // 65520 and more
  if (magnitude < 0x33000001u) return u16(sign);
  const int exponent = int(magnitude >> 23) - 112;
  const u32 fraction = (magnitude & 0x7fffffu) | 0x800000u;
  const int drop = exponent < 1 ? 14 - exponent : 13;
  const u32 kept = fraction >> drop, rest = fraction & ((1u << drop) - 1), half = 1u << (drop - 1);
  const u32 up = rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0;
  const u32 field = exponent < 1 ? 0 : u32(exponent - 1) << 10;
  return u16(sign | (field + kept + up));
}
__device__ u32 soft_single(u16 x) {
  const u32 sign = u32(x & 0x8000) << 16, magnitude = x & 0x7fffu;
  if (magnitude > 0x7c00u) return kSoftNan;
  if (magnitude == 0x7c00u) return sign | 0x7f800000u;
  if (magnitude >= 0x400u) return sign | ((magnitude << 13) + 0x38000000u);
  if (magnitude == 0) return sign;
  const int shift = __clz(int(magnitude)) - 21;
  return sign | (u32(113 - shift) << 23) + ((magnitude << (shift + 13)) & 0x7fffffu);
}

// ---- halves and their pairs: one text for f16 and bf16 ----

__device__ f32 widened(f16 x) { return __half2float(x); }
__device__ f32 widened(bf16 x) { return __bfloat162float(x); }
template <class T>
__device__ T narrowed(f32 x);
template <>
__device__ f16 narrowed(f32 x) {
  return __float2half_rn(x);
}
template <>
__device__ bf16 narrowed(f32 x) {
  return __float2bfloat16_rn(x);
}
__device__ u16 bits_of(f16 x) { return __half_as_ushort(x); }
__device__ u16 bits_of(bf16 x) { return __bfloat16_as_ushort(x); }
__device__ f16 paired_first(f16x2 x) { return __low2half(x); }
__device__ bf16 paired_first(bf16x2 x) { return __low2bfloat16(x); }
__device__ f16 paired_second(f16x2 x) { return __high2half(x); }
__device__ bf16 paired_second(bf16x2 x) { return __high2bfloat16(x); }
__device__ f16x2 paired(f16 x, f16 y) { return __halves2half2(x, y); }
__device__ bf16x2 paired(bf16 x, bf16 y) { return __halves2bfloat162(x, y); }

// By operations that no assembler may fuse.
template <class T>
__device__ T half_polynomial(T x) {
  T value = narrowed<T>(0.25f);
  for (int i = 1; i < 6; ++i) value = __hadd_rn(__hmul_rn(value, x), narrowed<T>(1.0f / f32(i)));
  return value;
}
template <class T>
__device__ T half_norm(T x, T y) {
  const f32 a = widened(x), b = widened(y);
  return narrowed<T>(sqrtf(a * a + b * b));
}
template <class T>
__device__ u16 half_order(T x, T y) {
  u16 bits = 0;
  bits |= __heq(x, y) ? 1 : 0;
  bits |= __hne(x, y) ? 2 : 0;
  bits |= __hlt(x, y) ? 4 : 0;
  bits |= __hle(x, y) ? 8 : 0;
  bits |= __hgtu(x, y) ? 16 : 0;
  bits |= __hgeu(x, y) ? 32 : 0;
  bits |= __hisnan(x) ? 64 : 0;
  bits |= __hequ(x, y) ? 128 : 0;
  return bits;
}
template <class T>
__device__ T pair_complex_product(T x, T y) {
  const auto a = paired_first(x), b = paired_second(x), c = paired_first(y), d = paired_second(y);
  return paired(__hsub_rn(__hmul_rn(a, c), __hmul_rn(b, d)),
                __hadd_rn(__hmul_rn(a, d), __hmul_rn(b, c)));
}

}  // namespace
