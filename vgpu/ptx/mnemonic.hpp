// Decodes a mnemonic such as "ld.global.v4.u32": its opcode, modifiers and the syntaxes of its
// operands.
//
// Only this code interprets the words of opcodes.def.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::ptx {

// One syntax of an instruction's operands.
struct Syntax {
  enum class Word : std::uint8_t {
    dst,
    vdst,
    pdst,
    src,
    vsrc,
    msrc,
    asrc,
    pred,
    addr,
    label,
    name,
    tensor
  };
  // The type of a source: that of the instruction, its second type, the type of a product, or a
  // fixed type.
  enum class TypeOf : std::uint8_t { instruction, second, product, pred, b32, u32, u64 };
  struct Slot {
    Word word;
    bool optional;
    TypeOf type;
  };
  std::string_view suffix;  // the suffix that the syntax requires; empty: none
  std::vector<Slot> slots;
};

struct Mnemonic {
  Opcode opcode{};
  Modifiers modifiers;
  std::string unsupported;              // why it is refused, with the suffix
  bool unchecked = false;               // the row has `any`, or the opcode is unknown
  std::vector<const Syntax*> syntaxes;  // those that apply with these suffixes
  bool cache_policy = false;            // .L2::cache_hint: one more operand
};

// Never throws on bad text: unknown parts are described in `unsupported`.
Mnemonic read_mnemonic(std::string_view text);

// Returns the type of source number `position` (0: a) of an instruction, by its row.
Type source_type(Opcode opcode, const Modifiers& modifiers, std::size_t position);

// Returns why the operands fit none of the syntaxes of the mnemonic; empty if they fit.
std::string find_misfit(const Mnemonic& mnemonic, std::span<const Operand> operands);

}  // namespace warpcheck::ptx
