// Formats without registers of their own: 8-bit floats (e4m3, e5m2), tf32, the packed integers of
// cvt.pack, and pairs of 16-bit integers.
//
// PTX ISA 9.0, 5.2.3 (alternate floating-point formats), 9.7.9.21 and 9.7.9.22 (cvt, cvt.pack),
// 9.7.1 (add, min, max of .u16x2 and .s16x2).  Compiled once, as compute_exact.cpp.
#define WARPCHECK_SIMD portable

#include <algorithm>

#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/lanes.hpp"

namespace warpcheck::vgpu::portable {
namespace {

using exact::Format;
using exact::Number;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;
using Word = std::uint32_t;
using Wide = std::uint64_t;

constexpr Word kSign8 = 0x80;
constexpr Word kNan8 = 0x7f;

// e5m2 is an IEEE format.  e4m3 has no infinity, one NaN, and numbers where others have those:
// it is a format with five bits of exponent, of which the upper half is unused, scaled by 2^8.
constexpr Format kE5m2{8, 2, kNan8};
constexpr Format kE4m3Wide{9, 3, 0};
constexpr int kE4m3Scale = 8;
constexpr Word kE4m3Most = 0x7e;
constexpr Word kE5m2Most = 0x7b;

Number unpack8(Type type, Word bits) {
  if (type == Type::e5m2x2) return exact::unpack(kE5m2, bits);
  if ((bits & kNan8) == kNan8) return {.kind = Number::Kind::nan};
  Number x = exact::unpack(kE4m3Wide, (bits & kSign8) << 1 | (bits & kNan8));
  x.exponent += kE4m3Scale;
  return x;
}

// Rounded to nearest; what is too large becomes the largest number.
Word pack8(Type type, Number x) {
  if (x.kind == Number::Kind::nan) return kNan8;
  const Word sign = x.negative ? kSign8 : 0;
  const bool e5m2 = type == Type::e5m2x2;
  const Word most = e5m2 ? kE5m2Most : kE4m3Most;
  if (x.kind == Number::Kind::infinite) return sign | most;
  x.negative = false;
  if (!e5m2) x.exponent -= kE4m3Scale;
  const auto magnitude = static_cast<Word>(exact::pack(e5m2 ? kE5m2 : kE4m3Wide, x, Rounding::rn));
  return sign | std::min(magnitude, most);
}

// .relu: negative numbers become 0, NaN stays.
Number without_negative(const Number& x, bool relu) {
  return relu && x.negative && x.kind != Number::Kind::nan ? Number{} : x;
}

// cvt.e4m3x2.f32 d, a, b: a becomes the upper byte.
struct FloatsToBytes {
  explicit FloatsToBytes(const Instr& instr)
      : type(instr.modifiers.type), relu(instr.modifiers.relu) {}
  [[nodiscard]] Word one(Word bits) const {
    return pack8(type, without_negative(exact::unpack(exact::kF32, bits), relu));
  }
  Word operator()(Word a, Word b) const { return one(a) << 8 | one(b); }
  Type type;
  bool relu;
};

struct HalvesToBytes {
  explicit HalvesToBytes(const Instr& instr)
      : type(instr.modifiers.type), relu(instr.modifiers.relu) {}
  [[nodiscard]] Word one(Word bits) const {
    return pack8(type, without_negative(exact::unpack(exact::kF16, bits), relu));
  }
  Word operator()(Word a) const { return one(a >> 16) << 8 | one(a & 0xffff); }
  Type type;
  bool relu;
};

struct BytesToHalves {
  explicit BytesToHalves(const Instr& instr)
      : type(instr.modifiers.source_type), relu(instr.modifiers.relu) {}
  [[nodiscard]] Word one(Word bits) const {
    const Number x = without_negative(unpack8(type, bits), relu);
    return static_cast<Word>(exact::pack(exact::kF16, x, Rounding::rn));
  }
  Word operator()(Word a) const { return one(a >> 8 & 0xff) << 16 | one(a & 0xff); }
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
    return static_cast<Word>(exact::pack(kTf32, x, rounding)) << kUnused;
  }
  // .rna cuts off the bits of a NaN, and .satfinite takes it for a number (seen on sm_90).
  [[nodiscard]] Word away(Word a) const {
    const bool is_number = (a & 0x7fffffff) < exact::kF32.infinity();
    const Word rounded = (is_number ? a + (kRest + 1) / 2 : a) & ~kRest;
    const bool too_large = (rounded & 0x7fffffff) >= exact::kF32.infinity();
    return finite && too_large ? rounded - (kRest + 1) : rounded;
  }
  Rounding rounding;
  bool relu, finite;
};

// cvt.pack: a and b clamped to fields of some bits, a above b; the wider rest comes from c.
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

bool is_byte_float(Type type) { return type == Type::e4m3x2 || type == Type::e5m2x2; }

ComputeFn find_narrow_float(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool pair = present(instr[ComputeOperand::b]);
  if (m.sat || m.ftz) return nullptr;
  if (m.type == Type::tf32) {
    const bool known = m.rounding == Rounding::rn || m.rounding == Rounding::rz ||
                       (m.rounding == Rounding::rna && !m.relu);
    return m.source_type == Type::f32 && known && !pair ? lanewise<ToTf32, Word, Word> : nullptr;
  }
  if (m.rounding != Rounding::rn) return nullptr;
  if (is_byte_float(m.type) && m.satfinite) {
    if (m.source_type == Type::f32 && pair) return lanewise<FloatsToBytes, Word, Word, Word>;
    return m.source_type == Type::f16x2 && !pair ? lanewise<HalvesToBytes, Word, Word> : nullptr;
  }
  const bool widens = m.type == Type::f16x2 && is_byte_float(m.source_type);
  return widens && !pair && !m.satfinite ? lanewise<BytesToHalves, Word, Word> : nullptr;
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
