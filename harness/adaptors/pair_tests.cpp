#include "harness/adaptors/pair_tests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/case/case_file.hpp"
#include "harness/case/stored_cases.hpp"
#include "harness/causes/find_causes.hpp"
#include "harness/pair/expectations.hpp"
#include "harness/pair/project.hpp"
#include "harness/pair/registry.hpp"
#include "harness/search/check.hpp"
#include "harness/search/replay.hpp"

namespace warpcheck {
namespace {

// A specimen shows most kinds early, but RapidCheck's 100 trials are too few for the rarest.
constexpr int kSpecimenTrials = 20'000;

CheckOptions all_configurations() {
  CheckOptions options = options_of_rapidcheck();
  options.settings.clear();
  for (const auto& [build, build_name] : kBuildNames) {
    for (const auto& [model, model_name] : kWarpModelNames) {
      Settings settings;
      settings.build = build;
      settings.warp_model = model;
      options.settings.push_back(settings);
    }
  }
  return options;
}

class PairTest : public testing::Test {
 public:
  PairTest(const AnyPair& pair, std::string property, PairTestOptions options)
      : pair_(pair), property_(std::move(property)), options_(std::move(options)) {}

  void TestBody() override {
    if (!pair_.clean())
      check_specimen();
    else if (stored_cases_pass())
      check_claim_holds();
  }

 private:
  bool stored_cases_pass() {
    TrialRunner runner;
    std::vector<std::string> paths;
    try {
      paths = stored_cases(options_.failures, pair_.name());
    } catch (const CaseFileError& error) {
      ADD_FAILURE() << error.what();
    }
    for (const std::string& path : paths) {
      try {
        const CaseRecord record = read_case(path, Registry::global());
        if (record.a_case.property != property_) continue;
        Report report = replay(record, runner).report;
        report.replay_path = path;
        if (report.verdict.failed() || !report.verdict.refusals.empty()) {
          find_causes(report);
          ADD_FAILURE() << report_text(report);
        }
      } catch (const CaseFileError& error) {
        ADD_FAILURE() << error.what();
      }
    }
    return !HasFailure();
  }

  void check_claim_holds() {
    TrialRunner runner;
    CheckOutcome outcome = check_claim(pair_, property_, all_configurations(), runner);
    for (Report& report : outcome.failures) {
      if (report.verdict.refusals.empty()) {
        const auto path = std::filesystem::path(options_.cases_directory) / pair_.name();
        report.replay_path = keep_case(path, report.a_case, report.verdict).string();
      }
      find_causes(report);
      ADD_FAILURE() << report_text(report);
    }
    expect_healthy(outcome);
  }

  // A specimen with claims has right results, and shows its defect in those.
  void check_specimen() {
    TrialRunner runner;
    CheckOptions options = all_configurations();
    options.trials = std::max(options.trials, kSpecimenTrials);
    options.shrink_failures = false;
    std::vector<std::string> claims;
    for (const PropertyEntry& property : pair_.properties()) claims.push_back(property.name);
    if (claims.empty()) claims.emplace_back();
    for (const std::string& claim : claims) {
      const CheckOutcome outcome = check_claim(pair_, claim, options, runner);
      EXPECT_EQ(show_kinds(outcome.kinds), show_kinds(pair_.expects())) << claim;
      expect_healthy(outcome);
    }
  }

  void expect_healthy(const CheckOutcome& outcome) const {
    if (outcome.problems.empty()) return;
    ADD_FAILURE() << health_text(claim_title(pair_, property_), outcome.trials, outcome.problems);
  }

  const AnyPair& pair_;
  std::string property_;
  PairTestOptions options_;
};

std::string usual_database() {
  const std::filesystem::path here(kDefaultDatabase);
  std::error_code none;
  const bool is_here = std::filesystem::is_directory(here, none);
  return (is_here ? here : std::filesystem::path(project().source_root) / here).string();
}

void register_one(const AnyPair& pair, const std::string& test, const std::string& property,
                  const PairTestOptions& options) {
  testing::RegisterTest(
      pair.name().c_str(), test.c_str(), nullptr, nullptr, __FILE__, __LINE__,
      [&pair, property, options]() -> PairTest* { return new PairTest(pair, property, options); });
}

}  // namespace

void register_pair_tests(const PairTestOptions& given) {
  PairTestOptions options = given;
  if (options.failures.empty()) options.failures = usual_database();
  for (const AnyPair* pair : Registry::global().pairs()) {
    if (!pair->clean()) {
      register_one(*pair, "shows_what_is_expected", "", options);
      continue;
    }
    register_one(*pair, "agrees_with_its_reference", "", options);
    for (const PropertyEntry& property : pair->properties()) {
      register_one(*pair, property.name, property.name, options);
    }
  }
}

int run_pair_tests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  register_pair_tests();
  return RUN_ALL_TESTS();
}

}  // namespace warpcheck
