// Forms calculated in integers: directed rounding, 16-bit floats, the rarer conversions.
//
// PTX ISA 9.0, 9.7.3 - 9.7.5 and 9.7.9.21.  Compiled once, because exact.hpp does not depend on the
// host's instruction set and these forms are rare.
#define WARPCHECK_SIMD portable

#include <utility>

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

bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }
bool is_half_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

// The processing of floats before and after the operation of an instruction.
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

Number calculate(Opcode opcode, Rounding rounding, const Number& a, const Number& b,
                 const Number& c) {
  switch (opcode) {
    case Opcode::add_: return exact::add(a, b, rounding);
    case Opcode::sub_: return exact::add(a, b.kind == Number::Kind::nan ? b : negated(b), rounding);
    case Opcode::mul_: return exact::multiply(a, b);
    case Opcode::div_: return exact::divide(a, b);
    case Opcode::rcp_: return exact::divide(exact::from_integer(Wide{1}), a);
    case Opcode::sqrt_: return exact::square_root(a);
    default: return exact::multiply_add(a, b, c, rounding);
  }
}

// add, sub, mul, div, fma, rcp, sqrt of one element or, for .f16x2, .bf16x2 and .f32x2, of both
// halves.
struct Arithmetic {
  explicit Arithmetic(const Instr& instr)
      : frame(instr, instr.modifiers.type),
        opcode(instr.opcode),
        rounding(instr.modifiers.rounding == Rounding::none ? Rounding::rn
                                                            : instr.modifiers.rounding),
        half_bits(8 * ptx::half_bytes_of(instr.modifiers.type)),
        out_of_bounds(instr.modifiers.out_of_bounds) {}

  template <class U>
  U operator()(U a, U b = 0, U c = 0) const {
    if (half_bits == 0) return static_cast<U>(one(a, b, c));
    const Wide upper = one(a >> half_bits, b >> half_bits, c >> half_bits);
    return static_cast<U>(upper << half_bits | one(a, b, c));
  }

  [[nodiscard]] Wide one(Wide a, Wide b, Wide c) const {
    if (out_of_bounds && (is_out_of_bounds(a) || is_out_of_bounds(b))) return 0;
    const Number result = calculate(opcode, rounding, frame.read(a), frame.read(b), frame.read(c));
    const bool keeps_nan = &frame.format == &exact::kF64 && result.kind == Number::Kind::nan;
    return keeps_nan ? nan_of(a, b, c) : frame.write(result, rounding);
  }

  // The NaN that fma.oob treats as a value outside the bounds of a tensor: the same for both 16-bit
  // formats (seen on sm_90; the ISA does not define it).
  static bool is_out_of_bounds(Wide bits) { return (bits & 0x7fff) == 0x7ff7; }

  // Returns the NaN operand of f64 that takes precedence, made quiet.
  [[nodiscard]] Wide nan_of(Wide a, Wide b, Wide c) const {
    if (opcode == Opcode::div_ && frame.is_nan(a)) return a | kQuiet;
    for (const Wide operand : {b, c, a}) {
      if (frame.is_nan(operand)) return operand | kQuiet;
    }
    return frame.format.nan;
  }

  static constexpr Wide kQuiet = exact::kF64.hidden() >> 1;

  Frame frame;
  Opcode opcode;
  Rounding rounding;
  std::uint32_t half_bits;
  bool out_of_bounds;
};

// abs, neg, min, max of 16-bit floats: no rounding is needed.
struct HalfSelect {
  explicit HalfSelect(const Instr& instr)
      : frame(instr, instr.modifiers.type),
        opcode(instr.opcode),
        nan_wins(instr.modifiers.nan),
        xorsign(instr.modifiers.xorsign),
        pair(is_half_pair(instr.modifiers.type)) {}

  Word operator()(Word a, Word b = 0) const {
    return pair ? one(a >> 16, b >> 16) << 16 | one(a, b) : one(a, b);
  }

  [[nodiscard]] Word one(Word a_bits, Word b_bits) const {
    Word a = static_cast<Word>(frame.flushed(a_bits & 0xffff));
    Word b = static_cast<Word>(frame.flushed(b_bits & 0xffff));
    const auto nan = static_cast<Word>(frame.format.nan);
    if (opcode == Opcode::abs_) return is_nan(a) ? nan : a & 0x7fff;
    if (opcode == Opcode::neg_) return is_nan(a) ? nan : a ^ 0x8000;
    const Word sign = (a ^ b) & 0x8000;
    if (xorsign) {
      a &= 0x7fff;
      b &= 0x7fff;
    }
    const bool a_nan = is_nan(a);
    const bool b_nan = is_nan(b);
    if ((a_nan && b_nan) || (nan_wins && (a_nan || b_nan))) return nan;
    const bool first = (order(a) < order(b)) == (opcode == Opcode::min_);
    const Word chosen = a_nan ? b : b_nan || first ? a : b;
    if (xorsign) return (chosen & 0x7fff) | sign;
    return frame.relu && (chosen & 0x8000) != 0 ? 0 : chosen;
  }

  [[nodiscard]] bool is_nan(Word bits) const { return frame.is_nan(bits); }
  // Ascends with the value; -0 is below +0.
  static int order(Word bits) {
    const int magnitude = static_cast<int>(bits & 0x7fff);
    return (bits & 0x8000) != 0 ? -1 - magnitude : magnitude;
  }

  Frame frame;
  Opcode opcode;
  bool nan_wins, xorsign, pair;
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

// A bf16 is the upper half of an f32, NaN too.
struct WidenBfloat {
  Word operator()(Word a) const { return a << 16; }
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
  if (m.type == Type::f32 && m.source_type == Type::bf16 && !m.sat && !m.ftz) {
    return lanewise<WidenBfloat, Word, Word>;
  }
  const bool from_wide = ptx::bytes_of(m.source_type) == 8;
  if (ptx::bytes_of(m.type) == 8) {
    return from_wide ? lanewise<Convert, Wide, Wide> : lanewise<Convert, Wide, Word>;
  }
  return from_wide ? lanewise<ConvertToWord, Word, Wide> : lanewise<ConvertToWord, Word, Word>;
}

template <int kSources>
ComputeFn find_arithmetic(const ptx::Modifiers& m) {
  if (!is_rounding_of_floats(m.rounding)) return nullptr;
  if (ptx::bytes_of(m.type) == 8) {
    if constexpr (kSources == 1) return lanewise<Arithmetic, Wide, Wide>;
    if constexpr (kSources == 2) return lanewise<Arithmetic, Wide, Wide, Wide>;
    if constexpr (kSources == 3) return lanewise<Arithmetic, Wide, Wide, Wide, Wide>;
  }
  if (!ptx::is_float(m.type)) return nullptr;
  if constexpr (kSources == 1) return lanewise<Arithmetic, Word, Word>;
  if constexpr (kSources == 2) return lanewise<Arithmetic, Word, Word, Word>;
  return lanewise<Arithmetic, Word, Word, Word, Word>;
}

}  // namespace

ComputeFn find_exact(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (instr.opcode == Opcode::cvt_) return find_convert(instr);
  if (m.approx || m.full || !ptx::is_float(m.type)) return nullptr;
  const bool half = is_half(m.type) || is_half_pair(m.type);
  switch (instr.opcode) {
    case Opcode::add_:
    case Opcode::sub_:
    case Opcode::mul_: return m.relu ? nullptr : find_arithmetic<2>(m);
    case Opcode::mad_:
    case Opcode::fma_: return m.relu && !half ? nullptr : find_arithmetic<3>(m);
    case Opcode::div_: return half ? nullptr : find_arithmetic<2>(m);
    case Opcode::rcp_:
    case Opcode::sqrt_: return half ? nullptr : find_arithmetic<1>(m);
    case Opcode::abs_:
    case Opcode::neg_: return half ? lanewise<HalfSelect, Word, Word> : nullptr;
    case Opcode::min_:
    case Opcode::max_:
      return half && !present(instr[ComputeOperand::c]) ? lanewise<HalfSelect, Word, Word, Word>
                                                        : nullptr;
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::portable
