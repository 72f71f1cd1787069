// An observer of steps that needs few of them: only those that it names are reported, if it is the
// only one of the launch that watches steps.
#pragma once

#include <cstdint>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

class StepFilter {
 public:
  virtual ~StepFilter() = default;
  // Returns, by pc, whether the observer needs the steps of an instruction.  The machine asks when
  // a launch begins or is resumed; the observer may change the bytes while the launch runs.
  virtual const std::uint8_t* steps_of(const Program& program) = 0;
};

}  // namespace warpcheck::vgpu
