#include "vgpu/program/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "vgpu/program/layout.hpp"
#include "vgpu/program/library_headers.hpp"
#include "vgpu/ptx/demangle.hpp"

namespace warpcheck::vgpu {

namespace {

// Returns the pc of the only call of the function that contains `pc`; kNone: there is no call, or
// more than one.
std::uint32_t only_call_of_function_at(const Program& program, std::uint32_t pc) {
  const std::uint32_t function = program.function_of(pc);
  std::uint32_t call = ptx::kNone;
  for (std::uint32_t at = 0; at < program.code.size(); ++at) {
    const Instr& instr = program.code[at];
    if (instr.kind != InstrKind::call || instr.function != function) continue;
    if (call != ptx::kNone) return ptx::kNone;
    call = at;
  }
  return call;
}

}  // namespace

const ptx::SourceLocation& Program::user_location(std::uint32_t pc) const {
  const ptx::SourceLocation& innermost = source_of(pc).location;
  const ptx::SourceLocation* location = &innermost;
  // Unoptimised code does not say where a function of a header is inlined.  One that wraps an
  // instruction stands in a user's function behind the user's line.
  const auto line_before = [&](std::uint32_t at) {
    const ptx::SourceLocation* before = nullptr;
    const std::uint32_t function = function_of(at);
    const bool is_wrapper =
        location->file < files.size() && !is_library_code(files[location->file]);
    if (!is_wrapper || function >= functions.size()) return before;
    const std::uint32_t entry = functions[function].entry;
    while (before == nullptr && is_users(source_of(entry).location) && at-- > entry) {
      if (is_users(source_of(at).location)) before = &source_of(at).location;
    }
    return before;
  };
  while (!is_users(*location)) {
    if (location->inlined_at < locations.size()) {
      location = &locations[location->inlined_at];
      continue;
    }
    if (const ptx::SourceLocation* const before = line_before(pc)) return *before;
    pc = only_call_of_function_at(*this, pc);
    if (pc == ptx::kNone) return innermost;
    location = &source_of(pc).location;
  }
  return *location;
}

bool Program::is_users(const ptx::SourceLocation& at) const {
  return at.file < files.size() && at.line != 0 && !is_library_header(files[at.file]);
}

std::vector<ptx::SourceLocation> Program::user_callers(ptx::SourceLocation at) const {
  std::vector<ptx::SourceLocation> callers;
  while (at.inlined_at < locations.size()) {
    at = locations[at.inlined_at];
    if (is_users(at)) callers.push_back(at);
  }
  return callers;
}

std::uint32_t Program::function_of(std::uint32_t pc) const {
  const auto after = std::ranges::upper_bound(functions, pc, {}, &FunctionCode::entry);
  return static_cast<std::uint32_t>(after - functions.begin()) - 1;
}

std::string demangled_variable(const std::string& name) {
  constexpr std::string_view kPart = "_$_";  // of an array or struct that the compiler has divided
  const std::size_t part = name.rfind(kPart);
  if (part != std::string::npos) {
    return fmt::format("{} (part {})", demangled_variable(name.substr(0, part)),
                       name.substr(part + kPart.size()));
  }
  const std::optional<std::string> full = ptx::demangle(name);
  if (!full) return name;
  const std::size_t scope = full->rfind("::");
  return scope == std::string::npos ? *full : full->substr(scope + 2);
}

}  // namespace warpcheck::vgpu
