// Formats without registers of their own: floats of 4, 6 and 8 bits, scales, tf32, the packed
// integers of cvt.pack, and pairs of 16-bit integers; and rounding by random bits.
//
// PTX ISA 9.0, 5.2.3 (alternate floating-point formats), 9.7.9.21 and 9.7.9.22 (cvt, cvt.pack),
// 9.7.1 (add, min, max of .u16x2 and .s16x2).  Compiled once, as compute_exact.cpp.
#define WARPCHECK_SIMD portable

#include <algorithm>

#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/machine/compute/narrow_floats.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::portable {
namespace {

using exact::Format;
using exact::Number;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;
using Word = std::uint32_t;
using Wide = std::uint64_t;

// .relu: negative numbers become 0; NaN is unchanged.
Number without_negative(const Number& x, bool relu) {
  return relu && x.negative && x.kind != Number::Kind::nan ? Number{} : x;
}

// cvt.e4m3x2.f32 d, a, b: a becomes the upper element.
struct FloatsToNarrow {
  explicit FloatsToNarrow(const Instr& instr)
      : type(instr.modifiers.type), relu(instr.modifiers.relu) {}
  [[nodiscard]] Word one(const Format& format, Word bits) const {
    return narrow::pack(type, without_negative(exact::unpack(format, bits), relu));
  }
  Word operator()(Word a, Word b) const {
    return one(exact::kF32, a) << narrow::stride_bits(type) | one(exact::kF32, b);
  }
  Type type;
  bool relu;
};

struct HalvesToNarrow : FloatsToNarrow {
  using FloatsToNarrow::FloatsToNarrow;
  Word operator()(Word a) const {
    return one(exact::kF16, a >> 16) << narrow::stride_bits(type) | one(exact::kF16, a & 0xffff);
  }
};

struct NarrowToHalves {
  explicit NarrowToHalves(const Instr& instr)
      : type(instr.modifiers.source_type), relu(instr.modifiers.relu) {}
  [[nodiscard]] Word one(Word bits) const {
    const Number x = without_negative(narrow::unpack(type, bits), relu);
    return static_cast<Word>(exact::pack(exact::kF16, x, Rounding::rn));
  }
  Word operator()(Word a) const {
    const unsigned stride = narrow::stride_bits(type);
    const Word mask = (Word{1} << stride) - 1;
    return one(a >> stride & mask) << 16 | one(a & mask);
  }
  Type type;
  bool relu;
};

struct ToScales {
  explicit ToScales(const Instr& instr)
      : up(instr.modifiers.rounding == Rounding::rp), finite(instr.modifiers.satfinite) {}
  Word operator()(Word a, Word b) const {
    return narrow::scale_of(a, up, finite) << 8 | narrow::scale_of(b, up, finite);
  }
  // Converts a pair of bf16, each of which is the upper half of an f32.
  Word operator()(Word a) const { return (*this)(a & 0xffff0000, a << 16); }
  bool up, finite;
};

struct FromScales {
  Word operator()(Word a) const {
    return narrow::bfloat_of_scale(a >> 8 & 0xff) << 16 | narrow::bfloat_of_scale(a & 0xff);
  }
};

// cvt.rs d, a, b, r: converts to f16 or bf16.  Random bits are added to the bits that will be
// dropped, aligned at their top, and the carry rounds away from zero.  Each half of r is for one
// element; for an f16, the lowest 13 bits are used, the difference in fraction bits between f32 and
// f16.
struct RandomlyRounded {
  explicit RandomlyRounded(const Instr& instr)
      : format(exact::format_of(instr.modifiers.type)),
        cut(exact::kF32.fraction_bits - format.fraction_bits),
        relu(instr.modifiers.relu),
        finite(instr.modifiers.satfinite) {}
  [[nodiscard]] Word one(Word bits, Word random) const {
    const Word magnitude = bits & 0x7fffffff;
    const auto infinity = static_cast<Word>(format.infinity());
    if (magnitude > exact::kF32.infinity()) return static_cast<Word>(format.nan);
    const Word sign = (bits >> 31) << (format.width - 1);
    if (relu && sign != 0) return 0;
    const Word bounded = std::min(rounded(magnitude, random), infinity);
    return sign | (finite && bounded == infinity ? infinity - 1 : bounded);
  }
  [[nodiscard]] Word rounded(Word magnitude, Word random) const {
    const auto hidden = static_cast<Word>(exact::kF32.hidden());
    const int biased = static_cast<int>(magnitude >> exact::kF32.fraction_bits);
    const int exponent = std::max(biased, 1) - exact::kF32.bias();
    const int lowest = 1 - format.bias();
    const int place = std::max(exponent, lowest);
    const Word significand = (magnitude & (hidden - 1)) | (biased != 0 ? hidden : 0);
    const int lost = place - exponent;
    const Word aligned = lost > 31 ? 0 : significand >> lost;
    const Word kept = (aligned + (random & ((Word{1} << cut) - 1))) >> cut;
    // The hidden bit increments the exponent field by itself.
    return (static_cast<Word>(place - lowest) << format.fraction_bits) + kept;
  }
  Word operator()(Word a, Word b, Word random) const {
    return one(a, random >> 16) << 16 | one(b, random & 0xffff);
  }
  Format format;
  int cut;
  bool relu, finite;
};

// The same to a pair of narrow floats, which share 16 random bits: they are aligned with the
// highest of the bits that will be dropped.  Numbers that are too large become the largest one.
struct RandomlyRoundedNarrow {
  explicit RandomlyRoundedNarrow(const Instr& instr)
      : type(instr.modifiers.type), relu(instr.modifiers.relu) {}
  [[nodiscard]] Word one(Word bits, Word random) const {
    const Number x = without_negative(exact::unpack(exact::kF32, bits), relu);
    return narrow::pack_randomly(type, x, random);
  }
  Word operator()(Word a, Word b, Word random) const {
    return one(a, random) << narrow::stride_bits(type) | one(b, random);
  }
  Type type;
  bool relu;
};

// A tf32 is an f32 whose lower 13 bits are 0.
struct ToTf32 {
  static constexpr int kUnused = 13;
  static constexpr Word kRest = (Word{1} << kUnused) - 1;
  static constexpr Format kTf32{19, 10, 0x7fffffff >> kUnused};

  explicit ToTf32(const Instr& instr)
      : rounding(instr.modifiers.rounding),
        relu(instr.modifiers.relu),
        finite(instr.modifiers.satfinite) {}
  Word operator()(Word a) const {
    if (rounding == Rounding::rna) return away(a);
    const Number x = without_negative(exact::unpack(exact::kF32, a), relu);
    if (x.kind == Number::Kind::nan) return static_cast<Word>(exact::kF32.nan) & ~kRest;
    const Word result = static_cast<Word>(exact::pack(kTf32, x, rounding)) << kUnused;
    const bool too_large = (result & 0x7fffffff) >= exact::kF32.infinity();
    return finite && too_large ? result - (kRest + 1) : result;
  }
  // .rna truncates the bits of a NaN, and .satfinite treats it as a number (seen on sm_90).
  [[nodiscard]] Word away(Word a) const {
    const bool is_number = (a & 0x7fffffff) < exact::kF32.infinity();
    const Word rounded = (is_number ? a + (kRest + 1) / 2 : a) & ~kRest;
    const bool too_large = (rounded & 0x7fffffff) >= exact::kF32.infinity();
    return finite && too_large ? rounded - (kRest + 1) : rounded;
  }
  Rounding rounding;
  bool relu, finite;
};

// cvt.pack: a and b are clamped to fields of a few bits, a above b; the remaining bits come from c.
struct PackIntegers {
  explicit PackIntegers(const Instr& instr) {
    const Type type = instr.modifiers.type;
    const bool is_signed = type == Type::s2 || type == Type::s4 || ptx::is_signed(type);
    bits = type == Type::u2 || type == Type::s2   ? 2
           : type == Type::u4 || type == Type::s4 ? 4
                                                  : 8 * ptx::bytes_of(type);
    lowest = is_signed ? -(std::int32_t{1} << (bits - 1)) : 0;
    highest = (std::int32_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  }
  [[nodiscard]] Word field(std::int32_t x) const {
    return static_cast<Word>(std::clamp(x, lowest, highest)) & ((Word{1} << bits) - 1);
  }
  Word operator()(std::int32_t a, std::int32_t b) const { return field(a) << bits | field(b); }
  Word operator()(std::int32_t a, std::int32_t b, Word c) const {
    return c << (2 * bits) | (*this)(a, b);
  }
  unsigned bits;
  std::int32_t lowest, highest;
};

// add, min, max of both halves.
struct OfPairs {
  explicit OfPairs(const Instr& instr)
      : opcode(instr.opcode),
        is_signed(instr.modifiers.type == Type::s16x2),
        relu(instr.modifiers.relu) {}
  [[nodiscard]] std::int32_t element(Word x) const {
    return is_signed ? static_cast<std::int16_t>(x) : static_cast<std::int32_t>(x & 0xffff);
  }
  [[nodiscard]] Word one(Word a, Word b) const {
    const std::int32_t x = element(a);
    const std::int32_t y = element(b);
    std::int32_t result = x + y;
    if (opcode == Opcode::min_) result = std::min(x, y);
    if (opcode == Opcode::max_) result = std::max(x, y);
    if (relu) result = std::max(result, 0);
    return static_cast<Word>(result) & 0xffff;
  }
  Word operator()(Word a, Word b) const { return one(a >> 16, b >> 16) << 16 | one(a, b); }
  Opcode opcode;
  bool is_signed, relu;
};

ComputeFn find_scale(const ptx::Modifiers& m, bool pair) {
  if (m.type == Type::bf16x2) {
    const bool known = m.rounding == Rounding::rn && !m.satfinite && !m.relu && !pair;
    return known ? lanewise<FromScales, Word, Word> : nullptr;
  }
  if ((m.rounding != Rounding::rz && m.rounding != Rounding::rp) || m.relu) return nullptr;
  if (m.source_type == Type::f32 && pair) return lanewise<ToScales, Word, Word, Word>;
  return m.source_type == Type::bf16x2 && !pair ? lanewise<ToScales, Word, Word> : nullptr;
}

ComputeFn find_tf32(const ptx::Modifiers& m) {
  const bool known = m.rounding == Rounding::rn || m.rounding == Rounding::rz ||
                     (m.rounding == Rounding::rna && !m.relu);
  return m.source_type == Type::f32 && known ? lanewise<ToTf32, Word, Word> : nullptr;
}

ComputeFn find_narrow_float(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool pair = present(instr[ComputeOperand::b]);
  if (m.sat || m.ftz) return nullptr;
  if (m.rounding == Rounding::rs) {
    if (m.source_type != Type::f32 || !present(instr[ComputeOperand::c])) return nullptr;
    if (narrow::is_narrow_float(m.type)) {
      return m.satfinite ? lanewise<RandomlyRoundedNarrow, Word, Word, Word, Word> : nullptr;
    }
    const bool known = m.type == Type::f16x2 || m.type == Type::bf16x2;
    return known ? lanewise<RandomlyRounded, Word, Word, Word, Word> : nullptr;
  }
  if (m.type == Type::tf32) return pair ? nullptr : find_tf32(m);
  if (m.type == Type::ue8m0x2 || m.source_type == Type::ue8m0x2) return find_scale(m, pair);
  if (m.rounding != Rounding::rn) return nullptr;
  if (narrow::is_narrow_float(m.type) && m.satfinite) {
    if (m.source_type == Type::f32 && pair) return lanewise<FloatsToNarrow, Word, Word, Word>;
    const bool halves = m.source_type == Type::f16x2 && !pair;
    return halves ? lanewise<HalvesToNarrow, Word, Word> : nullptr;
  }
  const bool widens = m.type == Type::f16x2 && narrow::is_narrow_float(m.source_type);
  return widens && !pair && !m.satfinite ? lanewise<NarrowToHalves, Word, Word> : nullptr;
}

ComputeFn find_pack(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (!m.sat || m.source_type != Type::s32 || m.rounding != Rounding::none) return nullptr;
  switch (m.type) {
    case Type::u16:
    case Type::s16:
      return present(instr[ComputeOperand::c])
                 ? nullptr
                 : lanewise<PackIntegers, Word, std::int32_t, std::int32_t>;
    case Type::u8:
    case Type::s8:
    case Type::u4:
    case Type::s4:
    case Type::u2:
    case Type::s2:
      return present(instr[ComputeOperand::c])
                 ? lanewise<PackIntegers, Word, std::int32_t, std::int32_t, Word>
                 : nullptr;
    default: return nullptr;
  }
}

}  // namespace

ComputeFn find_packed(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool pairs = m.type == Type::u16x2 || m.type == Type::s16x2;
  switch (instr.opcode) {
    case Opcode::cvt_: return m.pack ? find_pack(instr) : find_narrow_float(instr);
    case Opcode::add_:
      return pairs && !m.sat && !m.carry_out ? lanewise<OfPairs, Word, Word, Word> : nullptr;
    case Opcode::min_:
    case Opcode::max_:
      if (!pairs || (m.relu && m.type != Type::s16x2)) return nullptr;
      return lanewise<OfPairs, Word, Word, Word>;
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::portable
