#include "harness/orders/order_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck {
namespace {

using ptx::EditKind;
using ptx::has_mnemonic;
using ptx::Opcode;

constexpr std::array kKindNames{
    std::string_view("block-barrier"),   std::string_view("warp-barrier"),
    std::string_view("cluster-barrier"), std::string_view("phase-wait"),
    std::string_view("copy-wait"),       std::string_view("grid-wait"),
    std::string_view("fence"),           std::string_view("memory-order"),
    std::string_view("scope"),           std::string_view("strong-access"),
    std::string_view("volatile-access")};

OrderChange removal(OrderKind kind) { return {kind, "removed", EditKind::remove, {}}; }
OrderChange respelt(OrderKind kind, std::string change, std::string text) {
  return {kind, std::move(change), EditKind::respell, std::move(text)};
}

// Wider than the block.
bool is_wide(ptx::Scope scope) {
  return scope == ptx::Scope::cluster || scope == ptx::Scope::gpu || scope == ptx::Scope::sys;
}

std::string without_scope(std::string text) {
  for (const std::string_view scope : {".cta", ".cluster", ".gpu", ".sys"}) {
    text = with_suffix(std::move(text), scope, "");
  }
  return text;
}

std::string of_block(std::string text) {
  for (const std::string_view scope : {".cluster", ".gpu", ".sys", ".gl"}) {
    text = with_suffix(std::move(text), scope, ".cta");
  }
  return text;
}

std::string relaxed(std::string text) {
  for (const std::string_view order : {".acquire", ".release", ".acq_rel"}) {
    text = with_suffix(std::move(text), order, ".relaxed");
  }
  return text;
}

void add_barrier(const ptx::Instruction& instruction, std::vector<OrderChange>& changes) {
  const ptx::Modifiers& modifiers = instruction.modifiers;
  if (modifiers.red) return;  // its result is used
  if (modifiers.warp) {
    changes.push_back(removal(OrderKind::warp_barrier));
  } else if (modifiers.cluster || has_mnemonic(instruction.text, "barrier.cluster")) {
    changes.push_back(removal(OrderKind::cluster_barrier));
  } else {
    changes.push_back(removal(OrderKind::block_barrier));
  }
}

void add_fence(const ptx::Instruction& instruction, std::vector<OrderChange>& changes) {
  changes.push_back(removal(OrderKind::fence));
  const ptx::Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.proxy && is_wide(modifiers.scope))
    changes.push_back(respelt(OrderKind::scope, ".cta", of_block(instruction.text)));
}

// Loads, stores and atomic operations.
void add_access(const ptx::Instruction& instruction, std::vector<OrderChange>& changes) {
  const ptx::Modifiers& modifiers = instruction.modifiers;
  if (modifiers.async || modifiers.bulk) return;
  const std::string& text = instruction.text;
  const bool is_atomic = instruction.opcode == Opcode::atom_ || instruction.opcode == Opcode::red_;
  switch (modifiers.order) {
    case ptx::Order::volatile_:
      changes.push_back(
          respelt(OrderKind::volatile_access, "weak", with_suffix(text, ".volatile", "")));
      return;
    case ptx::Order::acquire:
    case ptx::Order::release:
    case ptx::Order::acq_rel:
      changes.push_back(respelt(OrderKind::memory_order, "relaxed", relaxed(text)));
      break;
    case ptx::Order::relaxed:
      if (!is_atomic) {
        changes.push_back(respelt(OrderKind::strong_access, "weak",
                                  without_scope(with_suffix(text, ".relaxed", ""))));
      }
      break;
    default: return;
  }
  if (!is_wide(modifiers.scope) || is_of_one_block(instruction)) return;
  std::string narrow = of_block(text);
  if (narrow == text) {  // atom.global.add.u32: .relaxed.gpu are the defaults
    const std::size_t end = text.find('.');
    const bool names_order = text.find(".relaxed") != std::string::npos ||
                             text.find(".acq") != std::string::npos ||
                             text.find(".release") != std::string::npos;
    if (names_order || end == std::string::npos) return;
    narrow = text.substr(0, end) + ".relaxed.cta" + text.substr(end);
  }
  changes.push_back(respelt(OrderKind::scope, ".cta", std::move(narrow)));
}

// The wait ends at once.  A name that two registers share, in scopes of their own, denotes the
// first, so such a wait cannot be replaced.
void add_phase_wait(const ptx::Function& function, const ptx::Instruction& instruction,
                    std::vector<OrderChange>& changes) {
  const ptx::ObjectOp operation = instruction.modifiers.object_op;
  if (operation != ptx::ObjectOp::try_wait && operation != ptx::ObjectOp::test_wait) return;
  if (instruction.operands.empty()) return;
  const ptx::Operand& result = instruction.operands.front();
  if (result.kind != ptx::Operand::Kind::reg || instruction.guard != ptx::kNone) return;
  const std::string& name = function.registers[result.index].name;
  if (std::ranges::count(function.registers, name, &ptx::Register::name) != 1) return;
  changes.push_back({OrderKind::phase_wait, "removed", EditKind::replace,
                     fmt::format("setp.eq.u32 {}, 0, 0;", name)});
}

bool is_block_barrier(const ptx::Instruction& instruction) {
  const bool is_barrier =
      instruction.opcode == Opcode::bar_ || instruction.opcode == Opcode::barrier_;
  const ptx::Modifiers& modifiers = instruction.modifiers;
  return is_barrier && modifiers.sync && !modifiers.warp && !modifiers.arrive && !modifiers.red &&
         !modifiers.cluster && instruction.guard == ptx::kNone && instruction.unsupported.empty();
}

bool is_same_number(const ptx::Operand& a, const ptx::Operand& b) {
  constexpr auto kImmediate = ptx::Operand::Kind::immediate;
  return a.kind == kImmediate && b.kind == kImmediate && a.bits == b.bits;
}

// Computes registers from registers and parameters.
bool only_computes(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::mov_:
    case Opcode::cvta_:
    case Opcode::cvt_:
    case Opcode::add_:
    case Opcode::sub_:
    case Opcode::mul_:
    case Opcode::mad_:
    case Opcode::shl_:
    case Opcode::shr_:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::neg_:
    case Opcode::selp_:
    case Opcode::setp_: return true;
    case Opcode::ld_: return instruction.modifiers.space == ptx::Space::param;
    default: return false;
  }
}

// Of a branch; labels of the line table are none.
bool is_jump_target(const ptx::Function& function, std::uint32_t index) {
  const auto leads_here = [&](std::uint32_t label) {
    return label < function.labels.size() && function.labels[label].position == index;
  };
  for (const ptx::BranchTargets& targets : function.branch_targets) {
    if (std::ranges::any_of(targets.labels, leads_here)) return true;
  }
  return std::ranges::any_of(function.body, [&](const ptx::Instruction& instruction) {
    return std::ranges::any_of(instruction.operands, [&](const ptx::Operand& operand) {
      return operand.kind == ptx::Operand::Kind::label && leads_here(operand.index);
    });
  });
}

}  // namespace

std::uint32_t barrier_beside(const ptx::Function& function, std::uint32_t index) {
  const ptx::Instruction& barrier = function.body[index];
  if (!is_block_barrier(barrier)) return ptx::kNone;
  const auto is_partner = [&](const ptx::Instruction& other) {
    return is_block_barrier(other) &&
           std::ranges::equal(barrier.operands, other.operands, is_same_number);
  };
  for (std::uint32_t at = index + 1; at < function.body.size(); ++at) {
    if (is_jump_target(function, at)) break;
    if (is_partner(function.body[at])) return at;
    if (!only_computes(function.body[at])) break;
  }
  for (std::uint32_t at = index; at > 0 && !is_jump_target(function, at); --at) {
    if (is_partner(function.body[at - 1])) return at - 1;
    if (!only_computes(function.body[at - 1])) break;
  }
  return ptx::kNone;
}

std::string_view name_of(OrderKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::string text_of(const SourceChain& chain) {
  std::string text;
  for (const SourceLine& line : chain) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", in ",
                        line.file.substr(line.file.find_last_of('/') + 1), line.line);
  }
  return text;
}

std::string with_suffix(std::string mnemonic, std::string_view suffix, std::string_view text) {
  for (std::size_t at = mnemonic.find(suffix); at != std::string::npos;
       at = mnemonic.find(suffix, at + 1)) {
    const std::size_t end = at + suffix.size();
    if (end == mnemonic.size() || mnemonic[end] == '.')
      return mnemonic.replace(at, suffix.size(), text);
  }
  return mnemonic;
}

bool is_of_one_block(const ptx::Instruction& instruction) {
  return instruction.modifiers.space == ptx::Space::shared && !instruction.modifiers.cluster;
}

std::vector<OrderChange> order_changes(const ptx::Function& function,
                                       const ptx::Instruction& instruction) {
  std::vector<OrderChange> changes;
  if (!instruction.unsupported.empty()) return changes;
  switch (instruction.opcode) {
    case Opcode::bar_:
    case Opcode::barrier_: add_barrier(instruction, changes); break;
    case Opcode::membar_:
    case Opcode::fence_: add_fence(instruction, changes); break;
    case Opcode::ld_:
    case Opcode::st_:
    case Opcode::atom_:
    case Opcode::red_: add_access(instruction, changes); break;
    case Opcode::mbarrier_: add_phase_wait(function, instruction, changes); break;
    case Opcode::cp_:
      if (has_mnemonic(instruction.text, "cp.async.wait_group") ||
          has_mnemonic(instruction.text, "cp.async.wait_all") ||
          has_mnemonic(instruction.text, "cp.async.bulk.wait_group"))
        changes.push_back(removal(OrderKind::copy_wait));
      break;
    case Opcode::griddepcontrol_:
      if (has_mnemonic(instruction.text, "griddepcontrol.wait"))
        changes.push_back(removal(OrderKind::grid_wait));
      break;
    default: break;
  }
  return changes;
}

}  // namespace warpcheck
