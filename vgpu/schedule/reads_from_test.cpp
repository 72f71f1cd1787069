// The guidance of the strategy `reads_from`, and that it reaches rare pairs soon; and the
// components that it shares with `pos`.
#include "vgpu/schedule/reads_from.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/schedule/schedule_testing.hpp"
#include "vgpu/schedule/touched_words.hpp"

namespace warpcheck::vgpu {
namespace {

// A writes twice; C writes once, after many accesses without races; B reads.  B sees the first
// write of A only if it reads between A's writes, and may see C's write only if it reads last.
AccessProgram rare_reads() {
  std::vector<TestAccess> late(30);
  late.push_back({.word = 1});
  return {{{.word = 1}, {.word = 1}}, {{.word = 1, .writes = false}}, late};
}

// Returns the number of trials of one search until `is_met` holds; `max` if it does not hold
// before.
template <class Make, class IsMet>
int trials_until(std::uint64_t first_seed, int max, Make make, IsMet is_met) {
  for (int i = 0; i < max; ++i) {
    auto strategy = make(first_seed + static_cast<std::uint64_t>(i));
    if (is_met(order_under(strategy, rare_reads()))) return i;
  }
  return max;
}

bool reads_the_late_write(const std::string& order) {
  return order.find_last_of('B') > order.find_last_of('C') &&
         order.find_last_of('C') > order.find_last_of('A');
}

TEST(ReadsFrom, MeetsARarePairSoonerThanPosDoes) {
  constexpr int kSearches = 40, kMax = 400;
  int guided = 0, unguided = 0;
  for (std::uint64_t search = 0; search < kSearches; ++search) {
    ReadsFromSeen seen;
    const int its = trials_until(
        1000 * search, kMax, [&](std::uint64_t seed) { return ReadsFrom(seed, &seen); },
        reads_the_late_write);
    EXPECT_LT(its, 60);
    guided += its;
    unguided += trials_until(
        1000 * search, kMax, [](std::uint64_t seed) { return Pos(seed); }, reads_the_late_write);
  }
  EXPECT_LT(3 * guided, unguided);
}

TEST(ReadsFrom, IsAFunctionOfItsSeedAndOfTheTrialsBefore) {
  ReadsFromSeen one, another;
  std::vector<std::string> ones, others, alone;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    ReadsFrom a(seed, &one), b(seed, &another), c(seed);
    ones.push_back(order_under(a, rare_reads()));
    others.push_back(order_under(b, rare_reads()));
    alone.push_back(order_under(c, rare_reads()));
  }
  EXPECT_EQ(ones, others);
  EXPECT_NE(ones, alone);
}

TEST(ReadsFromSeen, AimsAtWhatWasSeenAndAimedAtLeast) {
  using Relation = ReadsFromPair::Relation;
  const ReadsFromPair often{1, 9, Relation::block}, never{2, 9, Relation::block};
  const ReadsFromPair enforced{3, 9, Relation::lane};
  Prng prng(1);
  ReadsFromSeen seen;
  EXPECT_EQ(seen.aim(prng), std::nullopt);
  seen.add_seen(enforced);
  EXPECT_EQ(seen.aim(prng), std::nullopt);
  for (int i = 0; i < 3; ++i) seen.add_seen(often);
  seen.add_possible(often);
  seen.add_possible(never);
  EXPECT_TRUE(seen.has_seen(often));
  EXPECT_FALSE(seen.has_seen(never));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(seen.aim(prng), never);
  // both are equally frequent now, so either may be chosen
  EXPECT_TRUE(seen.aim(prng).has_value());
  EXPECT_FALSE(seen.has_seen(never));
}

TEST(TouchedWords, AreRememberedUntilTheyAreTooMany) {
  TouchedWords touched;
  EXPECT_EQ(touched.find(5), nullptr);
  for (std::uint64_t word = 1; word <= 1000; ++word) touched.at(word).writer.site = word;
  for (std::uint64_t word = 1; word <= 1000; ++word) {
    ASSERT_NE(touched.find(word), nullptr);
    EXPECT_EQ(touched.find(word)->writer.site, word);
  }
  for (std::uint64_t word = 1; word <= 100'000; ++word) touched.at(word).writer.site = word;
  EXPECT_EQ(touched.find(1), nullptr);
  ASSERT_NE(touched.find(100'000), nullptr);
  touched.clear();
  EXPECT_EQ(touched.find(100'000), nullptr);
}

TEST(TouchedWords, BarriersAndProgramOrderSayWhatComesFirst) {
  const Toucher mine{.warp = {0, 1}, .lane = 3, .phase = 2};
  Toucher other = mine;
  EXPECT_FALSE(is_unordered(mine, other));
  other.lane = 4;
  EXPECT_TRUE(is_unordered(mine, other));
  other.phase = 1;
  EXPECT_FALSE(is_unordered(mine, other));
  other.warp = {0, 2};
  EXPECT_FALSE(is_unordered(mine, other));
  other.phase = 2;
  EXPECT_TRUE(is_unordered(mine, other));
  other = {.warp = {1, 1}, .lane = 3, .phase = 1};
  EXPECT_TRUE(is_unordered(mine, other));
}

// The strategy is no longer asked about accesses that raced with nothing, but about others.
TEST(Pos, IsAskedWhereAccessesRace) {
  Pos pos(1);
  const AccessProgram program(6, {{.word = 0}, {.word = 1}});
  order_under(pos, program);
  EXPECT_EQ(pos.next_access(0, {0, 7}, 0), 1U);
  EXPECT_EQ(pos.next_access(0, {0, 7}, 1), 1U);
}

}  // namespace
}  // namespace warpcheck::vgpu
