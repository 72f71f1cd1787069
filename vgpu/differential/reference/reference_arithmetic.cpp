#include "vgpu/differential/reference/reference_arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <string_view>

#include "vgpu/differential/reference/reference_float.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Compare;
using ptx::Opcode;
using ptx::Type;
__extension__ using Wide = __int128;

unsigned bits_of(Type type) { return ptx::bytes_of(type) * 8; }

std::uint64_t cut(std::uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

// Returns `value` as a number of an integer type.
Wide number(std::uint64_t value, Type type) {
  const unsigned bits = bits_of(type);
  value = cut(value, bits);
  if (!ptx::is_signed(type)) return static_cast<Wide>(value);
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

Wide clamp_to(Wide value, Type type) {
  const unsigned bits = bits_of(type);
  const Wide one = 1;
  const Wide low = ptx::is_signed(type) ? -(one << (bits - 1)) : 0;
  const Wide high = ptx::is_signed(type) ? (one << (bits - 1)) - 1 : (one << bits) - 1;
  return std::clamp(value, low, high);
}

[[noreturn]] void unknown(const ptx::Instruction& in) { throw std::logic_error(in.text); }

bool compares(const ptx::Instruction& in, Type type, std::uint64_t a, std::uint64_t b) {
  if (ptx::is_float(type)) return reference_float_compares(in, type, a, b);
  const Wide x = number(a, type), y = number(b, type);
  switch (in.modifiers.compare) {
    case Compare::eq: return x == y;
    case Compare::ne: return x != y;
    case Compare::lt:
    case Compare::lo: return x < y;
    case Compare::le:
    case Compare::ls: return x <= y;
    case Compare::gt:
    case Compare::hi: return x > y;
    case Compare::ge:
    case Compare::hs: return x >= y;
    default: unknown(in);
  }
}

bool joined(const ptx::Instruction& in, bool value, bool other) {
  switch (in.modifiers.bool_op) {
    case ptx::BoolOp::and_: return value && other;
    case ptx::BoolOp::or_: return value || other;
    case ptx::BoolOp::xor_: return value != other;
    default: return value;
  }
}

// 9.4.1: a result narrower than its register is extended as its type says.
std::uint64_t converted(const ptx::Instruction& in, std::uint64_t a) {
  const Type to = in.modifiers.type, from = in.modifiers.source_type;
  if (ptx::is_float(to) || ptx::is_float(from)) return reference_float_conversion(in, a);
  const Wide value = number(a, from);
  return static_cast<std::uint64_t>(
      number(static_cast<std::uint64_t>(in.modifiers.sat ? clamp_to(value, to) : value), to));
}

std::uint64_t field(const ptx::Instruction& in, const ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  const unsigned bits = bits_of(type);
  // For 64 bits, the hardware uses all bits of position and length: docs/develop/conformance.md.
  const std::uint64_t looked_at = bits == 64 ? 0xffffffff : 0xff;
  if (in.opcode == Opcode::bfi_) {
    const std::uint64_t position = o.source[2] & looked_at, length = o.source[3] & looked_at;
    std::uint64_t result = cut(o.source[1], bits);
    for (std::uint64_t i = 0; i < length && position + i < bits; ++i) {
      const std::uint64_t bit = o.source[0] >> i & 1;
      result = (result & ~(std::uint64_t{1} << (position + i))) | bit << (position + i);
    }
    return result;
  }
  const std::uint64_t position = o.source[1] & looked_at, length = o.source[2] & looked_at;
  const std::uint64_t a = cut(o.source[0], bits);
  const std::uint64_t sign_at = std::min<std::uint64_t>(position + length - 1, bits - 1);
  const bool sign = ptx::is_signed(type) && length > 0 && (a >> sign_at & 1) != 0;
  std::uint64_t result = 0;
  for (unsigned i = 0; i < bits; ++i) {
    const bool inside = i < length && position + i < bits;
    const bool bit = inside ? (a >> (position + i) & 1) != 0 : sign;
    result |= std::uint64_t{bit} << i;
  }
  return result;
}

std::uint64_t shifted(const ptx::Instruction& in, const ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  const unsigned bits = bits_of(type);
  const auto amount = static_cast<unsigned>(std::min<std::uint64_t>(cut(o.source[1], 32), bits));
  if (in.opcode == Opcode::shl_)
    return static_cast<std::uint64_t>(number(o.source[0], type) << amount);
  return static_cast<std::uint64_t>(number(o.source[0], type) >> amount);
}

std::uint64_t funnel(const ptx::Instruction& in, const ReferenceOperands& o) {
  const std::uint64_t both = cut(o.source[1], 32) << 32 | cut(o.source[0], 32);
  const std::uint64_t c = cut(o.source[2], 32);
  const std::uint64_t amount = in.modifiers.wrap ? c & 31 : std::min<std::uint64_t>(c, 32);
  return in.modifiers.left ? (both << amount) >> 32 : both >> amount;
}

// 9.7.9.7: returns which of the eight bytes of b and a is byte i of the result.
unsigned selected(ptx::PermuteMode mode, unsigned c, unsigned i) {
  const unsigned low = c & 3;
  switch (mode) {
    case ptx::PermuteMode::f4e: return low + i;
    case ptx::PermuteMode::b4e: return (low - i) & 7;
    case ptx::PermuteMode::rc8: return low;
    case ptx::PermuteMode::ecl: return std::max(low, i);
    case ptx::PermuteMode::ecr: return std::min(low, i);
    case ptx::PermuteMode::rc16: return (low & 1) * 2 + (i & 1);
    default: return c >> (4 * i) & 15;
  }
}

std::uint64_t permuted(const ptx::Instruction& in, const ReferenceOperands& o) {
  const std::uint64_t both = cut(o.source[1], 32) << 32 | cut(o.source[0], 32);
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned selector = selected(in.modifiers.permute, static_cast<unsigned>(o.source[2]), i);
    std::uint64_t byte = both >> (8 * (selector & 7)) & 0xff;
    if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

std::uint64_t looked_up(const ptx::Instruction& in, ReferenceOperands& o) {
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const std::uint64_t row =
        (o.source[0] >> i & 1) << 2 | (o.source[1] >> i & 1) << 1 | (o.source[2] >> i & 1);
    result |= (o.source[3] >> row & 1) << i;
  }
  o.second_result = joined(in, result != 0, o.source[4] != 0) ? 1 : 0;
  return result;
}

// bmsk and szext: .wrap takes the amount modulo 32, .clamp takes at most 32.
std::uint64_t masked(const ptx::Instruction& in, const ReferenceOperands& o) {
  const auto amount = [&](std::uint64_t bits) {
    return in.modifiers.wrap ? bits & 31 : std::min<std::uint64_t>(cut(bits, 32), 32);
  };
  if (in.opcode == Opcode::bmsk_) {
    const std::uint64_t position = amount(o.source[0]), length = amount(o.source[1]);
    return cut(cut(~std::uint64_t{0}, static_cast<unsigned>(length)) << position, 32);
  }
  const auto width = static_cast<unsigned>(amount(o.source[1]));
  if (width == 0) return 0;
  const std::uint64_t kept = cut(o.source[0], width);
  const bool negative = ptx::is_signed(in.modifiers.type) && (kept >> (width - 1) & 1) != 0;
  return negative ? kept | ~std::uint64_t{0} << width : kept;
}

std::uint64_t dot_product(const ptx::Instruction& in, const ReferenceOperands& o) {
  const ptx::Modifiers& m = in.modifiers;
  const auto part = [](std::uint64_t word, unsigned at, unsigned bits, Type type) {
    const std::uint64_t field = word >> at & ((std::uint64_t{1} << bits) - 1);
    if (!ptx::is_signed(type)) return static_cast<std::int64_t>(field);
    return static_cast<std::int64_t>(field << (64 - bits)) >> (64 - bits);
  };
  std::int64_t sum = 0;
  if (in.opcode == Opcode::dp4a_) {
    for (unsigned i = 0; i < 4; ++i) {
      sum += part(o.source[0], 8 * i, 8, m.type) * part(o.source[1], 8 * i, 8, m.source_type);
    }
  } else {
    const unsigned first = m.part == ptx::MulPart::hi ? 16 : 0;
    for (unsigned i = 0; i < 2; ++i) {
      sum += part(o.source[0], 16 * i, 16, m.type) *
             part(o.source[1], first + 8 * i, 8, m.source_type);
    }
  }
  return static_cast<std::uint64_t>(sum) + o.source[2];
}

std::uint64_t counted(const ptx::Instruction& in, std::uint64_t a) {
  const Type type = in.modifiers.type;
  const unsigned bits = bits_of(type);
  a = cut(a, bits);
  switch (in.opcode) {
    case Opcode::popc_: return static_cast<std::uint64_t>(std::popcount(a));
    case Opcode::clz_: return static_cast<std::uint64_t>(std::countl_zero(a)) - (64 - bits);
    case Opcode::bfind_:
      if (number(a, type) < 0) a = cut(~a, bits);
      if (a == 0) return 0xffffffffu;
      return in.modifiers.shift_amount
                 ? static_cast<std::uint64_t>(std::countl_zero(a)) - (64 - bits)
                 : 63 - static_cast<std::uint64_t>(std::countl_zero(a));
    default: {
      std::uint64_t reversed = 0;
      for (unsigned i = 0; i < bits; ++i) reversed |= (a >> i & 1) << (bits - 1 - i);
      return reversed;
    }
  }
}

// Returns the product, and for mad the sum with c, as defined in 9.7.1.3 and 9.7.1.4.
std::uint64_t product(const ptx::Instruction& in, ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  __extension__ using Unsigned = unsigned __int128;
  const unsigned bits = bits_of(type);
  // A product of two 64-bit unsigned numbers fits only without a sign.
  const Unsigned whole = static_cast<Unsigned>(number(o.source[0], type)) *
                         static_cast<Unsigned>(number(o.source[1], type));
  const bool is_high = in.modifiers.part == ptx::MulPart::hi;
  const auto part = static_cast<std::uint64_t>(is_high ? whole >> bits : whole);
  if (in.opcode == Opcode::mul_) return part;
  const bool carries = in.opcode == Opcode::madc_ && o.carry_in;
  if (in.modifiers.part == ptx::MulPart::wide) return part + o.source[2];
  if (in.modifiers.sat) {
    return static_cast<std::uint64_t>(
        clamp_to(number(part, type) + number(o.source[2], type), type));
  }
  const Unsigned sum = Unsigned{cut(part, bits)} + cut(o.source[2], bits) + (carries ? 1 : 0);
  o.carry_out = (sum >> bits & 1) != 0;
  return static_cast<std::uint64_t>(sum);
}

std::uint64_t product24(const ptx::Instruction& in, const ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  const auto low = [&](std::uint64_t value) {
    const Wide part = static_cast<Wide>(value & 0xffffff);
    return ptx::is_signed(type) && part >= 0x800000 ? part - 0x1000000 : part;
  };
  Wide result = low(o.source[0]) * low(o.source[1]);
  if (in.modifiers.part == ptx::MulPart::hi) result >>= 16;
  result = number(static_cast<std::uint64_t>(result), type);
  if (in.opcode == Opcode::mad24_) result += number(o.source[2], type);
  return static_cast<std::uint64_t>(in.modifiers.sat ? clamp_to(result, type) : result);
}

std::uint64_t integer_result(const ptx::Instruction& in, ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  const Wide a = number(o.source[0], type), b = number(o.source[1], type);
  const auto bits = [](Wide value) { return static_cast<std::uint64_t>(value); };
  switch (in.opcode) {
    case Opcode::add_:
    case Opcode::addc_: {
      if (in.modifiers.sat) return bits(clamp_to(a + b, type));
      const Wide whole = static_cast<Wide>(cut(o.source[0], bits_of(type))) +
                         static_cast<Wide>(cut(o.source[1], bits_of(type))) +
                         (in.opcode == Opcode::addc_ && o.carry_in ? 1 : 0);
      o.carry_out = (whole >> bits_of(type) & 1) != 0;
      return bits(whole);
    }
    case Opcode::sub_:
    case Opcode::subc_: {
      if (in.modifiers.sat) return bits(clamp_to(a - b, type));
      // As on the hardware, the flag means that there was no borrow.
      const Wide difference = static_cast<Wide>(cut(o.source[0], bits_of(type))) -
                              static_cast<Wide>(cut(o.source[1], bits_of(type))) -
                              (in.opcode == Opcode::subc_ && !o.carry_in ? 1 : 0);
      o.carry_out = difference >= 0;
      return bits(difference);
    }
    case Opcode::mul_:
    case Opcode::mad_:
    case Opcode::madc_: return product(in, o);
    case Opcode::mul24_:
    case Opcode::mad24_: return product24(in, o);
    case Opcode::dp4a_:
    case Opcode::dp2a_: return dot_product(in, o);
    case Opcode::bmsk_:
    case Opcode::szext_: return masked(in, o);
    case Opcode::sad_: return bits((a < b ? b - a : a - b) + number(o.source[2], type));
    case Opcode::div_: return bits(a / b);
    case Opcode::rem_: return bits(a % b);
    case Opcode::min_: return bits(std::min(a, b));
    case Opcode::max_: return bits(std::max(a, b));
    case Opcode::abs_: return bits(a < 0 ? -a : a);
    case Opcode::neg_: return bits(-a);
    case Opcode::and_: return o.source[0] & o.source[1];
    case Opcode::or_: return o.source[0] | o.source[1];
    case Opcode::xor_: return o.source[0] ^ o.source[1];
    case Opcode::not_: return type == Type::pred ? o.source[0] ^ 1 : ~o.source[0];
    case Opcode::cnot_: return a == 0 ? 1 : 0;
    case Opcode::shl_:
    case Opcode::shr_: return shifted(in, o);
    case Opcode::shf_: return funnel(in, o);
    case Opcode::prmt_: return permuted(in, o);
    case Opcode::lop3_: return looked_up(in, o);
    case Opcode::bfe_:
    case Opcode::bfi_: return field(in, o);
    case Opcode::popc_:
    case Opcode::clz_:
    case Opcode::bfind_:
    case Opcode::brev_: return counted(in, o.source[0]);
    default: unknown(in);
  }
}

// Returns false for 16-bit floats, pairs, matrix types and 128 bits.
bool is_plain(Type type) {
  return (type <= Type::s64 && type != Type::b128) || type == Type::f32 || type == Type::f64;
}

}  // namespace

bool reference_knows(const ptx::InstructionForm& form) {
  constexpr std::string_view kTypes[] = {"pred", "b16", "b32",      "b64",  "u8",  "s8",
                                         "u16",  "s16", "u32",      "s32",  "u64", "s64",
                                         "f32",  "f64", "position", "carry"};
  const auto is_known = [&](std::string_view type) {
    return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
  };
  constexpr std::string_view kWithout[] = {"relu", "b128", "fns",  "tf32", "cvt.pack", "e4m3",
                                           "e5m2", "e2m1", "e2m3", "e3m2", "ue8m0",    "f16"};
  const bool is_left_out =
      std::any_of(std::begin(kWithout), std::end(kWithout),
                  [&](std::string_view part) { return form.text.find(part) != std::string::npos; });
  const bool is_atomic = form.mnemonic.starts_with("atom.") || form.mnemonic.starts_with("red.");
  const bool is_of_floats = std::any_of(form.sources.begin(), form.sources.end(),
                                        [](std::string_view type) { return type[0] == 'f'; });
  return !is_left_out && !(is_atomic && is_of_floats) && form.family != "video" &&
         !form.family.starts_with("matrix") &&
         std::all_of(form.results.begin(), form.results.end(), is_known) &&
         std::all_of(form.sources.begin(), form.sources.end(), is_known);
}

std::uint64_t reference_result(const ptx::Instruction& in, ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  if (!is_plain(type) || !is_plain(in.modifiers.source_type) || in.modifiers.relu ||
      in.modifiers.pack) {
    unknown(in);
  }
  switch (in.opcode) {
    case Opcode::mov_: return o.source[0];
    case Opcode::selp_: return o.source[2] != 0 ? o.source[0] : o.source[1];
    case Opcode::slct_: {
      const bool is_first = ptx::is_float(in.modifiers.source_type)
                                ? reference_is_not_negative(in, o.source[2])
                                : number(o.source[2], Type::s32) >= 0;
      return is_first ? o.source[0] : o.source[1];
    }
    case Opcode::setp_: {
      const bool holds = compares(in, type, o.source[0], o.source[1]);
      o.second_result = joined(in, !holds, o.source[2] != 0) ? 1 : 0;
      return joined(in, holds, o.source[2] != 0) ? 1 : 0;
    }
    case Opcode::set_: {
      const bool holds = joined(
          in, compares(in, in.modifiers.source_type, o.source[0], o.source[1]), o.source[2] != 0);
      return !holds ? 0 : type == Type::f32 ? 0x3f800000u : 0xffffffffu;
    }
    case Opcode::testp_: return reference_float_test(in, o.source[0]) ? 1 : 0;
    case Opcode::cvt_: return converted(in, o.source[0]);
    default: return ptx::is_float(type) ? reference_float_result(in, o) : integer_result(in, o);
  }
}

}  // namespace warpcheck::vgpu
