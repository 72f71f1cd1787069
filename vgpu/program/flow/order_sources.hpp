// Finds instructions whose results can depend on the order of threads, which a schedule chooses.
//
// Threads that are ordered only by barriers and by the order of kernels, and that do not race, do
// the same under every schedule.  Only an instruction can distinguish schedules: one that reads a
// clock, reads which lanes are active, or reads what other threads write without a barrier in
// between.  A program without such an instruction does the same under every schedule in which it
// has no race (docs/use/proofs.md).  All instructions of the program count, executed or not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

struct Instr;
struct Program;

// Returns whether it is a clock or the multiprocessor number.
[[nodiscard]] bool tells_place_or_time(ptx::SpecialRegister special);

// Returns whether the value depends on when or where a thread runs.
[[nodiscard]] bool depends_on_order(ptx::SpecialRegister special);

// Returns whether a part of the block may use this barrier: the order of threads may then decide
// which part.
[[nodiscard]] bool is_partial_barrier(const Instr& barrier);

// Returns how an instruction depends on the order of threads although it is no access and no copy:
// "elects a lane".  Empty: it does not.
[[nodiscard]] std::string_view beyond_accesses(const Instr& instr);

// A kind of atomic operations on integers whose combined result does not depend on their order.
// Returns nothing for other operations.
struct Reduction {
  ptx::AtomOp operation = ptx::AtomOp::none;
  ptx::Type type = ptx::Type::none;
  friend bool operator==(const Reduction&, const Reduction&) = default;
};
[[nodiscard]] std::optional<Reduction> reduction_of(const Instr& instr);

// Returns whether an atomic operation may itself be part of a release or an acquire.
[[nodiscard]] bool orders_memory(const Instr& atomic);

// Returns, by pc, the atomic operations whose old value is not used.
[[nodiscard]] std::vector<bool> unused_old_values(const Program& program);

struct OrderSource {
  std::uint32_t pc = ptx::kNone;  // kNone: there is none
  std::string_view what{};        // "takes the old value of an atomic operation"
};
// Returns the first one in the code.
[[nodiscard]] OrderSource find_order_source(const Program& program);

}  // namespace warpcheck::vgpu
