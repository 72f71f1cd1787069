// What follows from the value that a strong read finds: the code behind it, as far as it only
// computes, pauses and branches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

// The register that receives what a load or an atomic operation finds.
Ref result_of(const Instr& instr);
bool only_pauses(InstrKind kind);
// Returns whether an atomic operation leaves every value as it is.
bool changes_nothing(const Program& program, const Instr& instr);
// Returns whether an instruction accesses the word that the access does, by the same registers.
//   banks: the registers when the instruction executes
bool is_same_word(const LaneBanks& banks, const Instr& instr, const Access& access, unsigned lane);

// What follows a load: the first branch behind it, and the registers with the loaded value and what
// is computed from it until then.
struct Continuation {
  std::uint32_t branch = ptx::kNone;
  std::vector<Ref> values;
  [[nodiscard]] bool has(const Ref& ref) const;
};
Continuation behind(const Program& program, std::uint32_t pc);

// Returns whether the value of a register is used on some path from one of the pcs, other than by a
// comparison inside of [begin, last]; true if that would take long to find.
bool is_used_from(const Program& program, std::span<const std::uint32_t> pcs, const Ref& ref,
                  std::uint32_t begin, std::uint32_t last);

}  // namespace warpcheck::vgpu
