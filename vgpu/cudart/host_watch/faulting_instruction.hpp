// Decodes a host instruction that has caused a page fault, by Capstone: which memory it was about
// to access.
#pragma once

#include <cstdint>

namespace warpcheck::cudart {

struct FaultingInstruction {
  std::uint8_t bytes = 1;    // bytes accessed at one address
  bool is_repeated = false;  // rep movs etc.: repeated as often as a register says
};

// code: the instruction, readable. write: which of its operands is meant.  Returns 1 byte if the
// instruction is not known.
FaultingInstruction decode_faulting(const void* code, bool write);

}  // namespace warpcheck::cudart
