// Operations on floats without rounding.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "vgpu/check/precision/double_double.hpp"
#include "vgpu/check/shadow/shadow_domain.hpp"

namespace warpcheck::vgpu {

using OperationNumbers = std::array<DoubleDouble, 3>;

// Returns what an operation gives without rounding; nothing: it is not known.
std::optional<DoubleDouble> exact_of(const ShadowOperation& operation, const OperationNumbers& in);

// Returns how much the result moves with each operand: the partial derivatives.
//   result: of these operands
std::array<double, 3> slopes_of(ptx::Opcode opcode, const OperationNumbers& in, double result);

// Returns how far the result of operands that are within their bounds may be from that of the exact
// ones; infinite where that has no limit.
//   size: of the operands; result: the operation's
double reached_error(ptx::Opcode opcode, const std::array<double, 3>& size,
                     const std::array<double, 3>& bound, double result);

// Returns whether a conversion is one to a whole number: it is a step, so that the kernel's result
// is taken.
bool rounds_to_whole(const ShadowOperation& operation);

// Returns whether a sum rounds its other operand to a whole number, because this constant is so
// large that the sum has no fraction: 1.5 * 2^23 or 1.5 * 2^52, and up to 128 more.  expf() of the
// toolkit does so.
bool is_whole_making(double constant, ptx::Type type);

// Returns the power of two, or its negative, that a double has been multiplied by if code has put
// another upper word to its lower one, as exp() and log() do; nothing: it was changed otherwise.
//   value: what the double was, at most `distance` away
std::optional<double> factor_of_word(double value, double after, double distance);

// The exponent of a float is changed by integers that are added to its bits, as inside logf() of
// the toolkit.  Returns by which power of two that scales the float; nothing: it does something
// else.
//   before, after: the float whose bits are the first operand, and that of the result
//   added: the bits of the second operand
std::optional<int> scale_of_bits(const ShadowOperation& operation, double before, double after,
                                 std::uint64_t added);

}  // namespace warpcheck::vgpu
