// Flags and phases that a program waits for: found in its code when a race is explained.
//
// A thread hands data on by a flag: it writes the data, then the flag; the other thread polls the
// flag, then reads the data.  Volatile and relaxed accesses to the flag order no other memory
// (PTX ISA 8.8): the writer must release the data and the reader must acquire it.
#pragma once

#include <cstdint>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns whether the code behind `write` stores to a flag and the code in front of `read` polls
// one, by volatile or relaxed accesses.
//   write, read: pcs of the racing accesses, each in its program
//   one_block: a loop of updates polls nothing; what counts is what leaves the flag as it is
bool is_handed_on_by_flag(const Program& writer, std::uint32_t write, const Program& reader,
                          std::uint32_t read, bool one_block);

// Returns whether the code from an asynchronous copy to a later access of the same function waits
// for a phase of an mbarrier.
bool waits_for_phase(const Program& program, std::uint32_t copy, std::uint32_t access);

}  // namespace warpcheck::vgpu
