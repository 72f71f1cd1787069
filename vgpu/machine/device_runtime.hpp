// What a launch asks of the runtime: what device code calls, with what a lane is told, and which
// work is concurrent with the launch.
#pragma once

#include <cstdint>
#include <span>

#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// One lane's call.
struct DeviceCall {
  DeviceFunction function{};
  // Of 8 bytes, or of 4; structs are words.
  std::span<const std::uint64_t> arguments;
  CodePlace by;
  std::uint32_t block = 0;  // linear index in the grid
};

struct DeviceAnswer {
  std::uint64_t result = 0;
  std::uint64_t stored = 0;  // where the first argument points
  // Not 0: a number for what the lane has launched, which comes after all that it has done so far.
  std::uint32_t launched = 0;
};

class ConcurrentWork;

class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  // Throws Refusal for what cannot be done.
  virtual DeviceAnswer answer(const DeviceCall& call) = 0;
  // What may run while the launch waits; null: nothing.
  [[nodiscard]] virtual ConcurrentWork* concurrent_work() { return nullptr; }
};

}  // namespace warpcheck::vgpu
