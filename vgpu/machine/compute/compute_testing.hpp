// Test helper: runs one compute instruction on random and extreme rows with every instruction set
// of the host, and compares every lane with a scalar reference.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu::testing {

// A value for each operand of a compute instruction, by the operand's name.
template <class T>
struct ByName {
  T d{}, a{}, b{}, c{}, e{}, f{};
  // Returns the value by the operand's place (ComputeOperand).
  T& at(std::size_t place) {
    T* const all[] = {&d, &a, &b, &c, &e, &f};
    return *all[place];
  }
  const T& at(std::size_t place) const { return const_cast<ByName*>(this)->at(place); }
};

// none: absent.  pred: a predicate.
using OperandTypes = ByName<ptx::Type>;

// One lane's operands: sources cut to their types and zero-extended, predicates 0 or 1.
using Lane = ByName<std::uint64_t>;

// A reference function writes the destinations (d, e ...) as whole cells.  On entry, the
// destinations have their old values.
using Reference = std::function<void(Lane&)>;

struct TestedInstruction {
  std::string name;
  ptx::Opcode opcode{};
  ptx::Modifiers modifiers{};
  OperandTypes operands{};
  std::vector<ComputeOperand> destinations{ComputeOperand::d};
  std::int64_t offset = 0;
};

// Returns values that are critical for arithmetic on the type.
std::vector<std::uint64_t> extremes(ptx::Type type);

// Returns the instruction with operands in the places where expect_agrees() puts them.
Instr make_instr(const TestedInstruction& form);

// Fails the current test unless every instruction set gives the bits of the reference in the lanes
// of the mask and changes nothing else.
void expect_agrees(const TestedInstruction& form, const Reference& reference, int rounds = 24);

// Fails unless every instruction set gives the same bits; calls `judge` with each lane's result.
void expect_same_at_all_levels(const TestedInstruction& form,
                               const std::function<void(const Lane&)>& judge, int rounds = 24);

// Returns the instruction sets that this host has.
std::vector<SimdLevel> levels();

std::uint64_t low_bits(std::uint64_t value, unsigned bits);
inline float as_float(std::uint64_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
}
inline double as_double(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
inline std::uint64_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
inline std::uint64_t bits_of(double value) { return __builtin_bit_cast(std::uint64_t, value); }

}  // namespace warpcheck::vgpu::testing
