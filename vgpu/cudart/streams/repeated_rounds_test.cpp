#include "vgpu/cudart/streams/repeated_rounds.hpp"

#include <gtest/gtest.h>

namespace warpcheck::cudart {
namespace {

using Kind = RepeatedRounds::Kind;

class RepeatedRoundsTest : public testing::Test {
 protected:
  bool add(std::uint64_t hash, Kind kind) {
    return rounds_.add(hash, kind, [&] { return memory_; });
  }
  // Runs so many rounds of a fill, a launch and a read.  Returns the number of the one that was
  // told; 0: none.
  std::uint64_t run(std::uint64_t count, Kind third = Kind::read) {
    std::uint64_t told = 0;
    for (std::uint64_t i = 1; i <= count; ++i) {
      if (changes_) ++memory_;
      const bool is_told = add(1, Kind::other);
      EXPECT_FALSE(add(2, Kind::launch));
      EXPECT_FALSE(add(3, third));
      if (is_told) {
        EXPECT_EQ(told, 0u);
        told = i;
      }
    }
    return told;
  }

  RepeatedRounds rounds_;
  std::uint64_t memory_ = 5;
  bool changes_ = false;
};

TEST_F(RepeatedRoundsTest, AreToldOnce) {
  EXPECT_EQ(run(RepeatedRounds::kRounds), 0u);
  EXPECT_EQ(rounds_.looks(), 0u);
  EXPECT_NE(run(10), 0u);
  EXPECT_EQ(run(50'000), 0u);
  EXPECT_EQ(rounds_.looks(), RepeatedRounds::kSame);
}

TEST_F(RepeatedRoundsTest, WhoseMemoryChangesAreLookedAtLessAndLess) {
  changes_ = true;
  EXPECT_EQ(run(1'000'000), 0u);
  EXPECT_LE(rounds_.looks(), 2u * 7);
  changes_ = false;
  EXPECT_NE(run(1'000'000), 0u);
}

TEST_F(RepeatedRoundsTest, WithoutAReadAreBenchmarks) { EXPECT_EQ(run(100'000, Kind::other), 0u); }

TEST_F(RepeatedRoundsTest, BeginAgainAfterAnythingElse) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(run(RepeatedRounds::kRounds - 10), 0u);
    add(9, Kind::launch);
  }
  EXPECT_NE(run(RepeatedRounds::kRounds + 10), 0u);
}

TEST_F(RepeatedRoundsTest, MayRepeatALaunchWithin) {
  bool is_told = false;
  for (int i = 0; i < 11'000; ++i) {
    for (int launch = 0; launch < 5; ++launch) is_told |= add(2, Kind::launch);
    is_told |= add(3, Kind::read);
  }
  EXPECT_TRUE(is_told);
}

}  // namespace
}  // namespace warpcheck::cudart
