// What an instruction that could not reach memory was about to do there, decoded by Capstone.
#pragma once

#include <cstdint>

namespace warpcheck::cudart {

struct FaultingInstruction {
  std::uint8_t bytes = 1;    // that it reads or writes at one address
  bool is_repeated = false;  // rep movs and its like: as often as a register says
};

// code: where it begins, readable.  write: which of its operands is meant.  1 byte where the
// instruction is not known.
FaultingInstruction decode_faulting(const void* code, bool write);

}  // namespace warpcheck::cudart
