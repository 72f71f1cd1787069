// Where exactly the published sorts are wrong, and where they are right.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "harness/shrink/shrink.hpp"
#include "harness/trial/schedule_search.hpp"
#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kLargestWord = 0xffffffff;

Json lists_of(const Words& in, std::size_t lists) {
  return {{"in", in},
          {"launch", {{"grid", {1, 1, 1}}, {"block", {lists, 1, 1}}, {"shared_bytes", 0}}}};
}

std::string kinds(std::string_view pair, const Words& in, std::size_t lists,
                  const Settings& settings = {}) {
  return kinds_of(run_case(case_of(pair, lists_of(in, lists), settings)));
}

// All inputs of n elements: every order that n elements can have, including the value for "no
// element".
void for_each_input(std::size_t n, const std::function<void(const Words&)>& visit) {
  Words values{kLargestWord};
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

// --- the smallest cases -------------------------------------------------------------------------

constexpr auto kIndependent = vgpu::WarpModel::independent;
constexpr auto kLockstep = vgpu::WarpModel::lockstep;

struct Smallest {
  std::string pair;
  vgpu::WarpModel model;
  std::size_t lists_from;  // in the case that is shrunk
  std::string kinds;
  std::size_t elements, threads, decisions;

  friend std::ostream& operator<<(std::ostream& out, const Smallest& smallest) {
    return out << smallest.pair << (smallest.model == kLockstep ? " lockstep" : "");
  }
};

class Shrunk : public testing::TestWithParam<Smallest> {};

TEST_P(Shrunk, IsTheSmallest) {
  const Smallest& expected = GetParam();
  Words in;
  for (std::uint32_t i = 0; i < 45; ++i) in.push_back(i * 29 % 17);
  for (const cudart::Build build : {cudart::Build::optimized, cudart::Build::unoptimized}) {
    Case a_case = case_of(expected.pair, lists_of(in, expected.lists_from),
                          {.build = build, .warp_model = expected.model});
    TrialRunner runner;
    for (std::uint64_t i = 0; i < 300 && kinds_of(runner.run(a_case)) != expected.kinds; ++i) {
      a_case.schedule = policy(i);
    }
    const ShrunkCase shrunk = shrink(a_case, runner);
    EXPECT_TRUE(shrunk.kept);
    EXPECT_EQ(kinds_of(shrunk.verdict), expected.kinds);
    const CaseSize size = size_of(shrunk.a_case, shrunk.verdict.schedule);
    EXPECT_EQ(size.elements, expected.elements);
    EXPECT_EQ(size.threads, expected.threads);
    EXPECT_EQ(size.decisions, expected.decisions);
    EXPECT_EQ(kinds_of(run_case(shrunk.a_case)), expected.kinds);  // again
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sort, Shrunk,
    testing::Values(
        Smallest{"merge_lists_atomic_published", kIndependent, 7,
                 "data-race, uninitialized-read, mismatch", 2, 2, 1},
        Smallest{"merge_lists_tree_no_barrier_published", kIndependent, 7, "data-race, mismatch", 2,
                 2, 1},
        Smallest{"merge_lists_tree_no_barrier_published", kLockstep, 40, "data-race, mismatch", 33,
                 33, 0},
        Smallest{"merge_lists_tree_wrong_winner_published", kIndependent, 7, "mismatch", 4, 4, 0},
        Smallest{"merge_lists_tree_wrong_winner_published", kLockstep, 7, "mismatch", 4, 4, 0},
        Smallest{"merge_lists_tree_power_of_two_published", kIndependent, 7, "mismatch", 3, 3, 0},
        Smallest{"merge_lists_tree_power_of_two_published", kLockstep, 7, "mismatch", 3, 3, 0},
        Smallest{"shared_arrays_alias_published", kIndependent, 7, "mismatch", 2, 1, 0},
        Smallest{"shared_arrays_alias_published", kLockstep, 7, "mismatch", 2, 1, 0}));

// --- the two sides of the races ------------------------------------------------------------------

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

TEST(MergeListsTreeNoBarrier, MovesOnAListThatIsBeingRead) {
  for (const Settings& settings : kAllSettings) {
    // In lockstep list 32 must win, because its thread is the first of another warp.
    const std::size_t lists = settings.warp_model == kLockstep ? 33 : 2;
    Words in(lists, 1);
    in.back() = 0;
    expect_race(case_of("merge_lists_tree_no_barrier_published", lists_of(in, lists), settings),
                "kernels/specimens/merge_lists_tree.cu", 43, 27);
  }
}

TEST(MergeListsTreeNoBarrier, NeedsTwoElementsAndTwoLists) {
  const std::string pair = "merge_lists_tree_no_barrier_published";
  for (const Settings& settings : kAllSettings) {
    for (const std::size_t lists : {1U, 2U, 3U, 33U}) {
      for_each_input(0, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, lists, settings), ""); });
      for_each_input(1, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, lists, settings), ""); });
    }
    for_each_input(3, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, 1, settings), ""); });
  }
}

TEST(MergeListsTreeWrongWinner, NeedsFourListsAndFourElements) {
  const std::string pair = "merge_lists_tree_wrong_winner_published";
  EXPECT_EQ(kinds(pair, {0, 0, 1, 0}, 4), "mismatch");
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds(pair, {1, 0, 0, 0}, 4, settings), "mismatch");
    for (std::size_t n = 0; n <= 3; ++n) {
      for (std::size_t lists = 1; lists <= 5; ++lists) {
        for_each_input(n,
                       [&](const Words& in) { EXPECT_EQ(kinds(pair, in, lists, settings), ""); });
      }
    }
  }
  for (std::size_t lists = 1; lists <= 3; ++lists) {
    for_each_input(4, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, lists), ""); });
  }
}

TEST(MergeListsTreePowerOfTwo, IsWrongForAllOtherNumbersOfLists) {
  const std::string pair = "merge_lists_tree_power_of_two_published";
  for (const Settings& settings : kAllSettings) {
    std::set<std::size_t> right;
    for (std::size_t lists = 1; lists <= 70; ++lists) {
      if (kinds(pair, Words(lists, 0), lists, settings).empty()) right.insert(lists);
    }
    EXPECT_EQ(right, (std::set<std::size_t>{1, 2, 4, 8, 16, 32, 64}));
    for (std::size_t n = 0; n <= 2; ++n) {
      for (std::size_t lists = 1; lists <= 9; ++lists) {
        for_each_input(n,
                       [&](const Words& in) { EXPECT_EQ(kinds(pair, in, lists, settings), ""); });
      }
    }
  }
}

TEST(SharedArraysAlias, IsWrongWhereAListHasDifferentElements) {
  const std::string pair = "shared_arrays_alias_published";
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds(pair, {1, 0}, 1, settings), "mismatch");
    EXPECT_EQ(kinds(pair, {0, 1}, 1, settings), "mismatch");
    EXPECT_EQ(kinds(pair, {6, 6}, 1, settings), "");
    for (std::size_t n = 0; n <= 3; ++n) {  // lists of one element
      for_each_input(n, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, 3, settings), ""); });
    }
  }
}

// All inputs of up to four elements, including "no element", in up to five lists.
TEST(Sorts, AreRightForEveryShortInput) {
  for (const char* const pair : {"merge_lists_atomic", "merge_lists_tree", "radix_sort"}) {
    for (std::size_t n = 0; n <= 4; ++n) {
      for (std::size_t lists = 1; lists <= 5; ++lists) {
        for_each_input(n, [&](const Words& in) { EXPECT_EQ(kinds(pair, in, lists), "") << pair; });
      }
    }
  }
}

}  // namespace
}  // namespace warpcheck
