#include "vgpu/check/exact/exact_domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;
using Extremum = ExactNumbers::Extremum;

bool is_plain_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}
unsigned integer_bits(Type type) {
  const bool is_integer = type >= Type::b16 && type <= Type::s64 && type != Type::b128 &&
                          type != Type::u8 && type != Type::s8;
  return is_integer ? 8 * ptx::bytes_of(type) : 0;
}

// The value of a float of any of these types.
double number_of(std::uint64_t bits, Type type) {
  if (type == Type::f64) return std::bit_cast<double>(bits);
  if (type == Type::f32)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const exact::Number number = exact::unpack(exact::format_of(type), bits);
  return std::bit_cast<double>(exact::pack(exact::kF64, number, ptx::Rounding::rn));
}

// What the toolkit's expf() adds to make a whole number.
constexpr float kOfWhole = 0x1.8p23F + 1;

// The name of a function of one float that is known by its name alone; null: it is none.
const char* function_name(Opcode opcode) {
  switch (opcode) {
    case Opcode::sqrt_: return "sqrt";
    case Opcode::rsqrt_: return "sqrt";  // its reciprocal
    case Opcode::sin_: return "sin";
    case Opcode::cos_: return "cos";
    case Opcode::lg2_: return "log2";
    case Opcode::ex2_: return "exp2";
    case Opcode::tanh_: return "tanh";
    default: return nullptr;
  }
}

}  // namespace

bool ExactDomain::lifts(const ShadowOperation& operation) {
  if (!is_plain_float(operation.type) || !is_plain_float(operation.result)) return false;
  switch (operation.opcode) {
    case Opcode::add_:
    case Opcode::sub_:
    case Opcode::mul_:
    case Opcode::mad_:
    case Opcode::fma_:
    case Opcode::div_:
    case Opcode::rcp_: return true;
    default: return function_name(operation.opcode) != nullptr;
  }
}

std::optional<ExactValue> ExactDomain::constant(std::uint64_t bits, Type type) {
  if (is_plain_float(type)) {
    Value value = numbers_.float_of(number_of(bits, type));
    value.format = type;
    return value;
  }
  const unsigned width = integer_bits(type);
  if (width == 0) return std::nullopt;
  return numbers_.integer_of(bits, width);
}

Type ExactDomain::type_of(const Value& value) {
  if (!value.is_ring()) return value.format;
  return value.bits == 64 ? Type::b64 : value.bits == 32 ? Type::b32 : Type::b16;
}

// The float that a bf16 becomes if zeros are put below it.
std::optional<ExactValue> ExactDomain::widened(const Value& value) {
  if (value.is_ring() || value.format != Type::bf16) return std::nullopt;
  Value result = value;
  result.format = Type::f32;
  return result;
}

bool ExactDomain::compare(const ShadowStep&, const ShadowOperation& operation,
                          std::span<const Operand> operands, bool outcome) {
  if (operands.size() != 2) return false;
  const auto is_nan = [](const Operand& one) {
    return one.value.kind == Value::Kind::not_a_number;
  };
  const Value &a = operands[0].value, &b = operands[1].value;
  if (std::ranges::any_of(operands, is_nan) || (!a.is_data && !b.is_data)) return true;
  return is_plain_float(operation.type) &&
         outcome_of(operation.modifiers->compare, a, b) == outcome;
}

std::optional<ExactValue> ExactDomain::apply(const ShadowStep&, const ShadowOperation& operation,
                                             std::span<const Operand> operands,
                                             const std::uint64_t* bits) {
  std::optional<Value> result = of_infinities(operation, operands, bits);
  if (!result) result = of_numbers(operation, operands);
  if (!result || result->is_ring()) return result;
  // Logic on a sign leaves the format.
  if (is_plain_float(operation.result)) result->format = operation.result;
  return result;
}

// An infinity that is a constant, where a maximum begins: what is calculated of it and of constants
// is one, and so is its sum with data.
std::optional<ExactValue> ExactDomain::of_infinities(const ShadowOperation& operation,
                                                     std::span<const Operand> operands,
                                                     const std::uint64_t* bits) {
  const auto is_infinity = [](const Operand& one) {
    return one.value.kind == Value::Kind::plus_infinity ||
           one.value.kind == Value::Kind::minus_infinity;
  };
  const auto is_constant = [](const Operand& one) { return !one.value.is_data; };
  const Opcode opcode = operation.opcode;
  const bool is_float = is_plain_float(operation.type) && is_plain_float(operation.result);
  if (bits == nullptr || !is_float || std::ranges::none_of(operands, is_infinity))
    return std::nullopt;
  const bool is_sum = opcode == Opcode::add_ || opcode == Opcode::sub_;
  const bool is_fused = opcode == Opcode::fma_ || opcode == Opcode::mad_;
  // Of a product with data, the sign is not known.
  const bool is_known =
      is_sum || std::ranges::all_of(operands.first(is_fused ? 2 : operands.size()), is_constant);
  if (!is_known || !lifts(operation)) return std::nullopt;
  return constant(*bits, operation.result);
}

std::optional<ExactValue> ExactDomain::of_numbers(const ShadowOperation& operation,
                                                  std::span<const Operand> operands) {
  const ptx::Modifiers& m = *operation.modifiers;
  if (m.relu || m.xorsign || m.absolute || m.out_of_bounds) return std::nullopt;
  // The bits of a float that are calculated with as an integer are another number, and so are those
  // of an integer that are taken as a float.
  const auto has = [&](auto is_kind) {
    return std::ranges::any_of(operands, [&](const Operand& one) { return is_kind(one.value); });
  };
  const bool has_integer = has([](const Value& value) { return value.is_ring(); });
  const bool has_float = has([](const Value& value) { return !value.is_ring(); });
  if (is_plain_float(operation.type)) {
    if (has_integer) return std::nullopt;
    if (rounds_or_saturates(operation)) return of_name(operation, operands);
    if (operation.opcode == Opcode::cvt_)
      return operands.size() == 1 ? converted(operation, operands[0].value) : std::nullopt;
    std::optional<Value> result = of_floats(operation, operands);
    if (result) note_whole(operation, operands, *result);
    return result;
  }
  if (operation.modifiers->sat) return std::nullopt;
  if (has_float && has_integer && operands.size() == 2) return of_sign(operation, operands);
  if (has_float) return std::nullopt;
  if (operation.opcode == Opcode::cvt_)
    return operands.size() == 1 ? converted(operation, operands[0].value) : std::nullopt;
  return of_integers(operation, operands);
}

// Whether a result is cut to [0, 1] or to a whole number, as within the toolkit's expf().
bool ExactDomain::rounds_or_saturates(const ShadowOperation& operation) {
  const ptx::Rounding rounding = operation.modifiers->rounding;
  const bool rounds = rounding == ptx::Rounding::rni || rounding == ptx::Rounding::rzi ||
                      rounding == ptx::Rounding::rmi || rounding == ptx::Rounding::rpi;
  return is_plain_float(operation.result) && (operation.modifiers->sat || rounds);
}

// A function of floats that is known by its name alone: what it makes of the same numbers is the
// same.
std::optional<ExactValue> ExactDomain::of_name(const ShadowOperation& operation,
                                               std::span<const Operand> operands) {
  std::vector<Value> arguments;
  for (const Operand& operand : operands) arguments.push_back(operand.value);
  // Of constants, the result is a constant.
  if (std::ranges::none_of(arguments, is_data)) return std::nullopt;
  const ptx::Modifiers& m = *operation.modifiers;
  std::optional<Value> result = numbers_.function(
      fmt::format("{} {} {} {} {}", static_cast<int>(operation.opcode),
                  static_cast<int>(m.rounding), m.sat, static_cast<int>(operation.type),
                  static_cast<int>(operation.result)),
      arguments);
  if (!result) return result;
  const bool are_numbers =
      std::ranges::all_of(arguments, [](const Value& one) { return one.range.is_number(); });
  if (are_numbers)
    result->range = {m.sat ? static_cast<std::uint8_t>(ExactRange::kZero | ExactRange::kPositive)
                           : ExactRange::kNumber};
  if (m.sat) saturated_.insert(result->payload);
  return result;
}

// The toolkit's expf() adds 0x1.8p23 + 1 to a number from 0 to 252, rounds down, and makes a power
// of 2 of the low bits of the sum.
void ExactDomain::note_whole(const ShadowOperation& operation, std::span<const Operand> operands,
                             const Value& result) {
  const auto is_number = [&](std::size_t i, float number) {
    return operands[i].is_plain && operands[i].bits == std::bit_cast<std::uint32_t>(number);
  };
  const bool is_whole = operation.opcode == Opcode::fma_ && operation.type == Type::f32 &&
                        operation.modifiers->rounding == ptx::Rounding::rm &&
                        operands.size() == 3 && is_number(1, 252) && is_number(2, kOfWhole) &&
                        saturated_.contains(operands[0].value.payload);
  if (is_whole) whole_.insert(result.payload);
}

std::optional<ExactValue> ExactDomain::multiply_add(const Value& a, const Value& b,
                                                    const Value& c) {
  const std::optional<Value> product = numbers_.multiply(a, b);
  return product ? numbers_.add(*product, c) : std::nullopt;
}

std::optional<ExactValue> ExactDomain::difference(const Value& a, const Value& b) {
  const std::optional<Value> other = numbers_.negative(b);
  return other ? numbers_.add(a, *other) : std::nullopt;
}

std::optional<ExactValue> ExactDomain::reciprocal(const std::optional<Value>& value) {
  return value ? numbers_.divide(numbers_.float_of(1), *value) : std::nullopt;
}

std::optional<ExactValue> ExactDomain::of_floats(const ShadowOperation& operation,
                                                 std::span<const Operand> operands) {
  const auto at = [&](std::size_t i) -> const Value& { return operands[i].value; };
  const bool is_two = operands.size() == 2, is_three = operands.size() == 3;
  if (operands.empty()) return std::nullopt;
  switch (operation.opcode) {
    case Opcode::add_: return is_two ? numbers_.add(at(0), at(1)) : std::nullopt;
    case Opcode::sub_: return is_two ? difference(at(0), at(1)) : std::nullopt;
    case Opcode::mul_: return is_two ? numbers_.multiply(at(0), at(1)) : std::nullopt;
    case Opcode::div_: return is_two ? numbers_.divide(at(0), at(1)) : std::nullopt;
    case Opcode::fma_:
    case Opcode::mad_: return is_three ? multiply_add(at(0), at(1), at(2)) : std::nullopt;
    case Opcode::neg_: return numbers_.negative(at(0));
    case Opcode::abs_: return numbers_.absolute(at(0));
    case Opcode::rcp_: return reciprocal(at(0));
    case Opcode::min_:
    case Opcode::max_: {
      if (operation.modifiers->nan) return std::nullopt;
      const Extremum which =
          operation.opcode == Opcode::min_ ? Extremum::least : Extremum::greatest;
      std::optional<Value> result = numbers_.extremum(which, true, at(0), at(1));
      if (result && is_three) result = numbers_.extremum(which, true, *result, at(2));
      return result;
    }
    default: break;
  }
  const char* const name = function_name(operation.opcode);
  if (name == nullptr) return std::nullopt;
  const std::optional<Value> result = numbers_.function(name, at(0));
  return operation.opcode == Opcode::rsqrt_ ? reciprocal(result) : result;
}

// The bits of a constant that the kernel has not rounded.
std::optional<std::uint64_t> ExactDomain::constant_bits(const Operand& number) {
  const Value& value = number.value;
  if (value.is_data || !is_plain_float(value.format)) return std::nullopt;
  const bool is_same = value.is_number(numbers_.float_of(number_of(number.bits, value.format)));
  return is_same ? std::optional(number.bits) : std::nullopt;
}

// Logic on a float's sign: compilers negate and take absolute values so.
std::optional<ExactValue> ExactDomain::of_sign(const ShadowOperation& operation,
                                               std::span<const Operand> operands) {
  const bool is_first = operands[0].value.is_field();
  const Operand &number = operands[is_first ? 0 : 1], &mask = operands[is_first ? 1 : 0];
  const std::uint64_t sign = std::uint64_t{1} << (8 * ptx::bytes_of(operation.type) - 1);
  if (!mask.is_plain) return std::nullopt;
  const Type format = number.value.format;
  std::optional<Value> result;
  if (operation.opcode == Opcode::xor_ && mask.bits == sign) {
    result = numbers_.negative(number.value);
  } else if (operation.opcode == Opcode::and_ && mask.bits == sign - 1) {
    result = numbers_.absolute(number.value);
  } else if (operation.opcode == Opcode::shl_ && is_first) {
    // The toolkit's expf() makes a power of 2 of the bits of a whole number.
    constexpr std::uint64_t kFractionBits = 23;
    constexpr double kBias = 126;
    if (mask.bits == kFractionBits && whole_.contains(number.value.payload)) {
      result = numbers_.power_of_two(number.value, double{kOfWhole} + kBias);
      result->format = format;
      return result;
    }
    if (const auto bits = constant_bits(number)) {
      result = numbers_.float_of(number_of(*bits << mask.bits & (2 * sign - 1), format));
      result->format = format;
      return result;
    }
    result = numbers_.function(fmt::format("bits of {} << {}", static_cast<int>(format), mask.bits),
                               number.value);
  }
  if (result) result->format = format;
  return result;
}

std::optional<ExactValue> ExactDomain::of_integers(const ShadowOperation& operation,
                                                   std::span<const Operand> operands) {
  const unsigned bits = integer_bits(operation.type);
  const ptx::MulPart part = operation.modifiers->part;
  const bool is_low = part == ptx::MulPart::none || part == ptx::MulPart::lo;
  const bool is_two = operands.size() == 2, is_three = operands.size() == 3;
  if (bits == 0 || !is_low || operands.empty()) return std::nullopt;
  const auto at = [&](std::size_t i) -> const Value& { return operands[i].value; };
  switch (operation.opcode) {
    case Opcode::add_: return is_two ? numbers_.add(at(0), at(1)) : std::nullopt;
    case Opcode::sub_: return is_two ? difference(at(0), at(1)) : std::nullopt;
    case Opcode::mul_: return is_two ? numbers_.multiply(at(0), at(1)) : std::nullopt;
    case Opcode::mad_: return is_three ? multiply_add(at(0), at(1), at(2)) : std::nullopt;
    case Opcode::neg_: return numbers_.negative(at(0));
    case Opcode::not_: return difference(numbers_.integer_of(~std::uint64_t{0}, bits), at(0));
    case Opcode::xor_: {  // with ones: -x - 1, as not
      const std::uint64_t ones = ~std::uint64_t{0} >> (64 - bits);
      const bool is_first = is_two && operands[0].is_plain;
      if (!is_two || !operands[is_first ? 0 : 1].is_plain) return std::nullopt;
      if (operands[is_first ? 0 : 1].bits != ones) return std::nullopt;
      return difference(numbers_.integer_of(ones, bits), at(is_first ? 1 : 0));
    }
    case Opcode::shl_:
      if (!is_two || !operands[1].is_plain) return std::nullopt;
      return numbers_.multiply(
          at(0), numbers_.integer_of(
                     operands[1].bits >= bits ? 0 : std::uint64_t{1} << operands[1].bits, bits));
    case Opcode::min_:
    case Opcode::max_: {
      const Extremum which =
          operation.opcode == Opcode::min_ ? Extremum::least : Extremum::greatest;
      return is_two ? numbers_.extremum(which, ptx::is_signed(operation.type), at(0), at(1))
                    : std::nullopt;
    }
    default: return std::nullopt;
  }
}

// Conversions between floats round, and do not change a number in exact arithmetic.
std::optional<ExactValue> ExactDomain::converted(const ShadowOperation& operation,
                                                 const Value& value) {
  if (is_plain_float(operation.type) && is_plain_float(operation.result)) return value;
  const unsigned from = integer_bits(operation.type), to = integer_bits(operation.result);
  return from != 0 && to != 0 && to <= from ? numbers_.narrowed(value, to) : std::nullopt;
}

void ExactDomain::decided(const ShadowStep& step, ShadowDecision what, std::uint32_t) {
  if (decision_) return;
  is_decided_ = true;
  decision_ = {what, side_at("decision", {step.program, step.pc, Dim3{0, 0, 0}, Dim3{0, 0, 0}})};
}

namespace {

// Whether a comparison is one for the greater or the less; nothing: for neither.
std::optional<bool> asks_for_greater(ptx::Compare compare) {
  switch (compare) {
    case ptx::Compare::gt:
    case ptx::Compare::ge:
    case ptx::Compare::hi:
    case ptx::Compare::hs:
    case ptx::Compare::gtu:
    case ptx::Compare::geu: return true;
    case ptx::Compare::lt:
    case ptx::Compare::le:
    case ptx::Compare::lo:
    case ptx::Compare::ls:
    case ptx::Compare::ltu:
    case ptx::Compare::leu: return false;
    default: return std::nullopt;
  }
}

bool is_constant(const ExactValue& value) { return value.is_ring() && !value.is_data; }

}  // namespace

// Compilers compare an integer that is 1 or 0 by a comparison with a constant: (a > b) == up.
std::optional<ExactDomain::Comparison> ExactDomain::comparison_behind(
    const Comparison& comparison) const {
  const bool is_first = is_constant(comparison.b);
  const Value& integer = is_first ? comparison.a : comparison.b;
  const Value& with = is_first ? comparison.b : comparison.a;
  const auto found = integer.is_ring() ? indicators_.find(integer.payload) : indicators_.end();
  if (found == indicators_.end() || !is_constant(with)) return comparison;
  const bool is_equal = comparison.compare == ptx::Compare::eq;
  if (!is_equal && comparison.compare != ptx::Compare::ne) return std::nullopt;
  const bool is_one = numbers_.is_integer(with, 1), is_zero = numbers_.is_integer(with, 0);
  if (!is_one && !is_zero) return std::nullopt;
  Comparison behind = found->second;
  if (is_one != is_equal) behind.compare = inverse_of(behind.compare);
  return behind;
}

std::optional<ExactValue> ExactDomain::indicator(const Comparison& comparison, bool is_inverse,
                                                 unsigned bits) {
  Comparison stands_for = comparison;
  if (is_inverse) stands_for.compare = inverse_of(comparison.compare);
  const std::optional<bool> is_greater = asks_for_greater(stands_for.compare);
  if (!is_greater) return std::nullopt;
  const std::string name = fmt::format("{} of {}", static_cast<int>(stands_for.compare),
                                       static_cast<int>(stands_for.type));
  const std::optional<Value> value = numbers_.indicator(name, stands_for.a, stands_for.b, bits);
  if (value) indicators_.try_emplace(value->payload, stands_for);
  return value;
}

// A selection of the greater or of the less of two numbers, or of 1 and 0.
std::optional<ExactValue> ExactDomain::select(const ShadowStep&, const Comparison& given,
                                              const Value& if_true, const Value& if_false) {
  if (if_true.format != if_false.format) return std::nullopt;
  if (if_true == if_false) {
    // Floats that are equal may have other bits: zeros, NaNs.
    Value either = if_true;
    either.is_data = either.is_data || !either.is_ring();
    return either;
  }
  const std::optional<Comparison> comparison = comparison_behind(given);
  if (!comparison) return std::nullopt;
  if (is_constant(if_true) && is_constant(if_false)) {
    const bool is_first = numbers_.is_integer(if_true, 1) && numbers_.is_integer(if_false, 0);
    const bool is_inverse = numbers_.is_integer(if_true, 0) && numbers_.is_integer(if_false, 1);
    return is_first || is_inverse ? indicator(*comparison, is_inverse, if_true.bits) : std::nullopt;
  }
  const bool is_in_order = if_true.is_number(comparison->a) && if_false.is_number(comparison->b);
  const bool is_swapped = if_true.is_number(comparison->b) && if_false.is_number(comparison->a);
  const std::optional<bool> is_greater = asks_for_greater(comparison->compare);
  if ((!is_in_order && !is_swapped) || !is_greater) return std::nullopt;
  // The bits of floats have another order.
  if (comparison->a.is_ring() == is_plain_float(comparison->type)) return std::nullopt;
  const bool is_signed = is_plain_float(comparison->type) || ptx::is_signed(comparison->type);
  const Extremum which = *is_greater == is_in_order ? Extremum::greatest : Extremum::least;
  std::optional<Value> result = numbers_.extremum(which, is_signed, comparison->a, comparison->b);
  if (result) result->format = if_true.format;
  return result;
}

}  // namespace warpcheck::vgpu
