// `exec --against gpu`: each launch of a plain program runs on a real device as well, from the same
// memory, and what both leave is compared.  The program goes on with the virtual device's results,
// so each launch is compared on its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "vgpu/cudart/against/launch_comparison.hpp"
#include "vgpu/cudart/against/launch_image.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::cudart {

class DeviceComparison {
 public:
  // Nothing is owned.
  struct Dependencies {
    vgpu::DeviceMemory& memory;
    const Trial& trial;
    Findings& findings;
  };
  explicit DeviceComparison(const Dependencies& dependencies) : dependencies_(dependencies) {}

  // A launch is about to run: keeps what it reads, if launches are compared.
  void begins(const vgpu::Launch& launch, LinkedKernel& kernel, Allocations& allocations);
  // It has run.
  void ended(const vgpu::Launch& launch, const LinkedKernel& kernel, const vgpu::Outcome& outcome);

 private:
  [[nodiscard]] bool is_wanted() const;
  void compare(const vgpu::Launch& launch, const LinkedKernel& kernel);
  void not_compared(const vgpu::Program& program, const std::string& why) const;
  [[nodiscard]] std::uint64_t errors() const;

  Dependencies dependencies_;
  std::unique_ptr<LaunchTarget> target_;  // null: not started, or there is none
  bool has_failed_ = false;               // to start
  std::optional<LaunchImage> before_;     // of the launch that runs; nothing: it is not compared
  std::uint64_t errors_before_ = 0;
};

}  // namespace warpcheck::cudart
