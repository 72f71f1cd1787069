// The interface through which a launch uses the runtime: calls by device code with their answers,
// and the work that is concurrent with the launch.
#pragma once

#include <cstdint>
#include <span>

#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

enum class DeviceFunction : std::uint8_t;  // vgpu/program/program.hpp

// A call by one lane.
struct DeviceCall {
  DeviceFunction function{};
  // Each argument has 8 or 4 bytes; a struct is passed as words.
  std::span<const std::uint64_t> arguments;
  CodePlace by;
  std::uint32_t block = 0;  // linear index in the grid
};

struct DeviceAnswer {
  std::uint64_t result = 0;
  std::uint64_t stored = 0;  // a value to store at the address in the first argument
  // If not 0: the number of a launch by this lane, which is ordered after everything that the lane
  // has done so far.
  std::uint32_t launched = 0;
};

class ConcurrentWork;

class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  // Executes the call.  Throws Refusal if it is not supported.
  virtual DeviceAnswer answer(const DeviceCall& call) = 0;
  // Returns the work that may run while the launch waits; null: none.
  [[nodiscard]] virtual ConcurrentWork* concurrent_work() { return nullptr; }
  // The size of the device on which the launch runs; 0: that of Limits.
  struct Size {
    std::uint32_t multiprocessors = 0;
    std::uint32_t blocks = 0;  // of the launch, resident at once
  };
  [[nodiscard]] virtual Size size() const { return {}; }
};

}  // namespace warpcheck::vgpu
