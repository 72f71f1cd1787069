// warpcheck orders and warpcheck mutate as a user runs them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell_test_fixture.hpp"

namespace {

using CliOrders = ShellTest;
using nlohmann::json;

json json_in(const std::filesystem::path& path) { return json::parse(std::ifstream(path)); }

TEST_F(CliOrders, NeededBarrierHasACaseThatReplays) {
  const Outcome outcome = run("orders scan_hillis_steele --json orders.json --html orders.html");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n')),
            "scan_hillis_steele: 1 order: 1 needed, 0 redundant, 0 not known");
  const json order = json_in(directory_ / "orders.json")["pairs"][0]["orders"][0];
  EXPECT_EQ(order["verdict"], "needed");
  EXPECT_EQ(order["instruction"], "bar.sync");
  EXPECT_EQ(order["places"][0]["line"], 17);
  EXPECT_EQ(order["kinds"], json::array({"data-race"}));
  const Outcome replayed = run("replay --expect-recorded " + order["case"].get<std::string>());
  EXPECT_EQ(replayed.status, 0) << replayed.out;
  std::ifstream page(directory_ / "orders.html");
  const std::string text(std::istreambuf_iterator<char>(page), {});
  EXPECT_NE(text.find("<b class=\"needed\">needed</b> bar.sync removed"), std::string::npos);
}

TEST_F(CliOrders, SpecimenIsRefused) {
  const Outcome outcome = run("orders scan_hillis_steele_published");
  expect_one_line_error(outcome, "pair 'scan_hillis_steele_published' fails as it is");
}

TEST_F(CliOrders, PairIsRequired) {
  expect_one_line_error(run("orders"), "PAIR is required (try warpcheck orders --help)");
  expect_one_line_error(run("mutate no_such_pair"), "no pair 'no_such_pair'");
  expect_one_line_error(run("orders -- ./no_such_program"),
                        "./no_such_program: No such file or directory");
}

// Every mutant of a good suite is killed, or proved equivalent.
TEST_F(CliOrders, MutantsOfAScanAreKilledOrEquivalent) {
  const Outcome outcome = run("mutate scan_hillis_steele --json mutants.json");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n')),
            "scan_hillis_steele: 16 mutants: 15 killed, 0 survived, 1 equivalent");
  const json report = json_in(directory_ / "mutants.json");
  for (const json& mutant : report["pairs"][0]["mutants"]) {
    const bool is_loop_bound = mutant["change"] == "setp.lt.u32 with 2 made 1";
    EXPECT_EQ(mutant["verdict"], is_loop_bound ? "equivalent" : "killed") << mutant;
    if (mutant["kind"] == "order") {
      EXPECT_EQ(mutant["kinds"], json::array({"data-race"}));
    }
  }
}

// One trial is a suite that notices little.
TEST_F(CliOrders, MutantsOfAWeakSuiteSurvive) {
  const Outcome outcome = run("mutate histogram_global --trials 1 --points 0");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n')),
            "histogram_global: 6 mutants: 1 killed, 5 survived, 0 equivalent");
  EXPECT_NE(outcome.out.find(
                "  survived    histogram.cu:16  atom.global.add.u32 made a load and a store\n"),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(run("mutate histogram_global").status, 0);
}

}  // namespace
