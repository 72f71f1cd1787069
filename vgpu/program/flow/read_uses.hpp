// Classifies what a program does with loaded values: whether the values of volatile and relaxed
// loads are data or are only tested, and whether a value is only the expected value of a
// compare-and-swap.
//
// A value is data if it, or a value computed from it, is stored, is an operand of an atomic, or
// becomes an address, before the program has tested it.  The program tests a value by comparing it
// with something that is not data (a constant, the thread's number: a flag, a status beside its
// value), or by a comparison that decides whether a loop that reads it again ends (polling).  A
// value that was tested is no longer data: a flag, a packed status.  The result of a comparison is
// not data either.
//
// This is a forward analysis over all paths: one path on which the value is data is enough.  Values
// in local memory are not followed.
#pragma once

#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns, by pc, the volatile and relaxed loads whose value is data; none if the registers cannot
// be followed (RegisterFlow::is_known).  Empty if the program has no volatile or relaxed stores.
std::vector<bool> find_data_reads(const Program& program);

// Returns whether the loaded value is the expected value of a compare-and-swap, and is never data
// before a compare-and-swap has found it: the first guess of the usual loop around atomicCAS().
bool is_swap_guess(const Program& program, std::uint32_t pc);

// Returns whether an instruction is a volatile or relaxed load or store (and no atomic).
bool is_relaxed_access(const Instr& instr);

}  // namespace warpcheck::vgpu
