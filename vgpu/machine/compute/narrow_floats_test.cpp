// Narrow floats and scales, compared with the toolkit's host functions, and stochastic rounding,
// compared with its definition.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "vgpu/machine/compute/compute_testing.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::testing {
namespace {

using ptx::Modifiers;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

TestedInstruction cvt(const std::string& name, const Modifiers& modifiers, OperandTypes operands) {
  return {.name = name, .opcode = Opcode::cvt_, .modifiers = modifiers, .operands = operands};
}

// An instruction with the number of sources that `modifiers` require, and rows for its operands.
class OneRow {
 public:
  explicit OneRow(const Modifiers& modifiers) {
    instr_.kind = InstrKind::compute;
    instr_.opcode = Opcode::cvt_;
    instr_.modifiers = modifiers;
    instr_.operands = ComputeRows{.d = {Bank::word, 0}, .a = {Bank::word, kWordRowBytes}};
    if (modifiers.source_type == Type::f32) {
      instr_[ComputeOperand::b] = {Bank::word, 2 * kWordRowBytes};
    }
    fn_ = find_compute(instr_, levels().front());
  }
  std::uint32_t& a(std::uint32_t lane) { return rows_[kWarpLanes + lane]; }
  std::uint32_t& b(std::uint32_t lane) { return rows_[2 * kWarpLanes + lane]; }
  void run() {
    LaneBanks banks{};
    banks.base[static_cast<std::size_t>(Bank::word)] = reinterpret_cast<std::byte*>(rows_);
    fn_(banks, instr_, 0xffffffff);
  }
  [[nodiscard]] std::uint32_t d(std::uint32_t lane) const { return rows_[lane]; }
  std::uint32_t of(std::uint32_t a0) {
    a(0) = a0;
    run();
    return d(0);
  }

 private:
  Instr instr_;
  ComputeFn fn_ = nullptr;
  alignas(64) std::uint32_t rows_[3 * kWarpLanes] = {};
};

using ToByte = unsigned (*)(float);

struct NarrowFormat {
  Type type;
  unsigned stride;
  ToByte from_float;
  __half_raw (*to_half)(unsigned);
};

const NarrowFormat kFormats[] = {
    {Type::e2m1x2, 4,
     [](float x) -> unsigned { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); },
     [](unsigned x) { return __nv_cvt_fp4_to_halfraw(static_cast<unsigned char>(x), __NV_E2M1); }},
    {Type::e2m3x2, 8,
     [](float x) -> unsigned { return __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest); },
     [](unsigned x) { return __nv_cvt_fp6_to_halfraw(static_cast<unsigned char>(x), __NV_E2M3); }},
    {Type::e3m2x2, 8,
     [](float x) -> unsigned { return __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest); },
     [](unsigned x) { return __nv_cvt_fp6_to_halfraw(static_cast<unsigned char>(x), __NV_E3M2); }},
    {Type::e4m3x2, 8,
     [](float x) -> unsigned { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); },
     [](unsigned x) { return __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(x), __NV_E4M3); }},
    {Type::e5m2x2, 8,
     [](float x) -> unsigned { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); },
     [](unsigned x) { return __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(x), __NV_E5M2); }},
};

float without_negative(float x) { return std::signbit(x) && !std::isnan(x) ? 0.0f : x; }

TEST(NarrowFloats, AreRoundedAsByTheHostFunctionsOfTheToolkit) {
  for (const NarrowFormat& format : kFormats) {
    for (const bool relu : {false, true}) {
      Modifiers m;
      m.type = format.type;
      m.source_type = Type::f32;
      m.rounding = Rounding::rn;
      m.satfinite = true;
      m.relu = relu;
      const auto one = [&](std::uint64_t bits) {
        const float x = as_float(bits);
        return format.from_float(relu ? without_negative(x) : x);
      };
      expect_agrees(
          cvt("cvt.rn.satfinite.narrow.f32", m, {.d = format.type, .a = Type::f32, .b = Type::f32}),
          [&](Lane& lane) { lane.d = one(lane.a) << format.stride | one(lane.b); }, 200);
    }
  }
}

// These values include one that is rounded alike for every value between two narrow floats, and for
// their midpoints.
TEST(NarrowFloats, AreRoundedAsByTheHostFunctionsForEveryBfloat) {
  for (const NarrowFormat& format : kFormats) {
    Modifiers m;
    m.type = format.type;
    m.source_type = Type::f32;
    m.rounding = Rounding::rn;
    m.satfinite = true;
    OneRow row(m);
    for (std::uint32_t first = 0; first < 0x10000; first += kWarpLanes) {
      for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
        row.a(lane) = (first + lane) << 16;
        row.b(lane) = (first + lane) << 16 | 1;
      }
      row.run();
      for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
        const std::uint32_t expected = format.from_float(as_float(row.a(lane))) << format.stride |
                                       format.from_float(as_float(row.b(lane)));
        ASSERT_EQ(row.d(lane), expected) << ptx::name_of(format.type) << " " << first + lane;
      }
    }
  }
}

// Every half, which a float holds without loss.
TEST(NarrowFloats, AreRoundedAsByTheHostFunctionsForEveryHalf) {
  for (const NarrowFormat& format : kFormats) {
    if (format.type == Type::e2m3x2 || format.type == Type::e3m2x2)
      continue;  // no such instruction
    Modifiers m;
    m.type = format.type;
    m.source_type = Type::f16x2;
    m.rounding = Rounding::rn;
    m.satfinite = true;
    OneRow row(m);
    const auto one = [&](std::uint32_t bits) {
      __half_raw half{};
      half.x = static_cast<unsigned short>(bits);
      return format.from_float(__half2float(half));
    };
    for (std::uint32_t x = 0; x < 0x10000; ++x) {
      const std::uint32_t other = x ^ 0xa5a5;
      ASSERT_EQ(row.of(other << 16 | x), one(other) << format.stride | one(x))
          << ptx::name_of(format.type) << " " << x;
    }
  }
}

TEST(NarrowFloats, BecomeTheHalvesThatTheHostFunctionsGive) {
  for (const NarrowFormat& format : kFormats) {
    Modifiers m;
    m.type = Type::f16x2;
    m.source_type = format.type;
    m.rounding = Rounding::rn;
    OneRow row(m);
    const unsigned values = format.stride == 4 ? 16 : format.type < Type::e4m3x2 ? 64 : 256;
    for (unsigned x = 0; x < values; ++x) {
      const unsigned other = values - 1 - x;
      const std::uint32_t expected =
          static_cast<std::uint32_t>(format.to_half(other).x) << 16 | format.to_half(x).x;
      EXPECT_EQ(row.of(other << format.stride | x), expected)
          << ptx::name_of(format.type) << " " << x;
    }
  }
}

TEST(Scales, AreAsTheHostFunctionsGiveThem) {
  for (const bool up : {false, true}) {
    for (const bool finite : {false, true}) {
      Modifiers m;
      m.type = Type::ue8m0x2;
      m.source_type = Type::f32;
      m.rounding = up ? Rounding::rp : Rounding::rz;
      m.satfinite = finite;
      const auto mode = up ? cudaRoundPosInf : cudaRoundZero;
      const auto saturation = finite ? __NV_SATFINITE : __NV_NOSAT;
      const auto one = [&](std::uint64_t bits) -> std::uint64_t {
        return __nv_cvt_float_to_e8m0(as_float(bits), saturation, mode);
      };
      expect_agrees(
          cvt("cvt.ue8m0x2.f32", m, {.d = Type::ue8m0x2, .a = Type::f32, .b = Type::f32}),
          [&](Lane& lane) { lane.d = one(lane.a) << 8 | one(lane.b); }, 400);
      m.source_type = Type::bf16x2;
      OneRow row(m);
      for (std::uint32_t x = 0; x < 0x10000; ++x) {
        __nv_bfloat16_raw low{};
        low.x = static_cast<unsigned short>(x);
        __nv_bfloat16_raw high{};
        high.x = static_cast<unsigned short>(x ^ 0x5a5a);
        const std::uint32_t expected =
            static_cast<std::uint32_t>(__nv_cvt_bfloat16raw_to_e8m0(high, saturation, mode)) << 8 |
            __nv_cvt_bfloat16raw_to_e8m0(low, saturation, mode);
        ASSERT_EQ(row.of(static_cast<std::uint32_t>(high.x) << 16 | low.x), expected) << x;
      }
    }
  }
}

TEST(Scales, BecomePowersOfTwo) {
  Modifiers m;
  m.type = Type::bf16x2;
  m.source_type = Type::ue8m0x2;
  m.rounding = Rounding::rn;
  OneRow row(m);
  for (unsigned x = 0; x < 256; ++x) {
    const auto half = [](unsigned scale) -> std::uint32_t {
      return __nv_cvt_e8m0_to_bf16raw(static_cast<unsigned char>(scale)).x;
    };
    EXPECT_EQ(row.of((255 - x) << 8 | x), half(255 - x) << 16 | half(x)) << x;
  }
}

// Truncates the value that is `random` / 2^bits of a step above |x|.
std::uint64_t randomly_rounded(std::uint64_t bits, std::uint64_t random, int fraction, int least,
                               int exponent_max, std::uint64_t infinity) {
  const float x = as_float(bits);
  if (std::isinf(x)) return infinity;
  const int exponent = x == 0 ? least : std::max(std::ilogb(x), least);
  if (exponent > exponent_max) return infinity;
  const int cut = 23 - fraction;
  const double steps = std::floor(std::ldexp(std::fabs(x), 23 - exponent));
  const auto kept = static_cast<std::uint64_t>(
      std::floor(std::ldexp(steps + static_cast<double>(random & ((1u << cut) - 1)), -cut)));
  const std::uint64_t result = (static_cast<std::uint64_t>(exponent - least) << fraction) + kept;
  return std::min(result, infinity);
}

TEST(RandomRounding, CarriesOutOfWhatIsCutOff) {
  for (const bool half : {true, false}) {
    for (const bool finite : {false, true}) {
      Modifiers m;
      m.type = half ? Type::f16x2 : Type::bf16x2;
      m.source_type = Type::f32;
      m.rounding = Rounding::rs;
      m.satfinite = finite;
      const std::uint64_t infinity = half ? 0x7c00 : 0x7f80;
      const auto one = [&](std::uint64_t bits, std::uint64_t random) -> std::uint64_t {
        if (std::isnan(as_float(bits))) return 0x7fff;
        const std::uint64_t magnitude =
            half ? randomly_rounded(bits, random, 10, -14, 15, infinity)
                 : randomly_rounded(bits, random, 7, -126, 127, infinity);
        const std::uint64_t sign = bits >> 31 << 15;
        return sign | (finite && magnitude == infinity ? infinity - 1 : magnitude);
      };
      expect_agrees(
          cvt("cvt.rs", m, {.d = m.type, .a = Type::f32, .b = Type::f32, .c = Type::b32}),
          [&](Lane& lane) {
            lane.d = one(lane.a, lane.c >> 16) << 16 | one(lane.b, lane.c & 0xffff);
          },
          400);
    }
  }
}

// The bits of the fraction, the exponent of the smallest normal number, and the largest number.
struct NarrowSteps {
  Type type;
  int fraction, exponent_min;
  double most;
};

const NarrowSteps kSteps[] = {
    {Type::e2m1x2, 1, 0, 6},    {Type::e2m3x2, 3, 0, 7.5},     {Type::e3m2x2, 2, -2, 28},
    {Type::e4m3x2, 3, -6, 448}, {Type::e5m2x2, 2, -14, 57344},
};

// |x| cut off to 16 bits below the last place, plus the random bits there, cut off to that place.
double randomly_rounded(double x, std::uint32_t random, const NarrowSteps& steps) {
  if (std::isinf(x)) return steps.most;
  const int exponent = x == 0 ? steps.exponent_min : std::max(std::ilogb(x), steps.exponent_min);
  const double units = std::floor(std::ldexp(x, steps.fraction - exponent + 16)) + random;
  return std::min(std::ldexp(std::floor(std::ldexp(units, -16)), exponent - steps.fraction),
                  steps.most);
}

TEST(RandomRounding, OfNarrowFloatsSharesItsBits) {
  for (const NarrowSteps& steps : kSteps) {
    for (const bool relu : {false, true}) {
      Modifiers m;
      m.type = steps.type;
      m.source_type = Type::f32;
      m.rounding = Rounding::rs;
      m.satfinite = true;
      m.relu = relu;
      const NarrowFormat& format = *std::ranges::find(kFormats, steps.type, &NarrowFormat::type);
      const auto one = [&](std::uint64_t bits, std::uint64_t random) -> std::uint64_t {
        const float x = as_float(bits);
        if (std::isnan(x)) return format.from_float(x);
        const double magnitude = randomly_rounded(std::fabs(x), random & 0xffff, steps);
        // The result is a number of the format, so no rounding of the host's function matters.
        return format.from_float(
            static_cast<float>(std::signbit(x) ? (relu ? 0.0 : -magnitude) : magnitude));
      };
      expect_agrees(
          cvt("cvt.rs.narrow", m, {.d = m.type, .a = Type::f32, .b = Type::f32, .c = Type::b32}),
          [&](Lane& lane) { lane.d = one(lane.a, lane.c) << format.stride | one(lane.b, lane.c); },
          400);
    }
  }
}

TEST(RandomRounding, NeverLeavesItsNeighbours) {
  // 1.25 lies a half of a step of e2m1 above 1: half of all random bits give 1.5.
  Modifiers m;
  m.type = Type::e2m1x2;
  m.source_type = Type::f32;
  m.rounding = Rounding::rs;
  m.satfinite = true;
  Instr instr;
  instr.kind = InstrKind::compute;
  instr.opcode = Opcode::cvt_;
  instr.modifiers = m;
  instr.operands = ComputeRows{.d = {Bank::word, 0},
                               .a = {Bank::word, kWordRowBytes},
                               .b = {Bank::word, 2 * kWordRowBytes},
                               .c = {Bank::word, 3 * kWordRowBytes}};
  const ComputeFn run = find_compute(instr, levels().front());
  alignas(64) std::uint32_t rows[4 * kWarpLanes] = {};
  LaneBanks banks{};
  banks.base[static_cast<std::size_t>(Bank::word)] = reinterpret_cast<std::byte*>(rows);
  std::uint32_t up = 0;
  for (std::uint32_t first = 0; first < 0x10000; first += kWarpLanes) {
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      rows[kWarpLanes + lane] = rows[2 * kWarpLanes + lane] = 0x3fa00000;
      rows[3 * kWarpLanes + lane] = first + lane;
    }
    run(banks, instr, 0xffffffff);
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t low = rows[lane] & 0xf;
      ASSERT_TRUE(low == 2 || low == 3) << low;  // 1 and 1.5
      up += low == 3 ? 1 : 0;
    }
  }
  EXPECT_EQ(up, 0x8000u);
}

// .satfinite makes infinities and what rounds to them the largest number, and keeps NaN.
TEST(Tf32, SatfiniteOfOtherRoundingsEndsAtTheLargestNumber) {
  for (const Rounding rounding : {Rounding::rn, Rounding::rz}) {
    Modifiers m;
    m.type = Type::tf32;
    m.source_type = Type::f32;
    m.rounding = rounding;
    m.satfinite = true;
    expect_agrees(
        cvt("cvt.satfinite.tf32.f32", m, {.d = Type::tf32, .a = Type::f32}),
        [&](Lane& lane) {
          const auto magnitude = static_cast<std::uint32_t>(lane.a) & 0x7fffffff;
          const auto sign = static_cast<std::uint32_t>(lane.a) & 0x80000000;
          if (magnitude > 0x7f800000) {
            lane.d = 0x7fffe000;
            return;
          }
          const std::uint32_t odd = magnitude >> 13 & 1;
          const std::uint32_t added = rounding == Rounding::rn ? 0xfff + odd : 0;
          lane.d = sign | std::min((magnitude + added) & ~0x1fffu, 0x7f7fe000u);
        },
        400);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu::testing
