// Which orders an instruction gives, and how each is taken away.
#pragma once

#include <string>
#include <vector>

#include "harness/orders/order.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck {

struct OrderChange {
  OrderKind kind{};
  std::string change;  // Order::change
  ptx::EditKind edit{};
  std::string text;  // ProgramEdit::text
};

// function: that contains the instruction
[[nodiscard]] std::vector<OrderChange> order_changes(const ptx::Function& function,
                                                     const ptx::Instruction& instruction);

// For a barrier of the block: the index of another one for the same threads, with no access to
// memory, branch, jump target or other order between; kNone: there is none.  What the one orders,
// the other does too.
[[nodiscard]] std::uint32_t barrier_beside(const ptx::Function& function, std::uint32_t index);

// Whether the scope of the access means nothing, because only one block can access its memory.
[[nodiscard]] bool is_of_one_block(const ptx::Instruction& instruction);

// The mnemonic with one suffix replaced by others, ".gpu" by ".cta"; empty text: left out.  A
// mnemonic without the suffix is returned unchanged.
[[nodiscard]] std::string with_suffix(std::string mnemonic, std::string_view suffix,
                                      std::string_view text);

}  // namespace warpcheck
