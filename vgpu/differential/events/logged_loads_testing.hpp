// The loads that machine code logs where operations of a warp may order its accesses
// (load_log.hpp), for tests that compare them with those of the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/access/load_log.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {

// Keeps the loads of the warps of a block, as an observer does whose record asks for them.
class LoggedLoads {
 public:
  // Lists the latest loads of each warp, which come next.
  void list(AccessRecord& record, const WarpPlace& place) {
    for (std::uint32_t warp = 0; warp < logs_.size(); ++warp) {
      LoadLog& log = logs_[warp];
      seen.push_back({warp, log.time, log.loads});
      for (std::uint32_t at = 0; at < std::min(log.loads, LoadLog::kLoads); ++at) {
        const LoadLog::Load& load = log.load[at];
        std::vector<std::uint32_t>& entry = seen.emplace_back();
        entry = {load.time, load.pc, load.mask, load.phase, load.allocation, load.bytes};
        for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
          const std::uint32_t strided = load.first + lane * load.stride;
          const std::uint32_t offset = load.scattered != 0 ? log.offsets[at][lane] : strided;
          if ((load.mask >> lane & 1) != 0) entry.push_back(offset);
        }
      }
      log = {};
    }
    record.loads = logs_.data();
    record.phase_of_block = place.phase;
  }
  void add(const RowAccess& row) {
    if (row.kind == AccessKind::read) logs_[row.place.warp].add(row);
  }
  std::vector<std::vector<std::uint32_t>> seen;

 private:
  std::array<LoadLog, 3> logs_;
};
// Returns the program with an operation of the warp in its loop, so that machine code logs loads.
inline std::string with_collective(const std::string& text) {
  constexpr std::string_view kLoop = "PHASE:\n";
  std::string result = text;
  return result.insert(text.find(kLoop) + kLoop.size(),
                       "shfl.sync.idx.b32 %t, %t, %laneid, 31, -1;\n");
}

inline void expect_same_loads(const std::vector<std::vector<std::uint32_t>>& interpreted,
                              const std::vector<std::vector<std::uint32_t>>& compiled) {
  ASSERT_EQ(interpreted.size(), compiled.size());
  for (std::size_t i = 0; i < compiled.size(); ++i) ASSERT_EQ(interpreted[i], compiled[i]);
}

}  // namespace warpcheck::vgpu
