// Follows each float by a more precise one (precision_domain.hpp), and reports where the digits of
// a result were lost: which outputs are far from what exact arithmetic gives, the sums that have
// swallowed addends, the differences in which leading digits cancel, and the comparisons that turn
// out otherwise.
//
// A line is named only if an output shows it.  A compensated sum swallows addends too, and takes
// them up again in its next step: its result is right, so nothing is reported.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/precision/precision_domain.hpp"
#include "vgpu/check/shadow/host_shared_memory.hpp"
#include "vgpu/check/shadow/shadow_plane.hpp"

namespace warpcheck::vgpu {

class PrecisionChecker final : public Checker {
 public:
  explicit PrecisionChecker(Reporter& reporter) : Checker(reporter), domain_(reporter) {
    reset({});
  }
  void reset(WarpModel model) override;
  [[nodiscard]] Watched watches() const override {
    return {.trial_end = true, .collectives = true, .steps = true};
  }
  void on_allocate(const Allocation& allocation) override {
    plane_->on_allocate(allocation);
    shared_.allocated(allocation);
  }
  void on_hand_out(const Allocation& allocation, std::uint32_t offset,
                   std::uint32_t bytes) override {
    plane_->on_hand_out(allocation, offset, bytes);
  }
  void on_free(const Allocation& allocation) override;
  void on_sync(const Sync& sync) override;
  void on_device_copy(const DeviceCopy& copy) override { plane_->on_device_copy(copy); }
  void on_step(const InstrStep& step) override;
  void on_step_end(const InstrStep& step) override { plane_->on_step_end(step); }
  void on_access(const Access& access) override { plane_->on_access(access); }
  void on_collective(const Collective& collective) override { plane_->on_collective(collective); }
  void on_host_access(const HostAccess& access) override;
  void on_trial_end(std::span<const Allocation* const> left) override;

  // An element that the host has read.
  struct Output {
    std::string object{}, space{};
    double computed = 0, ulps = 0;
    PrecisionDomain::Value value{};
  };

 private:
  // Outputs that have lost digits, whose errors were made at one line and have the same
  // cancellation; the worst is kept.
  struct Outputs {
    Output worst;
    std::uint64_t count = 0;
  };
  void look_at(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes);
  void look_at_printed(const InstrStep& step);
  void take(const PrecisionDomain::Value& value, double computed,
            const std::function<Output()>& describe);
  void look_at_shared(const Allocation& allocation);
  void forget_written_by_host();
  [[nodiscard]] double lost_ulps(const PrecisionDomain::Value& value, double computed) const;
  void report_output(const Outputs& outputs);
  void report_unstable(const PrecisionSite& site);

  PrecisionDomain domain_;
  std::unique_ptr<ShadowPlane<PrecisionDomain>> plane_;
  HostSharedMemory shared_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Outputs> outputs_;
};

}  // namespace warpcheck::vgpu
