// A litmus test as a kernel on the virtual GPU: the final state under one schedule, and whether the
// race checker finds a race.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/outcome.hpp"

namespace warpcheck::vgpu {
class Observer;
class Strategy;
}  // namespace warpcheck::vgpu

namespace warpcheck::model {

struct KernelRun {
  FinalState state;
  bool has_race = false;
};

class Kernel {
 public:
  // For a test without loops, registers as operands, or aliases, on one device.
  explicit Kernel(const Test& test);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Whether a kernel can do what the test does: all threads of a block use the same barriers.
  static bool fits(const Test& test);

  // Throws std::runtime_error if it does not end, or if anything but a race is found.
  KernelRun run(std::string_view strategy, std::uint64_t seed);
  // The same with `observer` in addition to the checkers.
  KernelRun run(vgpu::Strategy& strategy, vgpu::Observer& observer);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpcheck::model
