// Barriers, fences, waits and scopes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "harness/causes/changes.hpp"
#include "harness/causes/uniform_code.hpp"
#include "harness/orders/mutants.hpp"
#include "harness/orders/order_changes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck {
namespace {

using ptx::EditKind;
using ptx::Opcode;

// The nearest gaps, for each of what can be inserted; and those of pairs.
constexpr std::size_t kGapsMax = 14, kGapsOfPairs = 10;

Change insertion(const CodeGap& gap, std::string_view ptx, std::string_view words) {
  Change change;
  std::vector<CodeGap> copies = copies_of(gap);
  // In one order, whichever copy the gap is in, so that the same change is known as such.
  std::ranges::sort(copies, {}, [](const CodeGap& copy) { return copy.site.index; });
  // What comes behind the copies of a branch differs.
  CodeSite branch = gap.site;
  branch.index = gap.branch;
  const bool is_behind = copies.size() > 1 && gap.branch < gap.site.index;
  const std::string where = is_behind ? line_text(branch) : "";
  change.text = where.empty() ? fmt::format("{} {}", words, gap.text)
                              : fmt::format("{} after the branch of {}", words, where);
  change.order = words;
  for (const CodeGap& copy : copies)
    change.edits.push_back(edit_at(copy.site, copy.kind, std::string(ptx)));
  return change;
}

void insert_at(const std::vector<CodeGap>& gaps, Remedy remedy, std::vector<Change>& changes) {
  for (std::size_t i = 0; i < std::min(gaps.size(), kGapsMax); ++i) {
    changes.push_back(insertion(gaps[i], inserted_text(remedy).ptx, inserted_text(remedy).words));
  }
}

// The sites of each function; of the same function they share gaps.
std::vector<std::vector<CodeSite>> by_function(const std::vector<CodeSite>& sites) {
  std::vector<std::vector<CodeSite>> parts;
  for (const CodeSite& site : sites) {
    const auto same = std::ranges::find_if(parts, [&](const std::vector<CodeSite>& part) {
      return part.front().kernel == site.kernel && part.front().function == site.function;
    });
    if (same == parts.end()) {
      parts.push_back({site});
    } else {
      same->push_back(site);
    }
  }
  return parts;
}

bool is_narrow(ptx::Scope scope, bool of_system) {
  return scope == ptx::Scope::cta || scope == ptx::Scope::cluster ||
         (of_system && scope == ptx::Scope::gpu);
}

// "membar.cta" or "atom.relaxed.cta.global.add.u32" at the scope of the device or system.
std::string widened(std::string text, bool of_system) {
  for (const std::string_view scope : {".cta", ".cluster", ".gpu", ".gl"}) {
    const std::string wide = text.starts_with("membar") && !of_system ? ".gl"
                             : of_system                              ? ".sys"
                                                                      : ".gpu";
    text = with_suffix(std::move(text), scope, wide);
  }
  return text;
}

template <typename Visit>
void for_each_instruction(const std::vector<LaunchedKernel>& kernels, Visit visit) {
  for (const LaunchedKernel& kernel : kernels) {
    for (std::uint32_t function = 0; function < kernel.program->functions.size(); ++function) {
      const ptx::Function* const text = kernel.program->functions[function].text;
      if (text == nullptr) continue;
      for (std::uint32_t index = 0; index < text->body.size(); ++index) {
        visit(CodeSite{&kernel, function, index});
      }
    }
  }
}

// Each narrow scope alone, and all together.
void widen_scopes(const std::vector<LaunchedKernel>& kernels, bool of_system,
                  std::vector<Change>& changes) {
  const std::string_view scope = of_system ? "the system" : "the device";
  Change all{{}, fmt::format("the scope of {} for all fences and atomics", scope)};
  std::size_t count = 0;
  for_each_instruction(kernels, [&](const CodeSite& site) {
    const ptx::Instruction& instruction = site.instruction();
    // of_system: the default of an atomic operation is the device.
    const bool is_atomic =
        instruction.opcode == Opcode::atom_ || instruction.opcode == Opcode::red_;
    const bool may_be_default = of_system && is_atomic;
    const ptx::Scope now = instruction.modifiers.scope;
    if (!is_narrow(now, of_system) && !(may_be_default && now == ptx::Scope::none)) return;
    if (is_of_one_block(instruction) || instruction.modifiers.proxy) return;
    std::string wide = widened(instruction.text, of_system);
    if (may_be_default && wide == instruction.text) {
      const std::size_t dot = wide.find('.');
      wide.insert(dot, wide.find(".relaxed") != std::string::npos ? ".sys" : ".relaxed.sys");
    }
    const std::string line = line_text(site);
    if (wide == instruction.text || line.empty()) return;
    ptx::ProgramEdit edit = edit_at(site, EditKind::respell, wide);
    all.edits.push_back(edit);
    ++count;
    changes.push_back({{std::move(edit)}, fmt::format("the scope of {} at {}", scope, line)});
  });
  if (count > 1) changes.push_back(std::move(all));
}

// The name of a variable of the function; empty: it is not one.
std::string local_variable(const ptx::Function& function, const ptx::VariableRef& variable) {
  const bool is_local =
      variable.scope == ptx::VariableRef::Scope::local && variable.index < function.locals.size();
  return is_local ? function.locals[variable.index].name : "";
}

// The variable whose address the register holds everywhere; empty: not known.
std::string variable_in(const ptx::Function& function, std::uint32_t reg) {
  std::string found;
  for (const ptx::Instruction& instruction : function.body) {
    const auto& operands = instruction.operands;
    const bool writes = !operands.empty() && operands[0].kind == ptx::Operand::Kind::reg &&
                        operands[0].index == reg && instruction.opcode != Opcode::st_;
    if (!writes) continue;
    if (instruction.opcode != Opcode::mov_ || !found.empty() || operands.size() != 2 ||
        operands[1].kind != ptx::Operand::Kind::variable || operands[1].offset != 0)
      return "";
    found = local_variable(function, operands[1].variable);
  }
  return found;
}

// The barrier objects that the function names, each once: what comes between brackets.  A register
// with the address of a variable may be written in a branch, so the variable is named.
std::vector<std::string> barrier_objects(const ptx::Function& function) {
  std::vector<std::string> objects;
  for (const ptx::Instruction& instruction : function.body) {
    if (instruction.opcode != Opcode::mbarrier_) continue;
    for (const ptx::Operand& operand : instruction.operands) {
      if (operand.kind != ptx::Operand::Kind::address) continue;
      std::string object = operand.index == ptx::kNone ? local_variable(function, operand.variable)
                                                       : variable_in(function, operand.index);
      if (object.empty() && operand.index != ptx::kNone)
        object = function.registers[operand.index].name;
      if (object.empty()) continue;
      object += fmt::format("{:+}", operand.offset);
      if (std::ranges::find(objects, object) == objects.end()) objects.push_back(std::move(object));
    }
  }
  return objects;
}

void add_phase_waits(const std::vector<CodeSite>& part, std::vector<Change>& changes) {
  const std::vector<CodeGap> gaps = gaps_around(part);
  for (const std::string& object : barrier_objects(part.front().text())) {
    for (const int parity : {0, 1}) {
      const std::string wait = fmt::format(
          "{{ .reg .pred %phase_done; Wait_for_phase: "
          "mbarrier.try_wait.parity.shared.b64 %phase_done, [{}], {}; "
          "@!%phase_done bra Wait_for_phase; }}",
          object, parity);
      const std::string words = fmt::format("a wait for the phase of parity {}", parity);
      for (std::size_t i = 0; i < std::min<std::size_t>(gaps.size(), 6); ++i) {
        changes.push_back(insertion(gaps[i], wait, words));
      }
    }
  }
}

void add_grid_waits(const std::vector<CodeSite>& sites, std::vector<Change>& changes) {
  const InsertedText& wait = inserted_text(Remedy::grid_wait);
  for (const CodeSite& site : sites) {
    CodeSite begin = site;
    begin.function = 0;
    begin.index = 0;
    changes.push_back(
        {{edit_at(begin, EditKind::insert_before, std::string(wait.ptx))},
         fmt::format("{} at the beginning of the kernel of {}", wait.words, line_text(site))});
  }
}

// Accesses by which threads of other blocks, launches or the host are told something.
bool communicates(const ptx::Instruction& instruction) {
  if (!accesses_memory(instruction)) return false;
  if (instruction.opcode == Opcode::atom_ || instruction.opcode == Opcode::red_) return true;
  return instruction.modifiers.order != ptx::Order::weak;
}

// Whether the last operand names the lanes that take part.
bool has_mask(const ptx::Instruction& instruction) {
  return std::ranges::any_of(
      std::array{"bar.warp.sync", "shfl.sync.", "vote.sync.", "redux.sync."},
      [&](const char* begin) { return instruction.text.starts_with(begin); });
}

// A barrier of the block only where all its threads come by.
std::vector<CodeGap> places_of(Remedy remedy, const std::vector<CodeSite>& part) {
  std::vector<CodeGap> gaps = gaps_around(part);
  if (inserted_text(remedy).ptx.find("bar.sync") == std::string_view::npos) return gaps;
  // What stands after the last instruction of a branch is in the branch.
  const UniformCode code(part.front().text());
  const auto all_come_by = [&](const CodeGap& gap) { return code.all_come_by(gap.site.index); };
  std::erase_if(
      gaps, [&](const CodeGap& gap) { return !std::ranges::all_of(copies_of(gap), all_come_by); });
  return gaps;
}

}  // namespace

std::vector<Change> scope_changes(const std::vector<LaunchedKernel>& kernels, bool of_system) {
  std::vector<Change> changes;
  widen_scopes(kernels, of_system, changes);
  return changes;
}

std::vector<Change> mask_changes(const std::vector<CodeSite>& sites) {
  std::vector<Change> changes;
  for (const std::vector<CodeSite>& part : by_function(sites)) {
    CodeSite site = part.front();
    for (site.index = 0; site.index < site.text().body.size(); ++site.index) {
      const ptx::Instruction& instruction = site.instruction();
      if (!has_mask(instruction)) continue;
      const ptx::Operand& mask = instruction.operands.back();
      const bool is_all = mask.kind == ptx::Operand::Kind::immediate &&
                          static_cast<std::uint32_t>(mask.bits) == UINT32_MAX;
      const auto statement = is_all ? std::nullopt : statement_of(site.text(), instruction);
      const std::string line = statement ? line_text(site) : "";
      if (line.empty()) continue;
      const std::string text = fmt::format("a mask of all lanes at {}", line);
      const auto known = std::ranges::find(changes, text, &Change::text);
      Change& change = known == changes.end() ? changes.emplace_back() : *known;
      change.text = text;
      change.edits.push_back(
          edit_at(site, EditKind::replace, statement->substr(0, statement->rfind(' ')) + " -1;"));
    }
  }
  return changes;
}

std::vector<Change> fence_changes(const std::vector<LaunchedKernel>& kernels, Remedy fence) {
  std::vector<Change> changes;
  // Of the copies that the compiler makes of a line, the first one, and the last one behind it.
  std::vector<CodeGap> gaps;
  const auto add = [&](const CodeSite& site, EditKind kind, std::string text) {
    const auto known = std::ranges::find_if(gaps, [&](const CodeGap& gap) {
      return gap.text == text && gap.site.kernel == site.kernel &&
             gap.site.function == site.function;
    });
    if (known == gaps.end()) {
      gaps.push_back({site, kind, std::move(text)});
    } else if (kind == EditKind::insert_after) {
      known->site = site;
    }
  };
  for_each_instruction(kernels, [&](const CodeSite& site) {
    if (!communicates(site.instruction())) return;
    const std::string line = line_text(site);
    if (line.empty()) return;
    add(site, EditKind::insert_before, "before " + line);
    if (site.instruction().opcode != Opcode::st_)
      add(site, EditKind::insert_after, "after " + line);
  });
  if (gaps.size() > kGapsOfPairs) gaps.resize(kGapsOfPairs);
  insert_at(gaps, fence, changes);
  const auto line_of = [](const CodeGap& gap) { return gap.site.instruction().location.line; };
  std::ranges::stable_sort(gaps, {}, line_of);
  for (std::size_t a = 0; a < gaps.size(); ++a) {
    for (std::size_t b = a + 1; b < gaps.size(); ++b) {
      const InsertedText& text = inserted_text(fence);
      Change both = insertion(gaps[a], text.ptx, text.words);
      std::ranges::move(insertion(gaps[b], text.ptx, text.words).edits,
                        std::back_inserter(both.edits));
      both.text += " and " + gaps[b].text;
      changes.push_back(std::move(both));
    }
  }
  return changes;
}

std::vector<Change> inserted_orders(Remedy remedy, const std::vector<CodeSite>& sites) {
  std::vector<Change> changes;
  if (remedy == Remedy::grid_wait) {
    add_grid_waits(sites, changes);
    return changes;
  }
  for (const std::vector<CodeSite>& part : by_function(sites)) {
    if (remedy == Remedy::phase_wait) {
      add_phase_waits(part, changes);
    } else {
      insert_at(places_of(remedy, part), remedy, changes);
    }
  }
  return changes;
}

}  // namespace warpcheck
