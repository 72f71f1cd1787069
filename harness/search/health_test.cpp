#include "harness/search/health.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness/pair/pair.hpp"
#include "harness/search/check.hpp"
#include "harness/testing/fake_engine.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {

namespace {

// Launches a kernel without evaluating an expectation.
void launch_something() {
  std::vector<int> one{1};
  FakeEngine::current().racy_scan(one);
}

FakeInput draw_some(Draw& draw) {
  return {.values = std::vector<int>(static_cast<std::size_t>(draw.below(8)), 5), .launch = {}};
}

std::vector<int> launch_and_copy(Device&, const FakeInput& in) {
  launch_something();
  return in.values;
}

std::vector<int> copy(const FakeInput& in) { return in.values; }

// Sizes of the calls of health_timed's reference.
std::vector<std::size_t> timed_sizes;

}  // namespace

KERNEL_PAIR(health_good, FakeInput, std::vector<int>) = {
    .arbitrary = draw_some,
    .kernel = launch_and_copy,
    .reference = copy,
    .required_classes = {"values.size: zero"},
};
PROPERTY(health_good, is_claimed)(FakeInput in) { EXPECT_EQ(run(in), in.values); }
PROPERTY(health_good, claims_nothing)(FakeInput in) { static_cast<void>(run(in)); }
PROPERTY(health_good, launches_nothing)(FakeInput in) { EXPECT_LT(in.values.size(), 8U); }

KERNEL_PAIR(health_timed, FakeInput, std::vector<int>) = {
    .arbitrary = draw_some,
    .kernel = launch_and_copy,
    .reference =
        [](const FakeInput& in) {
          timed_sizes.push_back(in.values.size());
          return in.values;
        },
};

KERNEL_PAIR(health_no_launch, FakeInput, std::vector<int>) = {
    .arbitrary = draw_some,
    .kernel = [](Device&, const FakeInput& in) { return in.values; },
    .reference = copy,
};

KERNEL_PAIR(health_no_comparison, FakeInput, std::vector<int>) = {
    .arbitrary = draw_some,
    .kernel =
        [](Device&, const FakeInput&) {
          launch_something();
          return std::vector<int>{};
        },
    .reference = [](const FakeInput&) { return std::vector<int>{}; },
};

// One of eight drawn inputs is in the domain.
KERNEL_PAIR(health_discards, FakeInput, std::vector<int>) = {
    .domain = [](const FakeInput& in) { return in.values.size() == 3; },
    .arbitrary = draw_some,
    .kernel = launch_and_copy,
    .reference = copy,
};

KERNEL_PAIR(health_domain, FakeInput, std::vector<int>) = {
    .domain = [](const FakeInput& in) { return in.values.size() == 30; },
    .arbitrary = draw_some,
    .kernel = launch_and_copy,
    .reference = copy,
};

KERNEL_PAIR(health_unjudged, FakeInput, std::vector<int>) = {
    .arbitrary = draw_some,
    .kernel = launch_and_copy,
    .reference = none,
};

KERNEL_PAIR(health_forgotten, FakeInput, std::vector<int>) = {
    .arbitrary = draw_some,
    .kernel = launch_and_copy,
};

KERNEL_PAIR(health_class, FakeInput, std::vector<int>) = {
    .arbitrary = draw_some,
    .kernel = launch_and_copy,
    .reference = copy,
    .required_classes = {"values: contains negative", "values.size: zero",
                         "launch: several blocks"},
};

namespace {

std::vector<HealthProblem> problems_of(const char* pair, const char* property = "",
                                       int trials = 100) {
  FakeEngine engine;
  TrialRunner runner(engine);
  CheckOptions options;
  options.trials = trials;
  const CheckOutcome outcome =
      check_claim(*Registry::global().find(pair), property, options, runner);
  EXPECT_TRUE(outcome.failures.empty());
  EXPECT_EQ(outcome.passed(), outcome.problems.empty());
  return outcome.problems;
}

std::vector<std::string> checks_of(const char* pair, const char* property = "", int trials = 100) {
  std::vector<std::string> checks;
  for (const HealthProblem& problem : problems_of(pair, property, trials)) {
    checks.push_back(problem.check);
  }
  return checks;
}

using Checks = std::vector<std::string>;

TEST(Health, AGoodPairHasNoProblem) {
  EXPECT_EQ(checks_of("health_good"), Checks{});
  EXPECT_EQ(checks_of("health_good", "is_claimed"), Checks{});
}

TEST(Health, NoLaunch) {
  EXPECT_EQ(problems_of("health_no_launch"),
            (std::vector<HealthProblem>{
                {"no-launch", "no trial launched a kernel; .kernel has to launch it"}}));
  EXPECT_EQ(checks_of("health_good", "launches_nothing"), Checks{"no-launch"});
}

TEST(Health, NoComparison) {
  EXPECT_EQ(checks_of("health_no_comparison"), Checks{"no-comparison"});
}

TEST(Health, WithoutAReferenceFindingsAreWhatIsLookedFor) {
  EXPECT_FALSE(Registry::global().find("health_unjudged")->has_reference());
  EXPECT_EQ(checks_of("health_unjudged"), Checks{});
}

TEST(Health, AForgottenReferenceIsAnError) {
  const AnyPair& pair = *Registry::global().find("health_forgotten");
  EXPECT_TRUE(pair.has_reference());
  EXPECT_THROW(static_cast<void>(pair.run_reference(std::make_shared<const FakeInput>())),
               std::logic_error);
}

TEST(Health, NoExpectation) {
  EXPECT_EQ(problems_of("health_good", "claims_nothing"),
            (std::vector<HealthProblem>{{"no-expectation",
                                         "no trial evaluated an expectation; say what is claimed "
                                         "with EXPECT_* or ASSERT_*"}}));
}

TEST(Health, Discards) {
  const auto problems = problems_of("health_discards");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].check, "discards");
  EXPECT_NE(problems[0].message.find(" inputs that .arbitrary drew were outside .domain"),
            std::string::npos)
      << problems[0].message;
  // It is judged only after a hundred draws.
  EXPECT_EQ(checks_of("health_discards", "", 1), Checks{});
}

TEST(Health, ADomainThatIsNeverMetIsAProblemAndNoError) {
  EXPECT_EQ(problems_of("health_domain"),
            (std::vector<HealthProblem>{{"discards",
                                         "pair 'health_domain': .arbitrary drew 100 inputs and "
                                         "none was in .domain"}}));
}

TEST(Health, RequiredClassesHoweverFewTheTrials) {
  for (const int trials : {1, 100}) {
    EXPECT_EQ(problems_of("health_class", "", trials),
              (std::vector<HealthProblem>{
                  {"required-class",
                   "2000 drawn inputs had none of the required classes 'values: contains "
                   "negative', 'launch: several blocks'; change .arbitrary so that it draws "
                   "them"}}));
  }
  EXPECT_EQ(checks_of("health_good", "", 1), Checks{});
}

TEST(Health, ASlowReferenceIsANote) {
  EXPECT_EQ(slow_reference({.kernel = 0.5, .reference = 0.9}), std::nullopt);
  EXPECT_EQ(slow_reference({.kernel = 3, .reference = 2}), std::nullopt);
  EXPECT_EQ(slow_reference({.kernel = 0.4, .reference = 3.2}),
            "its reference took 3.2 s, its kernel 0.4 s on a virtual GPU: a faster reference, or "
            "smaller inputs, would leave time for more trials");
}

TEST(Health, AReferenceTenTimesAsSlowAsItsKernelIsAProblem) {
  const auto checks = [](double kernel, double reference) {
    std::vector<std::string> names;
    for (const HealthProblem& problem :
         health_problems(TrialSeconds{.kernel = kernel, .reference = reference})) {
      names.push_back(problem.check);
    }
    return names;
  };
  EXPECT_EQ(checks(0.5, 4.9), Checks{});
  EXPECT_EQ(checks(0.5, 5.1), Checks{"slow-reference"});
  EXPECT_EQ(checks(0, 0.009), Checks{}) << "too short to measure";
  EXPECT_EQ(checks(0, 0.011), Checks{"slow-reference"});
}

TEST(Health, TheLargestInputIsTimed) {
  FakeEngine engine;
  CheckOptions options;
  options.trials = 50;
  timed_sizes.clear();
  static_cast<void>(quickest_times(*Registry::global().find("health_timed"), options, engine));
  // Five runs of one input, each with its reference.
  EXPECT_EQ(timed_sizes, std::vector<std::size_t>(5, 7));
}

TEST(Health, Text) {
  EXPECT_EQ(health_text("scan.claim", 100, {{"no-launch", "none; launch one"}}),
            "UNHEALTHY scan.claim   100 trials\n  no-launch: none; launch one\n");
}

// Runs a program; its output, and its exit status in the last line.
std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* const pipe = ::popen((command + " 2>&1; echo status $?").c_str(), "r");
  std::array<char, 4096> bytes{};
  for (std::size_t count; (count = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) {
    text.append(bytes.data(), count);
  }
  ::pclose(pipe);
  return text;
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(UnhealthyProgram, CheckFails) {
  const std::string program = UNHEALTHY_PROGRAM;
  expect_parts(output_of(program + " check unhealthy_no_launch"),
               {"UNHEALTHY unhealthy_no_launch   1000 trials\n  no-launch: ",
                "UNHEALTHY unhealthy_no_launch.claims_nothing   1000 trials\n  no-launch: ",
                "  no-expectation: ", "status 1\n"});
  expect_parts(output_of(program + " check unhealthy_discards"),
               {"  discards: ", "outside .domain", "status 1\n"});
  expect_parts(output_of(program + " check unhealthy_domain"),
               {"  discards: pair 'unhealthy_domain': ", "status 1\n"});
  expect_parts(output_of(program + " check unhealthy_class"),
               {"  required-class: 2000 drawn inputs had none of the required classes 'value: "
                "negative', 'values.size: one'; ",
                "status 1\n"});
  expect_parts(output_of(program + " check unhealthy_no_comparison"),
               {"  no-comparison: ", "status 1\n"});
  const std::string slow = program + " check unhealthy_slow_reference --trials 5";
  expect_parts(output_of(slow), {": note: pair 'unhealthy_slow_reference': its reference took "});
  expect_parts(output_of(slow + " --health"),
               {"UNHEALTHY unhealthy_slow_reference   5 trials\n"
                "  slow-reference: the reference takes more than 10 times as long as its kernel",
                "status 1\n"});
  const TemporaryDirectory temporary;
  const std::string file = temporary.path() / "health.json";
  expect_parts(output_of(program + " check unhealthy_class --json " + file + "; cat " + file),
               {R"("check": "required-class")", R"("health": [)"});
}

TEST(UnhealthyProgram, HuntFails) {
  const TemporaryDirectory temporary;
  const std::string directory = temporary.path();
  const std::string hunt = std::string(UNHEALTHY_PROGRAM) + " hunt --trials 100 --cases " +
                           directory + "/cases --pairs ";
  const std::string file = directory + "/health.json";
  expect_parts(
      output_of(hunt +
                "unhealthy_no_launch,unhealthy_domain,unhealthy_discards,"
                "unhealthy_class,unhealthy_no_comparison --json " +
                file + "; cat " + file),
      {"UNHEALTHY unhealthy_no_launch   100 trials\n  no-launch: ",
       "UNHEALTHY unhealthy_no_launch.claims_nothing   100 trials\n  no-launch: ",
       "  no-expectation: ", "  discards: pair 'unhealthy_domain': ", " outside .domain",
       "  required-class: 2000 drawn inputs had none of the required classes 'value: "
       "negative', 'values.size: one'; ",
       "  UNHEALTHY: no-expectation, no-launch\n", "  UNHEALTHY: no-launch, required-class\n",
       "  UNHEALTHY: no-comparison, no-launch\n", "\n0 of 5 pairs as expected\n",
       R"("check": "required-class")"});
  expect_parts(output_of(hunt + "unhealthy_no_launch"), {"status 1\n"});
}

TEST(UnhealthyProgram, ItsSuiteRunsStoredCasesFirst) {
  const TemporaryDirectory temporary;
  const std::filesystem::path& directory = temporary.path();
  const auto cases = directory / ".warpcheck" / "cases" / "unhealthy_number";
  std::filesystem::create_directories(cases);
  const std::string suite =
      "cd " + directory.string() + " && " UNHEALTHY_SUITE " --gtest_filter=unhealthy_number.*";
  const auto write = [&](int value) {
    std::ofstream(cases / "a.case")
        << R"({"warpcheck_case": 1, "pair": "unhealthy_number", "input": {"value": )" << value
        << R"(, "values": []}, "schedule": [], "settings": {"build": "optimized", "warp_model": )"
        << R"("independent", "checkers": [], "steps_max": 1000, "quantum": 4096, )"
        << R"("resident_blocks": 32}, "ptx_hash": "0000000000000000", "expected": {"kinds": )"
        << R"(["mismatch"], "classes": []}, "tape": ""})";
  };
  write(1000);
  const std::string failed = output_of(suite);
  expect_parts(failed, {"FAIL unhealthy_number\n  mismatch: out = 0, reference 1000\n",
                        "replay .warpcheck/cases/unhealthy_number/a.case\n", "status 1\n"});
  EXPECT_EQ(failed.find("UNHEALTHY"), std::string::npos) << "it gets no new trials\n" << failed;
  write(1);
  expect_parts(output_of(suite), {"UNHEALTHY unhealthy_number   100 trials", "status 1\n"});
  std::ofstream(cases / "a.case") << "{";
  expect_parts(output_of(suite),
               {".warpcheck/cases/unhealthy_number/a.case: not valid JSON", "status 1\n"});
}

TEST(UnhealthyProgram, ItsSuiteFails) {
  expect_parts(output_of(std::string(UNHEALTHY_SUITE) + " --gtest_filter=-*slow*"),
               {"UNHEALTHY unhealthy_no_launch   100 trials",
                "  no-expectation: ", "  discards: ", "  required-class: ", "  no-comparison: ",
                "[  FAILED  ] unhealthy_no_launch.agrees_with_its_reference",
                "[  FAILED  ] unhealthy_no_launch.claims_nothing",
                "[  FAILED  ] unhealthy_discards.agrees_with_its_reference",
                "[  FAILED  ] unhealthy_domain.agrees_with_its_reference",
                "[  FAILED  ] unhealthy_class.agrees_with_its_reference",
                "[  FAILED  ] unhealthy_no_comparison.agrees_with_its_reference", "status 1\n"});
}

}  // namespace
}  // namespace warpcheck
