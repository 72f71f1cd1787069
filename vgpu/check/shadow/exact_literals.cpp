#include "vgpu/check/shadow/exact_literals.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "vgpu/check/shadow/row_uses.hpp"
#include "vgpu/check/shadow/shadow_rules.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

// Returns whether a literal has `digits` decimal digits or more, or is exact in a few binary ones.
template <class Number>
bool means_itself(const std::byte* at, std::ptrdiff_t digits) {
  Number value{};
  std::memcpy(&value, at, sizeof value);
  constexpr Number kUnits = 1 << 10;
  if (!std::isfinite(value) || value * kUnits == std::nearbyint(value * kUnits)) return true;
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::abs(value),
                                 std::chars_format::scientific);
  const char* const exponent = std::find(text.data(), end.ptr, 'e');
  return exponent - text.data() >= digits + 1;  // and the point
}

class ExactLiterals {
 public:
  explicit ExactLiterals(const Program& program) : program_(program), uses_(program) {}

  [[nodiscard]] bool is_exact(std::uint32_t pc, const Ref& ref, Type type, int depth = 0) const {
    constexpr int kDepthMax = 8;
    if (ref.bank == Bank::constant) {
      const std::byte* const at = program_.constants.data() + ref.offset;
      return type == Type::f32 ? means_itself<float>(at, 7) : means_itself<double>(at, 15);
    }
    const std::span<const std::uint32_t> makers = uses_.makers(uses_.read(pc, ref));
    if (makers.empty() || depth == kDepthMax) return false;
    return std::ranges::all_of(makers, [&](std::uint32_t maker) {
      const Instr& instr = program_.code[maker];
      if (instr.kind != InstrKind::compute) return false;
      const bool moves = instr.opcode == Opcode::mov_, selects = instr.opcode == Opcode::selp_;
      // What is calculated has a value of its own.
      if (!moves && !selects) return instr.modifiers.type == type;
      if (moves && instr[ComputeOperand::b].bank != Bank::none) return false;
      return is_exact(maker, instr[ComputeOperand::a], type, depth + 1) &&
             (moves || is_exact(maker, instr[ComputeOperand::b], type, depth + 1));
    });
  }

 private:
  const Program& program_;
  RowUses uses_;
};

}  // namespace

std::vector<std::uint8_t> exact_literals_of(const Program& program) {
  const ExactLiterals literals(program);
  std::vector<std::uint8_t> found(program.code.size());
  for (std::uint32_t pc = 0; pc < found.size(); ++pc) {
    const Instr& instr = program.code[pc];
    if (instr.kind != InstrKind::compute) continue;
    const ShadowRule rule = shadow_rule_of(instr);
    for (std::size_t source = 0; source < rule.sources && source < rule.types.size(); ++source) {
      const Type type = rule.types[source];
      const bool is_float = type == Type::f32 || type == Type::f64;
      if (is_float && literals.is_exact(pc, instr[kComputeSources[source]], type))
        found[pc] |= static_cast<std::uint8_t>(1u << source);
    }
  }
  return found;
}

}  // namespace warpcheck::vgpu
