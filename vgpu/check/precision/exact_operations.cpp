#include "vgpu/check/precision/exact_operations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;

// Nothing reaches a product with 0, however large the other's error is.
double times(double size, double bound) { return size == 0 || bound == 0 ? 0 : size * bound; }

}  // namespace

std::optional<DoubleDouble> exact_of(const ShadowOperation& operation, const OperationNumbers& in) {
  const auto& [a, b, c] = in;
  switch (operation.opcode) {
    case Opcode::add_: return a + b;
    case Opcode::sub_: return a - b;
    case Opcode::mul_: return a * b;
    case Opcode::mad_:
    case Opcode::fma_: return a * b + c;
    case Opcode::div_: return a / b;
    case Opcode::rcp_: return DoubleDouble{1, 0} / a;
    case Opcode::sqrt_: return square_root(a);
    case Opcode::rsqrt_: return DoubleDouble{1, 0} / square_root(a);
    case Opcode::neg_: return -a;
    case Opcode::abs_: return a.hi < 0 ? -a : a;
    case Opcode::copysign_: return std::signbit(a.hi) == std::signbit(b.hi) ? b : -b;
    case Opcode::ex2_: return exp2(a);
    case Opcode::lg2_: return a.hi > 0 ? std::optional(log2(a)) : std::nullopt;
    case Opcode::sin_: return has_sine(a) ? std::optional(sine(a)) : std::nullopt;
    case Opcode::cos_: return has_sine(a) ? std::optional(cosine(a)) : std::nullopt;
    case Opcode::tanh_: return tanh(a);
    case Opcode::cvt_: return rounds_to_whole(operation) ? std::nullopt : std::optional(a);
    default: return std::nullopt;
  }
}

std::array<double, 3> slopes_of(Opcode opcode, const OperationNumbers& in, double result) {
  const double a = in[0].hi, b = in[1].hi;
  switch (opcode) {
    case Opcode::sub_: return {1, -1, 0};
    case Opcode::mul_: return {b, a, 0};
    case Opcode::mad_:
    case Opcode::fma_: return {b, a, 1};
    case Opcode::div_: return {1 / b, -result / b, 0};
    case Opcode::rcp_: return {-result * result, 0, 0};
    case Opcode::sqrt_: return {result == 0 ? 0 : 0.5 / result, 0, 0};
    case Opcode::rsqrt_: return {-0.5 * result / a, 0, 0};
    case Opcode::ex2_: return {result * kLn2.hi, 0, 0};
    case Opcode::lg2_: return {1 / (a * kLn2.hi), 0, 0};
    case Opcode::sin_: return {cosine(in[0]).hi, 0, 0};
    case Opcode::cos_: return {-sine(in[0]).hi, 0, 0};
    case Opcode::tanh_: return {1 - result * result, 0, 0};
    case Opcode::neg_: return {-1, 0, 0};
    case Opcode::abs_: return {a < 0 ? -1.0 : 1.0, 0, 0};
    case Opcode::copysign_: return {0, std::signbit(a) == std::signbit(b) ? 1.0 : -1.0, 0};
    default: return {1, 1, 0};
  }
}

double reached_error(Opcode opcode, const std::array<double, 3>& size,
                     const std::array<double, 3>& bound, double result) {
  constexpr double kUnboundedError = std::numeric_limits<double>::infinity();
  switch (opcode) {
    case Opcode::add_:
    case Opcode::sub_: return bound[0] + bound[1];
    case Opcode::mul_:
      return times(size[0], bound[1]) + times(size[1], bound[0]) + times(bound[0], bound[1]);
    case Opcode::mad_:
    case Opcode::fma_:
      return times(size[0], bound[1]) + times(size[1], bound[0]) + times(bound[0], bound[1]) +
             bound[2];
    case Opcode::div_: {
      const double least = size[1] - bound[1];
      return least > 0 ? (bound[0] + times(size[0] / size[1], bound[1])) / least : kUnboundedError;
    }
    case Opcode::rcp_: {
      const double least = size[0] - bound[0];
      return least > 0 ? bound[0] / (size[0] * least) : kUnboundedError;
    }
    case Opcode::sqrt_: {
      const double least = std::sqrt(std::max(size[0] - bound[0], 0.0));
      return bound[0] == 0 ? 0 : bound[0] / (std::sqrt(size[0]) + least);
    }
    case Opcode::rsqrt_: {
      const double least = size[0] - bound[0];
      return least > 0 ? 1 / std::sqrt(least) - 1 / std::sqrt(size[0]) : kUnboundedError;
    }
    case Opcode::copysign_: return bound[1];
    case Opcode::ex2_: return times(std::abs(result), std::expm1(bound[0] * std::log(2.0)));
    case Opcode::lg2_: {
      const double least = size[0] - bound[0];
      return least > 0 ? std::log2(size[0] / least) : kUnboundedError;
    }
    default: return bound[0];
  }
}

bool rounds_to_whole(const ShadowOperation& operation) {
  const ptx::Rounding rounding = operation.modifiers->rounding;
  return rounding == ptx::Rounding::rni || rounding == ptx::Rounding::rzi ||
         rounding == ptx::Rounding::rmi || rounding == ptx::Rounding::rpi;
}

bool is_whole_making(double constant, ptx::Type type) {
  const double least = type == ptx::Type::f32 ? 0x1.8p23 : type == ptx::Type::f64 ? 0x1.8p52 : 0;
  return least != 0 && constant >= least && constant <= least + 128;
}

std::optional<double> factor_of_word(double value, double after, double distance) {
  if (value == 0 || after == 0 || !std::isfinite(value) || !std::isfinite(after))
    return std::nullopt;
  const int exponent = std::ilogb(after) - std::ilogb(value);
  const double sign = std::signbit(value) == std::signbit(after) ? 1 : -1;
  // The double may be on the other side of a power of two than its value.
  for (const int scale : {exponent, exponent - 1, exponent + 1}) {
    if (std::abs(scale) > 1000) continue;
    const double factor = std::ldexp(sign, scale);
    if (std::abs(after / factor - value) <= distance) return factor;
  }
  return std::nullopt;
}

std::optional<int> scale_of_bits(const ShadowOperation& operation, double before, double after,
                                 std::uint64_t added) {
  constexpr int kFractionBits = 23;
  const bool adds = operation.opcode == Opcode::add_, subtracts = operation.opcode == Opcode::sub_;
  const auto word = static_cast<std::int32_t>(added);
  if ((!adds && !subtracts) || ptx::bytes_of(operation.type) != 4 ||
      (word & ((1 << kFractionBits) - 1)) != 0) {
    return std::nullopt;
  }
  const int scale = (subtracts ? -1 : 1) * (word >> kFractionBits);
  const bool is_scaled = before != 0 && std::isfinite(after) && std::ldexp(before, scale) == after;
  return is_scaled ? std::optional(scale) : std::nullopt;
}

}  // namespace warpcheck::vgpu
