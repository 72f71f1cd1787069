// Mutants of a pair's kernels: small changes that a good suite notices.
//
// Each order is taken away (order.hpp); a bound is compared with < instead of <=, or with a number
// that is one more or less; an index is one more or less; an atomic operation becomes a load, an
// operation and a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/orders/order.hpp"
#include "harness/pair/any_pair.hpp"
#include "vgpu/cudart/device/build.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck {

enum class MutantKind : std::uint8_t { order, comparison, constant, index, atomic };
[[nodiscard]] std::string_view name_of(MutantKind kind);  // "comparison"

struct Mutant {
  MutantKind kind{};
  SourceChain place;
  std::string change;  // "setp.lt.s32 made setp.le.s32"
  ptx::Edits edits;    // of all copies of the instruction that the compiler made
};

// Of one build, in order of place.  Throws as find_orders().
[[nodiscard]] std::vector<Mutant> find_mutants(const AnyPair& pair, cudart::Build build,
                                               std::uint64_t seed);

// Changes of one instruction, except of orders.
struct InstructionMutation {
  MutantKind kind{};
  std::string change;
  ptx::EditKind edit{};
  std::string text;  // ProgramEdit::text
};
[[nodiscard]] std::vector<InstructionMutation> mutations_of(const ptx::Function& function,
                                                            const ptx::Instruction& instruction);

// The instruction as a PTX statement; empty if it has an operand that only the parser can name: a
// name that two registers share, or a variable of the module.
[[nodiscard]] std::optional<std::string> statement_of(const ptx::Function& function,
                                                      const ptx::Instruction& instruction);

}  // namespace warpcheck
