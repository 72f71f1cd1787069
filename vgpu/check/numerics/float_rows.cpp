#include "vgpu/check/numerics/float_rows.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace warpcheck::vgpu {
namespace {

struct Layout {
  std::uint32_t exponent, fraction;  // masks of one element
};

// Returns the special lanes of a row of words whose elements begin at bit `shift`.
SpecialLanes specials_of_words(const std::byte* row, Layout layout, unsigned shift) {
  std::uint32_t words[kWarpLanes];
  std::memcpy(words, row, sizeof words);
  // Most rows have no special value, and this loop is made of vectors.
  std::uint32_t found = 0;
  for (const std::uint32_t word : words) {
    found |= std::uint32_t{(word >> shift & layout.exponent) == layout.exponent};
  }
  SpecialLanes lanes;
  if (found == 0) return lanes;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint32_t bits = words[lane] >> shift;
    if ((bits & layout.exponent) != layout.exponent) continue;
    lanes.any |= 1u << lane;
    if ((bits & layout.fraction) != 0) lanes.nan |= 1u << lane;
  }
  return lanes;
}

SpecialLanes specials_of_doubles(const std::byte* row) {
  std::uint64_t words[kWarpLanes];
  std::memcpy(words, row, sizeof words);
  constexpr std::uint64_t kExponent = 0x7ff0'0000'0000'0000, kFraction = 0x000f'ffff'ffff'ffff;
  SpecialLanes lanes;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const bool is_special = (words[lane] & kExponent) == kExponent;
    lanes.any |= std::uint32_t{is_special} << lane;
    lanes.nan |= std::uint32_t{is_special && (words[lane] & kFraction) != 0} << lane;
  }
  return lanes;
}

// f32x2: two floats a lane.
SpecialLanes specials_of_pairs(const std::byte* row) {
  SpecialLanes lanes;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    for (std::uint32_t part = 0; part < 2; ++part) {
      const double value = float_at(FloatFormat::f32x2, row, lane, part);
      lanes.any |= std::uint32_t{!std::isfinite(value)} << lane;
      lanes.nan |= std::uint32_t{std::isnan(value)} << lane;
    }
  }
  return lanes;
}

SpecialLanes both(SpecialLanes a, SpecialLanes b) { return {a.any | b.any, a.nan | b.nan}; }

constexpr Layout kF32{0x7f80'0000, 0x007f'ffff}, kF16{0x7c00, 0x03ff}, kBf16{0x7f80, 0x007f};

double half_of(std::uint32_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const std::uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
}

}  // namespace

FloatFormat float_format_of(ptx::Type type) {
  switch (type) {
    case ptx::Type::f16: return FloatFormat::f16;
    case ptx::Type::bf16: return FloatFormat::bf16;
    case ptx::Type::f16x2: return FloatFormat::f16x2;
    case ptx::Type::bf16x2: return FloatFormat::bf16x2;
    case ptx::Type::f32: return FloatFormat::f32;
    case ptx::Type::f32x2: return FloatFormat::f32x2;
    case ptx::Type::f64: return FloatFormat::f64;
    default: return FloatFormat::none;
  }
}

std::string_view name_of(FloatFormat format) {
  switch (format) {
    case FloatFormat::f16:
    case FloatFormat::f16x2: return "f16";
    case FloatFormat::bf16:
    case FloatFormat::bf16x2: return "bf16";
    case FloatFormat::f64: return "f64";
    default: return "f32";
  }
}

std::uint32_t parts_of(FloatFormat format) {
  const bool is_pair =
      format == FloatFormat::f16x2 || format == FloatFormat::bf16x2 || format == FloatFormat::f32x2;
  return is_pair ? 2 : 1;
}

std::uint32_t part_bytes_of(FloatFormat format) {
  switch (format) {
    case FloatFormat::f64: return 8;
    case FloatFormat::f32:
    case FloatFormat::f32x2: return 4;
    default: return 2;
  }
}

SpecialLanes specials_in(FloatFormat format, const std::byte* row) {
  switch (format) {
    case FloatFormat::f32: return specials_of_words(row, kF32, 0);
    case FloatFormat::f16: return specials_of_words(row, kF16, 0);
    case FloatFormat::bf16: return specials_of_words(row, kBf16, 0);
    case FloatFormat::f16x2:
      return both(specials_of_words(row, kF16, 0), specials_of_words(row, kF16, 16));
    case FloatFormat::bf16x2:
      return both(specials_of_words(row, kBf16, 0), specials_of_words(row, kBf16, 16));
    case FloatFormat::f64: return specials_of_doubles(row);
    case FloatFormat::f32x2: return specials_of_pairs(row);
    case FloatFormat::none: break;
  }
  return {};
}

bool has_special_bytes(ptx::Type type, const std::byte* row) {
  const bool is_e4m3 = type == ptx::Type::e4m3x2, is_e5m2 = type == ptx::Type::e5m2x2;
  for (std::size_t i = 0; (is_e4m3 || is_e5m2) && i < kWordRowBytes; ++i) {
    const auto magnitude = std::to_integer<unsigned>(row[i]) & 0x7f;
    if (is_e4m3 ? magnitude == 0x7f : magnitude >= 0x7c) return true;
  }
  return false;
}

bool may_be_special(const std::byte* bytes, std::size_t count) {
  if (count < 2) return true;
  for (std::size_t i = 0; i + 2 <= count; i += 2) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes + i, sizeof half);
    if ((half & kF16.exponent) == kF16.exponent || (half & kBf16.exponent) == kBf16.exponent)
      return true;
  }
  return false;
}

double float_at(FloatFormat format, const std::byte* row, unsigned lane, std::uint32_t part) {
  if (format == FloatFormat::f64) {
    double value = 0;
    std::memcpy(&value, row + lane * sizeof value, sizeof value);
    return value;
  }
  std::uint32_t bits = 0;
  if (format == FloatFormat::f32x2) {
    std::memcpy(&bits, row + lane * 8 + part * 4, sizeof bits);
    return std::bit_cast<float>(bits);
  }
  std::memcpy(&bits, row + lane * sizeof bits, sizeof bits);
  if (format == FloatFormat::f32) return std::bit_cast<float>(bits);
  bits = bits >> 16 * part & 0xffff;
  const bool is_half = format == FloatFormat::f16 || format == FloatFormat::f16x2;
  return is_half ? half_of(bits) : std::bit_cast<float>(bits << 16);
}

std::string text_of_float(FloatFormat format, double value) {
  // The sign of a NaN means nothing.
  if (std::isnan(value)) return "nan";
  return format == FloatFormat::f64 ? fmt::format("{}", value)
                                    : fmt::format("{}", static_cast<float>(value));
}

}  // namespace warpcheck::vgpu
