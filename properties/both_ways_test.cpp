// Trials of all pairs are the same whether their kernels are interpreted or run as machine code.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "harness/pair/device.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/engine.hpp"
#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

constexpr std::uint64_t kBothWaysCases = 12;  // of each pair and configuration

// Everything that a case does under its schedule, and its output under the default schedule.
class OneWay {
 public:
  OneWay(const Case& a_case, vgpu::Compile compile) {
    set_compile(compile);
    static_cast<void>(TrialRunner(engine_).run(a_case));
    const TrialSettings settings{.build = a_case.settings.build,
                                 .warp_model = a_case.settings.warp_model,
                                 .limits = a_case.settings.limits};
    static_cast<void>(engine_.run(settings, [&] {
      try {
        output_ = a_case.pair->run_kernel(a_case.input);
      } catch (const CudaError& error) {
        error_ = error.what();
      }
    }));
    set_compile(vgpu::Compile::when_it_pays);
  }

  void expect_same(const OneWay& other, const AnyPair& pair) const {
    EXPECT_EQ(error_, other.error_);
    ASSERT_EQ(output_ == nullptr, other.output_ == nullptr);
    if (output_ != nullptr) {
      EXPECT_EQ(pair.schedule_difference(output_, other.output_), std::nullopt);
    }
    ASSERT_EQ(engine_.results.size(), other.engine_.results.size());
    for (std::size_t i = 0; i < engine_.results.size(); ++i) {
      expect_same(engine_.results[i], other.engine_.results[i]);
    }
  }

  [[nodiscard]] const std::vector<TrialResult>& results() const { return engine_.results; }

 private:
  struct RecordingEngine final : Engine {
    TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
      return results.emplace_back(virtual_gpu().run(settings, body));
    }
    std::vector<TrialResult> results;
  };

  static void expect_same(const TrialResult& one, const TrialResult& other) {
    EXPECT_TRUE(one.findings == other.findings);
    EXPECT_TRUE(one.schedule == other.schedule);
    EXPECT_EQ(one.launches, other.launches);
    EXPECT_EQ(one.steps, other.steps);
    EXPECT_EQ(one.lane_steps, other.lane_steps);
    EXPECT_EQ(one.ptx_hash, other.ptx_hash);
    EXPECT_EQ(one.refusals, other.refusals);
    EXPECT_EQ(one.output, other.output);
    EXPECT_EQ(one.order_source, other.order_source);
  }

  RecordingEngine engine_;
  AnyOutput output_;   // null: the kernel's host code threw an error
  std::string error_;  // that one
};

TEST(BothWays, TrialsOfAllPairsAreTheSame) {
  std::uint64_t steps = 0, findings = 0;
  for (const AnyPair* const pair : Registry::global().pairs()) {
    for (const Settings& settings : kAllSettings) {
      for (std::uint64_t i = 0; i < kBothWaysCases; ++i) {
        // Sizes rise from 0 to 100.
        const Case a_case = nth_case(*pair, "", settings, 7, i * 100 / kBothWaysCases + i % 5);
        SCOPED_TRACE(std::string(pair->name()) + ", case " + std::to_string(i) + ", " +
                     settings_summary(settings));
        const OneWay interpreted(a_case, vgpu::Compile::never);
        interpreted.expect_same(OneWay(a_case, vgpu::Compile::at_once), *pair);
        for (const TrialResult& result : interpreted.results()) {
          steps += result.steps;
          findings += result.findings.size();
        }
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(steps, 1'000'000u);
  EXPECT_GT(findings, 1'000u);
}

}  // namespace
}  // namespace warpcheck
