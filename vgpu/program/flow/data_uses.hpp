// Finds out whether a value from memory can decide what a kernel does: an address, a branch, a
// guard, or an operand that selects lanes, a barrier or a size.
//
// If no value can, threads make the same accesses and meet at the same barriers for all data
// (docs/use/proofs.md).  A branch whose ways only calculate until they meet again decides nothing:
// it selects between values, as unoptimised code does.  All paths are examined: a register holds
// data if the last write to it on some path may have been data.  Memory is treated coarsely: shared
// memory as a whole, and local memory as a whole, hold data once any data is stored there; global
// and constant memory always hold data; and so do clocks and other values that tell when or where a
// thread runs.  The analysis runs once for a program, whereas following values has a cost in every
// run.
#pragma once

#include <cstdint>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct DataUse {
  std::uint32_t pc = ptx::kNone;  // kNone: there is none
  bool is_followed = true;        // false: whether data decides anything there is not known
};
// Returns the first instruction of the code that data may decide, or whose values cannot be
// followed.
[[nodiscard]] DataUse find_data_use(const Program& program);

// Returns whether the order of threads affects only such clocks and places: if these decide
// nothing, every schedule makes the same accesses.
[[nodiscard]] bool order_shows_in_times_alone(const Program& program);

}  // namespace warpcheck::vgpu
