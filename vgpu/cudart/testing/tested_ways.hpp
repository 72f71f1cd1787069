// The ways in which tests run a kernel that nvcc has compiled: in both builds, interpreted and as
// machine code.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "vgpu/cudart/device/virtual_device.hpp"

namespace warpcheck::cudart {

struct TestedWay {
  Build build;
  vgpu::Compile compile;

  [[nodiscard]] TrialSettings settings() const {
    TrialSettings settings;
    settings.build = build;
    settings.limits.compile = compile;
    return settings;
  }
};

inline auto tested_ways() {
  using vgpu::Compile;
  return testing::Values(TestedWay{Build::optimized, Compile::never},
                         TestedWay{Build::optimized, Compile::at_once},
                         TestedWay{Build::unoptimized, Compile::never},
                         TestedWay{Build::unoptimized, Compile::at_once});
}

inline std::string name_of_way(const testing::TestParamInfo<TestedWay>& test) {
  const std::string build = test.param.build == Build::optimized ? "optimized" : "unoptimized";
  return build + (test.param.compile == vgpu::Compile::never ? "_interpreted" : "_compiled");
}

}  // namespace warpcheck::cudart
