#include "vgpu/check/precision/rounding_domain.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "vgpu/check/numerics/float_rows.hpp"
#include "vgpu/check/precision/exact_operations.hpp"
#include "vgpu/check/precision/precision_domain.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

constexpr double kBoundless = std::numeric_limits<double>::infinity();
constexpr std::uint8_t kNarrowingsMost = 4;

bool is_one_float(Type type) {
  const FloatFormat format = float_format_of(type);
  return format != FloatFormat::none && parts_of(format) == 1;
}

// Returns whether the bits are the exact value.
bool is_settled(const RoundingDomain::Operand& one) { return one.is_plain || one.value.bound == 0; }

// Returns the documented error of an approximation as a share of its result; 0: it is rounded as
// IEEE 754 says.
double documented_error(const ShadowOperation& operation) {
  const bool is_approximate = operation.modifiers->approx || operation.modifiers->full;
  const Type type = operation.result;
  const double of_halves = type == Type::bf16 ? 0x1p-7 : type == Type::f16 ? 0x1p-9 : 0;
  switch (operation.opcode) {
    case Opcode::sin_:
    case Opcode::cos_: return 0x1p-20;
    case Opcode::ex2_: return of_halves != 0 ? of_halves : 0x1p-22;
    case Opcode::lg2_:
    case Opcode::rsqrt_: return 0x1p-22;
    case Opcode::tanh_: return of_halves != 0 ? of_halves : 0x1p-10;
    case Opcode::sqrt_: return is_approximate ? 0x1p-22 : 0;
    case Opcode::rcp_: return is_approximate ? 0x1p-23 : 0;
    case Opcode::div_: return is_approximate ? 0x1p-22 : 0;
    default: return 0;
  }
}

// Returns whether a documented error is absolute where results are small.
bool is_absolute_near_zero(Opcode opcode) {
  return opcode == Opcode::lg2_ || opcode == Opcode::sin_ || opcode == Opcode::cos_;
}

// Rounding to nearest loses half a unit in the last place, and rounding in a direction a whole one.
bool is_directed(const ShadowOperation& operation) {
  const ptx::Rounding rounding = operation.modifiers->rounding;
  return rounding == ptx::Rounding::rz || rounding == ptx::Rounding::rm ||
         rounding == ptx::Rounding::rp;
}

// The bits of a float's fraction.
constexpr std::uint64_t kFraction = 0x7f'ffff;

}  // namespace

// The operands of one operation, and its result.
struct RoundingDomain::Numbers {
  OperationNumbers computed{}, exact{};
  std::array<double, 3> bounds{}, sizes{};  // size: the greatest that the kernel's may be
  bool are_finite = true, are_settled = true;
  std::uint8_t narrowings = 0;
  bool has_result = false;
  double result = 0;
};

double unit_roundoff_of(Type type) {
  switch (type) {
    case Type::f64: return 0x1p-53;
    case Type::f16: return 0x1p-11;
    case Type::bf16: return 0x1p-8;
    default: return 0x1p-24;
  }
}

double smallest_normal_of(Type type) {
  return type == Type::f64 ? 0x1p-1022 : type == Type::f16 ? 0x1p-14 : 0x1p-126;
}

bool RoundingDomain::lifts(const ShadowOperation& operation) {
  return is_one_float(operation.result);
}

std::optional<RoundingDomain::Value> RoundingDomain::constant(std::uint64_t bits, Type type) {
  if (is_one_float(type)) return Value{.exact = {float_of_bits(bits, type), 0}, .type = type};
  const auto number = PrecisionDomain::constant(bits, type);
  return Value{.exact = number ? number->exact : DoubleDouble{}, .type = type};
}

std::uint32_t RoundingDomain::site_of(const ShadowStep& step) {
  std::vector<std::uint32_t>& numbers = numbers_[step.program];
  if (numbers.empty()) numbers.assign(step.program->code.size(), ptx::kNone);
  std::uint32_t& number = numbers[step.pc];
  if (number == ptx::kNone) {
    number = static_cast<std::uint32_t>(sites_.size());
    sites_.push_back(side_at("compute", {step.program, step.pc, Dim3{0, 0, 0}, Dim3{0, 0, 0}}));
  }
  return number;
}

// logf() of the toolkit subtracts a constant from the bits of a float, takes the exponent of that,
// a whole number that counts as exact, and takes it from the float.
std::optional<RoundingDomain::Value> RoundingDomain::of_exponent(const ShadowOperation& operation,
                                                                 std::span<const Operand> operands,
                                                                 const std::uint64_t* result) {
  const bool is_swapped = operation.opcode == Opcode::add_ && is_settled(operands[0]);
  const Operand &number = operands[is_swapped ? 1 : 0], &added = operands[is_swapped ? 0 : 1];
  const bool is_float = number.value.type == Type::f32 && !is_settled(number);
  if (!is_float || !is_settled(added) || result == nullptr) return std::nullopt;
  const std::optional<int> scale = scale_of_bits(operation, float_of_bits(number.bits, Type::f32),
                                                 float_of_bits(*result, Type::f32), added.bits);
  if (scale) {
    Value value = number.value;
    value.exact = {std::ldexp(value.exact.hi, *scale), std::ldexp(value.exact.lo, *scale)};
    value.bound = std::ldexp(value.bound, *scale);
    return value;
  }
  const bool is_sum = operation.opcode == Opcode::add_ || operation.opcode == Opcode::sub_;
  if (!is_sum || !added.is_plain) return std::nullopt;
  return Value{.type = operation.result};
}

// __frsqrt_rn() of the toolkit takes the fraction of a float, gives it another exponent, and takes
// the difference of the two floats' bits, in which only exponents are left: they count as exact.
std::optional<RoundingDomain::Value> RoundingDomain::of_digits(const ShadowOperation& operation,
                                                               std::span<const Operand> operands,
                                                               const std::uint64_t* result) {
  if (result == nullptr || ptx::bytes_of(operation.result) != 4) return std::nullopt;
  const bool is_first = !operands[0].is_plain;
  const Operand &number = operands[is_first ? 0 : 1], &other = operands[is_first ? 1 : 0];
  const Type type = number.value.type;
  if (operation.opcode == Opcode::sub_ && !other.is_plain && (*result & kFraction) == 0)
    return Value{.type = operation.result};
  if (!other.is_plain || is_settled(number)) return std::nullopt;
  Value value = number.value;
  // But for the lowest bit of the exponent, which a root needs.
  const bool keeps_fraction = (other.bits & kFraction) == kFraction && other.bits >> 24 == 0;
  if (operation.opcode == Opcode::and_ && type == Type::f32 && keeps_fraction) {
    value.type = Type::b32;
    return value;
  }
  const bool is_fraction = type == Type::b32 && operation.opcode == Opcode::or_;
  if (!is_fraction || (other.bits & kFraction) != 0) return std::nullopt;
  const std::optional<double> factor =
      factor_of_word(value.exact.hi, float_of_bits(*result, Type::f32),
                     value.bound + 0x1p-23 * std::abs(value.exact.hi));
  if (!factor) return std::nullopt;
  value.exact = {value.exact.hi * *factor, value.exact.lo * *factor};
  value.bound *= std::abs(*factor);
  value.type = Type::f32;
  return value;
}

std::optional<RoundingDomain::Value> RoundingDomain::rescaled(const Value& value,
                                                              std::uint64_t bits) {
  const double distance = value.bound + 0x1p-52 * std::abs(value.exact.hi);
  const std::optional<double> factor =
      factor_of_word(value.exact.hi, std::bit_cast<double>(bits), distance);
  if (!factor || value.type != Type::f64) return std::nullopt;
  Value result = value;
  result.exact = {value.exact.hi * *factor, value.exact.lo * *factor};
  result.bound *= std::abs(*factor);
  return result;
}

// Bits that are the exact value have exact results.  Of others only the sign is taken off or
// changed, as compilers do.
std::optional<RoundingDomain::Value> RoundingDomain::of_bits(const ShadowOperation& operation,
                                                             std::span<const Operand> operands,
                                                             const std::uint64_t* result) {
  if (std::ranges::all_of(operands, is_settled)) {
    if (result == nullptr) return std::nullopt;
    return Value{.type = operation.result};
  }
  if (operation.opcode == Opcode::cvt_) return Value{.type = operation.result};
  if (operands.size() != 2) return std::nullopt;
  if (auto scaled = of_exponent(operation, operands, result)) return scaled;
  if (auto digits = of_digits(operation, operands, result)) return digits;
  const Operand &number = operands[operands[0].is_plain ? 1 : 0],
                &mask = operands[operands[0].is_plain ? 0 : 1];
  const std::uint64_t sign = std::uint64_t{1} << (8 * ptx::bytes_of(operation.type) - 1);
  if (!mask.is_plain || !is_one_float(number.value.type)) return std::nullopt;
  Value value = number.value;
  if (operation.opcode == Opcode::xor_ && mask.bits == sign) {
    value.exact = -value.exact;
  } else if (operation.opcode == Opcode::and_ && mask.bits == sign - 1) {
    if (value.exact.hi < 0) value.exact = -value.exact;
  } else {
    return std::nullopt;
  }
  return value;
}

// The greater or the less of two: nearer than the worse of its operands is to its own.
std::optional<RoundingDomain::Value> RoundingDomain::extremum(const ShadowOperation& operation,
                                                              std::span<const Operand> operands,
                                                              const Numbers& in,
                                                              const std::uint64_t* result) {
  const bool is_max = operation.opcode == Opcode::max_;
  std::size_t chosen = 0;
  double bound = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_first = std::isnan(in.computed[chosen].hi);
    const bool is_it = result != nullptr ? operands[i].bits == *result
                       : is_max          ? in.exact[i].hi > in.exact[chosen].hi
                                         : in.exact[i].hi < in.exact[chosen].hi;
    if (is_it || is_first) chosen = i;
    if (std::isfinite(in.computed[i].hi)) bound = std::max(bound, in.bounds[i]);
  }
  Value value = operands[chosen].value;
  value.exact = in.exact[chosen];
  for (std::size_t i = 0; i < operands.size() && in.are_finite; ++i) {
    const double difference = (in.exact[i] - value.exact).hi;
    if (is_max ? difference > 0 : difference < 0) value.exact = in.exact[i];
  }
  value.type = operation.result;
  if (std::isfinite(in.computed[chosen].hi)) value.bound = bound;
  return value;
}

// An infinity or a NaN that the data has counts as exact, and so does what becomes of it.  An
// overflow explains a result that should be nearly 0 (1 / inf), and nothing else.
std::optional<RoundingDomain::Value> RoundingDomain::of_specials(
    const ShadowStep& step, const ShadowOperation& operation, std::span<const Operand> operands,
    const Numbers& in, const std::optional<DoubleDouble>& truth) {
  if (in.has_result && std::isnan(in.result)) {
    // Its exact value is not used: the bits say that it is a NaN.
    Value value{.made_at = site_of(step), .type = operation.result};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (std::isnan(in.computed[i].hi)) value.made_at = operands[i].value.made_at;
    }
    return value;
  }
  if (in.are_finite) {
    const bool overflows = in.has_result && std::isinf(in.result) && truth;
    if (!overflows) return std::nullopt;
    if (!std::isfinite(truth->hi)) {
      if (!in.are_settled) return std::nullopt;
      return Value{.exact = {in.result, 0}, .type = operation.result};
    }
    return Value{
        .exact = *truth, .bound = kBoundless, .made_at = site_of(step), .type = operation.result};
  }
  std::uint32_t overflow_at = ptx::kNone;
  bool has_overflow = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (std::isfinite(in.computed[i].hi) || in.bounds[i] == 0) continue;
    has_overflow = true;
    overflow_at = operands[i].value.made_at;
  }
  if (!has_overflow) {
    if (!in.has_result) return std::nullopt;
    return Value{.exact = {in.result, 0}, .type = operation.result};
  }
  if (!truth || !std::isfinite(truth->hi) || std::isnan(in.result)) return std::nullopt;
  Value value{.exact = *truth, .made_at = overflow_at, .type = operation.result};
  value.bound = std::isinf(in.result) ? kBoundless
                                      : std::min(magnitude(DoubleDouble{in.result, 0} - *truth),
                                                 smallest_normal_of(operation.result));
  return value;
}

// Returns what the operation itself may have rounded away.
//   actual: what it has
double RoundingDomain::rounding_of(const ShadowOperation& operation, const Numbers& in,
                                   double actual, std::uint8_t narrowings) const {
  const double unit = unit_roundoff_of(operation.result), declared = unit_roundoff_of(declared_);
  const bool is_coarse = unit > declared;
  const double size = std::abs(in.result);
  if (!in.has_result) return 2 * std::min(unit, declared) * size + smallest_normal_of(Type::f32);
  if (in.are_settled && actual == 0) return 0;
  if (operation.opcode == Opcode::neg_ || operation.opcode == Opcode::abs_) return 0;
  if (operation.opcode == Opcode::cvt_) {
    const bool is_excused = !is_coarse || narrowings <= kNarrowingsMost;
    return is_excused ? actual : std::min(actual, declared * size);
  }
  const Type type = is_coarse ? declared_ : operation.result;
  const double documented = documented_error(operation);
  const bool flushes = operation.modifiers->ftz;
  const double least = smallest_normal_of(type) * (flushes ? 1 : unit_roundoff_of(type));
  const double half_units = is_directed(operation) ? 2 : 1;
  double rounding =
      std::max(half_units * std::min(unit, declared), documented) * size + half_units * least;
  if (is_absolute_near_zero(operation.opcode)) rounding += documented;
  const bool is_ieee = documented == 0 && !flushes;
  return is_ieee || is_coarse ? rounding : std::max(rounding, actual);
}

RoundingDomain::Numbers RoundingDomain::numbers_of(const ShadowOperation& operation,
                                                   std::span<const Operand> operands,
                                                   bool has_result) {
  Numbers in;
  in.has_result = has_result;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& one = operands[i];
    const bool is_float = is_one_float(one.value.type);
    const Type type = is_float ? one.value.type : operation.type;
    if (is_settled(one) && (has_result || one.is_plain || !is_float)) {
      const std::optional<Value> of_these = constant(one.bits, type);
      in.exact[i] = in.computed[i] = of_these->exact;
    } else {
      in.exact[i] = one.value.exact;
      const bool is_computed = has_result && is_one_float(type);
      in.computed[i] =
          is_computed ? DoubleDouble{float_of_bits(one.bits, type), 0} : one.value.exact;
    }
    in.bounds[i] = is_settled(one) ? 0 : one.value.bound;
    in.sizes[i] = magnitude(in.computed[i]) + (has_result ? 0 : in.bounds[i]);
    in.are_settled = in.are_settled && is_settled(one);
    in.are_finite = in.are_finite && std::isfinite(in.computed[i].hi);
    in.narrowings = std::max(in.narrowings, one.value.narrowings);
  }
  return in;
}

std::optional<RoundingDomain::Value> RoundingDomain::apply(const ShadowStep& step,
                                                           const ShadowOperation& operation,
                                                           std::span<const Operand> operands,
                                                           const std::uint64_t* result_bits) {
  if (operands.empty() || operands.size() > 3) return std::nullopt;
  if (!is_one_float(operation.result)) return of_bits(operation, operands, result_bits);
  const auto is_fraction = [](const Operand& one) {
    return one.value.type == Type::b32 && !is_settled(one);
  };
  if (std::ranges::any_of(operands, is_fraction)) return std::nullopt;
  Numbers in = numbers_of(operation, operands, result_bits != nullptr);
  if (operation.opcode == Opcode::min_ || operation.opcode == Opcode::max_) {
    return extremum(operation, operands, in, result_bits);
  }
  if (in.has_result) in.result = float_of_bits(*result_bits, operation.result);
  const auto made_whole = [&](const Operand& one) {
    return one.is_plain && is_whole_making(one.value.exact.hi, operation.result);
  };
  const bool is_step = operation.opcode == Opcode::cvt_ && rounds_to_whole(operation);
  if (in.has_result && (is_step || std::ranges::any_of(operands, made_whole))) {
    return Value{.exact = {in.result, 0}, .type = operation.result};
  }
  std::optional<DoubleDouble> truth = exact_of(operation, in.exact);
  if (!truth) {
    if (!in.are_settled || !in.has_result) return std::nullopt;
    return Value{.exact = {in.result, 0}, .type = operation.result};
  }
  const bool is_special = !in.are_finite || !std::isfinite(truth->hi) || !std::isfinite(in.result);
  if (is_special) return of_specials(step, operation, operands, in, truth);
  std::optional<DoubleDouble> of_kernel = exact_of(operation, in.computed);
  if (!of_kernel || !std::isfinite(of_kernel->hi)) return std::nullopt;
  if (operation.modifiers->sat) {
    for (DoubleDouble* const one : {&*truth, &*of_kernel}) {
      if (one->hi < 0) *one = {};
      if (one->hi > 1) *one = {1, 0};
    }
  }
  const double reaching = reached_error(operation.opcode, in.sizes, in.bounds, in.result);
  if (!in.has_result) in.result = magnitude(*truth) + reaching;
  const double actual = in.has_result ? magnitude(DoubleDouble{in.result, 0} - *of_kernel)
                                      : unit_roundoff_of(operation.result) * in.result;

  Value value{.exact = *truth, .type = operation.result};
  const bool narrows = operation.opcode == Opcode::cvt_ && is_one_float(operation.type) &&
                       unit_roundoff_of(operation.result) > unit_roundoff_of(operation.type);
  value.narrowings = static_cast<std::uint8_t>(
      std::min<unsigned>(in.narrowings + (narrows && actual != 0 ? 1u : 0u), 200));
  value.bound = reaching + rounding_of(operation, in, actual, value.narrowings);
  value.made_at = actual == 0 ? ptx::kNone : site_of(step);
  std::array<double, 3> errors{};
  for (std::size_t i = 0; i < operands.size(); ++i)
    errors[i] = in.has_result ? magnitude(in.computed[i] - in.exact[i]) : in.bounds[i];
  const std::array<double, 3> slopes = slopes_of(operation.opcode, in.exact, truth->hi);
  double most = actual;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const double effect = std::abs(slopes[i]) * errors[i];
    if (!(effect > most) || operands[i].value.made_at == ptx::kNone) continue;
    most = effect;
    value.made_at = operands[i].value.made_at;
  }
  return value;
}

}  // namespace warpcheck::vgpu
