// warpcheck litmus: the final states of a litmus test that the PTX memory model allows.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/cli.hpp"
#include "harness/case/case_file.hpp"
#include "harness/report/run_report.hpp"
#include "model/enumerate.hpp"
#include "model/parser.hpp"
#include "model/print.hpp"

namespace warpcheck {
namespace {

constexpr std::string_view kLitmusSchema = "warpcheck-litmus/1";

struct LitmusArguments {
  std::vector<std::string> files;
  unsigned unroll = model::EnumerationOptions{}.unroll;
  std::uint64_t limit = model::EnumerationOptions{}.choices_max;
  bool expect = false;
  std::string json;
};

struct LitmusTally {
  std::size_t tests = 0, decided = 0, as_expected = 0, bad = 0;
  Json results = Json::array();
};

// A directory means all tests below it, in order of name.
std::vector<std::string> litmus_files(const std::vector<std::string>& named) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& name : named) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    std::vector<std::string> below;
    for (const auto& entry : fs::recursive_directory_iterator(name)) {
      if (entry.path().extension() == ".litmus") below.push_back(entry.path().string());
    }
    if (below.empty()) throw UsageError(fmt::format("{}: contains no *.litmus file", name));
    std::ranges::sort(below);
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

std::string litmus_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || std::filesystem::is_directory(file)) {
    throw UsageError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
  }
  return text.str();
}

Json litmus_json(const std::string& file, const model::Test& test, const model::Outcome& outcome) {
  Json states = Json::array();
  for (const auto& [state, executions] : outcome.states) {
    Json values = Json::object();
    for (std::size_t index = 0; index < state.size(); ++index) {
      const std::string& name = test.observed[index].name;
      values[name] = state[index] ? Json(*state[index]) : Json(nullptr);
    }
    states.push_back({{"values", values}, {"executions", executions}});
  }
  const std::optional<bool> answer = model::validated(test, outcome);
  return {{"file", file},
          {"name", test.name},
          {"kind", model::kind_of(test)},
          {"condition", model::shown_condition(test)},
          {"states", states},
          {"positive", outcome.positive},
          {"negative", outcome.negative},
          {"observation", model::name_of(model::observation(outcome))},
          {"validated", answer ? Json(*answer) : Json(nullptr)},
          {"has_races", outcome.has_races},
          {"cut", outcome.cut()},
          {"expected", test.expectation.empty() ? Json(nullptr) : Json(test.expectation)}};
}

// Returns what to print of it.
std::string run_litmus_file(const std::string& file, const LitmusArguments& arguments,
                            LitmusTally& tally) {
  const model::Test test = model::parse_test(litmus_text(file));
  for (const std::string& warning : test.warnings) {
    complain(fmt::format("{}: {}", file, warning));
  }
  const model::Outcome outcome =
      model::enumerate(test, {.unroll = arguments.unroll, .choices_max = arguments.limit});
  const std::string_view observed = model::name_of(model::observation(outcome));
  std::string text = model::shown_outcome(test, outcome);
  if (arguments.expect) {
    const bool met = observed == test.expectation;
    tally.as_expected += met ? 1 : 0;
    if (!met) {
      const bool has = !test.expectation.empty();
      text += fmt::format(
          "NOT AS EXPECTED {}: {}\n\n", file,
          has ? fmt::format("Result: {}", test.expectation) : "it has no comment 'Result: ...'");
    }
  }
  tally.decided += model::validated(test, outcome) ? 1 : 0;
  if (!arguments.json.empty()) tally.results.push_back(litmus_json(file, test, outcome));
  return text;
}

int run_litmus(const LitmusArguments& arguments) {
  LitmusTally tally;
  for (const std::string& file : litmus_files(arguments.files)) {
    ++tally.tests;
    std::string text;
    try {
      text = run_litmus_file(file, arguments, tally);
    } catch (const model::LitmusError& error) {
      ++tally.bad;
      complain(fmt::format("{}:{}", file, error.what()));
    } catch (const UsageError& error) {
      ++tally.bad;
      complain(error.what());
    }
    print(text);
  }
  if (arguments.expect)
    print(fmt::format("{} of {} as expected\n", tally.as_expected, tally.tests));
  if (!arguments.json.empty()) {
    const Json all{
        {"schema", kLitmusSchema}, {"version", kReportVersion}, {"tests", tally.results}};
    write_file_atomically(arguments.json, all.dump(2) + "\n");
  }
  if (tally.bad > 0) return kCannot;
  const bool good =
      tally.decided == tally.tests && (!arguments.expect || tally.as_expected == tally.tests);
  return good ? kNothingFound : kFindings;
}

void add_litmus_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<LitmusArguments>();
  command.add_option("FILE", arguments->files, "Litmus tests, or directories of *.litmus files")
      ->required();
  command
      .add_option("--unroll", arguments->unroll,
                  "Most iterations of each loop; iterations without effect are not counted")
      ->capture_default_str();
  command.add_option("--limit", arguments->limit, "Most choices to try for one test")
      ->capture_default_str();
  command.add_flag(
      "--expect", arguments->expect,
      "Compare each observation with 'Result: Never' (Sometimes, Always) in a comment");
  command.add_option("--json", arguments->json, "Write the states and verdicts as JSON");
  command.footer(
      "All executions that the axioms of the PTX memory model (PTX ISA, chapter 8) allow, as\n"
      "final states, in the layout of the herd family of tools.\n"
      "\n"
      "Examples:\n"
      "  warpcheck litmus mp.litmus\n"
      "  warpcheck litmus --expect model/tests\n"
      "\n"
      "Exit status: 0 every test was decided (--expect: and is as expected), 1 a test was not\n"
      "decided within --unroll and --limit or is not as expected, 2 bad usage, a damaged file, or\n"
      "an unknown instruction.");
  command.callback([&run, arguments] { run = [arguments] { return run_litmus(*arguments); }; });
}

const RegisteredCommand kLitmusCommand{
    {.rank = 105,
     .name = "litmus",
     .help = "List the final states of a litmus test that the PTX memory model allows",
     .add = add_litmus_to}};

}  // namespace
}  // namespace warpcheck
