// Helpers for tests of the race checker: hand-made launches, and a summary of the findings.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"

namespace warpcheck::vgpu {

class RaceTest : public testing::Test {
 protected:
  static constexpr auto kRead = AccessKind::read;
  static constexpr auto kWrite = AccessKind::write;
  static constexpr auto kAtomic = AccessKind::atomic;

  explicit RaceTest(WarpModel model = WarpModel::independent, const EpochLimits& limits = {})
      : checker(reporter, race_row_functions("baseline"), limits) {
    checker.reset(model);
  }

  void start(std::uint32_t blocks, std::uint32_t threads, std::uint32_t slots = 1) {
    launch.start({blocks, 1, 1}, {threads, 1, 1});
    for (std::uint32_t block = 0; block < std::min(blocks, slots); ++block) {
      launch.start_block(block, block, &shared);
    }
  }
  const std::vector<Finding>& findings() { return reporter.findings(); }
  // Returns lines such as "write 105 / read 106: message".
  std::vector<std::string> summary() {
    std::vector<std::string> lines;
    for (const Finding& f : reporter.findings()) {
      lines.push_back(f.accesses[0].role + " " + std::to_string(f.accesses[0].line) + " / " +
                      f.accesses[1].role + " " + std::to_string(f.accesses[1].line) +
                      (f.severity == Severity::note ? " note" : ""));
    }
    return lines;
  }
  using Lines = std::vector<std::string>;

  Program program = fake_program();
  Reporter reporter;
  RaceChecker checker;
  FakeLaunch launch{program, {&reporter, &checker}};
  FakeMemory shared{0, ptx::Space::shared, 4096, "s"};
  FakeMemory global{1, ptx::Space::global, 4096, "g"};
};

}  // namespace warpcheck::vgpu
