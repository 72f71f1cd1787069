// One instruction: guard, mnemonic, operands (PTX ISA 9.0, 4.3.2, 6).
#pragma once

#include <string_view>

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// A label operand of an instruction.  The label may be defined later, so the body parser resolves
// it.
struct LabelUse {
  std::string_view name;
  std::uint32_t line;
};

// Parses `[@[!]p] mnemonic operands;`.  `label` is set for bra, whose operand 0 has no index yet.
Instruction parse_instruction(Context& context, const Function& function,
                              std::optional<LabelUse>& label);

}  // namespace warpcheck::ptx
