// One instruction: guard, mnemonic, operands (PTX ISA 9.0, 4.3.2, 6).
#pragma once

#include <string_view>
#include <vector>

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// A label that an instruction names; it may be defined further down, so the body resolves it.
struct LabelUse {
  std::string_view name;
  std::uint32_t line;
};

// Reads `[@[!]p] mnemonic operands;`.  `label` is set for bra: its operand 0 lacks the index.
Instruction parse_instruction(Context& context, const Function& function,
                              std::optional<LabelUse>& label);

}  // namespace warpcheck::ptx
