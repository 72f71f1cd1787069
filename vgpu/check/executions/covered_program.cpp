#include "vgpu/check/executions/covered_program.hpp"

#include <fmt/format.h>

#include <string_view>

#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns a reason if the instruction orders threads by something other than accesses and barriers
// of known threads, or if its result depends on more than what a thread has read.
std::string_view gap_of(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::copy:
    case InstrKind::copy_group:
    case InstrKind::bulk_copy:
    case InstrKind::tensor_copy:
    case InstrKind::async_store: return "copies asynchronously";
    case InstrKind::cluster_barrier: return "meets its cluster at a barrier";
    case InstrKind::texture: return "uses a texture or surface";
    default: return beyond_accesses(instr);
  }
}

}  // namespace

CoveredProgram::CoveredProgram(const Program& program)
    : program_(program),
      kernel_(program.kernel),
      awaits_(program),
      unused_old_values_(unused_old_values(program)) {
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const std::string_view what = gap_of(program.code[pc]);
    if (what.empty()) continue;
    const ptx::SourceLocation& at = program.user_location(pc);
    const std::string_view file =
        at.file < program.files.size() ? std::string_view(program.files[at.file]) : "";
    const std::string line =
        at.line == 0 ? "" : fmt::format("{}:{} ", file.substr(file.find_last_of('/') + 1), at.line);
    gap_ = fmt::format("{}{} {}", line, program.source_of(pc).text, what);
    return;
  }
}

bool CoveredProgram::commutes(std::uint32_t pc, bool is_weak) const {
  const Instr& instr = program_.code[pc];
  if (!reduction_of(instr)) return false;
  return is_weak ? instr.opcode == ptx::Opcode::red_ : unused_old_values_[pc];
}

}  // namespace warpcheck::vgpu
