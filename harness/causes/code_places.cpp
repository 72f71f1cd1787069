#include "harness/causes/code_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "vgpu/check/reporter.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck {
namespace {

using ptx::EditKind;
using ptx::Opcode;

std::uint32_t end_of(const vgpu::Program& program, std::uint32_t function) {
  std::uint32_t end = static_cast<std::uint32_t>(program.code.size());
  for (const vgpu::FunctionCode& other : program.functions) {
    if (other.entry > program.functions[function].entry) end = std::min(end, other.entry);
  }
  return end;
}

// The code of a function's instructions: the first pc, by the line of the PTX.
std::map<std::uint32_t, std::uint32_t> pcs_of(const vgpu::Program& program,
                                              std::uint32_t function) {
  std::map<std::uint32_t, std::uint32_t> pcs;
  const std::uint32_t end = end_of(program, function);
  for (std::uint32_t pc = program.functions[function].entry; pc < end; ++pc)
    pcs.try_emplace(program.source_of(pc).ptx_line, pc);
  return pcs;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

bool is_branch(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::bra_ || instruction.opcode == Opcode::brx_ ||
         instruction.opcode == Opcode::ret_ || instruction.opcode == Opcode::exit_;
}

std::uint32_t target_of(const ptx::Function& function, const ptx::Instruction& branch) {
  if (branch.opcode != Opcode::bra_ || branch.operands.empty()) return ptx::kNone;
  const ptx::Operand& label = branch.operands.front();
  const bool is_label =
      label.kind == ptx::Operand::Kind::label && label.index < function.labels.size();
  return is_label ? function.labels[label.index].position : ptx::kNone;
}

// "scan.cu:14"; empty: it has no code of its own, or belongs to a library.
std::string line_at(const CodeSite& site, const std::map<std::uint32_t, std::uint32_t>& pcs) {
  const auto pc = pcs.find(site.instruction().ptx_line);
  if (pc == pcs.end()) return "";
  const vgpu::AccessSide side = vgpu::side_at("", {.program = &site.program(), .pc = pc->second});
  if (side.line == 0 || vgpu::is_library_header(side.file)) return "";
  return fmt::format("{}:{}", file_name(side.file), side.line);
}

class Gaps {
 public:
  explicit Gaps(const std::vector<CodeSite>& sites)
      : sites_(sites),
        text_(sites.front().text()),
        pcs_(pcs_of(sites.front().program(), sites.front().function)) {}

  std::vector<CodeGap> find() {
    for (const CodeSite& site : sites_) {
      add(site.index, EditKind::insert_after, 0);
      add(site.index, EditKind::insert_before, 1);
    }
    const auto [least, most] = std::ranges::minmax(sites_, {}, &CodeSite::index);
    for (std::uint32_t at = least.index + 1; at < most.index; ++at) {
      if (accesses_memory(text_.body[at])) add(at, EditKind::insert_before, 2);
    }
    for (std::uint32_t at = 0; at < text_.body.size(); ++at) {
      const std::uint32_t target = target_of(text_, text_.body[at]);
      if (target >= text_.body.size()) continue;
      add(target, EditKind::insert_before, 2, at);
      if (target <= at) add(at, EditKind::insert_before, 2, at);  // the end of a loop
    }
    std::ranges::stable_sort(found_, {}, &Found::distance);
    std::vector<CodeGap> gaps;
    for (Found& one : found_) gaps.push_back(std::move(one.gap));
    return gaps;
  }

 private:
  struct Found {
    std::uint32_t distance = 0;
    CodeGap gap;
  };

  void add(std::uint32_t index, EditKind kind, std::uint32_t more,
           std::uint32_t branch = ptx::kNone) {
    if (kind == EditKind::insert_after && is_branch(text_.body[index])) return;
    // After one instruction is before the next one, unless a branch leads there.
    if (!known_.emplace(index, kind).second) return;
    std::uint32_t distance = UINT32_MAX;
    for (const CodeSite& site : sites_) {
      distance = std::min(distance, site.index > index ? site.index - index : index - site.index);
    }
    CodeSite there = sites_.front();
    there.index = index;
    CodeGap gap{there, kind, text_of(there, kind), branch};
    if (!gap.text.empty()) found_.push_back({distance + more, std::move(gap)});
  }

  [[nodiscard]] std::string text_of(const CodeSite& site, EditKind kind) const {
    if (kind == EditKind::insert_after) {
      const std::string line = line_at(site, pcs_);
      const std::string between = between_text(site.index + 1, line);
      if (!between.empty()) return between;
      return line.empty() ? "" : "after " + line;
    }
    const std::uint32_t target = target_of(text_, site.instruction());
    if (target <= site.index) {
      CodeSite head = site;
      head.index = target;
      const std::string line = first_line_from(head);
      return line.empty() ? "" : fmt::format("at the end of the loop of {}", line);
    }
    const std::string line = first_line_behind(site);
    if (line.empty()) return "";
    const std::string between = between_text(site.index, line);
    return between.empty() ? "before " + line : between;
  }

  // "between the read and the write of scan.cu:14", if accesses of the same statement are before
  // and at or behind the index.
  [[nodiscard]] std::string between_text(std::uint32_t index, const std::string& line) const {
    const std::string before = role_beside(index, -1, line), after = role_beside(index, 1, line);
    if (before.empty() || after.empty() || before == after) return "";
    return fmt::format("between the {} and the {} of {}", before, after, line);
  }

  [[nodiscard]] std::string role_beside(std::uint32_t index, int step,
                                        const std::string& line) const {
    CodeSite site = sites_.front();
    for (std::int64_t at = step < 0 ? std::int64_t{index} - 1 : index;
         at >= 0 && at < static_cast<std::int64_t>(text_.body.size()); at += step) {
      site.index = static_cast<std::uint32_t>(at);
      const ptx::Instruction& instruction = site.instruction();
      if (is_branch(instruction)) return "";
      if (!accesses_memory(instruction)) continue;
      if (line_at(site, pcs_) != line) return "";
      return instruction.opcode == Opcode::ld_   ? "read"
             : instruction.opcode == Opcode::st_ ? "write"
                                                 : "atomic";
    }
    return "";
  }

  // The same, without what the compiler has taken from earlier lines: outside of loops, code behind
  // an access does not go back.
  [[nodiscard]] std::string first_line_behind(CodeSite site) const {
    std::uint32_t last = site.index;
    while (last > 0 && !accesses_memory(text_.body[last - 1])) --last;
    if (last == 0 || is_in_loop(site.index)) return first_line_from(site);
    CodeSite access = site;
    access.index = last - 1;
    const std::string of_access = line_at(access, pcs_);
    for (CodeSite behind = site; behind.index < text_.body.size(); ++behind.index) {
      std::string line = line_at(behind, pcs_);
      if (!line.empty() && !is_earlier(line, of_access)) return line;
    }
    return first_line_from(site);
  }

  // Of two lines, "scan.cu:9" and "scan.cu:14".
  [[nodiscard]] static bool is_earlier(const std::string& line, const std::string& other) {
    const std::size_t at = line.rfind(':') + 1;
    return other.starts_with(std::string_view(line).substr(0, at)) &&
           std::stoul(line.substr(at)) < std::stoul(other.substr(at));
  }

  [[nodiscard]] bool is_in_loop(std::uint32_t index) const {
    for (std::uint32_t at = index; at < text_.body.size(); ++at) {
      const std::uint32_t target = target_of(text_, text_.body[at]);
      if (target <= index) return true;
    }
    return false;
  }

  // Of the first instruction from there on that has one.
  [[nodiscard]] std::string first_line_from(CodeSite site) const {
    for (; site.index < site.text().body.size(); ++site.index) {
      if (std::string line = line_at(site, pcs_); !line.empty()) return line;
    }
    return "";
  }

  const std::vector<CodeSite>& sites_;
  const ptx::Function& text_;
  const std::map<std::uint32_t, std::uint32_t> pcs_;
  std::set<std::pair<std::uint32_t, EditKind>> known_;
  std::vector<Found> found_;
};

}  // namespace

bool accesses_memory(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::ld_:
    case Opcode::st_:
    case Opcode::atom_:
    case Opcode::red_: break;
    default: return false;
  }
  const ptx::Space space = instruction.modifiers.space;
  return space == ptx::Space::generic || space == ptx::Space::global || space == ptx::Space::shared;
}

std::optional<CodeSite> site_of(const vgpu::AccessSide& side,
                                const std::vector<LaunchedKernel>& kernels) {
  if (side.ptx.empty()) return std::nullopt;
  for (const LaunchedKernel& kernel : kernels) {
    const vgpu::Program& program = *kernel.program;
    const std::uint32_t pc = side.instruction;
    if (pc >= program.code.size() || program.source_of(pc).text != side.ptx) continue;
    const vgpu::AccessSide there = vgpu::side_at("", {.program = &program, .pc = pc});
    // A report names files from a folder of its own.
    if (there.line != side.line || file_name(there.file) != file_name(side.file)) continue;
    CodeSite site{&kernel, program.function_of(pc), 0};
    const auto& body = site.text().body;
    const auto found = std::ranges::find_if(body, [&](const ptx::Instruction& instruction) {
      return instruction.ptx_line == program.source_of(pc).ptx_line && instruction.text == side.ptx;
    });
    if (found == body.end()) continue;
    site.index = static_cast<std::uint32_t>(found - body.begin());
    return site;
  }
  return std::nullopt;
}

std::vector<CodeSite> sites_of(const vgpu::Finding& finding,
                               const std::vector<LaunchedKernel>& kernels) {
  std::vector<CodeSite> sites;
  for (const vgpu::AccessSide& side : finding.accesses) {
    const auto site = site_of(side, kernels);
    if (site && std::ranges::find(sites, *site) == sites.end()) sites.push_back(*site);
  }
  return sites;
}

std::string line_text(const CodeSite& site) {
  return line_at(site, pcs_of(site.program(), site.function));
}

std::vector<CodeGap> gaps_around(const std::vector<CodeSite>& sites) {
  return sites.empty() ? std::vector<CodeGap>{} : Gaps(sites).find();
}

std::vector<CodeGap> copies_of(const CodeGap& gap) {
  const ptx::Function& function = gap.site.text();
  CodeSite anchor = gap.site;
  if (gap.branch != ptx::kNone) anchor.index = gap.branch;
  const ptx::Instruction& first = anchor.instruction();
  if (gap.branch == ptx::kNone && !accesses_memory(first)) return {gap};
  const bool is_target = gap.branch != ptx::kNone && gap.branch != gap.site.index;
  const bool leads_back = is_target && gap.site.index <= gap.branch;
  const auto pcs = pcs_of(gap.site.program(), gap.site.function);
  const std::string line = line_at(anchor, pcs);
  std::vector<CodeGap> copies{gap};
  CodeSite other = anchor;
  for (other.index = 0; other.index < function.body.size(); ++other.index) {
    const ptx::Instruction& there = other.instruction();
    const bool is_copy = other.index != anchor.index && there.text == first.text &&
                         there.location.file == first.location.file &&
                         there.location.line == first.location.line && line_at(other, pcs) == line;
    if (!is_copy) continue;
    CodeGap copy = gap;
    copy.site.index = is_target ? target_of(function, there) : other.index;
    if (copy.site.index >= function.body.size()) continue;
    if (is_target && leads_back != (copy.site.index <= other.index)) continue;
    const bool is_known = std::ranges::any_of(
        copies, [&](const CodeGap& known) { return known.site.index == copy.site.index; });
    if (!is_known) copies.push_back(std::move(copy));
  }
  return copies;
}

ptx::ProgramEdit edit_at(const CodeSite& site, EditKind kind, std::string text) {
  return {.kind = kind,
          .place = ptx::InstructionPlace{site.text().name, site.index},
          .text = std::move(text)};
}

}  // namespace warpcheck
