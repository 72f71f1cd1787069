#include "vgpu/differential/reference_arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace warpcheck::vgpu {
namespace {

using ptx::Compare;
using ptx::Opcode;
using ptx::Type;
__extension__ using Wide = __int128;

constexpr std::uint32_t kNan = 0x7fffffff;

unsigned bits_of(Type type) { return ptx::bytes_of(type) * 8; }

std::uint64_t cut(std::uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

// The number that `value` stands for in an integer type.
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

float as_float(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

std::uint32_t settled(float value) {
  return std::isnan(value) ? kNan : std::bit_cast<std::uint32_t>(value);
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

class RoundingMode {
 public:
  explicit RoundingMode(ptx::Rounding rounding) : before_(std::fegetround()) {
    switch (rounding) {
      case ptx::Rounding::rz: std::fesetround(FE_TOWARDZERO); break;
      case ptx::Rounding::rm: std::fesetround(FE_DOWNWARD); break;
      case ptx::Rounding::rp: std::fesetround(FE_UPWARD); break;
      default: std::fesetround(FE_TONEAREST); break;
    }
  }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int before_;
};

[[noreturn]] void unknown(const ptx::Instruction& in) {
  throw std::logic_error("the reference does not know '" + in.text + "'");
}

template <typename T>
bool ordered_compare(Compare compare, T a, T b) {
  switch (compare) {
    case Compare::eq:
    case Compare::equ: return a == b;
    case Compare::ne:
    case Compare::neu: return a != b;
    case Compare::lt:
    case Compare::lo:
    case Compare::ltu: return a < b;
    case Compare::le:
    case Compare::ls:
    case Compare::leu: return a <= b;
    case Compare::gt:
    case Compare::hi:
    case Compare::gtu: return a > b;
    case Compare::ge:
    case Compare::hs:
    case Compare::geu: return a >= b;
    case Compare::num: return true;
    default: return false;
  }
}

bool compares(const ptx::Instruction& in, Type type, std::uint64_t a, std::uint64_t b) {
  const Compare compare = in.modifiers.compare;
  if (!ptx::is_float(type)) return ordered_compare(compare, number(a, type), number(b, type));
  const float x = as_float(a), y = as_float(b);
  if (std::isnan(x) || std::isnan(y)) return compare >= Compare::equ && compare != Compare::num;
  return ordered_compare(compare, x, y);
}

bool joined(const ptx::Instruction& in, bool value, bool other) {
  switch (in.modifiers.bool_op) {
    case ptx::BoolOp::and_: return value && other;
    case ptx::BoolOp::or_: return value || other;
    case ptx::BoolOp::xor_: return value != other;
    default: return value;
  }
}

std::uint32_t float_result(const ptx::Instruction& in, const ReferenceOperands& o) {
  const ptx::Modifiers& m = in.modifiers;
  std::array<float, 3> x{};
  for (std::size_t i = 0; i < 3; ++i) {
    x[i] = as_float(o.source[i]);
    if (m.ftz) x[i] = flushed(x[i]);
  }
  // Through volatile: the compiler must not calculate in another rounding mode.
  volatile float a = x[0], b = x[1], c = x[2];
  float result = 0;
  const RoundingMode mode(m.rounding);
  switch (in.opcode) {
    case Opcode::add_: result = a + b; break;
    case Opcode::sub_: result = a - b; break;
    case Opcode::mul_: result = a * b; break;
    case Opcode::div_: result = a / b; break;
    case Opcode::fma_: result = std::fma(float{a}, float{b}, float{c}); break;
    case Opcode::sqrt_: result = std::sqrt(float{a}); break;
    case Opcode::neg_: result = -a; break;
    case Opcode::copysign_:
      return cut(o.source[0], 32) & 0x80000000u
                 ? static_cast<std::uint32_t>(o.source[1]) | 0x80000000u
                 : static_cast<std::uint32_t>(o.source[1]) & 0x7fffffffu;
    case Opcode::min_:
    case Opcode::max_: {
      if (std::isnan(x[0])) return settled(x[1]);
      if (std::isnan(x[1])) return settled(x[0]);
      const bool first_is_less = x[0] < x[1] || (x[0] == x[1] && std::signbit(x[0]));
      return settled(first_is_less == (in.opcode == Opcode::min_) ? x[0] : x[1]);
    }
    default: unknown(in);
  }
  if (m.ftz) result = flushed(result);
  if (m.sat) result = std::isnan(result) ? 0.0f : std::clamp(result, 0.0f, 1.0f);
  if (m.sat && result == 0) result = 0.0f;
  return settled(result);
}

std::uint64_t converted(const ptx::Instruction& in, std::uint64_t a) {
  const Type to = in.modifiers.type, from = in.modifiers.source_type;
  if (ptx::is_float(to)) {
    const RoundingMode mode(in.modifiers.rounding);
    volatile std::int64_t i = static_cast<std::int64_t>(number(a, from));
    volatile std::uint64_t u = static_cast<std::uint64_t>(number(a, from));
    return settled(ptx::is_signed(from) ? static_cast<float>(i) : static_cast<float>(u));
  }
  if (!ptx::is_float(from)) {
    const Wide value = number(a, from);
    return static_cast<std::uint64_t>(in.modifiers.sat ? clamp_to(value, to) : value);
  }
  const float x = as_float(a);
  // 9.7.9: of NaN 0, or, to 64 bits, the integer whose top bit alone is set.
  if (std::isnan(x)) return bits_of(to) == 64 ? std::uint64_t{1} << 63 : 0;
  float whole = 0;
  switch (in.modifiers.rounding) {
    case ptx::Rounding::rzi: whole = std::trunc(x); break;
    case ptx::Rounding::rmi: whole = std::floor(x); break;
    case ptx::Rounding::rpi: whole = std::ceil(x); break;
    default: whole = std::nearbyint(x); break;
  }
  constexpr float kFar = 0x1p100f;
  const auto value = static_cast<Wide>(std::clamp(whole, -kFar, kFar));
  return static_cast<std::uint64_t>(clamp_to(value, to));
}

std::uint64_t field(const ptx::Instruction& in, const ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  const unsigned bits = bits_of(type);
  if (in.opcode == Opcode::bfi_) {
    const unsigned position = o.source[2] & 0xff, length = o.source[3] & 0xff;
    std::uint64_t result = cut(o.source[1], bits);
    for (unsigned i = 0; i < length && position + i < bits; ++i) {
      const std::uint64_t bit = o.source[0] >> i & 1;
      result = (result & ~(std::uint64_t{1} << (position + i))) | bit << (position + i);
    }
    return result;
  }
  const unsigned position = o.source[1] & 0xff, length = o.source[2] & 0xff;
  const std::uint64_t a = cut(o.source[0], bits);
  const unsigned sign_at = std::min(position + length - 1, bits - 1);
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

std::uint64_t permuted(const ReferenceOperands& o) {
  const std::uint64_t both = cut(o.source[1], 32) << 32 | cut(o.source[0], 32);
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto selector = static_cast<unsigned>(o.source[2] >> (4 * i) & 0xf);
    std::uint64_t byte = both >> (8 * (selector & 7)) & 0xff;
    if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

std::uint64_t looked_up(const ReferenceOperands& o) {
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const std::uint64_t row =
        (o.source[0] >> i & 1) << 2 | (o.source[1] >> i & 1) << 1 | (o.source[2] >> i & 1);
    result |= (o.source[3] >> row & 1) << i;
  }
  return result;
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
      return a == 0 ? 0xffffffffu : 63 - static_cast<std::uint64_t>(std::countl_zero(a));
    default: {
      std::uint64_t reversed = 0;
      for (unsigned i = 0; i < bits; ++i) reversed |= (a >> i & 1) << (bits - 1 - i);
      return reversed;
    }
  }
}

std::uint64_t product(const ptx::Instruction& in, const ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  __extension__ using Unsigned = unsigned __int128;
  const unsigned bits = bits_of(type);
  const Wide a = number(o.source[0], type), b = number(o.source[1], type);
  // A product of two 64-bit unsigned numbers fits only without a sign.
  const Unsigned whole = static_cast<Unsigned>(a) * static_cast<Unsigned>(b);
  switch (in.modifiers.part) {
    case ptx::MulPart::hi: return static_cast<std::uint64_t>(whole >> bits);
    default: return static_cast<std::uint64_t>(whole);
  }
}

std::uint64_t integer_result(const ptx::Instruction& in, ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  const Wide a = number(o.source[0], type), b = number(o.source[1], type);
  const auto bits = [](Wide value) { return static_cast<std::uint64_t>(value); };
  switch (in.opcode) {
    case Opcode::add_:
    case Opcode::addc_: {
      const Wide sum = a + b + (in.opcode == Opcode::addc_ && o.carry_in ? 1 : 0);
      o.carry_out = (sum >> bits_of(type) & 1) != 0;
      return bits(sum);
    }
    case Opcode::sub_:
    case Opcode::subc_: {
      const Wide difference = a - b - (in.opcode == Opcode::subc_ && o.carry_in ? 1 : 0);
      o.carry_out = difference < 0;
      return bits(difference);
    }
    case Opcode::mul_: return product(in, o);
    case Opcode::mad_: return product(in, o) + o.source[2];
    case Opcode::mul24_: {
      const auto low = [&](std::uint64_t value) {
        const Wide part = static_cast<Wide>(value & 0xffffff);
        return ptx::is_signed(type) && part >= 0x800000 ? part - 0x1000000 : part;
      };
      return bits(low(o.source[0]) * low(o.source[1]));
    }
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
    case Opcode::prmt_: return permuted(o);
    case Opcode::lop3_: return looked_up(o);
    case Opcode::bfe_:
    case Opcode::bfi_: return field(in, o);
    case Opcode::popc_:
    case Opcode::clz_:
    case Opcode::bfind_:
    case Opcode::brev_: return counted(in, o.source[0]);
    default: unknown(in);
  }
}

}  // namespace

std::uint64_t reference_result(const ptx::Instruction& in, ReferenceOperands& o) {
  const Type type = in.modifiers.type;
  switch (in.opcode) {
    case Opcode::mov_: return o.source[0];
    case Opcode::selp_: return o.source[2] != 0 ? o.source[0] : o.source[1];
    case Opcode::slct_: return number(o.source[2], Type::s32) >= 0 ? o.source[0] : o.source[1];
    case Opcode::setp_:
      return joined(in, compares(in, type, o.source[0], o.source[1]), o.source[2] != 0) ? 1 : 0;
    case Opcode::set_:
      return compares(in, in.modifiers.source_type, o.source[0], o.source[1]) ? 0xffffffffu : 0;
    case Opcode::cvt_: return converted(in, o.source[0]);
    default: return ptx::is_float(type) ? float_result(in, o) : integer_result(in, o);
  }
}

}  // namespace warpcheck::vgpu
