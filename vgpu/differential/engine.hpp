// Engines that run the text of a random program: the machine, and a real GPU.
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

// The content of a program's buffer after the run, buffer_bytes() of it.
struct Result {
  std::vector<std::uint8_t> bytes;
  std::string problem;                      // not empty: why there are no bytes
  std::uint64_t steps = 0, lane_steps = 0;  // those of all launches
  std::vector<Decision> decisions;
};

struct MachineSettings {
  SimdLevel level = SimdLevel::baseline;
  std::string_view strategy = "default";  // see schedule/strategies.hpp
  std::uint64_t seed = 0;                 // for the strategy
  bool checks = false;                    // with all checks; a finding is a problem
  bool compiles = false;                  // compiles to machine code at once; otherwise interprets
  std::uint32_t quantum = 4'096;          // warp instructions
  std::uint32_t row = 0;                  // threads of a row of the block; 0: it is one row
  Observer* watches = nullptr;            // receives all events, edges included; null: none
  Observer* watches_too = nullptr;        // called after `watches`, which must be set
  std::uint32_t blocks = 1;               // of each launch; all have the same buffer
  std::uint32_t launches = 1;             // one after the other
};

// Throws Refusal for a program that the machine cannot run.
Result run_on_machine(const ptx::Module& module, std::uint32_t threads,
                      const MachineSettings& settings);

class Gpu {
 public:
  // Throws std::runtime_error if there is no GPU.
  Gpu();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // Returns "NVIDIA H200, sm_90, driver for CUDA 13.0".
  [[nodiscard]] std::string description() const;
  // optimization: level of its assembler, 0 to 4.  A program that it does not assemble is a problem
  // of the result.  Throws std::runtime_error when a program makes the device unusable.
  Result run(std::string_view text, unsigned optimization = 4);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpcheck::vgpu
