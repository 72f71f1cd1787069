// What the emitters of tcgen05 instructions share: the words of a mnemonic, each of which must be
// understood, and operands as rows.  Internal to tensor_memory.cpp and tensor_product.cpp.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "vgpu/program/emit/emission.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/program/tensor_memory.hpp"

namespace warpcheck::vgpu {

// The words after the operation.  What is left when all known words were taken is an error.
class TensorWords {
 public:
  TensorWords(Emission& e, const ptx::Instruction& in, const std::vector<std::string_view>& words)
      : e_(e), in_(in), words_(words.begin() + 2, words.end()) {}

  // Returns whether the word is there, and takes it.
  bool take(std::string_view word) {
    const auto found = std::ranges::find(words_, word);
    if (found == words_.end()) return false;
    words_.erase(found);
    return true;
  }
  void require(std::string_view word) {
    if (!take(word)) e_.refuse(in_, fmt::format("it needs .{}", word));
  }
  // Takes one of the words that have a value; refuses if there is none.
  template <typename T>
  T choose(std::string_view what, std::initializer_list<std::pair<std::string_view, T>> choices) {
    for (const auto& [word, value] : choices) {
      if (take(word)) return value;
    }
    e_.refuse(in_, fmt::format("{} is missing or unknown", what));
  }
  std::uint32_t take_group() {
    return choose<std::uint32_t>(".cta_group::1 or .cta_group::2",
                                 {{"cta_group::1", 1}, {"cta_group::2", 2}});
  }
  // Refuses words that nothing has taken.
  void end() const {
    if (!words_.empty()) e_.refuse(in_, fmt::format("the qualifier .{} here", words_.front()));
  }

 private:
  Emission& e_;
  const ptx::Instruction& in_;
  std::vector<std::string_view> words_;
};

inline void require_operands(Emission& e, const ptx::Instruction& in, std::size_t count) {
  if (in.operands.size() != count) {
    e.refuse(in, fmt::format("it has {} operands, and needs {}", in.operands.size(), count));
  }
}

// Returns the row of an address in tensor memory, `[taddr + offset]`.
inline Ref tensor_address(Emission& e, const ptx::Instruction& in, const ptx::Operand& operand,
                          std::int32_t& offset) {
  if (operand.kind != ptx::Operand::Kind::address || !operand.parts.empty() ||
      operand.variable.scope != ptx::VariableRef::Scope::none) {
    e.refuse(in, "an address in tensor memory is missing");
  }
  offset = static_cast<std::int32_t>(operand.offset);
  if (operand.index == ptx::kNone) return e.constants.word(0);
  const Ref row = e.frame.row_of(operand.index);
  if (row.bank != Bank::word) e.refuse(in, "an address in tensor memory has 32 bits");
  return row;
}

// Gives the instruction its record, and pushes it.
inline void push_tensor(Emission& e, Instr& out, TensorMemoryInstr tensor) {
  tensor.words = e.frame.rows(Bank::word, 4);
  tensor.wide = e.frame.temporary(Bank::wide);
  if (e.program.tensor_memory == nullptr) {
    e.program.tensor_memory = std::make_shared<TensorMemoryInstrs>();
  }
  out.kind = InstrKind::tensor_memory;
  out.modifiers = {};
  out.tensor_instr = static_cast<std::uint32_t>(e.program.tensor_memory->all.size());
  e.program.tensor_memory->all.push_back(std::move(tensor));
  e.push(out);
}

// tensor_product.cpp
void emit_tensor_product(Emission& e, const ptx::Instruction& in,
                         const std::vector<std::string_view>& words, Instr& out);

}  // namespace warpcheck::vgpu
