// Floating-point arithmetic, compared with the host's in its four rounding modes, and
// approximations, compared with long double.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <functional>
#include <initializer_list>
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

constexpr std::uint64_t kNanF32 = 0x7fffffff;

int host_mode(Rounding rounding) {
  switch (rounding) {
    case Rounding::rz: return FE_TOWARDZERO;
    case Rounding::rm: return FE_DOWNWARD;
    case Rounding::rp: return FE_UPWARD;
    default: return FE_TONEAREST;
  }
}

// One operation by the host's floating-point unit; volatile keeps it between the changes of the
// rounding mode.
template <class F>
F by_host(Opcode opcode, Rounding rounding, F a, F b, F c) {
  volatile F x = a;
  volatile F y = b;
  volatile F z = c;
  volatile F result = 0;
  std::fesetround(host_mode(rounding));
  switch (opcode) {
    case Opcode::add_: result = x + y; break;
    case Opcode::sub_: result = x - y; break;
    case Opcode::mul_: result = x * y; break;
    case Opcode::div_: result = x / y; break;
    case Opcode::fma_:
      result = std::fma(static_cast<F>(x), static_cast<F>(y), static_cast<F>(z));
      break;
    case Opcode::rcp_: result = F{1} / x; break;
    default: result = std::sqrt(static_cast<F>(x)); break;
  }
  std::fesetround(FE_TONEAREST);
  return result;
}

int sources_of(Opcode opcode) {
  if (opcode == Opcode::fma_) return 3;
  return opcode == Opcode::rcp_ || opcode == Opcode::sqrt_ ? 1 : 2;
}

// The NaN that an f64 operation returns for its operands; the preferred operand is first.
std::uint64_t nan_of(std::initializer_list<std::uint64_t> operands) {
  for (const std::uint64_t operand : operands) {
    if (std::isnan(as_double(operand))) return operand | 0x0008000000000000u;
  }
  return 0xfff8000000000000u;
}

std::uint64_t nan_of(Opcode opcode, const Lane& lane) {
  switch (sources_of(opcode)) {
    case 1: return nan_of({lane.a});
    case 2: return opcode == Opcode::div_ ? nan_of({lane.a, lane.b}) : nan_of({lane.b, lane.a});
    default: return nan_of({lane.b, lane.c, lane.a});
  }
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

// Whether a result was below the normal range before its exponent was limited, and so is flushed.
// In double, the product of floats is exact, and the neighbours of 2^-126 have 24 bits.
float flushed_result(float result, Opcode opcode, Rounding rounding, float a, float b, float c) {
  if (std::fabs(result) != 0x1p-126f || opcode == Opcode::add_ || opcode == Opcode::sub_) {
    return flushed(result);
  }
  const double addend = opcode == Opcode::fma_ ? c : 0.0;
  const double exact = std::fma(static_cast<double>(a), static_cast<double>(b), addend);
  const double magnitude = std::fabs(exact);
  // Halfway between 2^-126 and the next smaller number of 24 bits.
  const bool tiny =
      rounding == Rounding::rn ? magnitude < 0x1p-126 - 0x1p-151 : magnitude < 0x1p-126;
  return tiny ? std::copysign(0.0f, result) : result;
}

TestedInstruction float_form(Opcode opcode, Type type, int sources, const Modifiers& modifiers) {
  TestedInstruction form{.name = std::string(ptx::name_of(opcode)) + "." +
                                 std::string(ptx::name_of(type)) + "." +
                                 std::to_string(static_cast<int>(modifiers.rounding)),
                         .opcode = opcode,
                         .modifiers = modifiers};
  form.modifiers.type = type;
  for (int place = 0; place <= sources; ++place)
    form.operands.at(static_cast<std::size_t>(place)) = type;
  return form;
}

TEST(ComputeFloat, ArithmeticInEveryRounding) {
  for (const Opcode opcode : {Opcode::add_, Opcode::sub_, Opcode::mul_, Opcode::div_, Opcode::fma_,
                              Opcode::rcp_, Opcode::sqrt_}) {
    for (const Rounding rounding : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp}) {
      Modifiers m;
      m.rounding = rounding;
      expect_agrees(
          float_form(opcode, Type::f32, sources_of(opcode), m),
          [=](Lane& lane) {
            const float r =
                by_host(opcode, rounding, as_float(lane.a), as_float(lane.b), as_float(lane.c));
            lane.d = std::isnan(r) ? kNanF32 : bits_of(r);
          },
          60);
      expect_agrees(
          float_form(opcode, Type::f64, sources_of(opcode), m),
          [=](Lane& lane) {
            const double r =
                by_host(opcode, rounding, as_double(lane.a), as_double(lane.b), as_double(lane.c));
            lane.d = std::isnan(r) ? nan_of(opcode, lane) : bits_of(r);
          },
          60);
    }
  }
}

TEST(ComputeFloat, FlushAndSaturate) {
  for (const Opcode opcode : {Opcode::add_, Opcode::sub_, Opcode::mul_, Opcode::fma_}) {
    for (const Rounding rounding : {Rounding::rn, Rounding::rz}) {
      for (const bool ftz : {false, true}) {
        for (const bool sat : {false, true}) {
          Modifiers m;
          m.rounding = rounding;
          m.ftz = ftz;
          m.sat = sat;
          expect_agrees(float_form(opcode, Type::f32, sources_of(opcode), m), [=](Lane& lane) {
            const auto in = [&](unsigned place) {
              return ftz ? flushed(as_float(lane.at(static_cast<std::size_t>(place))))
                         : as_float(lane.at(static_cast<std::size_t>(place)));
            };
            float r = by_host(opcode, rounding, in(1), in(2), in(3));
            if (ftz) r = flushed_result(r, opcode, rounding, in(1), in(2), in(3));
            if (sat) r = std::isnan(r) || !(r > 0) ? 0.0f : r > 1 ? 1.0f : r;
            lane.d = std::isnan(r) ? kNanF32 : bits_of(r);
          });
        }
      }
    }
  }
}

TEST(ComputeFloat, MinimumAndMaximum) {
  for (const bool maximum : {false, true}) {
    for (const bool nan_wins : {false, true}) {
      for (const bool xorsign : {false, true}) {
        Modifiers m;
        m.nan = nan_wins;
        m.xorsign = xorsign;
        const Opcode opcode = maximum ? Opcode::max_ : Opcode::min_;
        expect_agrees(float_form(opcode, Type::f32, 2, m), [=](Lane& lane) {
          float a = as_float(lane.a);
          float b = as_float(lane.b);
          const bool negative = std::signbit(a) != std::signbit(b);
          if (xorsign) {
            a = std::fabs(a);
            b = std::fabs(b);
          }
          const bool any_nan = std::isnan(a) || std::isnan(b);
          lane.d = kNanF32;
          if ((std::isnan(a) && std::isnan(b)) || (any_nan && nan_wins)) return;
          const bool a_less = a < b || (a == b && std::signbit(a));
          float chosen = a_less != maximum ? a : b;
          if (any_nan) chosen = std::isnan(a) ? b : a;
          lane.d = bits_of(xorsign ? std::copysign(chosen, negative ? -1.0f : 1.0f) : chosen);
        });
      }
    }
    expect_agrees(float_form(maximum ? Opcode::max_ : Opcode::min_, Type::f64, 2, {}),
                  [=](Lane& lane) {
                    const double a = as_double(lane.a);
                    const double b = as_double(lane.b);
                    const bool a_less = a < b || (a == b && std::signbit(a));
                    lane.d = bits_of(a_less != maximum ? a : b);
                    if (std::isnan(a)) lane.d = lane.b;
                    if (std::isnan(b)) lane.d = lane.a;
                    if (std::isnan(a) && std::isnan(b)) lane.d = nan_of({lane.b, lane.a});
                  });
  }
}

TEST(ComputeFloat, SignsAreBits) {
  for (const Type type : {Type::f32, Type::f64}) {
    const std::uint64_t sign = type == Type::f32 ? 0x80000000u : 0x8000000000000000u;
    const auto nan = [=](std::uint64_t bits) -> std::uint64_t {
      if (type == Type::f32) return std::isnan(as_float(bits)) ? kNanF32 : 0;
      return std::isnan(as_double(bits)) ? nan_of({bits}) : 0;
    };
    expect_agrees(float_form(Opcode::abs_, type, 1, {}),
                  [=](Lane& l) { l.d = nan(l.a) != 0 ? nan(l.a) : l.a & ~sign; });
    expect_agrees(float_form(Opcode::neg_, type, 1, {}),
                  [=](Lane& l) { l.d = nan(l.a) != 0 ? nan(l.a) : l.a ^ sign; });
    expect_agrees(float_form(Opcode::copysign_, type, 2, {}),
                  [=](Lane& l) { l.d = (l.b & ~sign) | (l.a & sign); });
  }
  Modifiers ftz;
  ftz.ftz = true;
  expect_agrees(float_form(Opcode::abs_, Type::f32, 1, ftz), [](Lane& l) {
    const float x = flushed(as_float(l.a));
    l.d = std::isnan(x) ? kNanF32 : bits_of(std::fabs(x));
  });
}

// 16-bit arithmetic: the result is exact in long double for every pair of halves, and is then
// rounded by this test.
float half_value(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<float>(bits & 0x3ff);
  float magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0f + fraction, exponent - 25);
  if (exponent == 31) {
    magnitude = (bits & 0x3ff) != 0 ? std::numeric_limits<float>::quiet_NaN()
                                    : std::numeric_limits<float>::infinity();
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// The half that is nearest to x, ties to even: tries all halves around an estimate.
std::uint64_t nearest_half(long double x) {
  if (std::isnan(x)) return 0x7fff;
  const std::uint64_t sign = std::signbit(x) ? 0x8000 : 0;
  const long double magnitude = std::fabs(x);
  if (magnitude >= 65520.0L) return sign | 0x7c00;
  std::uint64_t low = 0;
  std::uint64_t high = 0x7c00;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (static_cast<long double>(half_value(middle)) <= magnitude ? low : high) = middle;
  }
  const long double below = half_value(low);
  const long double above = high == 0x7c00 ? 65536.0L : half_value(high);
  const long double to_low = magnitude - below;
  const long double to_high = above - magnitude;
  const bool up = to_high < to_low || (to_high == to_low && (low & 1) != 0);
  return sign | (up ? high : low);
}

TEST(ComputeFloat, Halves) {
  struct Row {
    Opcode opcode;
    std::function<long double(long double, long double, long double)> f;
  };
  const Row rows[] = {
      {Opcode::add_, [](auto a, auto b, auto) { return a + b; }},
      {Opcode::sub_, [](auto a, auto b, auto) { return a - b; }},
      {Opcode::mul_, [](auto a, auto b, auto) { return a * b; }},
  };
  Modifiers m;
  m.rounding = Rounding::rn;
  for (const Row& row : rows) {
    const auto one = [&](std::uint64_t a, std::uint64_t b) {
      return nearest_half(row.f(half_value(a & 0xffff), half_value(b & 0xffff), 0));
    };
    expect_agrees(float_form(row.opcode, Type::f16, 2, m), [&](Lane& l) { l.d = one(l.a, l.b); });
    expect_agrees(float_form(row.opcode, Type::f16x2, 2, m),
                  [&](Lane& l) { l.d = one(l.a >> 16, l.b >> 16) << 16 | one(l.a, l.b); });
  }
}

// Finite halves are multiples of 2^-24.
__int128 units_of(std::uint64_t half) {
  return static_cast<__int128>(std::ldexp(half_value(half), 24));
}

// Returns a * b + c in units of 2^-48, to odd where 64 bits do not hold it.
long double sum_in_units(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const __int128 sum = units_of(a) * units_of(b) + (units_of(c) << 24);
  auto magnitude = static_cast<unsigned __int128>(sum < 0 ? -sum : sum);
  int shift = 0;
  for (; magnitude >> 62 != 0; ++shift) magnitude = magnitude >> 1 | (magnitude & 1);
  const long double kept = std::ldexp(static_cast<long double>(magnitude), shift);
  return sum < 0 ? -kept : kept;
}

TEST(ComputeFloat, FusedHalvesAreRoundedOnce) {
  const auto one = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const float x = half_value(a & 0xffff), y = half_value(b & 0xffff), z = half_value(c & 0xffff);
    const float about = std::fma(x, y, z);
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z) || about == 0) {
      return nearest_half(about);
    }
    return nearest_half(std::ldexp(sum_in_units(a & 0xffff, b & 0xffff, c & 0xffff), -48));
  };
  EXPECT_EQ(one(0x3c01, 0x3e00, 0x0001), 0x3e02u);  // halfway, but for the least number
  EXPECT_EQ(one(0x3c01, 0x3e00, 0x8001), 0x3e01u);
  Modifiers m;
  m.rounding = Rounding::rn;
  expect_agrees(
      float_form(Opcode::fma_, Type::f16, 3, m), [&](Lane& l) { l.d = one(l.a, l.b, l.c); }, 100);
  m.relu = true;
  expect_agrees(
      float_form(Opcode::fma_, Type::f16, 3, m),
      [&](Lane& l) { l.d = one(l.a, l.b, l.c) < 0x8000 ? one(l.a, l.b, l.c) : 0; }, 100);
}

// Approximations must be within the bound of the ISA, and have the same bits with every instruction
// set.
struct Bound {
  long double relative;  // 0: no relative bound
  long double absolute;
};

void check_approximate(Opcode opcode, const std::function<long double(long double)>& exact,
                       const std::function<Bound(float)>& bound_at, bool ftz) {
  Modifiers m;
  m.approx = true;
  m.ftz = ftz;
  expect_same_at_all_levels(
      float_form(opcode, Type::f32, 1, m),
      [&](const Lane& lane) {
        const float x = ftz ? flushed(as_float(lane.a)) : as_float(lane.a);
        const float got = as_float(lane.d);
        const long double want = exact(x);
        if (std::isnan(want)) {
          EXPECT_EQ(lane.d, kNanF32) << x;
          return;
        }
        if (ftz && std::fabs(want) < 0x1.000002p-126L) return;  // may be flushed
        if (std::isinf(want) || std::fabs(want) >= 0x1.ffffffp127L) {
          EXPECT_TRUE(std::isinf(got)) << x;
          return;
        }
        const Bound bound = bound_at(x);
        const long double allowed =
            std::max(bound.relative * std::fabs(want), bound.absolute) + 0x1p-150L;
        EXPECT_LE(std::fabs(got - want), allowed) << x << " gives " << got;
      },
      400);
}

TEST(ComputeApproximate, WithinTheDocumentedErrors) {
  const auto relative = [](long double r) { return [r](float) { return Bound{r, 0}; }; };
  for (const bool ftz : {false, true}) {
    check_approximate(
        Opcode::rcp_, [](long double x) { return 1 / x; }, relative(0x1p-23L), ftz);
    check_approximate(
        Opcode::sqrt_, [](long double x) { return std::sqrt(x); }, relative(0x1p-23L), ftz);
    check_approximate(
        Opcode::rsqrt_, [](long double x) { return 1 / std::sqrt(x); }, relative(0x1p-22L), ftz);
    check_approximate(
        Opcode::ex2_, [](long double x) { return std::exp2(x); }, relative(0x1p-22L), ftz);
    check_approximate(
        Opcode::lg2_, [](long double x) { return std::log2(x); },
        [](float x) {
          return x > 0.5f && x < 2 ? Bound{0, 0x1p-22L} : Bound{0x1p-22L, 0};
        },
        ftz);
    const auto wave_bound = [](float x) {
      if (std::fabs(x) <= 6.2831855f) return Bound{0, 0x1p-20L};
      return std::fabs(x) <= 314.0f ? Bound{0, 0x1p-14L} : Bound{0, 2};
    };
    check_approximate(
        Opcode::sin_, [](long double x) { return std::sin(x); }, wave_bound, ftz);
    check_approximate(
        Opcode::cos_, [](long double x) { return std::cos(x); }, wave_bound, ftz);
  }
  check_approximate(
      Opcode::tanh_, [](long double x) { return std::tanh(x); }, relative(0x1p-11L), false);
}

TEST(ComputeApproximate, SpecialValues) {
  struct Row {
    Opcode opcode;
    float argument;
    std::uint64_t result;
  };
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Row& row : std::initializer_list<Row>{{Opcode::rcp_, -0.0f, bits_of(-infinity)},
                                                   {Opcode::rcp_, infinity, 0},
                                                   {Opcode::sqrt_, -0.0f, bits_of(-0.0f)},
                                                   {Opcode::sqrt_, -1.0f, kNanF32},
                                                   {Opcode::rsqrt_, -0.0f, bits_of(-infinity)},
                                                   {Opcode::rsqrt_, infinity, 0},
                                                   {Opcode::ex2_, -infinity, 0},
                                                   {Opcode::ex2_, infinity, bits_of(infinity)},
                                                   {Opcode::ex2_, 0.0f, bits_of(1.0f)},
                                                   {Opcode::ex2_, -149.0f, 1},
                                                   {Opcode::lg2_, 0.0f, bits_of(-infinity)},
                                                   {Opcode::lg2_, -1.0f, kNanF32},
                                                   {Opcode::lg2_, 8.0f, bits_of(3.0f)},
                                                   {Opcode::lg2_, 0x1p-149f, bits_of(-149.0f)},
                                                   {Opcode::sin_, -0.0f, bits_of(-0.0f)},
                                                   {Opcode::sin_, infinity, kNanF32},
                                                   {Opcode::cos_, 0.0f, bits_of(1.0f)},
                                                   {Opcode::tanh_, -infinity, bits_of(-1.0f)},
                                                   {Opcode::tanh_, -0.0f, bits_of(-0.0f)}}) {
    Modifiers m;
    m.approx = true;
    expect_same_at_all_levels(float_form(row.opcode, Type::f32, 1, m), [&](const Lane& lane) {
      if (lane.a == bits_of(row.argument)) {
        EXPECT_EQ(lane.d, row.result) << row.argument;
      }
    });
  }
}

TEST(ComputeApproximate, Division) {
  Modifiers m;
  m.approx = true;
  const auto judge = [](bool full) {
    return [full](const Lane& lane) {
      const float a = as_float(lane.a);
      const float b = as_float(lane.b);
      const long double want = static_cast<long double>(a) / b;
      const float got = as_float(lane.d);
      if (!full && std::fabs(b) > 0x1p126f && std::isfinite(b)) {
        EXPECT_EQ(std::isinf(a) || std::isnan(a), std::isnan(got));
        if (!std::isnan(got)) {
          EXPECT_EQ(got, 0.0f);
        }
      } else if (std::isnan(want)) {
        EXPECT_EQ(lane.d, kNanF32);
      } else if (std::fabs(want) < 0x1.fffffep127L) {
        EXPECT_LE(std::fabs(got - want), std::fabs(want) * 0x1p-22L + 0x1p-149L);
      }
    };
  };
  expect_same_at_all_levels(float_form(Opcode::div_, Type::f32, 2, m), judge(false));
  m.approx = false;
  m.full = true;
  expect_same_at_all_levels(float_form(Opcode::div_, Type::f32, 2, m), judge(true));
}

}  // namespace
}  // namespace warpcheck::vgpu::testing
