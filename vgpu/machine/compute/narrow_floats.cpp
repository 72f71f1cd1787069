#include "vgpu/machine/compute/narrow_floats.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu::narrow {
namespace {

using exact::Number;
using ptx::Rounding;
using ptx::Type;
using Word = std::uint32_t;

// A format without infinities is treated as a format with one more exponent bit, whose upper half
// is unused, scaled by a power of two.
struct Layout {
  exact::Format format;
  int scale;  // 0: an IEEE format
  Word most;
  Word nan;  // the result for NaN: a NaN, or the largest number
};

constexpr Layout kE5m2{{8, 2, 0x7f}, 0, 0x7b, 0x7f};
constexpr Layout kE4m3{{9, 3, 0}, 8, 0x7e, 0x7f};
constexpr Layout kE3m2{{7, 2, 0}, 4, 0x1f, 0x1f};
constexpr Layout kE2m3{{7, 3, 0}, 2, 0x1f, 0x1f};
constexpr Layout kE2m1{{5, 1, 0}, 2, 0x07, 0x07};

const Layout& layout_of(Type type) {
  switch (type) {
    case Type::e5m2x2: return kE5m2;
    case Type::e4m3x2: return kE4m3;
    case Type::e3m2x2: return kE3m2;
    case Type::e2m3x2: return kE2m3;
    default: return kE2m1;
  }
}

Word sign_of(const Layout& layout) {
  const auto top = static_cast<Word>(layout.format.sign());
  return layout.scale == 0 ? top : top >> 1;
}

}  // namespace

Number unpack(Type type, Word bits) {
  const Layout& layout = layout_of(type);
  if (layout.scale == 0) return exact::unpack(layout.format, bits);
  const Word sign = sign_of(layout);
  const Word magnitude = bits & (sign - 1);
  if (magnitude > layout.most) return {.kind = Number::Kind::nan};
  Number x = exact::unpack(layout.format, (bits & sign) << 1 | magnitude);
  x.exponent += layout.scale;
  return x;
}

Word pack(Type type, Number x) {
  const Layout& layout = layout_of(type);
  if (x.kind == Number::Kind::nan) return layout.nan;
  const Word sign = x.negative ? sign_of(layout) : 0;
  if (x.kind == Number::Kind::infinite) return sign | layout.most;
  x.negative = false;
  x.exponent -= layout.scale;
  const auto magnitude = static_cast<Word>(exact::pack(layout.format, x, Rounding::rn));
  return sign | std::min(magnitude, layout.most);
}

// Adding the random bits as a part of the last place, below all bits that are kept, and truncating
// is what the carry does.
Word pack_randomly(Type type, Number x, Word random) {
  constexpr int kRandomBits = 16;
  const Layout& layout = layout_of(type);
  if (x.kind != Number::Kind::finite || x.is_zero()) return pack(type, x);
  const int leading =
      127 - (x.significand >> 64 != 0
                 ? std::countl_zero(static_cast<std::uint64_t>(x.significand >> 64))
                 : 64 + std::countl_zero(static_cast<std::uint64_t>(x.significand)));
  const int exponent_of_x = x.exponent + leading;
  const int fraction = layout.format.fraction_bits;
  const int last = std::max(exponent_of_x - fraction, layout.format.exponent_min() + layout.scale);
  // In units of the 16th place below the last one; what is below is cut off.
  const int shift = x.exponent - (last - kRandomBits);
  exact::Significand units = 0;
  if (shift >= 0) units = x.significand << shift;
  if (shift < 0 && shift > -128) units = x.significand >> -shift;
  units = (units + (random & 0xffff)) >> kRandomBits;
  x.significand = units;
  x.exponent = last;
  x.sticky = false;
  return pack(type, x);
}

Word scale_of(Word f32, bool up, bool finite) {
  constexpr Word kNan = 0xff;
  constexpr Word kLeast = 0x00400000;  // 2^-127, a subnormal number
  const Word magnitude = f32 & ~static_cast<Word>(exact::kF32.sign());
  const auto infinity = static_cast<Word>(exact::kF32.infinity());
  if (magnitude > infinity) return kNan;
  const bool between = (magnitude & (exact::kF32.hidden() - 1)) != 0 && magnitude > kLeast;
  const Word scale = (magnitude >> exact::kF32.fraction_bits) + (up && between ? 1 : 0);
  return finite ? std::min(scale, kNan - 1) : scale;
}

Word bfloat_of_scale(Word scale) {
  constexpr Word kNan = 0xff;
  constexpr Word kLeast = 0x0040;
  if (scale == kNan) return static_cast<Word>(exact::kBf16.nan);
  return scale == 0 ? kLeast : scale << exact::kBf16.fraction_bits;
}

}  // namespace warpcheck::vgpu::narrow
