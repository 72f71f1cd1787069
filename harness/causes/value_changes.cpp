// Updates and reads that are atomic, statements that a barrier divides, bounds, first values, and
// barriers at other places.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "harness/causes/changes.hpp"
#include "harness/orders/mutants.hpp"
#include "harness/orders/order_changes.hpp"
#include "harness/report/kernel_signature.hpp"
#include "vgpu/ptx/library_files.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck {
namespace {

using ptx::EditKind;
using ptx::Opcode;
using ptx::Operand;

constexpr std::size_t kComparisonsMax = 6, kMovesMax = 8;

bool is_register(const Operand& operand) {
  return operand.kind == Operand::Kind::reg && operand.name.empty();
}

bool is_same_address(const Operand& a, const Operand& b) {
  constexpr auto kAddress = Operand::Kind::address;
  return a.kind == kAddress && b.kind == kAddress && a.index == b.index && a.offset == b.offset &&
         a.variable.scope == b.variable.scope && a.variable.index == b.variable.index;
}

bool is_plain(const ptx::Instruction& instruction, Opcode opcode) {
  const ptx::Modifiers& modifiers = instruction.modifiers;
  return instruction.opcode == opcode && accesses_memory(instruction) &&
         instruction.operands.size() == 2 && modifiers.vector == 1 && !modifiers.async &&
         !modifiers.bulk && modifiers.order != ptx::Order::acquire &&
         modifiers.order != ptx::Order::release;
}

// "add", where the instruction computes with the loaded value what an atomic operation can.
std::string_view operation_of(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::add_: return "add";
    case Opcode::min_: return "min";
    case Opcode::max_: return "max";
    case Opcode::or_: return "or";
    case Opcode::and_: return "and";
    case Opcode::xor_: return "xor";
    default: return {};
  }
}

// The value that leaves the other operand as it is; empty: none is known.
std::string neutral_of(std::string_view operation, ptx::Type type) {
  const bool wide = ptx::bytes_of(type) == 8;
  if (operation == "add" && ptx::is_float(type)) return wide ? "0d8000000000000000" : "0f80000000";
  if (operation == "add" || operation == "or" || operation == "xor") return "0";
  if (operation == "and") return "-1";
  if (ptx::is_float(type)) return {};
  const bool least = operation == "max";
  if (!ptx::is_signed(type)) return least ? "0" : "-1";
  if (wide) return least ? "-9223372036854775808" : "9223372036854775807";
  return least ? "-2147483648" : "2147483647";
}

// A load, what is computed of it, and the store of that to the same place.
struct Update {
  std::uint32_t load = 0, operation = 0, store = 0;
};

std::optional<Update> update_of(const ptx::Function& function, std::uint32_t store) {
  const ptx::Instruction& stored = function.body[store];
  if (!is_plain(stored, Opcode::st_) || !is_register(stored.operands[1])) return std::nullopt;
  constexpr std::uint32_t kFar = 24;
  Update update{ptx::kNone, ptx::kNone, store};
  for (std::uint32_t at = store; at-- > 0 && store - at < kFar;) {
    const ptx::Instruction& there = function.body[at];
    if (update.operation == ptx::kNone) {
      const bool makes = !there.operands.empty() && is_register(there.operands[0]) &&
                         there.operands[0].index == stored.operands[1].index;
      if (!makes) continue;
      if (operation_of(there).empty() || there.operands.size() != 3) return std::nullopt;
      update.operation = at;
      continue;
    }
    const auto& computed = function.body[update.operation].operands;
    if (!is_plain(there, Opcode::ld_) || there.operands[0].kind != Operand::Kind::reg) continue;
    const std::uint32_t loaded = there.operands[0].index;
    const bool is_used = std::ranges::any_of(std::array{1, 2}, [&](int i) {
      const Operand& source = computed[static_cast<std::size_t>(i)];
      return is_register(source) && source.index == loaded;
    });
    if (!is_used || there.modifiers.space != stored.modifiers.space) continue;
    if (is_same_address(there.operands[1], stored.operands[0])) {
      update.load = at;
      return update;
    }
    // In unoptimised code the two addresses are in registers of their own; if they are not the
    // same, results are wrong.
    if (update.load == ptx::kNone && there.location.line == stored.location.line) update.load = at;
  }
  return update.load == ptx::kNone ? std::nullopt : std::optional(update);
}

std::optional<std::string> with_mnemonic(const ptx::Function& function,
                                         const ptx::Instruction& instruction, std::string text) {
  ptx::Instruction other = instruction;
  other.text = std::move(text);
  return statement_of(function, other);
}

std::optional<Change> atomic_update(const CodeSite& store) {
  const ptx::Function& function = store.text();
  const std::optional<Update> update = update_of(function, store.index);
  if (!update) return std::nullopt;
  const ptx::Instruction& computed = function.body[update->operation];
  const ptx::Instruction& load = function.body[update->load];
  const ptx::Type type = computed.modifiers.type;
  const std::string_view operation = operation_of(computed);
  const std::string neutral = neutral_of(operation, type);
  const std::string bits = ptx::is_float(type) ? std::string(ptx::name_of(type))
                                               : fmt::format("b{}", 8 * ptx::bytes_of(type));
  const bool is_logic = operation == "and" || operation == "or" || operation == "xor";
  const bool wraps = operation == "add" && !ptx::is_float(type);
  const std::string unsigned_type = fmt::format("u{}", 8 * ptx::bytes_of(type));
  const std::string of_red = is_logic ? bits
                             : wraps  ? unsigned_type
                                      : std::string(ptx::name_of(type));
  const ptx::Space space = store.instruction().modifiers.space;
  const std::string where =
      space == ptx::Space::generic ? "" : fmt::format(".{}", ptx::name_of(space));
  auto red = with_mnemonic(function, store.instruction(),
                           fmt::format("red{}.{}.{}", where, operation, of_red));
  const std::string& loaded = function.registers[load.operands[0].index].name;
  if (!red || neutral.empty() || ptx::bytes_of(type) < 4) return std::nullopt;
  CodeSite of_load = store;
  of_load.index = update->load;
  std::string name = operation == "add" ? "atomicAdd()" : fmt::format("atomic {}", operation);
  return Change{
      {edit_at(of_load, EditKind::replace, fmt::format("mov.{} {}, {};", bits, loaded, neutral)),
       edit_at(store, EditKind::replace, *std::move(red))},
      fmt::format("{} at {}", name, line_text(store))};
}

// "ld.relaxed.gpu.global.u32"
std::string relaxed(const ptx::Instruction& instruction, bool of_system) {
  std::string text = instruction.text;
  if (instruction.modifiers.order == ptx::Order::volatile_)
    text = with_suffix(text, ".volatile", "");
  const std::size_t dot = text.find('.');
  return text.insert(dot, of_system ? ".relaxed.sys" : ".relaxed.gpu");
}

const char* role_of(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::ld_ ? "read" : "write";
}

// The value of the predicate with which the branch is not taken, as a guard.
void guard_like(const ptx::Instruction& branch, ptx::Instruction& instruction) {
  instruction.guard = branch.guard;
  instruction.guard_negated = !branch.guard_negated;
}

bool has_label(const ptx::Function& function, std::uint32_t begin, std::uint32_t end) {
  return std::ranges::any_of(function.labels, [&](const ptx::Label& label) {
    return label.position > begin && label.position <= end && !label.name.starts_with("$L__tmp");
  });
}

bool leaves(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::bra_ || instruction.opcode == Opcode::brx_ ||
         instruction.opcode == Opcode::ret_ || instruction.opcode == Opcode::exit_ ||
         instruction.opcode == Opcode::call_;
}

// The branch by which some threads leave out the straight code that ends with the store.
std::optional<std::uint32_t> branch_before(const ptx::Function& function, std::uint32_t store) {
  for (std::uint32_t at = store; at-- > 0;) {
    const ptx::Instruction& there = function.body[at];
    if (!leaves(there)) continue;
    const bool is_guarded = there.opcode == Opcode::bra_ && there.guard != ptx::kNone;
    if (!is_guarded || has_label(function, at, store)) return std::nullopt;
    return at;
  }
  return std::nullopt;
}

ptx::ProgramEdit removal_of(CodeSite site, std::uint32_t index) {
  site.index = index;
  return edit_at(site, EditKind::remove, {});
}

std::optional<Change> split_at(const CodeSite& store) {
  const ptx::Function& function = store.text();
  const auto branch = branch_before(function, store.index);
  if (!branch) return std::nullopt;
  Change change;
  std::string text;
  bool reads = false;
  for (std::uint32_t at = *branch + 1; at < store.index; ++at) {
    ptx::Instruction moved = function.body[at];
    if (moved.guard != ptx::kNone) return std::nullopt;
    const bool is_load = moved.opcode == Opcode::ld_;
    if (accesses_memory(moved) && !is_load) return std::nullopt;
    reads = reads || (is_load && accesses_memory(moved));
    guard_like(function.body[*branch], moved);
    const auto statement = statement_of(function, moved);
    if (!statement) return std::nullopt;
    text += *statement + " ";
    change.edits.push_back(removal_of(store, at));
  }
  if (!reads) return std::nullopt;
  CodeSite site = store;
  site.index = *branch;
  change.edits.push_back(edit_at(site, EditKind::insert_before, text + "bar.sync 0;"));
  change.text = fmt::format(
      "__syncthreads() between the reads and the write of {}, for all threads", line_text(store));
  return change;
}

std::string shifted_comparison(const ptx::Function& function, const ptx::Instruction& comparison) {
  for (const InstructionMutation& one : mutations_of(function, comparison)) {
    if (one.kind == MutantKind::comparison) return one.text;
  }
  return {};
}

// Threads whose number, in a dimension, is not below an integer argument of the kernel leave it.
void add_guards(const CodeSite& site, char dimension, std::vector<Change>& changes) {
  CodeSite begin = site;
  begin.function = 0;
  begin.index = 0;
  const ptx::Function& kernel = begin.text();
  // A library's kernel is called for as many elements as its caller says.
  if (ptx::is_library_function(kernel.name)) return;
  const auto types = signature_of(kernel.name).parameters;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ptx::Variable& parameter = kernel.parameters[i];
    if (parameter.bytes != 4 || ptx::is_float(parameter.element)) continue;
    if (types && (i >= types->size() || (*types)[i] == "float")) continue;
    const std::string text = fmt::format(
        "{{ .reg .u32 %of_guard<4>; .reg .pred %is_beyond; mov.u32 %of_guard0, %ctaid.{1}; "
        "mov.u32 %of_guard1, %ntid.{1}; mov.u32 %of_guard2, %tid.{1}; "
        "mad.lo.u32 %of_guard2, %of_guard0, %of_guard1, %of_guard2; "
        "ld.param.u32 %of_guard3, [{0}]; setp.hs.u32 %is_beyond, %of_guard2, %of_guard3; "
        "@%is_beyond ret; }}",
        parameter.name, dimension);
    const std::string of_dimension = dimension == 'x' ? "" : fmt::format(" in {}", dimension);
    changes.push_back(
        {{edit_at(begin, EditKind::insert_before, text)},
         fmt::format("a check of the thread's index{} against argument {} of the kernel",
                     of_dimension, i + 1)});
  }
}

}  // namespace

std::vector<Change> split_changes(const std::vector<CodeSite>& sites) {
  std::vector<Change> changes;
  for (const CodeSite& site : sites) {
    if (!is_plain(site.instruction(), Opcode::st_)) continue;
    if (auto change = split_at(site)) changes.push_back(*std::move(change));
  }
  return changes;
}

std::vector<Change> atomic_updates(const std::vector<CodeSite>& sites) {
  std::vector<Change> changes;
  for (const CodeSite& site : sites) {
    if (auto change = atomic_update(site)) changes.push_back(*std::move(change));
  }
  return changes;
}

std::vector<Change> atomic_accesses(const std::vector<CodeSite>& sites, bool of_system) {
  std::vector<Change> changes;
  // One side is atomic already: the other one alone.
  const bool has_atomic = std::ranges::any_of(sites, [](const CodeSite& site) {
    const Opcode opcode = site.instruction().opcode;
    return opcode == Opcode::atom_ || opcode == Opcode::red_;
  });
  if (!has_atomic) return changes;
  for (const CodeSite& site : sites) {
    const ptx::Instruction& access = site.instruction();
    if (!is_plain(access, Opcode::ld_) && !is_plain(access, Opcode::st_)) continue;
    if (access.modifiers.noncoherent || access.modifiers.order == ptx::Order::relaxed) continue;
    changes.push_back({{edit_at(site, EditKind::respell, relaxed(access, of_system))},
                       fmt::format("an atomic {} at {}", role_of(access), line_text(site))});
    changes.back().is_of_access = true;
  }
  return changes;
}

std::vector<Change> bound_changes(const std::vector<CodeSite>& sites) {
  std::vector<Change> changes;
  for (const CodeSite& site : sites) {
    const ptx::Function& function = site.text();
    // The nearest comparisons before the access; behind it those of loops.
    std::vector<std::uint32_t> order;
    for (std::uint32_t at = site.index; at-- > 0;) order.push_back(at);
    for (std::uint32_t at = site.index; at < function.body.size(); ++at) order.push_back(at);
    std::size_t found = 0;
    for (const std::uint32_t at : order) {
      if (function.body[at].opcode != Opcode::setp_ || found == kComparisonsMax) continue;
      const std::string text = shifted_comparison(function, function.body[at]);
      CodeSite there = site;
      there.index = at;
      const std::string line = line_text(there);
      if (text.empty() || line.empty()) continue;
      ++found;
      changes.push_back({{edit_at(there, EditKind::respell, text)},
                         fmt::format("the comparison of {} shifted by one", line)});
    }
    for (const char dimension : {'x', 'y', 'z'}) {
      const std::string number = fmt::format("%tid.{}", dimension);
      if (dimension == 'x' || site.program().ptx.find(number) != std::string_view::npos)
        add_guards(site, dimension, changes);
    }
  }
  return changes;
}

std::vector<Change> value_changes(const vgpu::Finding& finding,
                                  const std::vector<CodeSite>& sites) {
  std::vector<Change> changes;
  if (finding.space != "shared" || finding.variable.empty()) return changes;
  for (const CodeSite& site : sites) {
    for (const vgpu::Symbol& symbol : site.program().shared_symbols) {
      if (symbol.name != finding.variable || symbol.bytes == 0) continue;
      CodeSite begin = site;
      begin.function = 0;
      begin.index = 0;
      const std::string text = fmt::format(
          "{{ .reg .u32 %of_zero<4>; .reg .pred %is_done; mov.u32 %of_zero0, %tid.x; "
          "mov.u32 %of_zero1, %ntid.x; mov.u32 %of_zero2, {0}; Fill_with_zeros: "
          "setp.hs.u32 %is_done, %of_zero0, {1}; @%is_done bra Filled_with_zeros; "
          "add.u32 %of_zero3, %of_zero2, %of_zero0; st.shared.u8 [%of_zero3], 0; "
          "add.u32 %of_zero0, %of_zero0, %of_zero1; bra Fill_with_zeros; Filled_with_zeros: "
          "bar.sync 0; }}",
          symbol.offset, symbol.bytes);
      changes.push_back({{edit_at(begin, EditKind::insert_before, text)},
                         fmt::format("{} = 0 at the beginning of the kernel", finding.variable)});
      changes.back().is_of_values = true;
    }
  }
  return changes;
}

std::vector<Change> barrier_moves(const std::vector<CodeSite>& sites) {
  std::vector<Change> changes;
  for (const CodeSite& site : sites) {
    const ptx::Instruction& barrier = site.instruction();
    const bool is_barrier =
        (barrier.opcode == Opcode::bar_ || barrier.opcode == Opcode::barrier_) &&
        !barrier.modifiers.red && !barrier.modifiers.arrive;
    const auto statement = is_barrier ? statement_of(site.text(), barrier) : std::nullopt;
    if (!statement) continue;
    const ptx::ProgramEdit removal = removal_of(site, site.index);
    const std::string line = line_text(site);
    const std::vector<CodeGap> gaps = gaps_around({site});
    std::size_t count = 0;
    for (const CodeGap& gap : gaps) {
      if (gap.site == site || ++count > kMovesMax) continue;
      changes.push_back(
          {{removal, edit_at(gap.site, gap.kind, *statement)},
           fmt::format("the barrier of {} moved to {}", line,
                       gap.text.starts_with("before ") ? "a place " + gap.text : gap.text)});
    }
    changes.push_back({{removal}, fmt::format("the barrier of {} left out", line)});
  }
  return changes;
}

}  // namespace warpcheck
