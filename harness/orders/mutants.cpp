#include "harness/orders/mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "harness/orders/find_orders.hpp"
#include "harness/orders/order_changes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck {
namespace {

using ptx::EditKind;
using ptx::Opcode;
using ptx::Operand;

using MutantKey = std::tuple<SourceChain, std::uint32_t, MutantKind, std::string>;

bool is_unique(const ptx::Function& function, const std::string& name) {
  return std::ranges::count(function.registers, name, &ptx::Register::name) == 1;
}

std::optional<std::string> register_text(const ptx::Function& function, std::uint32_t index) {
  if (index >= function.registers.size()) return std::nullopt;
  const std::string& name = function.registers[index].name;
  return is_unique(function, name) ? std::optional(name) : std::nullopt;
}

std::string immediate_text(const Operand& operand) {
  if (!operand.is_float) return fmt::format("{}", static_cast<std::int64_t>(operand.bits));
  return operand.float_is_double ? fmt::format("0d{:016X}", operand.bits)
                                 : fmt::format("0f{:08X}", operand.bits & 0xffffffffU);
}

std::optional<std::string> variable_text(const ptx::Function& function,
                                         const ptx::VariableRef& variable) {
  using Scope = ptx::VariableRef::Scope;
  if (variable.scope == Scope::local && variable.index < function.locals.size())
    return function.locals[variable.index].name;
  return std::nullopt;
}

std::optional<std::string> operand_text(const ptx::Function& function, const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      const auto name = register_text(function, operand.index);
      if (!name || !operand.name.empty()) return std::nullopt;
      return (operand.negated ? "!" : "") + *name;
    }
    case Operand::Kind::immediate: return immediate_text(operand);
    case Operand::Kind::special: return std::string(ptx::name_of(operand.special));
    case Operand::Kind::sink: return "_";
    case Operand::Kind::address: {
      const bool is_register = operand.index != ptx::kNone;
      const auto base = is_register ? register_text(function, operand.index)
                                    : variable_text(function, operand.variable);
      if (!base || !operand.parts.empty()) return std::nullopt;
      return fmt::format("[{}{:+}]", *base, operand.offset);
    }
    case Operand::Kind::vector: {
      std::string text;
      for (const Operand& part : operand.parts) {
        const auto one = operand_text(function, part);
        if (!one) return std::nullopt;
        text += (text.empty() ? "" : operand.pair ? "|" : ", ") + *one;
      }
      return operand.pair ? text : "{" + text + "}";
    }
    default: return std::nullopt;
  }
}

// "@%p1 ", or nothing.
std::optional<std::string> guard_text(const ptx::Function& function,
                                      const ptx::Instruction& instruction) {
  if (instruction.guard == ptx::kNone) return "";
  const auto name = register_text(function, instruction.guard);
  if (!name) return std::nullopt;
  return fmt::format("@{}{} ", instruction.guard_negated ? "!" : "", *name);
}

bool holds_integers(ptx::Type type) {
  return !ptx::is_float(type) && type != ptx::Type::pred && ptx::bytes_of(type) >= 2;
}

// The comparison that differs at equal operands.
std::string_view shifted(ptx::Compare compare) {
  switch (compare) {
    case ptx::Compare::lt: return ".lt>.le";
    case ptx::Compare::le: return ".le>.lt";
    case ptx::Compare::gt: return ".gt>.ge";
    case ptx::Compare::ge: return ".ge>.gt";
    case ptx::Compare::lo: return ".lo>.ls";
    case ptx::Compare::ls: return ".ls>.lo";
    case ptx::Compare::hi: return ".hi>.hs";
    case ptx::Compare::hs: return ".hs>.hi";
    default: return {};
  }
}

void add_replaced(const ptx::Function& function, const ptx::Instruction& changed, MutantKind kind,
                  std::string change, std::vector<InstructionMutation>& mutations) {
  if (auto text = statement_of(function, changed))
    mutations.push_back({kind, std::move(change), EditKind::replace, std::move(*text)});
}

void add_bounds(const ptx::Function& function, const ptx::Instruction& instruction,
                std::vector<InstructionMutation>& mutations) {
  if (!holds_integers(instruction.modifiers.type)) return;
  if (const std::string_view shift = shifted(instruction.modifiers.compare); !shift.empty()) {
    const std::size_t half = shift.find('>');
    const std::string text =
        with_suffix(instruction.text, shift.substr(0, half), shift.substr(half + 1));
    mutations.push_back({MutantKind::comparison, fmt::format("{} made {}", instruction.text, text),
                         EditKind::respell, text});
  }
  if (instruction.operands.size() < 3) return;
  for (const std::size_t which : {1U, 2U}) {
    const Operand& operand = instruction.operands[which];
    if (operand.kind != Operand::Kind::immediate || operand.is_float) continue;
    for (const int by : {1, -1}) {
      ptx::Instruction changed = instruction;
      changed.operands[which].bits += static_cast<std::uint64_t>(static_cast<std::int64_t>(by));
      add_replaced(function, changed, MutantKind::constant,
                   fmt::format("{} with {} made {}", instruction.text, immediate_text(operand),
                               immediate_text(changed.operands[which])),
                   mutations);
    }
  }
}

void add_indices(const ptx::Function& function, const ptx::Instruction& instruction,
                 std::vector<InstructionMutation>& mutations) {
  const ptx::Space space = instruction.modifiers.space;
  if (space != ptx::Space::generic && space != ptx::Space::global && space != ptx::Space::shared)
    return;
  const std::size_t which = instruction.opcode == Opcode::st_ ? 0 : 1;
  if (instruction.operands.size() <= which) return;
  const Operand& address = instruction.operands[which];
  if (address.kind != Operand::Kind::address) return;
  const auto bytes = static_cast<std::int64_t>(ptx::bytes_of(instruction.modifiers.type)) *
                     instruction.modifiers.vector;
  for (const std::int64_t by : {bytes, -bytes}) {
    ptx::Instruction changed = instruction;
    changed.operands[which].offset += by;
    add_replaced(
        function, changed, MutantKind::index,
        fmt::format("{} at an index {}", instruction.text, by > 0 ? "one more" : "one less"),
        mutations);
  }
}

// "add.u32", the instruction that computes what an atomic operation stores; empty: it is another.
std::string operation_of(const ptx::Modifiers& modifiers) {
  const std::string type(ptx::name_of(modifiers.type));
  const std::string bits = fmt::format("b{}", 8 * ptx::bytes_of(modifiers.type));
  switch (modifiers.atom_op) {
    case ptx::AtomOp::add: return "add." + type;
    case ptx::AtomOp::min: return "min." + type;
    case ptx::AtomOp::max: return "max." + type;
    case ptx::AtomOp::and_: return "and." + bits;
    case ptx::AtomOp::or_: return "or." + bits;
    case ptx::AtomOp::xor_: return "xor." + bits;
    default: return {};
  }
}

void add_split_atomic(const ptx::Function& function, const ptx::Instruction& instruction,
                      std::vector<InstructionMutation>& mutations) {
  const ptx::Modifiers& modifiers = instruction.modifiers;
  const bool has_result = instruction.opcode == Opcode::atom_;
  const std::string operation = operation_of(modifiers);
  const std::uint32_t bytes = ptx::bytes_of(modifiers.type);
  const bool is_plain = modifiers.vector == 1 && !modifiers.async && !modifiers.bulk &&
                        !modifiers.cluster && (bytes == 4 || bytes == 8) &&
                        !ptx::is_packed(modifiers.type);
  if (operation.empty() || !is_plain || instruction.operands.size() < (has_result ? 3U : 2U))
    return;
  const std::size_t first = has_result ? 1 : 0;
  const auto guard = guard_text(function, instruction);
  const auto address = operand_text(function, instruction.operands[first]);
  const auto value = operand_text(function, instruction.operands[first + 1]);
  const auto result = has_result ? operand_text(function, instruction.operands[0]) : "_";
  if (!guard || !address || !value || !result) return;
  const std::string type(ptx::name_of(modifiers.type));
  const std::string space = modifiers.space == ptx::Space::generic
                                ? ""
                                : fmt::format(".{}", ptx::name_of(modifiers.space));
  std::string text = fmt::format(
      "{{ .reg .{1} %mutant_old, %mutant_new; {0}ld{2}.{1} %mutant_old, {3}; "
      "{0}{4} %mutant_new, %mutant_old, {5}; {0}st{2}.{1} {3}, %mutant_new; ",
      *guard, type, space, *address, operation, *value);
  if (*result != "_") {
    text += fmt::format("{}mov.{} {}, %mutant_old; ", *guard,
                        type.front() == 'f' ? type : fmt::format("b{}", 8 * bytes), *result);
  }
  mutations.push_back({MutantKind::atomic,
                       fmt::format("{} made a load and a store", instruction.text),
                       EditKind::replace, text + "}"});
}

}  // namespace

std::string_view name_of(MutantKind kind) {
  static constexpr std::array kNames{std::string_view("order"), std::string_view("comparison"),
                                     std::string_view("constant"), std::string_view("index"),
                                     std::string_view("atomic")};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<std::string> statement_of(const ptx::Function& function,
                                        const ptx::Instruction& instruction) {
  const auto guard = guard_text(function, instruction);
  if (!guard) return std::nullopt;
  std::string text = *guard + instruction.text;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const auto operand = operand_text(function, instruction.operands[i]);
    if (!operand) return std::nullopt;
    text += (i == 0 ? " " : ", ") + *operand;
  }
  return text + ";";
}

std::vector<InstructionMutation> mutations_of(const ptx::Function& function,
                                              const ptx::Instruction& instruction) {
  std::vector<InstructionMutation> mutations;
  if (!instruction.unsupported.empty()) return mutations;
  switch (instruction.opcode) {
    case Opcode::setp_: add_bounds(function, instruction, mutations); break;
    case Opcode::ld_:
    case Opcode::st_:
      if (!instruction.modifiers.async && !instruction.modifiers.bulk)
        add_indices(function, instruction, mutations);
      break;
    case Opcode::atom_:
    case Opcode::red_: add_split_atomic(function, instruction, mutations); break;
    default: break;
  }
  return mutations;
}

std::vector<Mutant> find_mutants(const AnyPair& pair, cudart::Build build, std::uint64_t seed) {
  const ptx::EditedBuild edited = build == cudart::Build::optimized ? ptx::EditedBuild::optimized
                                                                    : ptx::EditedBuild::unoptimized;
  std::map<MutantKey, Mutant> mutants;
  const auto add = [&](const CodePoint& point, std::uint32_t column, MutantKind kind,
                       const std::string& change, EditKind edit, const std::string& text) {
    Mutant& mutant = mutants[{point.place, column, kind, change}];
    mutant.kind = kind;
    mutant.place = point.place;
    mutant.change = change;
    ptx::Edits edits = edits_at(point, edit, text, edited);
    if (std::ranges::find(mutant.edits, edits.front()) == mutant.edits.end())
      std::ranges::move(edits, std::back_inserter(mutant.edits));
  };
  for (const CodePoint& point : code_points(kernels_of_pair(pair, build, seed))) {
    const bool is_call = point.order_function != nullptr;
    const ptx::Function& function = is_call ? *point.order_function : *point.function;
    for (const OrderChange& change : order_changes(function, *point.instruction)) {
      if (is_call && change.edit != EditKind::remove) continue;
      const std::string text =
          change.change == "removed"
              ? point.instruction->text + " removed"
              : fmt::format("{} made {}", point.instruction->text, change.change);
      add(point, 0, MutantKind::order, text, change.edit, change.text);
    }
    if (is_call) continue;
    for (const InstructionMutation& one : mutations_of(function, *point.instruction))
      add(point, point.instruction->location.column, one.kind, one.change, one.edit, one.text);
  }
  std::vector<Mutant> found;
  for (auto& [key, mutant] : mutants) found.push_back(std::move(mutant));
  return found;
}

}  // namespace warpcheck
