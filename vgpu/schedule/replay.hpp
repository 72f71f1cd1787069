// Replays a recorded schedule: at each recorded point it makes the recorded choice; everywhere else
// it follows the default policy.
//
// A decision that does not fit the launch any more (after an edit of the schedule, the input or the
// kernel) is ignored: for example, the lanes to hold are not active, or the warp to run is not
// ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class Replay final : public Strategy {
 public:
  explicit Replay(const Schedule& schedule);

  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  std::uint64_t next_fence(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  [[nodiscard]] bool decides_fences(std::uint32_t launch) const override;
  StartOrder choose_start(const StartPoint& point) override;
  [[nodiscard]] bool decides_stops() const override { return has_stops_; }
  [[nodiscard]] bool decides_releases() const override { return has_releases_; }
  std::optional<Choice> decide(const SchedulePoint& point) override;
  std::uint32_t choose_operation(const OperationPoint& point) override;
  [[nodiscard]] bool chooses_past(std::uint32_t launch) const override;
  std::optional<PastChoice> choose_past(const PastPoint& point) override;
  [[nodiscard]] std::uint64_t ignored() const override { return decisions_.size() - followed_; }

 private:
  [[nodiscard]] bool has(std::uint32_t launch, Decision::Point point) const;
  [[nodiscard]] std::uint64_t next(std::uint32_t launch, WarpId warp, Decision::Point point,
                                   std::uint64_t from) const;

  [[nodiscard]] std::size_t number_of(std::vector<Decision>::const_iterator decision) const {
    return static_cast<std::size_t>(decision - decisions_.begin());
  }

  std::vector<Decision> decisions_;  // by launch, warp, point, index
  std::vector<bool> is_followed_;    // by decision
  bool has_followed_ = false;        // whether the latest call of decide() followed one
  bool has_stops_ = false, has_releases_ = false;
  std::uint64_t followed_ = 0;
};

}  // namespace warpcheck::vgpu
