// For the tests of pairs: runs one trial of one input in one call.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "harness/input/json.hpp"
#include "harness/pair/registry.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {

// The four configurations in which every pair runs.
inline const Settings kAllSettings[] = {
    {.build = cudart::Build::optimized, .warp_model = vgpu::WarpModel::independent},
    {.build = cudart::Build::optimized, .warp_model = vgpu::WarpModel::lockstep},
    {.build = cudart::Build::unoptimized, .warp_model = vgpu::WarpModel::independent},
    {.build = cudart::Build::unoptimized, .warp_model = vgpu::WarpModel::lockstep},
};

// "pair" or "pair.property"; throws std::invalid_argument if there is none.
inline Case case_of(std::string_view title, const Json& input, const Settings& settings = {}) {
  const std::size_t dot = title.find('.');
  Case a_case;
  a_case.pair = Registry::global().find(title.substr(0, dot));
  if (a_case.pair == nullptr) throw std::invalid_argument("no pair " + std::string(title));
  if (dot != std::string_view::npos) a_case.property = title.substr(dot + 1);
  a_case.input = a_case.pair->from_json(input);
  a_case.settings = settings;
  EXPECT_TRUE(a_case.pair->in_domain(a_case.input)) << input.dump();
  return a_case;
}

inline Verdict run_case(const Case& a_case) {
  TrialRunner runner;
  Verdict verdict = runner.run(a_case);
  EXPECT_TRUE(verdict.refusals.empty()) << verdict.refusals.front();
  return verdict;
}

// "data-race, mismatch"; "" when it is clean.
inline std::string kinds_of(const Verdict& verdict) { return show_kinds(failure_kinds(verdict)); }
inline std::string kinds_for(std::string_view title, const Json& input,
                             const Settings& settings = {}) {
  return kinds_of(run_case(case_of(title, input, settings)));
}

}  // namespace warpcheck
