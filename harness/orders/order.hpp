// What orders threads in a pair's kernels, by source line: barriers, waits, fences, and accesses
// that are stronger than plain ones.
//
// Each has the weakest change that takes it away: an instruction that is removed, or an access with
// weaker semantics.  A change is a list of ptx::ProgramEdit, so a case can carry it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/ptx/edit/program_edit.hpp"

namespace warpcheck {

enum class OrderKind : std::uint8_t {
  block_barrier,
  warp_barrier,
  cluster_barrier,
  phase_wait,  // for a phase of an mbarrier
  copy_wait,   // for asynchronous copies
  grid_wait,   // for the previous kernel: griddepcontrol.wait
  fence,
  memory_order,   // acquire and release of an access
  scope,          // of an access or fence
  strong_access,  // .relaxed
  volatile_access,
};
[[nodiscard]] std::string_view name_of(OrderKind kind);  // "block-barrier"

using vgpu::SourceLine;  // its file as in reports

// A line of the user's code, the line where that was inlined or called, and so on.
using SourceChain = std::vector<SourceLine>;
// "orders.cuh:17, in scan_lookback.cuh:255": files without their folders
[[nodiscard]] std::string text_of(const SourceChain& chain);

struct Order {
  OrderKind kind{};
  SourceChain place;
  std::string instruction;  // "bar.sync"
  std::string change;       // "removed", or what the access becomes: "weak", "relaxed", ".cta"
  ptx::Edits edits;         // of both builds
  // By build, in the order of kBuildNames: instructions that are changed; 0: the build has none
  // that could be changed alone.
  std::array<std::uint32_t, 2> instructions{};
  // Warp instructions, in one run of each observed input, of the first build that has it.
  std::uint64_t executed = 0;
  std::uint64_t steps = 0;  // of all that ran in these runs
  // A barrier for the same threads, with no access to memory and no branch between: "scan.cu:14".
  // Empty: there is none beside some copy of the instruction.
  std::string beside;
};

}  // namespace warpcheck
