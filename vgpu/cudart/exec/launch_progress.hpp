// How far the launch that runs has come, for `warpcheck exec`: it shows that while it waits, and
// tells it where the program had to be ended.  And what launches have come to, by kernel.
#pragma once

#include <chrono>
#include <cstdint>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::cudart {

class Trial;

class LaunchProgress final : public vgpu::Observer {
 public:
  explicit LaunchProgress(const Trial& trial) : trial_(trial) {}

  // kernel: its number among those of the trial (trial.hpp)
  void launched(std::uint32_t kernel);
  // One that has begun goes on; what ran meanwhile has taken its time.
  void goes_on(std::uint32_t kernel) { kernel_ = kernel + 1; }
  // Of the launch that runs, where nobody tells of each.
  void blocks_ended(std::uint32_t blocks);
  void ended(const vgpu::Outcome& outcome);

  [[nodiscard]] bool watches_accesses() const override { return false; }
  void on_sync(const vgpu::Sync& sync) override;

 private:
  const Trial& trial_;
  std::uint32_t kernel_ = 0;  // one more than its number
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace warpcheck::cudart
