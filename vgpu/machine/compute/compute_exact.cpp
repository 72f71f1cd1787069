// The rarer conversions, calculated in integers: PTX ISA 9.0, 9.7.9.21.
//
// Compiled once, because exact.hpp does not depend on the host's instruction set and these forms
// are rare.
#define WARPCHECK_SIMD portable

#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/lanes.hpp"
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

bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }
bool is_half_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

// The processing of floats before and after the conversion.
struct Frame {
  explicit Frame(const Instr& instr, Type type)
      : format(exact::format_of(type)),
        flush(instr.modifiers.ftz),
        saturate(instr.modifiers.sat),
        relu(instr.modifiers.relu),
        finite(instr.modifiers.satfinite) {}

  [[nodiscard]] Wide flushed(Wide bits) const {
    const bool subnormal = (bits & format.infinity()) == 0;
    return flush && subnormal ? bits & format.sign() : bits;
  }

  [[nodiscard]] Number read(Wide bits) const {
    const Wide mask = format.sign() | (format.sign() - 1);
    return exact::unpack(format, flushed(bits & mask));
  }

  // .ftz applies to a result that is subnormal when rounded with unlimited exponents: `scaled` has
  // an exponent far from the limits.
  [[nodiscard]] Wide write(const Number& x, Rounding rounding) const {
    Wide bits = exact::pack(format, x, rounding);
    if (flush && x.kind == Number::Kind::finite) {
      const int scale = format.fraction_bits + 2;
      Number scaled = x;
      scaled.exponent += scale;
      const Wide smallest = static_cast<Wide>(1 + scale) << format.fraction_bits;
      const bool tiny = (exact::pack(format, scaled, rounding) & ~format.sign()) < smallest;
      if (tiny) bits &= format.sign();
    }
    const bool is_nan = this->is_nan(bits);
    const bool negative = (bits & format.sign()) != 0;
    if (saturate) {
      const Wide one = static_cast<Wide>(format.bias()) << format.fraction_bits;
      if (is_nan || negative) return 0;
      return bits > one ? one : bits;
    }
    if (finite && (bits & ~format.sign()) == format.infinity()) --bits;
    return relu && negative && !is_nan ? 0 : bits;
  }

  [[nodiscard]] bool is_nan(Wide bits) const {
    return (bits & (format.sign() - 1)) > format.infinity();
  }

  const Format& format;
  bool flush, saturate, relu, finite;
};

// cvt from any number type to any other.
struct Convert {
  explicit Convert(const Instr& instr)
      : source_frame(instr, instr.modifiers.source_type),
        frame(instr, instr.modifiers.type),
        type(instr.modifiers.type),
        source_type(instr.modifiers.source_type),
        rounding(instr.modifiers.rounding),
        saturate(instr.modifiers.sat) {
    // .ftz applies to f32, not to the 16-bit floats on the other side; in conversions to f16 it
    // does nothing (seen on sm_90).
    source_frame.flush = source_frame.flush && source_type == Type::f32 && type != Type::f16;
    frame.flush = frame.flush && type == Type::f32;
  }

  [[nodiscard]] Number read(Wide bits) const {
    if (ptx::is_float(source_type)) return source_frame.read(bits);
    const unsigned unused = 64 - 8 * ptx::bytes_of(source_type);
    const Wide top = bits << unused;
    if (!ptx::is_signed(source_type)) return exact::from_integer(top >> unused);
    return exact::from_integer(static_cast<std::int64_t>(top) >> unused);
  }

  [[nodiscard]] Wide integer(const Number& x) const {
    const unsigned bits = 8 * ptx::bytes_of(type);
    const bool is_signed = ptx::is_signed(type);
    if (x.kind == Number::Kind::nan) {
      const Wide top = Wide{1} << (bits - 1);
      if (bits != 64 && source_type != Type::f64) return 0;
      return is_signed ? 0 - top : top;
    }
    const __int128 span = __int128{1} << (is_signed ? bits - 1 : bits);
    const bool clamps = saturate || ptx::is_float(source_type);
    const __int128 all = __int128{1} << 100;
    const Rounding toward = rounding == Rounding::none ? Rounding::rzi : rounding;
    const __int128 value =
        exact::to_integer(exact::to_integral(x, toward), clamps ? (is_signed ? -span : 0) : -all,
                          clamps ? span - 1 : all);
    const unsigned unused = 64 - bits;
    const Wide top = static_cast<Wide>(value) << unused;
    return is_signed ? static_cast<Wide>(static_cast<std::int64_t>(top) >> unused) : top >> unused;
  }

  // Between f64 and another type a NaN keeps its sign and the top of its payload.
  [[nodiscard]] Wide nan_of(Wide bits) const {
    if (saturate || frame.relu || (type != Type::f64 && source_type != Type::f64)) {
      return frame.write({.kind = Number::Kind::nan}, Rounding::rn);
    }
    const Format& from = source_frame.format;
    const Format& to = frame.format;
    const Wide fraction = bits & (from.hidden() - 1);
    const int up = to.fraction_bits - from.fraction_bits;
    const Wide payload = up >= 0 ? fraction << up : fraction >> -up;
    const Wide sign = (bits & from.sign()) != 0 ? to.sign() : 0;
    return sign | to.infinity() | to.hidden() >> 1 | payload;
  }

  [[nodiscard]] Wide one(Wide bits) const {
    const Number x = read(bits);
    if (!ptx::is_float(type)) return integer(x);
    if (x.kind == Number::Kind::nan) return nan_of(bits);
    if (rounding >= Rounding::rni)
      return frame.write(exact::to_integral(x, rounding), Rounding::rn);
    return frame.write(x, rounding == Rounding::none ? Rounding::rn : rounding);
  }

  Wide operator()(Wide a) const { return one(a); }
  // cvt.f16x2.f32 d, a, b: a becomes the upper half.
  Wide operator()(Wide a, Wide b) const { return one(a) << 16 | one(b); }

  Frame source_frame, frame;
  Type type, source_type;
  Rounding rounding;
  bool saturate;
};

// A conversion computes with 64 bits, but the row of the result may have words.
struct ConvertToWord : Convert {
  using Convert::Convert;
  Word operator()(Wide a) const { return static_cast<Word>(one(a)); }
  Word operator()(Wide a, Wide b) const { return static_cast<Word>(one(a) << 16 | one(b)); }
};

bool is_rounding_of_floats(Rounding rounding) {
  return rounding == Rounding::none || (rounding >= Rounding::rn && rounding <= Rounding::rp);
}

bool is_rounding_to_integers(Rounding rounding) {
  return rounding == Rounding::none || rounding >= Rounding::rni;
}

ComputeFn find_convert(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (m.pack) return nullptr;
  const auto known = [](Type type) {
    return type != Type::pred && type != Type::b128 && !ptx::is_packed(type) &&
           ptx::bytes_of(type) != 0;
  };
  if (!known(m.type) || !known(m.source_type)) return nullptr;
  if (is_half_pair(m.source_type)) return nullptr;
  if (present(instr[ComputeOperand::b]) || is_half_pair(m.type)) {
    const bool both = present(instr[ComputeOperand::b]) && is_half_pair(m.type);
    const bool from_words = m.source_type == Type::f32 && is_rounding_of_floats(m.rounding);
    return both && from_words ? lanewise<ConvertToWord, Word, Word, Word> : nullptr;
  }
  const bool to_same_float = ptx::is_float(m.type) && m.type == m.source_type;
  const bool to_integer = ptx::is_float(m.source_type) && !ptx::is_float(m.type);
  if (m.satfinite && !is_half(m.type)) return nullptr;
  const bool legal = to_integer      ? is_rounding_to_integers(m.rounding)
                     : to_same_float ? m.rounding != Rounding::rna
                                     : is_rounding_of_floats(m.rounding);
  if (!legal || (m.relu && !is_half(m.type))) return nullptr;
  const bool from_wide = ptx::bytes_of(m.source_type) == 8;
  if (ptx::bytes_of(m.type) == 8) {
    return from_wide ? lanewise<Convert, Wide, Wide> : lanewise<Convert, Wide, Word>;
  }
  return from_wide ? lanewise<ConvertToWord, Word, Wide> : lanewise<ConvertToWord, Word, Word>;
}

}  // namespace

ComputeFn find_exact(const Instr& instr) {
  return instr.opcode == Opcode::cvt_ ? find_convert(instr) : nullptr;
}

}  // namespace warpcheck::vgpu::portable
