// Reports the progress of the running launch to `warpcheck exec`, which shows it while it waits and
// when it had to end the program; and the totals of launches, by kernel.
#pragma once

#include <chrono>
#include <cstdint>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::cudart {

class Trial;

class LaunchProgress final : public vgpu::Observer {
 public:
  explicit LaunchProgress(const Trial& trial) : trial_(trial) {}

  // kernel: its number among those of the trial (trial.hpp)
  void launched(std::uint32_t kernel);
  // A launch that has begun continues; the time of what ran in between is not counted for it.
  void goes_on(std::uint32_t kernel) { kernel_ = kernel + 1; }
  // Sets the number of ended blocks of the running launch, if blocks are not reported one by one.
  void blocks_ended(std::uint32_t blocks);
  void ended(const vgpu::Outcome& outcome);

  [[nodiscard]] vgpu::Watched watches() const override { return {.accesses = false}; }
  void on_sync(const vgpu::Sync& sync) override;

 private:
  const Trial& trial_;
  std::uint32_t kernel_ = 0;  // its number plus one
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace warpcheck::cudart
