// What is assumed of a kernel whose host code nobody has shown: ranges of its numbers, launches,
// lengths of its arrays, and which arrays hold indices.  Each is found by trial runs unless the
// user or the source says it, and is told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/kernel/contracts.hpp"
#include "harness/kernel/kernel_description.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck {

struct Given {
  std::map<std::string, Values> values;  // of scalars, or of an array's elements
  std::vector<std::string> notes;        // sentences about conditions
  std::vector<std::string> claims_unchecked;
  std::optional<Expression> shared_bytes;
};

struct Assumptions {
  KernelDescription kernel;
  std::vector<std::string> scalars;  // "n = 0..1000", "a: any float"
  std::string launch;                // "block 256, grid drawn"
  std::vector<std::string> lengths;  // "x = n"
  std::vector<std::string> notes;    // sentences
  // What an answer depends on, and nobody has said: "in has n + 1 elements".
  std::vector<std::string> conditions;
  std::vector<bool> written;  // of the arrays
  // The code does not ask for its block, and uses what it counts in global memory.
  bool has_blocks_by_ticket = false;
  // Arrays, and vgpu::symbolic::kDynamicSharedMemory, of which trial runs did not show how long
  // they have to be for larger launches.
  std::set<std::string> guessed;
  std::uint64_t runs = 0;  // trial runs
};

// kernel: its parameters, and launch, lengths and conditions as far as the source says them.
// Throws UsageError for a name that the kernel does not have, or a kernel that cannot be run.
[[nodiscard]] Assumptions assumed(KernelDescription kernel, const ptx::Module& module,
                                  const Given& given);

}  // namespace warpcheck
