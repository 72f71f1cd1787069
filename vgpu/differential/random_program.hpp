// Random well-formed PTX programs, for comparing interpreters of them.
//
// A program is one kernel, `k(.param .u64 out)`, and functions that it calls.  Its control flow
// (branches, loops, jump tables, calls by name, by register and recursive) depends on the thread
// and always ends; what it computes is defined for every operand, and it leaves all of its
// registers, kOutputWords words a thread, in `out`.
#pragma once

#include <cstdint>
#include <string>

namespace warpcheck::vgpu {

inline constexpr unsigned kOutputWords = 12;

// The text of the program with this seed; the same on every machine.
std::string random_program(std::uint64_t seed);

}  // namespace warpcheck::vgpu
