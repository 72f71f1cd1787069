// Whether a value from memory can decide what a kernel does: an address, a branch, a guard, or an
// operand that says which lanes, which barrier or how much.
//
// Where none can, whatever memory holds, threads make the same accesses and meet at the same
// barriers for all data (docs/proofs.md).  A branch whose ways only calculate until they meet again
// decides nothing: it chooses between values, as unoptimised code does it.  All paths are
// looked at: a register holds data where something that holds data may have been written to it
// last.  Memory is coarse: the shared and the local memory as a whole hold data once any is stored
// there, and what global and constant memory hold always is data; so are clocks and other values
// that tell when or where a thread runs.  It costs once for a program what
// following values costs in every run.
#pragma once

#include <cstdint>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// The first instruction of the code that data may decide, or whose values are not followed;
// ptx::kNone: there is none.
[[nodiscard]] std::uint32_t find_data_use(const Program& program);

// The order of threads shows in nothing but such clocks and places: where they decide nothing,
// every schedule makes the same accesses.
[[nodiscard]] bool order_shows_in_times_alone(const Program& program);

}  // namespace warpcheck::vgpu
