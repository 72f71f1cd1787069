// Threads of the reference interpreter that wait for each other: PTX ISA 9.7.9.6 (shfl), 9.7.13.1
// (bar), 9.7.13.2 (bar.warp.sync), 9.7.13.9 - 9.7.13.12 (vote, match, redux).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

// One thread at an instruction.
struct ReferenceMeeting {
  // The results for the first and the second destination; empty: it stays unchanged.
  using Given = std::array<std::optional<std::uint64_t>, 2>;

  const ptx::Instruction* instruction = nullptr;
  std::vector<ptx::Operand> results{};
  std::vector<std::uint64_t> sources{};  // in the order of the text
};

class ReferenceMeetings {
 public:
  // Adds a waiting thread; every thread that has not ended must be added.
  void add(std::uint32_t thread, const ReferenceMeeting& meeting) { waits_[thread] = &meeting; }

  // Returns the threads that continue, with their results.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, ReferenceMeeting::Given>> complete() const;

 private:
  std::map<std::uint32_t, const ReferenceMeeting*> waits_;
};

}  // namespace warpcheck::vgpu
