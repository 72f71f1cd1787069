// cvt between every pair of number types in every rounding mode, compared with long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <string>

#include "vgpu/machine/compute/compute_testing.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::testing {
namespace {

using ptx::Modifiers;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;
using Exact = __int128;

constexpr Type kIntegers[] = {Type::u8, Type::u16, Type::u32, Type::u64,
                              Type::s8, Type::s16, Type::s32, Type::s64};

unsigned width(Type type) { return 8 * ptx::bytes_of(type); }

Exact number(Type type, std::uint64_t cell) {
  const std::uint64_t value = low_bits(cell, width(type));
  if (!ptx::is_signed(type)) return value;
  const unsigned unused = 64 - width(type);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

// The register contents of an integer result: signed numbers are sign-extended.
std::uint64_t cell(Type type, Exact value) {
  const auto cut = static_cast<std::uint64_t>(number(type, static_cast<std::uint64_t>(value)));
  return width(type) == 64 ? cut : low_bits(cut, 32);
}

Exact lowest(Type type) { return ptx::is_signed(type) ? -(Exact{1} << (width(type) - 1)) : 0; }
Exact highest(Type type) {
  return (Exact{1} << (width(type) - (ptx::is_signed(type) ? 1 : 0))) - 1;
}

TestedInstruction cvt(Type type, Type source, const Modifiers& modifiers) {
  TestedInstruction form{.name = "cvt." + std::string(ptx::name_of(type)) + "." +
                                 std::string(ptx::name_of(source)) + "." +
                                 std::to_string(static_cast<int>(modifiers.rounding)),
                         .opcode = Opcode::cvt_,
                         .modifiers = modifiers,
                         .operands = {type, source}};
  form.modifiers.type = type;
  form.modifiers.source_type = source;
  return form;
}

int host_mode(Rounding rounding) {
  switch (rounding) {
    case Rounding::rz: return FE_TOWARDZERO;
    case Rounding::rm: return FE_DOWNWARD;
    case Rounding::rp: return FE_UPWARD;
    default: return FE_TONEAREST;
  }
}

// Rounds with the host's arithmetic; the argument is exact in long double.
template <class F>
F rounded(long double x, Rounding rounding) {
  volatile long double exact = x;
  std::fesetround(host_mode(rounding));
  volatile F result = static_cast<F>(exact);
  std::fesetround(FE_TONEAREST);
  return result;
}

long double integral(long double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::rmi: return std::floor(x);
    case Rounding::rpi: return std::ceil(x);
    case Rounding::rzi: return std::trunc(x);
    default: return std::nearbyint(x);
  }
}

TEST(ComputeConvert, IntegersToIntegers) {
  for (const Type source : kIntegers) {
    for (const Type type : kIntegers) {
      expect_agrees(
          cvt(type, source, {}), [=](Lane& l) { l.d = cell(type, number(source, l.a)); }, 8);
      Modifiers sat;
      sat.sat = true;
      expect_agrees(
          cvt(type, source, sat),
          [=](Lane& l) {
            l.d = cell(type, std::clamp(number(source, l.a), lowest(type), highest(type)));
          },
          8);
    }
  }
}

// A cvt may have a 64-bit register for a narrower type.
TEST(ComputeConvert, WiderRegistersThanTypes) {
  TestedInstruction form = cvt(Type::s8, Type::u16, {});
  form.operands = {Type::b64, Type::b64};
  expect_agrees(form, [](Lane& l) {
    l.d = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(l.a)));
  });
  form = cvt(Type::u16, Type::s32, {});
  form.operands = {Type::b64, Type::s32};
  expect_agrees(form, [](Lane& l) { l.d = l.a & 0xffff; });
  form = cvt(Type::u32, Type::u8, {});
  form.operands = {Type::u32, Type::b64};
  expect_agrees(form, [](Lane& l) { l.d = l.a & 0xff; });
}

TEST(ComputeConvert, IntegersToFloats) {
  for (const Type source : kIntegers) {
    for (const Rounding rounding : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp}) {
      Modifiers m;
      m.rounding = rounding;
      expect_agrees(
          cvt(Type::f32, source, m),
          [=](Lane& l) {
            l.d = bits_of(rounded<float>(static_cast<long double>(number(source, l.a)), rounding));
          },
          8);
      expect_agrees(
          cvt(Type::f64, source, m),
          [=](Lane& l) {
            l.d = bits_of(rounded<double>(static_cast<long double>(number(source, l.a)), rounding));
          },
          8);
    }
  }
}

long double source_value(Type type, std::uint64_t bits, bool ftz) {
  if (type == Type::f64) return as_double(bits);
  const float x = as_float(bits);
  return ftz && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

TEST(ComputeConvert, FloatsToIntegers) {
  for (const Type source : {Type::f32, Type::f64}) {
    for (const Type type : kIntegers) {
      for (const Rounding rounding : {Rounding::rni, Rounding::rzi, Rounding::rmi, Rounding::rpi}) {
        for (const bool ftz : {false, true}) {
          if (ftz && source == Type::f64) continue;
          Modifiers m;
          m.rounding = rounding;
          m.ftz = ftz;
          expect_agrees(
              cvt(type, source, m),
              [=](Lane& l) {
                const long double x = integral(source_value(source, l.a, ftz), rounding);
                const bool has_nan = source == Type::f64 || width(type) == 64;
                Exact value = has_nan ? Exact{1} << (width(type) - 1) : 0;
                if (x >= 0x1p65L) {
                  value = highest(type);
                } else if (x <= -0x1p65L) {
                  value = lowest(type);
                } else if (!std::isnan(x)) {
                  value = std::clamp(static_cast<Exact>(x), lowest(type), highest(type));
                }
                l.d = cell(type, value);
              },
              10);
        }
      }
    }
  }
}

template <class F>
std::uint64_t finished(F x, bool ftz, bool sat) {
  if (ftz && std::fpclassify(x) == FP_SUBNORMAL) x = std::copysign(F{0}, x);
  if (sat) x = std::isnan(x) || !(x > 0) ? F{0} : x > 1 ? F{1} : x;
  if (std::isnan(x)) return sizeof(F) == 4 ? 0x7fffffffu : 0xfff8000000000000u;
  return bits_of(x);
}

// Rounds to f32.  With .ftz the result is zero if the number, rounded to 24 bits with an unlimited
// exponent, is below the normal range.
float narrowed(double x, Rounding rounding, bool ftz) {
  const auto scaled = rounded<float>(static_cast<long double>(x) * 0x1p60L, rounding);
  const bool tiny = ftz && std::fabs(scaled) < 0x1p-66f;
  return tiny ? std::copysign(0.0f, static_cast<float>(x)) : rounded<float>(x, rounding);
}

std::uint64_t narrowed_nan(std::uint64_t bits) {
  return (bits >> 32 & 0x80000000u) | 0x7fc00000u | (bits >> 29 & 0x3fffffu);
}

std::uint64_t widened_nan(std::uint64_t bits) {
  return (bits & 0x80000000u) << 32 | 0x7ff8000000000000u | (bits & 0x7fffffu) << 29;
}

TEST(ComputeConvert, FloatsToFloats) {
  for (const Rounding rounding : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp}) {
    for (const bool ftz : {false, true}) {
      for (const bool sat : {false, true}) {
        Modifiers m;
        m.rounding = rounding;
        m.ftz = ftz;
        m.sat = sat;
        expect_agrees(cvt(Type::f32, Type::f64, m), [=](Lane& l) {
          l.d = finished(narrowed(as_double(l.a), rounding, ftz), ftz, sat);
          if (std::isnan(as_double(l.a)) && !sat) l.d = narrowed_nan(l.a);
        });
        m.rounding = Rounding::none;
        expect_agrees(cvt(Type::f64, Type::f32, m), [=](Lane& l) {
          const std::uint64_t nan = ftz ? 0x7fffffffu : l.a;
          l.d = finished(static_cast<double>(source_value(Type::f32, l.a, ftz)), ftz, sat);
          if (std::isnan(as_float(l.a)) && !sat) l.d = widened_nan(nan);
        });
      }
    }
  }
}

TEST(ComputeConvert, FloatsToIntegralFloats) {
  for (const Rounding rounding :
       {Rounding::none, Rounding::rni, Rounding::rzi, Rounding::rmi, Rounding::rpi}) {
    for (const bool sat : {false, true}) {
      Modifiers m;
      m.rounding = rounding;
      m.sat = sat;
      const auto apply = [=](long double x) {
        return rounding == Rounding::none ? x : integral(x, rounding);
      };
      for (const bool ftz : {false, true}) {
        m.ftz = ftz;
        expect_agrees(cvt(Type::f32, Type::f32, m), [=](Lane& l) {
          l.d = finished(static_cast<float>(apply(source_value(Type::f32, l.a, ftz))), ftz, sat);
          if (rounding == Rounding::none && !ftz && !sat) l.d = l.a;
        });
      }
      m.ftz = false;
      expect_agrees(cvt(Type::f64, Type::f64, m), [=](Lane& l) {
        l.d = finished(static_cast<double>(apply(as_double(l.a))), false, sat);
        const std::uint64_t quiet = rounding == Rounding::none ? 0 : 0x0008000000000000u;
        if (std::isnan(as_double(l.a)) && !sat) l.d = l.a | quiet;
      });
    }
  }
}

#if defined(__FLT16_MAX__)
TEST(ComputeConvert, Halves) {
  const auto to_half = [](long double x) -> std::uint64_t {
    if (std::isnan(x)) return 0x7fff;
    return __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(x));
  };
  Modifiers rn;
  rn.rounding = Rounding::rn;
  expect_agrees(cvt(Type::f16, Type::f32, rn),
                [&](Lane& l) { l.d = to_half(static_cast<long double>(as_float(l.a))); });
  expect_agrees(cvt(Type::f32, Type::f16, {}), [](Lane& l) {
    const auto half = __builtin_bit_cast(_Float16, static_cast<std::uint16_t>(l.a));
    l.d = finished(static_cast<float>(half), false, false);
  });
  TestedInstruction pair = cvt(Type::f16x2, Type::f32, rn);
  pair.operands = {Type::b32, Type::f32, Type::f32};
  expect_agrees(pair, [&](Lane& l) {
    l.d = to_half(static_cast<long double>(as_float(l.a))) << 16 |
          to_half(static_cast<long double>(as_float(l.b)));
  });
}
#endif

TEST(ComputeConvert, Bfloat16IsTheUpperHalfOfAFloat) {
  Modifiers m;
  expect_agrees(cvt(Type::f32, Type::bf16, m), [](Lane& l) { l.d = l.a << 16; });
  m.rounding = Rounding::rz;
  expect_agrees(cvt(Type::bf16, Type::f32, m),
                [](Lane& l) { l.d = std::isnan(as_float(l.a)) ? 0x7fff : l.a >> 16; });
  m.rounding = Rounding::rn;
  expect_agrees(cvt(Type::bf16, Type::f32, m), [](Lane& l) {
    const std::uint64_t rounded = l.a + 0x7fff + (l.a >> 16 & 1);
    l.d = std::isnan(as_float(l.a)) ? 0x7fff : rounded >> 16;
  });
}

}  // namespace
}  // namespace warpcheck::vgpu::testing
