// What a program does with the values that its loads read: whether those of volatile and relaxed
// ones are data, or are only looked at; and whether a value is only what a compare-and-swap
// expects.
//
// A value is data if it, or what is calculated from it, is stored, is an operand of an atomic, or
// becomes an address, before the program has looked at it.  It looks at it where it compares it
// with what is no data itself (a constant, the thread's number: a flag, a status beside its value),
// or where the comparison decides whether a loop that reads it again is left (polling, whatever it
// waits for).  What was looked at is no data any more: a flag that was seen, a packed status.  Nor
// is the result of a comparison.
//
// A forward analysis over all paths: one path on which the value is data is enough.  What goes
// through local memory is not followed.
#pragma once

#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// By pc: the volatile and relaxed loads whose value is data; none where the registers cannot be
// followed (RegisterFlow::is_known).  Empty if the program has no volatile or relaxed stores.
std::vector<bool> find_data_reads(const Program& program);

// Whether the value that a load reads is what a compare-and-swap expects, and is data nowhere
// before one has found it: the first guess of the usual loop around atomicCAS().
bool is_swap_guess(const Program& program, std::uint32_t pc);

// Whether an instruction loads or stores as volatile or relaxed (and is no atomic).
bool is_relaxed_access(const Instr& instr);

}  // namespace warpcheck::vgpu
