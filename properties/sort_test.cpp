// Where exactly the published sorts are wrong, and where not.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/check.hpp"
#include "harness/report.hpp"
#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kMax = 0xffffffff;

Json lists_of(const Words& in, std::size_t lists) {
  return {{"in", in},
          {"launch", {{"grid", {1, 1, 1}}, {"block", {lists, 1, 1}}, {"shared_bytes", 0}}}};
}

std::string kinds(std::string_view pair, const Words& in, std::size_t lists,
                  const Settings& settings = {}) {
  return kinds_of(run_case(case_of(pair, lists_of(in, lists), settings)));
}

// All inputs of n elements: of every order that n elements can have, the value that stands for "no
// element" among them.
void for_each_input(std::size_t n, const std::function<void(const Words&)>& visit) {
  Words values{kMax};
  for (std::uint32_t value = 0; value < n; ++value) values.push_back(value);
  std::vector<std::size_t> digits(n, 0);
  while (true) {
    Words in;
    for (const std::size_t digit : digits) in.push_back(values[digit]);
    visit(in);
    std::size_t i = 0;
    while (i < n && ++digits[i] == values.size()) digits[i++] = 0;
    if (i == n) return;
  }
}

struct Smallest {
  std::string pair;
  vgpu::WarpModel model;
  std::string kinds;
  Words in;
  std::size_t lists;
  std::size_t decisions;

  friend std::ostream& operator<<(std::ostream& out, const Smallest& smallest) {
    return out << smallest.pair << (smallest.model == vgpu::WarpModel::lockstep ? " lockstep" : "");
  }
};

class Shrunk : public testing::TestWithParam<Smallest> {};

TEST_P(Shrunk, IsTheSmallest) {
  const Smallest& expected = GetParam();
  CheckOptions options;
  options.trials = 1'000;
  options.settings = {Settings{.warp_model = expected.model}};
  TrialRunner runner;
  const AnyPair& pair = *Registry::global().find(expected.pair);
  const CheckOutcome outcome = check_claim(pair, "", options, runner);
  for (const Report& report : outcome.failures) std::cerr << report_text(report);
}

constexpr auto kIndependent = vgpu::WarpModel::independent;
constexpr auto kLockstep = vgpu::WarpModel::lockstep;
INSTANTIATE_TEST_SUITE_P(
    Sort, Shrunk,
    testing::Values(Smallest{"merge_lists_atomic_published", kIndependent, "data-race, mismatch",
                             {1, 0}, 2, 1},
                    Smallest{"merge_lists_atomic_published", kLockstep, "data-race, mismatch",
                             {1, 0}, 2, 1},
                    Smallest{"merge_lists_tree_no_barrier_published", kIndependent, "", {}, 2, 1},
                    Smallest{"merge_lists_tree_no_barrier_published", kLockstep, "", {}, 2, 1},
                    Smallest{"merge_lists_tree_published", kIndependent, "", {}, 2, 1},
                    Smallest{"merge_lists_tree_published", kLockstep, "", {}, 2, 1},
                    Smallest{"merge_lists_tree_wrong_winner_published", kIndependent, "", {}, 2, 1},
                    Smallest{"merge_lists_tree_wrong_winner_published", kLockstep, "", {}, 2, 1},
                    Smallest{"merge_lists_tree_power_of_two_published", kIndependent, "", {}, 2, 1},
                    Smallest{"merge_lists_tree_power_of_two_published", kLockstep, "", {}, 2, 1},
                    Smallest{"shared_arrays_alias_published", kIndependent, "", {}, 2, 1},
                    Smallest{"shared_arrays_alias_published", kLockstep, "", {}, 2, 1}));

// --- the two sides of the races ---------------------------------------------------------------

const vgpu::Finding* find_race(const Verdict& verdict) {
  for (const vgpu::Finding& finding : verdict.findings) {
    if (finding.kind == vgpu::FindingKind::data_race) return &finding;
  }
  return nullptr;
}

void expect_race(const Case& a_case, const std::string& file, unsigned write, unsigned read) {
  const Verdict verdict = run_case(a_case);
  const vgpu::Finding* race = find_race(verdict);
  ASSERT_NE(race, nullptr);
  EXPECT_EQ(race->space, "shared");
  ASSERT_EQ(race->accesses.size(), 2U);
  for (const vgpu::AccessSide& side : race->accesses) {
    EXPECT_EQ(side.file, file);
    EXPECT_EQ(side.line, side.role == "write" ? write : read);
  }
  EXPECT_NE(race->accesses[0].role, race->accesses[1].role);
}

TEST(MergeListsAtomicPublished, ResetsTheWinnerWhileItIsRead) {
  for (const Settings& settings : kAllSettings) {
    const bool lockstep = settings.warp_model == vgpu::WarpModel::lockstep;
    const std::string pair = "merge_lists_atomic_published";
    const Case a_case = case_of(pair, lists_of({0, 0}, lockstep ? 33 : 2), settings);
    EXPECT_EQ(kinds_of(run_case(a_case)), "data-race");
    expect_race(a_case, "kernels/specimens/merge_lists_atomic.cu", 17, 24);
  }
}

TEST(MergeListsAtomicPublished, NeedsTwoElementsAndTwoLists) {
  const std::string pair = "merge_lists_atomic_published";
  for (const Settings& settings : kAllSettings) {
    for (const std::size_t lists : {1U, 2U, 3U, 33U}) {
      for_each_input(0, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, lists, settings), ""); });
      for_each_input(1, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, lists, settings), ""); });
    }
    for_each_input(2, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, 1, settings), ""); });
    for_each_input(3, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, 1, settings), ""); });
  }
}

TEST(MergeListsAtomicPublished, IsSilentInLockstepWithinAWarp) {
  const Settings lockstep{.warp_model = vgpu::WarpModel::lockstep};
  for (std::size_t lists = 1; lists <= 32; ++lists) {
    EXPECT_EQ(kinds("merge_lists_atomic_published", Words(40, 0), lists, lockstep), "") << lists;
  }
}

}  // namespace
}  // namespace warpcheck
