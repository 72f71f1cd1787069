// A strategy whose decisions are reported where they are made.
#pragma once

#include <functional>
#include <utility>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// Follows `inner`.
//   log: is called with each decision that differs from the default
class LoggedStrategy final : public Strategy {
 public:
  LoggedStrategy(Strategy& inner, std::function<void(const Decision&)> log)
      : inner_(inner), log_(std::move(log)) {}

  void begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) override {
    inner_.begin(launch, blocks, warps_per_block);
  }
  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override {
    return inner_.next_access(launch, warp, from);
  }
  std::uint64_t next_fence(std::uint32_t launch, WarpId warp, std::uint64_t from) override {
    return inner_.next_fence(launch, warp, from);
  }
  [[nodiscard]] bool decides_fences(std::uint32_t launch) const override {
    return inner_.decides_fences(launch);
  }
  StartOrder choose_start(const StartPoint& point) override;
  [[nodiscard]] bool decides_stops() const override { return inner_.decides_stops(); }
  [[nodiscard]] bool decides_releases() const override { return inner_.decides_releases(); }
  [[nodiscard]] bool sees_words() const override { return inner_.sees_words(); }
  std::optional<Choice> decide(const SchedulePoint& point) override;
  std::uint32_t choose_operation(const OperationPoint& point) override {
    return inner_.choose_operation(point);
  }
  [[nodiscard]] bool chooses_past(std::uint32_t launch) const override {
    return inner_.chooses_past(launch);
  }
  std::optional<PastChoice> choose_past(const PastPoint& point) override;
  [[nodiscard]] std::uint64_t ignored() const override { return inner_.ignored(); }

 private:
  Strategy& inner_;
  std::function<void(const Decision&)> log_;
};

}  // namespace warpcheck::vgpu
