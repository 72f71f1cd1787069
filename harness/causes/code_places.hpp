// Where in the code of the launched kernels a change can be tried: the instructions of a finding's
// sides, and the gaps between instructions around them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/edit/program_edit.hpp"

namespace warpcheck {

// A kernel that the case launched.
struct LaunchedKernel {
  const vgpu::Program* program = nullptr;
  std::uint32_t threads = 0;  // of a block, at most
};

// An instruction of the parsed text.
struct CodeSite {
  const LaunchedKernel* kernel = nullptr;
  std::uint32_t function = 0;  // index into Program::functions
  std::uint32_t index = 0;     // into the function's body

  [[nodiscard]] const vgpu::Program& program() const { return *kernel->program; }
  [[nodiscard]] const ptx::Function& text() const { return *program().functions[function].text; }
  [[nodiscard]] const ptx::Instruction& instruction() const { return text().body[index]; }
  friend bool operator==(const CodeSite&, const CodeSite&) = default;
};

// Nothing: the side is not in a kernel of the list.
[[nodiscard]] std::optional<CodeSite> site_of(const vgpu::AccessSide& side,
                                              const std::vector<LaunchedKernel>& kernels);

// Those of the finding's sides that are in a kernel of the list, each once.
[[nodiscard]] std::vector<CodeSite> sites_of(const vgpu::Finding& finding,
                                             const std::vector<LaunchedKernel>& kernels);

// "scan.cu:14", the line of the user's code; empty: not known.
[[nodiscard]] std::string line_text(const CodeSite& site);

// A place for one more instruction.
struct CodeGap {
  CodeSite site;
  ptx::EditKind kind{};  // before or after the site
  std::string text;      // "before scan.cu:14"
  // The branch that leads to the site, or that the site is; kNone: the gap is beside an access.
  std::uint32_t branch = ptx::kNone;
};

// The gaps around the sites, and where ways of the code join around them: the nearest first.  All
// sites are in one function.
[[nodiscard]] std::vector<CodeGap> gaps_around(const std::vector<CodeSite>& sites);

// The gap in each copy that the compiler has made of its access or branch (unrolled loops, inlined
// functions): a statement more in the source would be in all of them.
[[nodiscard]] std::vector<CodeGap> copies_of(const CodeGap& gap);

[[nodiscard]] ptx::ProgramEdit edit_at(const CodeSite& site, ptx::EditKind kind, std::string text);

// Whether the instruction reads or writes memory that threads may share.
[[nodiscard]] bool accesses_memory(const ptx::Instruction& instruction);

}  // namespace warpcheck
