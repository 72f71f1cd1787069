// One random program on the machine, in every way that must not matter, on the reference, and on
// a real GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/differential/engine.hpp"

namespace warpcheck::vgpu {

struct Comparison {
  std::string difference;  // between whom, at which register of which thread; empty: none
  std::string parties;     // who differ, or what is wrong with one of them
  std::string unknown;     // what the reference does not know; empty: it took part
};

struct Engines {
  bool reference = true;
  Gpu* gpu = nullptr;
  bool optimized = false;  // the GPU also runs what its assembler has optimised
};

// The machine with each instruction set of the host, as interpreter and with machine code, with
// another schedule, and with all checks, which must find nothing; then whoever else takes part.
Comparison compare(std::string_view text, std::string_view name, const Engines& engines);

}  // namespace warpcheck::vgpu
