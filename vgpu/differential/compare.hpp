// Compares the results of one random program: on the machine in all its modes, which must not
// matter, on the reference interpreter, and on a real GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/differential/engine.hpp"

namespace warpcheck::vgpu {

struct Comparison {
  std::string difference;  // between which engines, at which register of which thread; empty: none
  std::string parties;     // the engines that differ, or the problem of one engine
  std::string unknown;     // what the reference does not support; empty: it took part
};

struct Engines {
  bool reference = true;
  Gpu* gpu = nullptr;
  bool optimized = false;  // the GPU also runs the program with full assembler optimisation
};

// Runs the machine with each instruction set of the host, as interpreter and with machine code,
// with another schedule, and with all checks, which must find nothing; then runs the other
// requested engines.
Comparison compare(std::string_view text, std::string_view name, const Engines& engines);

}  // namespace warpcheck::vgpu
