// Runs one compute instruction over random and extreme rows, at every instruction set of the
// host, and compares every lane with a scalar reference.  For tests only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu::testing {

// Types of the operands in the order of ComputeOperand; none: absent.  pred: a predicate.
using Operands = std::array<ptx::Type, 6>;

// One lane's operands in the order of ComputeOperand: sources cut to their types and
// zero-extended, predicates 0 or 1.
using Lane = std::array<std::uint64_t, 6>;

// The reference writes the destinations (0, 4, ...) as whole cells.  Destinations come in with
// what they held.
using Reference = std::function<void(Lane&)>;

struct Form {
  std::string name;
  ptx::Opcode opcode = ptx::Opcode::invalid;
  ptx::Modifiers modifiers{};
  Operands operands{};
  std::vector<unsigned> destinations{0};
  std::int64_t offset = 0;
};

// Values at which arithmetic on the type tends to go wrong.
std::vector<std::uint64_t> extremes(ptx::Type type);

// The instruction with its operands as run_form() lays them out.
Instr make_instr(const Form& form);

// Fails the current test unless every level gives the reference's bits in the lanes of the mask,
// and leaves everything else as it was.
void expect_agrees(const Form& form, const Reference& reference, int rounds = 24);

// Fails unless every level gives the same bits; calls `judge` with each lane's result.
void expect_same_at_all_levels(const Form& form, const std::function<void(const Lane&)>& judge,
                               int rounds = 24);

// The levels that this host can run.
std::vector<SimdLevel> levels();

std::uint64_t low_bits(std::uint64_t value, unsigned bits);
inline float as_float(std::uint64_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
}
inline double as_double(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
inline std::uint64_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
inline std::uint64_t bits_of(double value) { return __builtin_bit_cast(std::uint64_t, value); }

}  // namespace warpcheck::vgpu::testing
