#include "fuzz/mutator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "fuzz/byte_schedule.hpp"
#include "fuzz/input_layout.hpp"

namespace warpcheck::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Appends a byte if there is room, else changes the first.
std::size_t append(std::span<std::uint8_t> bytes, std::size_t size) {
  if (size == bytes.size()) {
    ++bytes[0];
    return size;
  }
  bytes[size] = 0xab;
  return size + 1;
}

Bytes to_bytes(std::span<const std::uint8_t> view) { return {view.begin(), view.end()}; }

TEST(Mutator, IsAFunctionOfItsArguments) {
  const Bytes input(40, 3);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(mutate(input, 100, seed, {}, append), mutate(input, 100, seed, {}, append));
  }
}

TEST(Mutator, EditsDataOrScheduleNeverBoth) {
  Bytes input(10, 1);
  for (std::uint8_t i = 0; i < 3 * kDecisionBytes; ++i) input.push_back(i);
  input.insert(input.end(), {3, 9, 0});
  const InputLayout before = split_input(input);
  int data_edits = 0, schedule_edits = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Bytes mutant = mutate(input, 4096, seed, {}, append);
    const InputLayout after = split_input(mutant);
    const bool data = to_bytes(after.data) != to_bytes(before.data);
    const bool schedule = to_bytes(after.decisions) != to_bytes(before.decisions);
    EXPECT_FALSE(data && schedule) << seed;
    data_edits += data;
    schedule_edits += schedule;
  }
  EXPECT_GT(data_edits, 300);
  EXPECT_GT(schedule_edits, 300);
}

TEST(Mutator, ReachesEverySettingAndDecisionCount) {
  std::set<std::size_t> counts;
  std::set<int> modes;
  Bytes input;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    input = mutate(input, 1024, seed, {}, append);
    const InputLayout layout = split_input(input);
    counts.insert(layout.decision_count());
    modes.insert(2 * layout.unoptimized() + layout.lockstep());
  }
  EXPECT_EQ(modes.size(), 4u);
  EXPECT_EQ(*counts.begin(), 0u);
  EXPECT_EQ(*counts.rbegin(), kDecisionsMax);
}

TEST(Mutator, StaysWithinTheSize) {
  for (const std::size_t size_max : {std::size_t{3}, std::size_t{10}, std::size_t{100}}) {
    Bytes input(80, 0xff);
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      const Bytes mutant = mutate(input, size_max, seed, {}, append);
      EXPECT_LE(mutant.size(), size_max);
      EXPECT_GE(mutant.size(), kTrailerBytes);
    }
  }
}

TEST(Mutator, PlacesDecisionsWhereTheLastTrialHadAccesses) {
  const TrialShape shape{{{.accesses_max = 1'000}, {.accesses_max = 10}}};
  int met = 0, decided = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const Bytes mutant = mutate({}, 64, seed, shape, append);
    const InputLayout layout = split_input(mutant);
    if (layout.decision_count() == 0) continue;
    ++decided;
    ByteSchedule schedule(layout);
    schedule.begin(1, 1, 1);
    met += schedule.next_access(1, {0, 0}, 0) <= 10;
  }
  EXPECT_GT(decided, 500);
  EXPECT_GT(met, decided / 4);
}

TEST(Mutator, MakesSomethingOfNothing) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_GE(mutate({}, 64, seed, {}, append).size(), kTrailerBytes);
  }
}

}  // namespace
}  // namespace warpcheck::fuzz
