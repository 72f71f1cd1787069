// What a mnemonic such as "ld.global.v4.u32" means: its opcode, modifiers and operand forms.
//
// The words of opcodes.def are read here and nowhere else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::ptx {

// One way to write an instruction's operands.
struct Form {
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
  // The type of a source: that of the instruction, its second, that of a product, or this one.
  enum class TypeOf : std::uint8_t { instruction, second, product, pred, b32, u32, u64 };
  struct Slot {
    Word word;
    bool optional;
    TypeOf type;
  };
  std::string_view suffix;  // the form needs this suffix; empty: any mnemonic
  std::vector<Slot> slots;
};

struct Mnemonic {
  Opcode opcode = Opcode::invalid;
  Modifiers modifiers;
  std::string unsupported;         // why it is refused, naming the suffix
  bool unchecked = false;          // the row says `any`, or the opcode is unknown
  std::vector<const Form*> forms;  // those that hold for these suffixes
  bool cache_policy = false;       // .L2::cache_hint: one more operand
};

// Never throws on bad text: what it does not know goes to `unsupported`.
Mnemonic read_mnemonic(std::string_view text);

// The type of source number `position` (0: a) of an instruction, as its row says.
Type source_type(Opcode opcode, const Modifiers& modifiers, std::size_t position);

// Why the operands fit none of the mnemonic's forms; empty if they fit.
std::string find_misfit(const Mnemonic& mnemonic, std::span<const Operand> operands);

}  // namespace warpcheck::ptx
