#include "vgpu/cudart/debug/program_lines.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "vgpu/check/finding.hpp"
#include "vgpu/program/library_headers.hpp"
#include "vgpu/text/template_arguments.hpp"

namespace warpcheck::cudart {
namespace {

bool is_path_end(std::string_view path, std::string_view end) {
  if (!path.ends_with(end)) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '/';
}

// Returns whether a name is the other one, or the other one behind a scope.
bool is_last_part(std::string_view name, std::string_view part) {
  if (!name.ends_with(part)) return false;
  name.remove_suffix(part.size());
  return name.empty() || name.ends_with("::");
}

// The chain of an instruction's locations ends with the function's own; what follows are calls of
// the function.
std::vector<ptx::SourceLocation> chain_in_function(const vgpu::Program& program, std::uint32_t pc) {
  constexpr std::size_t kChainMax = 64;
  std::vector<ptx::SourceLocation> chain{program.source_of(pc).location};
  while (chain.back().function != ptx::kNone &&
         chain.back().inlined_at < program.locations.size() && chain.size() < kChainMax) {
    chain.push_back(program.locations[chain.back().inlined_at]);
  }
  return chain;
}

// Returns whether kernels begin by storing their parameters: unoptimised code, as its module says
// (".target sm_90, debug").
bool has_prologues(const vgpu::Program& program) {
  const std::size_t target = program.ptx.find("\n.target ");
  if (target == std::string_view::npos) return false;
  const std::size_t end = program.ptx.find('\n', target + 1);
  return program.ptx.substr(target, end - target).find("debug") != std::string_view::npos;
}

}  // namespace

ProgramLines::ProgramLines(const vgpu::Program& program, const std::vector<InlinedCall>& calls)
    : program_(program), names_(program.inlined_functions) {
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    chains_.push_back(chain_in_function(program, pc));
  }
  if (!calls.empty()) insert(calls);
  for (const std::string& file : program.files) {
    is_users_.push_back(!vgpu::is_library_header(file));
  }
  is_in_prologue_.resize(chains_.size());
  if (!has_prologues(program)) return;
  for (std::uint32_t function = 1; function < program.functions.size(); ++function) {
    const std::uint32_t body = body_of(function);
    for (std::uint32_t pc = program.functions[function].entry; pc < body; ++pc) {
      is_in_prologue_[pc] = true;
    }
  }
}

// A call lies inside of those around it, which come first.
void ProgramLines::insert(const std::vector<InlinedCall>& calls) {
  std::uint32_t line_max = 0;
  for (const InlinedCall& call : calls) line_max = std::max(line_max, call.end_line);
  std::vector<std::uint32_t> innermost(line_max, ptx::kNone);  // by line of the text
  std::vector<std::uint32_t> around;                           // by call
  std::vector<std::uint32_t> name;                             // by call
  std::map<std::string_view, std::uint32_t> known_names;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    const InlinedCall& call = calls[i];
    const auto [known, is_new] =
        known_names.try_emplace(call.function, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(call.function);
    name.push_back(known->second);
    around.push_back(call.first_line < line_max ? innermost[call.first_line] : ptx::kNone);
    for (std::uint32_t line = call.first_line; line < call.end_line; ++line) innermost[line] = i;
  }
  for (std::uint32_t pc = 0; pc < chains_.size(); ++pc) {
    const std::uint32_t line = program_.source_of(pc).ptx_line;
    std::vector<ptx::SourceLocation>& chain = chains_[pc];
    if (line >= line_max || chain.size() != 1) continue;
    for (std::uint32_t i = innermost[line]; i != ptx::kNone; i = around[i]) {
      chain.back().function = name[i];
      // Not the index of a location, but that of one call.
      chain.back().inlined_at = static_cast<std::uint32_t>(program_.locations.size()) + i;
      const auto file = std::ranges::find(program_.files, calls[i].file) - program_.files.begin();
      const bool is_known = static_cast<std::size_t>(file) < program_.files.size();
      chain.push_back({is_known ? static_cast<std::uint32_t>(file) : ptx::kNone, calls[i].line});
    }
  }
}

const ptx::SourceLocation& ProgramLines::user_place_of(std::uint32_t pc) const {
  const auto users = std::ranges::find_if(
      chains_[pc], [&](const ptx::SourceLocation& at) { return at.line != 0 && is_users(at); });
  return users != chains_[pc].end() ? *users : program_.user_location(pc);
}

StepKey ProgramLines::key_of(const vgpu::Fragment& fragment, std::uint32_t pc) const {
  const ptx::SourceLocation& at = user_place_of(pc);
  StepKey key{&program_, 0, at.file, at.line};
  const auto add = [&](std::uint32_t call) {
    for (const ptx::SourceLocation& each : chains_[call]) key.depth += is_users(each) ? 1 : 0;
  };
  for (const vgpu::Return& back : fragment.callers) add(back.pc - 1);
  add(pc);
  key.is_in_library = std::ranges::none_of(
      chains_[pc], [&](const ptx::SourceLocation& each) { return is_users(each); });
  key.is_in_prologue = is_in_prologue_[pc];
  return key;
}

bool ProgramLines::has(std::uint32_t pc, const std::vector<bool>& files, std::uint32_t line) const {
  return std::ranges::any_of(chains_[pc], [&](const ptx::SourceLocation& at) {
    return at.line == line && at.file < files.size() && files[at.file];
  });
}

// The next line with code, of a function that has code before and after it.
std::uint32_t ProgramLines::next_line(const std::vector<bool>& files, std::uint32_t line) const {
  std::uint32_t next = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t first = next, after = next;
  for (std::uint32_t pc = 0, function = 0; pc < chains_.size(); ++pc) {
    if (const std::uint32_t number = program_.function_of(pc); number != function) {
      function = number;
      first = after = std::numeric_limits<std::uint32_t>::max();
    }
    for (const ptx::SourceLocation& at : chains_[pc]) {
      if (at.file >= files.size() || !files[at.file] || at.line == 0) continue;
      first = std::min(first, at.line);
      if (at.line > line) after = std::min(after, at.line);
    }
    if (first < line) next = std::min(next, after);
  }
  return next == std::numeric_limits<std::uint32_t>::max() ? 0 : next;
}

ProgramLines::Starts ProgramLines::starts_of(const std::string& file, std::uint32_t line) const {
  std::vector<bool> files;
  for (const std::string& known : program_.files) {
    files.push_back(is_path_end(known, file) || is_path_end(file, known));
  }
  Starts starts;
  if (std::ranges::find(files, true) == files.end()) return starts;
  const auto collect = [&] {
    for (std::uint32_t pc = 0; pc < chains_.size(); ++pc) {
      if (!has(pc, files, line)) continue;
      const bool continues = pc != 0 && has(pc - 1, files, line) &&
                             program_.function_of(pc) == program_.function_of(pc - 1);
      if (!continues) starts.pcs.push_back(pc);
    }
  };
  collect();
  if (starts.pcs.empty()) {
    line = next_line(files, line);
    if (line != 0) collect();
  }
  starts.line = starts.pcs.empty() ? 0 : line;
  return starts;
}

// The first code behind the prologue, which reads the parameters: nvcc gives the prologue column 0.
// A condition there knows the parameters' values.
std::uint32_t ProgramLines::body_of(std::uint32_t function) const {
  const std::uint32_t entry = program_.functions[function].entry;
  const ptx::SourceLocation& first = chains_[entry].front();
  for (std::uint32_t pc = entry; pc < chains_.size() && program_.function_of(pc) == function;
       ++pc) {
    const ptx::SourceLocation& at = chains_[pc].front();
    const bool is_other_place = at.line != first.line || (first.column == 0 && at.column != 0);
    const bool is_behind = at.line != 0 && at.file == first.file && is_other_place;
    if (is_behind || chains_[pc].size() != 1) return pc;
  }
  return entry;
}

const ptx::SourceLocation* ProgramLines::call_at(std::uint32_t pc,
                                                 const std::vector<bool>& is_meant) const {
  const auto& chain = chains_[pc];
  const auto found = std::find_if(chain.rbegin(), chain.rend(), [&](const auto& at) {
    return at.function < is_meant.size() && is_meant[at.function];
  });
  return found == chain.rend() ? nullptr : &*found;
}

// The optimiser moves code of a call apart, and merges calls of an unrolled loop, so that a call
// may have several runs and a run several calls.
std::vector<std::uint32_t> ProgramLines::starts_of_function(const std::string& name) const {
  const auto names = [&](const std::string& mangled) {
    const std::string readable = vgpu::kernel_name(mangled);
    return mangled == name || is_last_part(readable, name) ||
           is_last_part(without_template_arguments(readable), name);
  };
  const std::string kernel = vgpu::kernel_name(program_.kernel);
  std::vector<std::uint32_t> pcs;
  if (kernel.find(name) != std::string::npos || program_.kernel.find(name) != std::string::npos) {
    pcs.push_back(has_prologues(program_) ? body_of(0) : 0);
  }
  for (std::uint32_t function = 1; function < program_.functions.size(); ++function) {
    if (names(program_.functions[function].name)) pcs.push_back(body_of(function));
  }
  std::vector<bool> is_meant;
  for (const std::string& mangled : names_) {
    is_meant.push_back(!mangled.empty() && names(mangled));
  }
  const ptx::SourceLocation* before = nullptr;
  for (std::uint32_t pc = 0; pc < chains_.size(); ++pc) {
    const ptx::SourceLocation* const call = call_at(pc, is_meant);
    const bool continues = call != nullptr && before != nullptr &&
                           call->inlined_at == before->inlined_at &&
                           call->function == before->function &&
                           program_.function_of(pc) == program_.function_of(pc - 1);
    if (call != nullptr && !continues) pcs.push_back(pc);
    before = call;
  }
  return pcs;
}

}  // namespace warpcheck::cudart
