#include "vgpu/check/precision/iterates.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "vgpu/check/shadow/row_uses.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;

class Iterates {
 public:
  explicit Iterates(const Program& program) : program_(program), uses_(program) {}

  bool are_compared(std::uint32_t pc) {
    const Instr& instr = program_.code[pc];
    const ptx::Compare how = instr.modifiers.compare;
    const bool is_equality = how == ptx::Compare::eq || how == ptx::Compare::ne ||
                             how == ptx::Compare::equ || how == ptx::Compare::neu;
    const Ref &a = instr[CompareOperand::a], &b = instr[CompareOperand::b];
    if (is_equality) return are_iterates(pc, a, b) || are_iterates(pc, b, a);
    return is_distance(pc, a, 0) || is_distance(pc, b, 0);
  }

 private:
  static constexpr int kDepthMax = 6;
  static bool is_register(const Ref& ref) {
    return ref.bank == Bank::word || ref.bank == Bank::wide;
  }
  static bool is_move(const Instr& instr) {
    return instr.kind == InstrKind::compute && instr.opcode == Opcode::mov_ &&
           instr.modifiers.vector <= 1;
  }

  // Whether one of the values of a row, read at `at`, is what another row has, read at `from`.
  bool becomes(std::uint32_t from, const Ref& source, std::uint32_t at, const Ref& target,
               int depth) {
    if (!is_register(source) || !is_register(target) || depth == kDepthMax) return false;
    const RowUses::Row row = uses_.read(from, source);
    return std::ranges::any_of(uses_.makers(uses_.read(at, target)), [&](std::uint32_t maker) {
      const Instr& instr = program_.code[maker];
      if (!is_move(instr) || !is_register(instr[ComputeOperand::a])) return false;
      return uses_.read(maker, instr[ComputeOperand::a]) == row ||
             becomes(from, source, maker, instr[ComputeOperand::a], depth + 1);
    });
  }

  // Whether all that makes a row is the distance of two numbers of which one becomes the other.
  bool is_distance(std::uint32_t at, const Ref& ref, int depth) {
    if (!is_register(ref) || depth == kDepthMax) return false;
    const std::span<const std::uint32_t> makers = uses_.makers(uses_.read(at, ref));
    return !makers.empty() && std::ranges::all_of(makers, [&](std::uint32_t maker) {
      const Instr& instr = program_.code[maker];
      if (instr.kind != InstrKind::compute) return false;
      const Ref &a = instr[ComputeOperand::a], &b = instr[ComputeOperand::b];
      if (instr.opcode == Opcode::abs_ || is_move(instr)) return is_distance(maker, a, depth + 1);
      return instr.opcode == Opcode::sub_ &&
             (are_iterates(maker, a, b) || are_iterates(maker, b, a));
    });
  }

  // Whether `next` becomes `last`, or both are made by one statement, of which the compiler has
  // unrolled the loop, `next` of `last`.
  bool are_iterates(std::uint32_t pc, const Ref& next, const Ref& last) {
    if (!is_register(next) || !is_register(last)) return false;
    if (becomes(pc, next, pc, last, 0)) return true;
    const auto of_next = uses_.makers(uses_.read(pc, next)),
               of_last = uses_.makers(uses_.read(pc, last));
    if (of_next.size() != 1 || of_last.size() != 1 || of_next[0] == of_last[0]) return false;
    const Instr &one = program_.code[of_next[0]], &other = program_.code[of_last[0]];
    const auto &at = program_.source_of(of_next[0]).location,
               &there = program_.source_of(of_last[0]).location;
    const bool is_same = one.kind == InstrKind::compute && other.kind == InstrKind::compute &&
                         one.opcode == other.opcode && at.line == there.line;
    return is_same && is_made_of(of_next[0], uses_.read(pc, last), 0);
  }

  bool is_made_of(std::uint32_t pc, const RowUses::Row& row, int depth) {
    const Instr& instr = program_.code[pc];
    if (instr.kind != InstrKind::compute || depth == kDepthMax) return false;
    return std::ranges::any_of(
        std::array{ComputeOperand::a, ComputeOperand::b, ComputeOperand::c},
        [&](ComputeOperand operand) {
          const Ref& ref = instr[operand];
          if (!is_register(ref)) return false;
          const RowUses::Row source = uses_.read(pc, ref);
          return source == row ||
                 std::ranges::any_of(uses_.makers(source), [&](std::uint32_t maker) {
                   return maker < pc && is_made_of(maker, row, depth + 1);
                 });
        });
  }

  const Program& program_;
  RowUses uses_;
};

}  // namespace

bool compares_iterates(const Program& program, std::uint32_t pc) {
  return Iterates(program).are_compared(pc);
}

}  // namespace warpcheck::vgpu
