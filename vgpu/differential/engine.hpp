// Runs the text of a random program: on the machine, and on a real GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class Observer;

// What a program leaves in its buffer, buffer_bytes() of them.
struct Result {
  std::vector<std::uint8_t> bytes;
  std::string problem;  // not empty: why there are none
  std::uint64_t steps = 0, lane_steps = 0;
  std::vector<Decision> decisions;
};

struct MachineSettings {
  SimdLevel level = SimdLevel::baseline;
  std::string_view strategy = "default";  // see schedule/strategies.hpp
  std::uint64_t seed = 0;                 // of the strategy
  bool checks = false;                    // a finding is a problem
  bool compiles = false;                  // to machine code, at once; else it interprets
  std::uint32_t quantum = 4'096;          // warp instructions
  Observer* watches = nullptr;            // all that happens, edges included; null: nobody
};

// Throws Refusal for a program that the machine cannot run.
Result run_on_machine(const ptx::Module& module, std::uint32_t threads,
                      const MachineSettings& settings);

class Gpu {
 public:
  // Throws std::runtime_error where there is none.
  Gpu();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // "NVIDIA H200, sm_90, driver for CUDA 13.0"
  [[nodiscard]] std::string description() const;
  // optimization: of its assembler, 0 to 4.  A program that it does not assemble is a problem;
  // throws std::runtime_error when a program breaks the device, which cannot be used any more.
  Result run(std::string_view text, unsigned optimization = 4);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpcheck::vgpu
