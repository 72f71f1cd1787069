#include "vgpu/machine/texture/texture_sampling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "vgpu/machine/compute/exact.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kFractionBits = 8;
constexpr std::int64_t kHalfTexel = kWeightOne / 2;
// Larger than any texture, but far below the limits of an integer.
constexpr double kFar = 1e12;

// Returns the exponent of a number that is not 0, infinite or NaN.
int exponent_of(float value) {
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
  return static_cast<int>(bits >> 52 & 0x7ff) - 1023;
}

// std::floor() of a number that fits 64 bits; without SSE4.1, std::floor() is a call.
std::int64_t floor_of(double x) {
  const auto whole = static_cast<std::int64_t>(x);
  return whole - static_cast<std::int64_t>(static_cast<double>(whole) > x);
}

// The same for any finite number; greater ones have no fraction.
double whole_of(double x) { return std::abs(x) < 0x1p52 ? static_cast<double>(floor_of(x)) : x; }

// One coordinate: two neighbouring texels, and the weight of the second one.
struct Neighbours {
  std::int64_t first = 0, second = 0;
  std::int32_t weight = 0;
};

std::int32_t scaled_weight(std::int32_t a, std::int32_t b) {
  return (a * b + kWeightOne / 2) >> kFractionBits;
}

// A normalized coordinate is truncated to this many fraction bits before it is multiplied.
int coordinate_bits(std::uint32_t size) {
  return size <= 1u << 14 ? 21 : size <= 1u << 16 ? 22 : 23;
}

// The position of a coordinate, in texels.
struct Position {
  double texels = 0;
  bool is_mirrored = false;  // its neighbours are in descending order
};

[[gnu::always_inline]] inline Position position_of(float coordinate, std::uint32_t size,
                                                   TextureAddress address, bool normalized) {
  double x = coordinate;
  if (std::abs(coordinate) < 0x1p-126F || std::isnan(coordinate)) x = 0;
  if (std::isinf(coordinate)) x = coordinate > 0 ? kFar : -kFar;
  if (!normalized) return {std::clamp(x, -kFar, kFar)};
  const double unit = exact::power_of_two(coordinate_bits(size));
  x = whole_of(x * unit) / unit;
  if (address == TextureAddress::wrap) return {(x - whole_of(x)) * size};
  if (address == TextureAddress::mirror) {
    const double period = whole_of(x);
    const bool is_odd = std::fmod(period, 2) != 0;
    x = (x - period) * size;
    return {is_odd ? size - x - 1 / unit : x, is_odd};  // the complement of the bits
  }
  return {std::clamp(x * size, -kFar, kFar)};
}

[[gnu::always_inline]] inline bool put_inside(std::int64_t& texel, std::uint32_t size,
                                              TextureAddress address, bool normalized) {
  const auto end = static_cast<std::int64_t>(size);
  if (texel >= 0 && texel < end) return true;
  if (address == TextureAddress::border) return false;
  if (address == TextureAddress::wrap && normalized) {
    texel = texel < 0 ? texel + end : texel - end;
  }
  texel = std::clamp<std::int64_t>(texel, 0, end - 1);
  return true;
}

[[gnu::always_inline]] inline Neighbours neighbours_of(const Position& position, std::uint32_t size,
                                                       bool clamps, bool smooth) {
  Neighbours result;
  if (!smooth) {
    result.first = result.second = floor_of(position.texels);
    return result;
  }
  auto fixed = floor_of(position.texels * kWeightOne + 0.5) - kHalfTexel;
  if (clamps) {
    fixed = std::clamp<std::int64_t>(fixed, 0, (std::int64_t{size} - 1) * kWeightOne);
  }
  result.first = fixed >> kFractionBits;
  result.second = result.first + 1;
  result.weight = static_cast<std::int32_t>(fixed & (kWeightOne - 1));
  if (position.is_mirrored && result.weight == 0) {
    result.second = result.first - 1;
  } else if (position.is_mirrored) {
    std::swap(result.first, result.second);
    result.weight = kWeightOne - result.weight;
  }
  return result;
}

// The faces of a cube: +x, -x, +y, -y, +z, -z.
struct FacePlace {
  std::uint32_t face = 0;
  float u = 0, v = 0;
};

FacePlace face_of(const std::array<float, 3>& at) {
  const float ax = std::abs(at[0]), ay = std::abs(at[1]), az = std::abs(at[2]);
  FacePlace place;
  float major = 0, u = 0, v = 0;
  if (az >= ax && az >= ay) {
    place.face = std::signbit(at[2]) ? 5 : 4;
    major = az;
    u = place.face == 4 ? at[0] : -at[0];
    v = -at[1];
  } else if (ay >= ax) {
    place.face = std::signbit(at[1]) ? 3 : 2;
    major = ay;
    u = at[0];
    v = place.face == 2 ? at[2] : -at[2];
  } else {
    place.face = std::signbit(at[0]) ? 1 : 0;
    major = ax;
    u = place.face == 0 ? -at[2] : at[2];
    v = -at[1];
  }
  place.u = major == 0 ? 0.5F : (u / major + 1) / 2;
  place.v = major == 0 ? 0.5F : (v / major + 1) / 2;
  return place;
}

class FootprintMaker {
 public:
  FootprintMaker(const Texture& texture, const FetchPlace& place, Footprint& footprint)
      : texture_(texture), footprint_(footprint), at_(place.at), layer_(place.layer) {
    const std::uint32_t layers = texture.levels.front().layers;
    if (texture.shape == TextureShape::cube) {
      const FacePlace face = face_of(place.at);
      at_ = {face.u, face.v, 0};
      const std::uint32_t cube = texture.layered ? std::min(layer_, layers / 6 - 1) : 0;
      layer_ = 6 * cube + face.face;
    } else {
      layer_ = texture.layered ? std::min(layer_, layers - 1) : 0;
    }
  }

  // Adds the texels of one level, whose weight is `part`.
  void add_level(std::uint32_t level, std::int32_t part) {
    const TexelBox& box = texture_.levels[level];
    level_ = level;
    x_ = along(0, box.width);
    y_ = has_rows() ? along(1, box.height) : Neighbours{};
    if (texture_.shape == TextureShape::line && !texture_.layered && texture_.smooth &&
        texture_.address[1] == TextureAddress::border) {
      // Rows above it are outside and have half of the weight, as on hardware.
      y_ = {-1, 0, kHalfTexel};
    }
    if (texture_.shape != TextureShape::volume) {
      add_layer(layer_, part, true);
      return;
    }
    Neighbours z = along(2, box.layers);
    const bool first_inside = put_inside(z.first, box.layers, texture_.address[2], normalized());
    const bool second_inside = put_inside(z.second, box.layers, texture_.address[2], normalized());
    const std::int32_t second = scaled_weight(part, z.weight);
    if (z.weight != kWeightOne) {
      add_layer(static_cast<std::uint32_t>(z.first), part - second, first_inside);
    }
    if (z.weight != 0) add_layer(static_cast<std::uint32_t>(z.second), second, second_inside);
  }

 private:
  [[nodiscard]] bool has_rows() const { return texture_.shape > TextureShape::line; }
  [[nodiscard]] bool normalized() const {
    return texture_.normalized || texture_.shape == TextureShape::cube;
  }
  [[nodiscard]] TextureAddress address(std::size_t side) const {
    return texture_.shape == TextureShape::cube ? TextureAddress::clamp : texture_.address[side];
  }
  [[nodiscard]] Neighbours along(std::size_t side, std::uint32_t size) const {
    const TextureAddress mode = address(side);
    const bool repeats = mode == TextureAddress::wrap || mode == TextureAddress::mirror;
    const bool clamps = mode == TextureAddress::clamp || (repeats && !normalized());
    return neighbours_of(position_of(at_[side], size, mode, normalized()), size, clamps,
                         texture_.smooth);
  }

  void add_layer(std::uint32_t layer, std::int32_t part, bool is_inside) {
    const std::int32_t right = scaled_weight(part, x_.weight), left = part - right;
    const std::int32_t left_above = scaled_weight(left, kWeightOne - y_.weight);
    const std::int32_t right_below = scaled_weight(right, y_.weight);
    const bool has_left = x_.weight != kWeightOne, has_right = x_.weight != 0;
    const bool has_above = y_.weight != kWeightOne, has_below = y_.weight != 0;
    if (has_left && has_above) add(x_.first, y_.first, layer, left_above, is_inside);
    if (has_right && has_above) add(x_.second, y_.first, layer, right - right_below, is_inside);
    if (has_left && has_below) add(x_.first, y_.second, layer, left - left_above, is_inside);
    if (has_right && has_below) add(x_.second, y_.second, layer, right_below, is_inside);
    footprint_.group_end[footprint_.groups++] = footprint_.count;
  }

  void add(std::int64_t x, std::int64_t y, std::uint32_t layer, std::int32_t weight,
           bool is_inside) {
    const TexelBox& box = texture_.levels[level_];
    is_inside &= put_inside(x, box.width, address(0), normalized());
    is_inside &= put_inside(y, box.height, address(1), normalized());
    TexelUse& use = footprint_.uses[footprint_.count++];
    use = {level_, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), layer, !is_inside,
           weight};
  }

  const Texture& texture_;
  Footprint& footprint_;
  std::array<float, 3> at_;
  std::uint32_t layer_;
  std::uint32_t level_ = 0;
  Neighbours x_, y_;
};

// ---- values ----

std::int64_t integer_of(const TexelFormat& format, std::uint32_t texel) {
  if (format.kind == TexelKind::unsigned_integer) return texel;
  const unsigned unused = 32u - format.bits;
  return static_cast<std::int32_t>(texel << unused) >> unused;
}

std::int64_t greatest_of(const TexelFormat& format) {
  return (std::int64_t{1} << (format.bits - (format.kind == TexelKind::signed_integer ? 1 : 0))) -
         1;
}

// The result for integers that are read as integers, which only the driver API allows.
//   sum: of the texels, each times its weight.
std::uint32_t integer_mean_of(const TexelFormat& format, std::int64_t sum) {
  const std::int64_t half = format.bits < 32 ? kWeightOne / 2 : 0;
  return static_cast<std::uint32_t>((sum + half) >> kFractionBits);
}

// Integers are filtered with 16 bits.
//   sum: of the texels, each times its weight.
float mean_of_integers(const TexelFormat& format, std::int64_t sum) {
  const bool is_signed = format.kind == TexelKind::signed_integer;
  std::int64_t mean = 0;
  if (format.bits == 16) {
    mean = (sum + kWeightOne / 2) >> kFractionBits;
  } else if (is_signed) {
    // 1 becomes 258 + 1/128.  The hardware's result is sometimes one step lower.
    mean = (sum * (258 * 128 + 1) + (1 << 14)) >> 15;
  } else {
    mean = (sum * 257 + kWeightOne / 2) >> kFractionBits;
  }
  const std::int64_t greatest = is_signed ? 32767 : 65535;
  return static_cast<float>(std::max(mean, -greatest)) / static_cast<float>(greatest);
}

// The values of 8-bit sRGB numbers: 16-bit numbers close to those of the standard.
constexpr std::array<std::uint16_t, 256> kLinearOfSrgb = {
    0x0000, 0x0d00, 0x1100, 0x1380, 0x1500, 0x1640, 0x1780, 0x1860, 0x1900, 0x19a0, 0x1a40, 0x1ae0,
    0x1b80, 0x1c20, 0x1c80, 0x1ce0, 0x1d50, 0x1dc0, 0x1e30, 0x1eb0, 0x1f30, 0x1fb0, 0x2018, 0x2060,
    0x20b0, 0x20f8, 0x2148, 0x21a0, 0x21f0, 0x2248, 0x22a8, 0x2300, 0x2360, 0x23d0, 0x2418, 0x2450,
    0x2488, 0x24c0, 0x24f8, 0x2530, 0x2570, 0x25b0, 0x25f0, 0x2630, 0x2670, 0x26b8, 0x2700, 0x2748,
    0x2790, 0x27e0, 0x2818, 0x2840, 0x2868, 0x2890, 0x28b8, 0x28e0, 0x2910, 0x2940, 0x2968, 0x2998,
    0x29c8, 0x29f8, 0x2a28, 0x2a60, 0x2a90, 0x2ac0, 0x2b00, 0x2b30, 0x2b60, 0x2ba0, 0x2bd0, 0x2c08,
    0x2c28, 0x2c40, 0x2c60, 0x2c80, 0x2ca0, 0x2cc0, 0x2ce0, 0x2d00, 0x2d20, 0x2d48, 0x2d68, 0x2d88,
    0x2db0, 0x2dd0, 0x2df8, 0x2e18, 0x2e40, 0x2e68, 0x2e88, 0x2eb0, 0x2ed8, 0x2f00, 0x2f28, 0x2f50,
    0x2f80, 0x2fa0, 0x2fd0, 0x3000, 0x3010, 0x3028, 0x3040, 0x3058, 0x3070, 0x3088, 0x30a0, 0x30b8,
    0x30d0, 0x30e8, 0x3100, 0x3118, 0x3130, 0x3148, 0x3160, 0x3180, 0x3198, 0x31b0, 0x31d0, 0x31e8,
    0x3200, 0x3220, 0x3238, 0x3258, 0x3270, 0x3290, 0x32b0, 0x32c8, 0x32e8, 0x3308, 0x3328, 0x3340,
    0x3360, 0x3380, 0x33a0, 0x33c0, 0x33e0, 0x3400, 0x3410, 0x3420, 0x3430, 0x3440, 0x3450, 0x3468,
    0x3478, 0x3488, 0x3498, 0x34a8, 0x34c0, 0x34d0, 0x34e0, 0x34f0, 0x3508, 0x3518, 0x3528, 0x3540,
    0x3550, 0x3568, 0x3578, 0x3590, 0x35a0, 0x35b0, 0x35c8, 0x35e0, 0x35f0, 0x3608, 0x3618, 0x3630,
    0x3640, 0x3658, 0x3670, 0x3688, 0x3698, 0x36b0, 0x36c8, 0x36d8, 0x36f0, 0x3708, 0x3720, 0x3738,
    0x3750, 0x3768, 0x3780, 0x3790, 0x37b0, 0x37c0, 0x37e0, 0x37f0, 0x3808, 0x3810, 0x3820, 0x3828,
    0x3838, 0x3848, 0x3850, 0x3860, 0x3868, 0x3878, 0x3888, 0x3890, 0x38a0, 0x38b0, 0x38b8, 0x38c8,
    0x38d8, 0x38e0, 0x38f0, 0x3900, 0x3908, 0x3918, 0x3928, 0x3938, 0x3948, 0x3950, 0x3960, 0x3970,
    0x3980, 0x3990, 0x3998, 0x39a8, 0x39b8, 0x39c8, 0x39d8, 0x39e8, 0x39f8, 0x3a08, 0x3a18, 0x3a28,
    0x3a38, 0x3a48, 0x3a58, 0x3a68, 0x3a78, 0x3a88, 0x3a98, 0x3aa8, 0x3ab8, 0x3ac8, 0x3ad8, 0x3ae8,
    0x3af8, 0x3b08, 0x3b18, 0x3b28, 0x3b40, 0x3b50, 0x3b60, 0x3b70, 0x3b80, 0x3b90, 0x3ba0, 0x3bb0,
    0x3bd0, 0x3be0, 0x3bf0, 0x3c00};

float float_of_half(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7fff, sign = (bits & 0x8000) << 16;
  if (magnitude >= 0x7c00) {
    return std::bit_cast<float>(sign | 0x7f80'0000u | (magnitude & 0x3ff) << 13);
  }
  const float value = magnitude >= 0x400 ? std::bit_cast<float>((magnitude << 13) + (112u << 23))
                                         : static_cast<float>(magnitude) * 0x1p-24F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

// The precision of the filter's additions: each group of texels is truncated `kept` bits below its
// greatest exponent.  Groups are added in steps that are `spare` bits finer.  The result has
// `fraction` bits, ties away from 0.
struct Adder {
  int kept, spare, fraction, exponent_min, exponent_max;
  std::uint32_t nan;
};
constexpr Adder kSingle{27, 2, 23, -126, 127, 0x7fff'ffffu};
constexpr Adder kHalf{14, 24, 10, -14, 15, 0x7fff'e000u};

// Returns total * 2^exponent, rounded.
float rounded(const Adder& adder, std::int64_t total, int exponent) {
  if (total == 0) return 0;
  const bool is_negative = total < 0;
  auto magnitude = static_cast<std::uint64_t>(is_negative ? -total : total);
  const int leading = static_cast<int>(std::bit_width(magnitude)) - 1 + exponent;
  const int last = std::max(leading, adder.exponent_min) - adder.fraction;
  const int shift = last - exponent;
  if (shift > 62) return is_negative ? -0.0F : 0.0F;
  if (shift > 0) {
    magnitude = (magnitude + (std::uint64_t{1} << (shift - 1))) >> shift;
    exponent = last;
  }
  const double value = static_cast<double>(magnitude) * exact::power_of_two(exponent);
  const bool overflows = value >= exact::power_of_two(adder.exponent_max + 1);
  const float result = overflows ? HUGE_VALF : static_cast<float>(value);
  return is_negative ? -result : result;
}

std::uint32_t add_floats(const Adder& adder, const Footprint& footprint,
                         const std::array<float, 16>& values) {
  std::array<int, 4> exponents{};
  std::array<std::int64_t, 4> sums{};
  double plain = 0;
  std::uint32_t first = 0;
  for (std::uint32_t group = 0; group < footprint.groups; ++group) {
    const std::uint32_t end = footprint.group_end[group];
    int greatest = -1000;
    for (std::uint32_t i = first; i < end; ++i) {
      // Detects infinities and NaN.  A weight may have been rounded to 0.
      plain += static_cast<double>(values[i]) * footprint.uses[i].weight;
      if (values[i] != 0 && footprint.uses[i].weight != 0)
        greatest = std::max(greatest, exponent_of(values[i]));
    }
    exponents[group] = greatest;
    if (!std::isfinite(plain)) break;
    for (std::uint32_t i = first; greatest > -1000 && i < end; ++i) {
      const double aligned =
          static_cast<double>(values[i]) * exact::power_of_two(adder.kept - greatest);
      sums[group] += static_cast<std::int64_t>(aligned) * footprint.uses[i].weight;
    }
    first = end;
  }
  if (std::isnan(plain)) return adder.nan;
  if (std::isinf(plain)) return std::bit_cast<std::uint32_t>(static_cast<float>(plain));
  const int greatest = *std::max_element(exponents.begin(), exponents.begin() + footprint.groups);
  if (greatest == -1000) return 0;
  std::int64_t total = 0;
  for (std::uint32_t group = 0; group < footprint.groups; ++group) {
    const int shift = std::min(greatest - exponents[group], 63);
    total += (sums[group] << adder.spare) >> shift;
  }
  const int exponent = greatest - adder.kept - static_cast<int>(kFractionBits) - adder.spare;
  return std::bit_cast<std::uint32_t>(rounded(adder, total, exponent));
}

// Returns the bits of a border color as a texel of the format would have them.
std::uint32_t border_texel(const Texture& texture, std::uint32_t channel) {
  const float color = texture.border[channel];
  const TexelFormat& format = texture.format;
  if (format.kind == TexelKind::floating || !texture.scaled) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(color);
    return format.bits == 32 ? bits : bits & ((1u << format.bits) - 1);
  }
  const auto greatest = static_cast<float>(greatest_of(format));
  const float least = format.kind == TexelKind::signed_integer ? -1.0F : 0.0F;
  const float inside = color >= least ? std::min(color, 1.0F) : least;
  const auto value = static_cast<std::int32_t>(std::floor(inside * greatest + 0.5F));
  return static_cast<std::uint32_t>(value) & ((1u << format.bits) - 1);
}

// ---- levels ----

// Returns the approximate length of a vector, as the hardware computes it.
double length_of(const std::array<double, 3>& vector) {
  std::array<double, 3> sides{std::abs(vector[0]), std::abs(vector[1]), std::abs(vector[2])};
  std::sort(sides.begin(), sides.end());
  return sides[2] + 11.0 / 32 * sides[1] + 1.0 / 4 * sides[0];
}

// The longer axis of the ellipse that two gradients span, as a fraction of the length of their sum
// or difference.
constexpr double kDiagonal = 11.0 / 16;

// Returns log2 by a polynomial that is 0 at 1 and 1 at 2: the same on every host.
double log2_of(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent) * 2 - 1;
  constexpr double kFactors[] = {0.0959560032, -0.2779042655, 0.4575485901, -0.7181452567,
                                 1.4425449290};
  double log = 0;
  for (const double factor : kFactors) log = (log + factor) * fraction;
  return exponent - 1 + log;
}

}  // namespace

bool reads_one_texel(const Texture& texture) {
  return !texture.smooth && texture.levels.size() == 1 && texture.shape < TextureShape::volume;
}

std::uint32_t nearest_texels(const Texture& texture, std::size_t side, std::uint32_t size,
                             const float* at, std::uint32_t lanes, std::uint32_t* texels) {
  const TextureAddress mode = texture.address[side];
  std::uint32_t inside = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Position position = position_of(at[lane], size, mode, texture.normalized);
    std::int64_t texel = floor_of(position.texels);
    inside |= std::uint32_t{put_inside(texel, size, mode, texture.normalized)} << lane;
    texels[lane] = static_cast<std::uint32_t>(texel);
  }
  return inside;
}

Footprint footprint_of(const Texture& texture, const FetchPlace& place) {
  Footprint footprint;
  FootprintMaker maker(texture, place, footprint);
  if (texture.levels.size() == 1) {
    maker.add_level(0, kWeightOne);
    return footprint;
  }
  const auto last = static_cast<float>(texture.levels.size() - 1);
  float level = std::trunc(std::clamp(place.level, -1000.0F, 1000.0F) * kWeightOne) / kWeightOne;
  level = std::max(level + texture.level_bias, texture.level_min);
  level = std::min(level, texture.level_max);
  level = level >= 0 ? std::min(level, last) : 0;
  if (!texture.smooth_levels) {
    maker.add_level(static_cast<std::uint32_t>(std::floor(level + 0.5F)), kWeightOne);
    return footprint;
  }
  const auto fixed = static_cast<std::uint32_t>(std::floor(level * kWeightOne));
  const auto weight = static_cast<std::int32_t>(fixed & (kWeightOne - 1));
  const std::uint32_t lower = fixed >> kFractionBits;
  maker.add_level(lower, kWeightOne - weight);
  if (weight != 0) maker.add_level(lower + 1, weight);
  return footprint;
}

Footprint footprint_of_gather(const Texture& texture, const FetchPlace& place) {
  const TexelBox& box = texture.levels.front();
  const auto along = [&](std::size_t side, std::uint32_t size) {
    const Position position =
        position_of(place.at[side], size, texture.address[side], texture.normalized);
    return neighbours_of(position, size, false, true);
  };
  const Neighbours x = along(0, box.width), y = along(1, box.height);
  Footprint footprint;
  for (const auto& [column, row] : {std::pair{x.first, y.second},
                                    {x.second, y.second},
                                    {x.second, y.first},
                                    {x.first, y.first}}) {
    std::int64_t inside_x = column, inside_y = row;
    bool is_inside = put_inside(inside_x, box.width, texture.address[0], texture.normalized);
    is_inside &= put_inside(inside_y, box.height, texture.address[1], texture.normalized);
    footprint.uses[footprint.count++] = {0,
                                         static_cast<std::uint32_t>(inside_x),
                                         static_cast<std::uint32_t>(inside_y),
                                         0,
                                         !is_inside,
                                         kWeightOne};
  }
  return footprint;
}

float level_of_gradient(const Texture& texture, const std::array<float, 3>& dx,
                        const std::array<float, 3>& dy) {
  const TexelBox& box = texture.levels.front();
  const std::array<std::uint32_t, 3> size{box.width, box.height, box.layers};
  const std::size_t sides = texture.shape == TextureShape::volume  ? 3
                            : texture.shape == TextureShape::plane ? 2
                                                                   : 1;
  std::array<double, 3> x{}, y{}, sum{}, difference{};
  for (std::size_t side = 0; side < sides; ++side) {
    const double scale = texture.normalized ? size[side] : 1.0;
    x[side] = static_cast<double>(dx[side]) * scale;
    y[side] = static_cast<double>(dy[side]) * scale;
    sum[side] = x[side] + y[side];
    difference[side] = x[side] - y[side];
  }
  const double longest = std::max(
      {length_of(x), length_of(y), kDiagonal * length_of(sum), kDiagonal * length_of(difference)});
  if (!(longest > 0)) return -1000;
  if (std::isinf(longest)) return 1000;
  return static_cast<float>(log2_of(longest));
}

std::uint32_t point_value(const Texture& texture, std::uint32_t channel, std::uint32_t texel) {
  const TexelFormat& format = texture.format;
  if (format.kind == TexelKind::floating) {
    return format.bits == 32 ? texel : std::bit_cast<std::uint32_t>(float_of_half(texel));
  }
  const std::int64_t value = integer_of(format, texel);
  if (!texture.scaled) return static_cast<std::uint32_t>(value);
  if (texture.srgb && channel < 3) {
    return std::bit_cast<std::uint32_t>(float_of_half(kLinearOfSrgb[texel]));
  }
  const std::int64_t greatest = greatest_of(format);
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::max(value, -greatest)) /
                                      static_cast<float>(greatest));
}

std::uint32_t filtered_value(const Texture& texture, std::uint32_t channel,
                             const Footprint& footprint,
                             const std::array<std::uint32_t, 16>& texels) {
  const TexelFormat& format = texture.format;
  const bool decodes = texture.srgb && channel < 3;
  if (format.kind != TexelKind::floating && !decodes) {
    std::int64_t sum = 0;
    for (std::uint32_t i = 0; i < footprint.count; ++i) {
      sum += integer_of(format, texels[i]) * footprint.uses[i].weight;
    }
    if (!texture.scaled) return integer_mean_of(format, sum);
    return std::bit_cast<std::uint32_t>(mean_of_integers(format, sum));
  }
  std::array<float, 16> values{};
  for (std::uint32_t i = 0; i < footprint.count; ++i) {
    const bool is_single = format.bits == 32 || (footprint.uses[i].is_border && !decodes);
    values[i] = is_single ? std::bit_cast<float>(texels[i])
                          : float_of_half(decodes ? kLinearOfSrgb[texels[i]] : texels[i]);
  }
  return add_floats(format.bits == 32 ? kSingle : kHalf, footprint, values);
}

std::uint32_t border_value(const Texture& texture, std::uint32_t channel) {
  if (texture.format.kind == TexelKind::floating) {
    return std::bit_cast<std::uint32_t>(texture.border[channel]);
  }
  return border_texel(texture, channel);
}

}  // namespace warpcheck::vgpu
