#include "vgpu/check/precision/precision_domain.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "vgpu/check/numerics/float_rows.hpp"
#include "vgpu/check/precision/exact_operations.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;
using Value = PrecisionDomain::Value;

int exponent_of(double value) {
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff);
  if (exponent != 0) return exponent - 1023;
  return value == 0 ? -1100 : std::ilogb(value);
}

// Returns whether a sum is one of its operands, and the other one is not 0.
bool absorbs(Opcode opcode, const std::array<double, 3>& in, double result) {
  switch (opcode) {
    case Opcode::add_: return in[0] != 0 && in[1] != 0 && (result == in[0] || result == in[1]);
    case Opcode::sub_: return in[0] != 0 && in[1] != 0 && (result == in[0] || result == -in[1]);
    case Opcode::mad_:
    case Opcode::fma_: return in[0] != 0 && in[1] != 0 && in[2] != 0 && result == in[2];
    default: return false;
  }
}

// Returns how many leading bits of the operands of a sum cancel; 0: it is no sum.
int cancelled_bits_of(Opcode opcode, const std::array<double, 3>& in, double result, Type type) {
  const bool has_product = opcode == Opcode::fma_ || opcode == Opcode::mad_;
  const bool is_sum = has_product || opcode == Opcode::add_ || opcode == Opcode::sub_;
  if (!is_sum || !std::isfinite(result)) return 0;
  const double left = has_product ? in[0] * in[1] : in[0], right = has_product ? in[2] : in[1];
  if (left == 0 && right == 0) return 0;
  // Of a sum that is 0, all digits have.
  if (result == 0) return 1 - exponent_of(unit_in_last_place(1, type));
  return std::max(exponent_of(left), exponent_of(right)) - exponent_of(result);
}

// The operands of an operation, as they would be and as the kernel has them.
struct Numbers {
  OperationNumbers exact{}, kernel{};
  std::array<double, 3> values{}, errors{};
  bool has_error = false, has_infinity = false, was_infinite = false;
};
Numbers numbers_of(std::span<const ShadowOperand<Value>> operands) {
  Numbers in;
  for (std::size_t i = 0; i < operands.size() && i < in.exact.size(); ++i) {
    const Value& value = operands[i].value;
    in.exact[i] = value.exact;
    const bool is_float = float_format_of(value.type) != FloatFormat::none;
    in.values[i] = is_float ? float_of_bits(operands[i].bits, value.type) : value.exact.hi;
    in.kernel[i] = is_float ? DoubleDouble{in.values[i], 0} : value.exact;
    in.was_infinite |= value.was_infinite;
    if (in.kernel[i] == in.exact[i]) continue;
    const bool is_infinite = std::isinf(in.values[i]);
    in.errors[i] = is_infinite ? std::numeric_limits<double>::infinity()
                               : magnitude(in.kernel[i] - in.exact[i]);
    in.has_infinity |= is_infinite;
    in.has_error |= in.errors[i] != 0;
  }
  return in;
}

// Says of a value that its error was made where that of an operand was, if that has the largest
// effect.
//   made: the error that the operation itself makes
void take_largest_error(Value& value, double made, std::span<const ShadowOperand<Value>> operands,
                        const std::array<double, 3>& slopes, const std::array<double, 3>& errors) {
  for (std::size_t i = 0; i < operands.size() && i < slopes.size(); ++i) {
    const Value& from = operands[i].value;
    const double effect = std::abs(slopes[i]) * errors[i];
    if (!(effect > made) || from.made_at == PrecisionDomain::kNoSite) continue;
    made = effect;
    value.made_at = from.made_at;
    value.cancelled_at = from.cancelled_at;
    value.cancelled_bits = from.cancelled_bits;
  }
}

bool holds(ptx::Compare compare, double difference) {
  switch (compare) {
    case ptx::Compare::eq:
    case ptx::Compare::equ: return difference == 0;
    case ptx::Compare::ne:
    case ptx::Compare::neu: return difference != 0;
    case ptx::Compare::lt:
    case ptx::Compare::ltu: return difference < 0;
    case ptx::Compare::le:
    case ptx::Compare::leu: return difference <= 0;
    case ptx::Compare::gt:
    case ptx::Compare::gtu: return difference > 0;
    default: return difference >= 0;
  }
}

// Of a format: half a unit in the last place of 1, and how many of a fraction's last bits are 0 in
// numbers that people write down.
struct FormatDigits {
  double half_unit = 0;
  std::uint64_t spare = 0;  // a mask
};
FormatDigits digits_of_format(Type type) {
  switch (type) {
    case Type::f64: return {0x1p-53, (1u << 13) - 1};
    case Type::f32: return {0x1p-24, (1u << 5) - 1};
    case Type::f16: return {0x1p-11, (1u << 3) - 1};
    case Type::bf16: return {0x1p-8, (1u << 2) - 1};
    default: return {};
  }
}

// Returns how far a datum moves (Moved).
Moved moved_of_datum(double value, std::uint64_t bits, Type type) {
  const FormatDigits digits = digits_of_format(type);
  // Whole numbers are exact, too, and so is what expf() adds to round to one.
  const double whole_most = type == Type::f64 ? 0x1p53 : 0x1p24;
  const bool is_whole = std::abs(value) <= whole_most && value == std::nearbyint(value);
  if (is_whole || (bits & digits.spare) == 0) return {};
  const std::uint64_t sign = std::uint64_t{1} << (8 * ptx::bytes_of(type) - 1);
  std::uint64_t random = (bits & ~sign) * 0x9e37'79b9'7f4a'7c15;
  random ^= random >> 29;
  random *= 0xbf58'476d'1ce4'e5b9;
  const auto unit = static_cast<float>(value * digits.half_unit);
  Moved moved;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const auto part = static_cast<std::int16_t>(random >> (16 * i));
    moved[i] = unit * (static_cast<float>(part) * 0x1p-16f + (part < 0 ? -0.5f : 0.5f));
  }
  return moved;
}

// Returns whether a number is a power of two times pi, rounded: an angle that is calculated with it
// misses the zeros of sines and cosines, whatever the kernel does.
bool has_digits_of_pi(double value, Type type) {
  constexpr double kPi = 0x1.921fb54442d18p+1;
  int exponent = 0;
  const double digits = 4 * std::abs(std::frexp(value, &exponent));
  return type == Type::f64
             ? digits == kPi
             : type == Type::f32 && digits == static_cast<double>(static_cast<float>(kPi));
}

// Returns the number rounded to a float of the type.
double rounded_to(const DoubleDouble& value, Type type) {
  const double whole = to_double(value);
  const double unit = unit_in_last_place(whole, type);
  return type == Type::f64 ? whole : std::nearbyint(whole / unit) * unit;
}

// Returns the outcome of a comparison of two numbers that are rounded once.
bool exact_outcome(ptx::Compare how, const Value& a, const Value& b, Type type) {
  return holds(how, rounded_to(a.exact, type) - rounded_to(b.exact, type));
}

}  // namespace

double float_of_bits(std::uint64_t bits, Type type) {
  if (type == Type::f32)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  std::array<std::byte, 8> row{};
  std::memcpy(row.data(), &bits, sizeof bits);
  const FloatFormat format = float_format_of(type);
  const bool is_single = format != FloatFormat::none && parts_of(format) == 1;
  return is_single ? float_at(format, row.data(), 0) : std::numeric_limits<double>::quiet_NaN();
}

double unit_in_last_place(double value, Type type) {
  int digits = 53, least = -1022;
  switch (type) {
    case Type::f32: digits = 24, least = -126; break;
    case Type::f16: digits = 11, least = -14; break;
    case Type::bf16: digits = 8, least = -126; break;
    default: break;
  }
  return std::ldexp(1.0, std::max(exponent_of(value), least) - digits + 1);
}

double error_of(double computed, const Value& value) {
  const double error = magnitude(DoubleDouble{computed, 0} - value.exact);
  return value.was_infinite && error < unit_in_last_place(1, value.type) ? 0 : error;
}

double error_in_ulps(double computed, const Value& value) {
  return error_of(computed, value) / unit_in_last_place(value.exact.hi, value.type);
}

bool PrecisionDomain::lifts(const ShadowOperation& operation) {
  return float_format_of(operation.result) != FloatFormat::none;
}

std::optional<Value> PrecisionDomain::constant(std::uint64_t bits, Type type) {
  if (float_format_of(type) != FloatFormat::none) {
    const double value = float_of_bits(bits, type);
    if (!std::isfinite(value)) return std::nullopt;
    return Value{.exact = {value, 0}, .type = type, .moved = moved_of_datum(value, bits, type)};
  }
  const std::uint32_t bytes = ptx::bytes_of(type);
  if (bytes == 0 || bytes > 8 || ptx::is_packed(type)) return std::nullopt;
  if (ptx::is_signed(type)) {
    const unsigned unused = 64 - 8 * bytes;
    const auto value = static_cast<std::int64_t>(bits << unused) >> unused;
    const auto high = static_cast<double>(value >> 32) * 0x1p32;
    return Value{.exact = two_sum(high, static_cast<double>(value & 0xffff'ffff)), .type = type};
  }
  const auto high = static_cast<double>(bits >> 32) * 0x1p32;
  return Value{.exact = two_sum(high, static_cast<double>(bits & 0xffff'ffff)), .type = type};
}

std::optional<Value> PrecisionDomain::literal(std::uint64_t bits, Type type) {
  const double value = float_of_bits(bits, type);
  if (!std::isfinite(value)) return std::nullopt;
  Value number{.exact = {value, 0}, .type = type};
  if (has_digits_of_pi(value, type)) number.moved = moved_of_datum(value, bits, type);
  return number;
}

std::uint32_t PrecisionDomain::site_of(const ShadowStep& step) {
  if (step.program != last_program_) {
    last_program_ = step.program;
    last_numbers_ = &numbers_[step.program];
    if (last_numbers_->empty()) last_numbers_->assign(step.program->code.size(), kNoSite);
  }
  std::uint32_t& number = (*last_numbers_)[step.pc];
  if (number == kNoSite) {
    number = static_cast<std::uint32_t>(sites_.size());
    PrecisionSite site;
    site.program = step.program;
    site.pc = step.pc;
    site.kernel = kernel_name(step.program->kernel);
    site.side = side_of(step);
    sites_.push_back(std::move(site));
  }
  return number;
}

// Bits of a float whose exponent an integer has changed.
std::optional<Value> PrecisionDomain::of_exponent(const ShadowOperation& operation,
                                                  std::span<const ShadowOperand<Value>> operands,
                                                  const std::uint64_t* result_bits) {
  const bool is_float = operands[0].value.type == Type::f32 && !operands[0].is_plain;
  if (!is_float || operands.size() != 2 || result_bits == nullptr) return std::nullopt;
  const std::optional<int> scale =
      scale_of_bits(operation, float_of_bits(operands[0].bits, Type::f32),
                    float_of_bits(*result_bits, Type::f32), operands[1].bits);
  if (!scale) return std::nullopt;
  Value value = operands[0].value;
  value.exact = {std::ldexp(value.exact.hi, *scale), std::ldexp(value.exact.lo, *scale)};
  for (float& one : value.moved) one = std::ldexp(one, *scale);
  return value;
}

std::optional<Value> PrecisionDomain::rescaled(const Value& value, std::uint64_t bits) {
  const std::optional<double> factor = factor_of_word(value.exact.hi, std::bit_cast<double>(bits),
                                                      0x1p-6 * std::abs(value.exact.hi));
  if (!factor || value.type != Type::f64) return std::nullopt;
  Value result = value;
  result.exact = {value.exact.hi * *factor, value.exact.lo * *factor};
  for (float& one : result.moved) one *= static_cast<float>(*factor);
  return result;
}

// The exact extreme, which may be another operand than the kernel's: of two that rounding has made
// equal, or has exchanged.
std::optional<Value> PrecisionDomain::extreme_of(std::span<const ShadowOperand<Value>> operands,
                                                 bool is_largest) {
  const Value* chosen = &operands[0].value;
  for (const ShadowOperand<Value>& one : operands.subspan(1)) {
    const double difference = to_double(one.value.exact - chosen->exact);
    if (is_largest ? difference > 0 : difference < 0) chosen = &one.value;
  }
  return *chosen;
}

std::optional<Value> PrecisionDomain::apply(const ShadowStep& step,
                                            const ShadowOperation& operation,
                                            std::span<const ShadowOperand<Value>> operands,
                                            const std::uint64_t* result_bits) {
  if (operands.empty()) return std::nullopt;
  if (float_format_of(operation.result) == FloatFormat::none) {
    return of_exponent(operation, operands, result_bits);
  }
  const Opcode opcode = operation.opcode;
  if (opcode == Opcode::min_ || opcode == Opcode::max_)
    return extreme_of(operands, opcode == Opcode::max_);
  for (const ShadowOperand<Value>& one : operands) {
    const bool is_whole = one.is_plain && result_bits != nullptr &&
                          is_whole_making(one.value.exact.hi, operation.result);
    if (!is_whole) continue;
    std::optional<Value> step_of_kernel = constant(*result_bits, operation.result);
    if (step_of_kernel) step_of_kernel->moved = {};
    return step_of_kernel;
  }
  const Numbers in = numbers_of(operands);
  std::optional<DoubleDouble> truth = exact_of(operation, in.exact);
  // Of an infinity the kernel's result is what it is.
  const bool is_given = in.has_infinity && result_bits != nullptr;
  const std::optional<DoubleDouble> of_kernel =
      is_given       ? DoubleDouble{float_of_bits(*result_bits, operation.result), 0}
      : in.has_error ? exact_of(operation, in.kernel)
                     : truth;
  if (!truth || !of_kernel || !std::isfinite(truth->hi)) return std::nullopt;
  if (!is_given && !std::isfinite(of_kernel->hi)) return std::nullopt;
  if (operation.modifiers->sat) {
    if (truth->hi < 0) truth = DoubleDouble{};
    if (truth->hi > 1) truth = DoubleDouble{1, 0};
  }
  // An atomic's result is not known: it is that of one rounding.
  const double result = result_bits != nullptr ? float_of_bits(*result_bits, operation.result)
                        : operation.result == Type::f32
                            ? static_cast<double>(static_cast<float>(to_double(*of_kernel)))
                            : to_double(*of_kernel);
  const bool overflows = std::isinf(result);
  if (std::isnan(result) || (overflows && result_bits == nullptr)) return std::nullopt;

  const std::uint32_t number = site_of(step);
  PrecisionSite& site = sites_[number];
  ++site.executed;
  site.type = operation.result;
  site.overflows |= overflows && !in.has_infinity;
  if (absorbs(opcode, in.values, result)) ++site.absorbed;

  Value value{.exact = *truth, .made_at = number, .type = operation.result};
  value.was_infinite = in.was_infinite || overflows;
  const std::array<double, 3> slopes = slopes_of(opcode, in.exact, truth->hi);
  for (std::size_t i = 0; i < operands.size() && i < slopes.size(); ++i) {
    const auto slope = static_cast<float>(slopes[i]);
    for (std::size_t k = 0; k < value.moved.size(); ++k)
      value.moved[k] += slope * operands[i].value.moved[k];
  }
  if (!in.has_error) return value;
  const double made = is_given    ? 0
                      : overflows ? std::abs(result)
                                  : magnitude(DoubleDouble{result, 0} - *of_kernel);
  take_largest_error(value, made, operands, slopes, in.errors);
  const int lost = cancelled_bits_of(opcode, in.values, result, operation.result);
  site.cancelled_bits = std::max(site.cancelled_bits, lost);
  if (lost > value.cancelled_bits) {
    value.cancelled_bits = lost;
    value.cancelled_at = number;
  }
  return value;
}

bool PrecisionDomain::compare(const ShadowStep& step, const ShadowOperation& operation,
                              std::span<const ShadowOperand<Value>> operands, bool outcome) {
  if (float_format_of(operation.type) == FloatFormat::none || operands.size() != 2) return true;
  const double a = float_of_bits(operands[0].bits, operation.type);
  const double b = float_of_bits(operands[1].bits, operation.type);
  if (!std::isfinite(a) || !std::isfinite(b)) return true;
  // What is left of an infinity that was divided away is 0, and would be next to it.
  if (operands[0].value.was_infinite || operands[1].value.was_infinite) return true;
  const ptx::Compare how = operation.modifiers->compare;
  // With a predicate that it is combined with, the outcome is not the comparison's alone.
  if (operation.modifiers->bool_op != ptx::BoolOp::none || holds(how, a - b) != outcome) {
    return true;
  }
  PrecisionSite& site = sites_[site_of(step)];
  ++site.executed;
  if (exact_outcome(how, operands[0].value, operands[1].value, operation.type) == outcome)
    return true;
  if (!site.turns) {
    site.turns = true;
    site.a = a;
    site.b = b;
    site.exact_a = to_double(operands[0].value.exact);
    site.exact_b = to_double(operands[1].value.exact);
  }
  return false;
}

void PrecisionDomain::outcome_used(const ShadowStep& at) {
  PrecisionSite& site = sites_[site_of(at)];
  if (site.turns && site.unstable++ == 0) site.side = side_of(at);
}

// Rounding has exchanged two numbers that are nearly equal.  That is of no consequence if the sides
// are nearly equal there, too: their difference is not much more than that of the two numbers, or
// is in their last digits.
std::optional<Value> PrecisionDomain::select(const ShadowStep& /*step*/,
                                             const ShadowComparison<Value>& comparison,
                                             const Value& if_true, const Value& if_false) {
  constexpr double kSlopeMost = 4, kUnitsMost = 8;
  const auto& [compare, type, a, b, is_known] = comparison;
  const bool is_true = exact_outcome(compare, a, b, type);
  const Value &exact = is_true ? if_true : if_false, &kernel = is_true ? if_false : if_true;
  const double between = magnitude(exact.exact - kernel.exact);
  const double unit = unit_in_last_place(exact.exact.hi, exact.type);
  if (between > kSlopeMost * magnitude(a.exact - b.exact) && between > kUnitsMost * unit)
    return std::nullopt;
  Value value = exact;
  if (kernel.made_at != kNoSite) {
    value.made_at = kernel.made_at;
    value.cancelled_at = kernel.cancelled_at;
    value.cancelled_bits = kernel.cancelled_bits;
  }
  return value;
}

}  // namespace warpcheck::vgpu
