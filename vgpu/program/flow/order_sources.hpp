// Where the order of threads, which a schedule chooses, can show.
//
// Threads that are ordered by barriers and by the order of kernels alone, and do not race, do the
// same under every schedule.  What can tell one schedule from another is an instruction: one that
// takes a time, reads who is active, or reads what others write without a barrier between.  A
// program that has none shows the same under every schedule in which it shows no race
// (docs/proofs.md).  The instructions are looked at, not what a run executes of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// A clock, or the multiprocessor.
[[nodiscard]] bool tells_place_or_time(ptx::SpecialRegister special);

// A value that depends on when a thread runs, or where.
[[nodiscard]] bool depends_on_order(ptx::SpecialRegister special);

// A barrier at which a part of the block may meet: which one, the order of threads may decide.
[[nodiscard]] bool is_partial_barrier(const Instr& barrier);

// Atomic operations of one kind on integers give the same whatever their order: which `kind` it is,
// nothing for others.
struct Reduction {
  ptx::AtomOp operation = ptx::AtomOp::none;
  ptx::Type type = ptx::Type::none;
  friend bool operator==(const Reduction&, const Reduction&) = default;
};
[[nodiscard]] std::optional<Reduction> reduction_of(const Instr& instr);

// Whether an atomic operation may be a part of a release or an acquire by itself.
[[nodiscard]] bool orders_memory(const Instr& atomic);

// By pc: atomic operations whose old value goes nowhere.
[[nodiscard]] std::vector<bool> unused_old_values(const Program& program);

struct OrderSource {
  std::uint32_t pc = ptx::kNone;  // kNone: nowhere
  std::string_view what{};        // "takes the old value of an atomic operation"
};
// The first in the code.
[[nodiscard]] OrderSource find_order_source(const Program& program);

}  // namespace warpcheck::vgpu
