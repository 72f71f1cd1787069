// The default policy as a strategy: it makes no decisions.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class DefaultPolicy final : public Strategy {
 public:
  std::uint64_t next_access(std::uint32_t, WarpId, std::uint64_t) override { return UINT64_MAX; }
  std::optional<Choice> decide(const SchedulePoint&) override { return std::nullopt; }
};

}  // namespace warpcheck::vgpu
