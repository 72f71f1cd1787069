#include "vgpu/check/counters/access_cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <set>

#include "vgpu/machine/compute/compute.hpp"

namespace warpcheck::vgpu {
namespace {

using Offsets = std::array<std::uint32_t, kWarpLanes>;

Offsets every(std::uint32_t step) {
  Offsets offsets{};
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) offsets[lane] = lane * step;
  return offsets;
}

struct Lanes {
  std::uint32_t bytes = 4;
  std::uint32_t mask = ~0u;
  std::uint64_t first = 0;
  AccessKind kind = AccessKind::read;
};

std::pair<std::uint32_t, std::uint32_t> pair_of(AccessCost cost) {
  return {cost.moved, cost.ideal};
}

std::pair<std::uint32_t, std::uint32_t> sectors(const Offsets& offsets, Lanes lanes = {}) {
  AccessCosts costs;
  return pair_of(costs.sectors(
      {.mask = lanes.mask, .bytes = lanes.bytes, .first = lanes.first, .offsets = offsets.data()}));
}

std::pair<std::uint32_t, std::uint32_t> wavefronts(const Offsets& offsets, Lanes lanes = {}) {
  AccessCosts costs;
  return pair_of(costs.wavefronts(
      {.mask = lanes.mask, .bytes = lanes.bytes, .offsets = offsets.data()}, lanes.kind));
}

TEST(AccessCost, SectorsAreThoseThatTheLanesTouch) {
  EXPECT_EQ(sectors(every(4)), std::pair(4u, 4u));
  EXPECT_EQ(sectors(every(4), {.first = 4}), std::pair(5u, 4u));
  EXPECT_EQ(sectors(every(8)), std::pair(8u, 4u));
  EXPECT_EQ(sectors(every(128)), std::pair(32u, 4u));
  EXPECT_EQ(sectors(every(0)), std::pair(1u, 1u));
  EXPECT_EQ(sectors(every(1), {.bytes = 1}), std::pair(1u, 1u));
  EXPECT_EQ(sectors(every(16), {.bytes = 16}), std::pair(16u, 16u));
  EXPECT_EQ(sectors(every(4), {.mask = 0xaaaaaaaa}), std::pair(4u, 2u));
  Offsets permuted;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) permuted[lane] = 4 * (lane * 7 % 32);
  EXPECT_EQ(sectors(permuted), std::pair(4u, 4u));
}

TEST(AccessCost, ABankGivesOneWordInAWavefront) {
  EXPECT_EQ(wavefronts(every(4)), std::pair(1u, 1u));
  EXPECT_EQ(wavefronts(every(8)), std::pair(2u, 1u));
  EXPECT_EQ(wavefronts(every(12)), std::pair(1u, 1u));
  EXPECT_EQ(wavefronts(every(128)), std::pair(32u, 1u));
  EXPECT_EQ(wavefronts(every(132)), std::pair(1u, 1u));
  EXPECT_EQ(wavefronts(every(128), {.mask = 0xffff}), std::pair(16u, 1u));
}

TEST(AccessCost, LanesThatReadOneWordShareIt) {
  EXPECT_EQ(wavefronts(every(0)), std::pair(1u, 1u));
  EXPECT_EQ(wavefronts(every(1), {.bytes = 1}), std::pair(1u, 1u));
  Offsets two;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) two[lane] = 128 * (lane & 1);
  EXPECT_EQ(wavefronts(two), std::pair(2u, 1u));
}

TEST(AccessCost, LanesOfAnAtomicShareNoWord) {
  EXPECT_EQ(wavefronts(every(4), {.kind = AccessKind::atomic}), std::pair(1u, 1u));
  EXPECT_EQ(wavefronts(every(0), {.kind = AccessKind::atomic}), std::pair(32u, 1u));
}

TEST(AccessCost, PairsThatReadTheSameShareATurn) {
  Offsets pairs, far;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    pairs[lane] = 16 * (lane / 2);
    far[lane] = 16 * (lane % 8);
  }
  EXPECT_EQ(wavefronts(pairs, {.bytes = 16}), std::pair(2u, 2u));
  EXPECT_EQ(wavefronts(pairs, {.bytes = 16, .kind = AccessKind::write}), std::pair(4u, 4u));
  EXPECT_EQ(wavefronts(far, {.bytes = 16}), std::pair(4u, 4u));
  EXPECT_EQ(wavefronts(every(0), {.bytes = 16}), std::pair(2u, 2u));
  EXPECT_EQ(wavefronts(every(8), {.bytes = 8, .mask = 0xaaaaaaaa}), std::pair(2u, 1u));
  EXPECT_EQ(wavefronts(pairs, {.bytes = 16, .mask = ~(1u << 5)}), std::pair(2u, 2u));
  EXPECT_EQ(wavefronts(every(16), {.bytes = 16, .mask = 0x11111111}), std::pair(4u, 2u));
}

TEST(AccessCost, WideLanesTakeTurnsByHalvesAndQuarters) {
  EXPECT_EQ(wavefronts(every(8), {.bytes = 8}), std::pair(2u, 2u));
  EXPECT_EQ(wavefronts(every(16), {.bytes = 8}), std::pair(4u, 2u));
  EXPECT_EQ(wavefronts(every(8), {.bytes = 8, .mask = 0xffff}), std::pair(1u, 1u));
  EXPECT_EQ(wavefronts(every(16), {.bytes = 16}), std::pair(4u, 4u));
  EXPECT_EQ(wavefronts(every(32), {.bytes = 16}), std::pair(8u, 4u));
  EXPECT_EQ(wavefronts(every(80), {.bytes = 16}), std::pair(4u, 4u));
  EXPECT_EQ(wavefronts(every(128), {.bytes = 16}), std::pair(32u, 4u));
}

// What the definitions say, without the ways that are fast.
AccessCost sectors_of(const AccessedLanes& lanes, const Offsets& offsets) {
  std::set<std::uint64_t> sectors;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    if ((lanes.mask >> lane & 1) == 0) continue;
    sectors.insert((lanes.first + offsets[lane]) / kSectorBytes);
  }
  const auto moved = static_cast<std::uint32_t>(sectors.size());
  const auto active = static_cast<std::uint32_t>(std::popcount(lanes.mask));
  return {moved, std::min(moved, (active * lanes.bytes + 31) / 32)};
}

TEST(AccessCost, RowsCostWhatTheirLanesCost) {
  std::mt19937 random(7);
  AccessCosts costs;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t bytes = 1u << random() % 5;
    const auto pattern = std::array{Pattern::strided, Pattern::uniform, Pattern::scattered}[i % 3];
    AccessedLanes lanes{.mask = i % 2 == 0 ? ~0u : static_cast<std::uint32_t>(random() | 1),
                        .bytes = bytes,
                        .pattern = pattern,
                        .first = 4096 + random() % 64 * bytes};
    Offsets offsets;
    const std::uint32_t step = random() % 40;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      offsets[lane] = pattern == Pattern::strided   ? lane * bytes
                      : pattern == Pattern::uniform ? 0
                      : i % 5 == 0 ? static_cast<std::uint32_t>(random() % 64) * bytes
                                   : lane * step * bytes;
    }
    if (pattern == Pattern::scattered) lanes.offsets = offsets.data();
    const AccessedLanes slow{lanes.mask, bytes, Pattern::scattered, lanes.first, offsets.data()};
    ASSERT_EQ(pair_of(costs.sectors(lanes)), pair_of(sectors_of(slow, offsets))) << i;
    for (const AccessKind kind : {AccessKind::read, AccessKind::write, AccessKind::atomic}) {
      ASSERT_EQ(pair_of(costs.wavefronts(lanes, kind)), pair_of(costs.wavefronts(slow, kind)))
          << i << " of " << bytes << " bytes";
    }
    ASSERT_EQ(costs.places(lanes), costs.places(slow)) << i;
  }
}

// The offsets of random lanes, many of which are in few banks or at few places.
Offsets random_offsets(std::mt19937& random) {
  const std::uint32_t places = 1u << random() % 17, step = 2u << random() % 6;
  Offsets offsets;
  for (std::uint32_t& offset : offsets) {
    offset = static_cast<std::uint32_t>(random() % places) * step + step / 2 % 2;
  }
  return offsets;
}

// Calls the function with the loops of each instruction set of the host.
template <typename Function>
void for_each_level(Function function) {
  for (const SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > host_simd_level()) continue;
    SCOPED_TRACE(name_of(level));
    function(lane_shape_functions(name_of(level)));
  }
}

TEST(LaneShapes, CountWhatTheDefinitionsSay) {
  for_each_level([](const LaneShapeFunctions& functions) {
    std::mt19937 random(11);
    for (int i = 0; i < 2'000; ++i) {
      const Offsets offsets = random_offsets(random);
      std::array<std::uint32_t, kBanks> lanes_of_bank{};
      for (const std::uint32_t offset : offsets) ++lanes_of_bank[offset / kBankBytes % kBanks];
      ASSERT_EQ(functions.lanes_of_busiest_bank(offsets.data()),
                *std::ranges::max_element(lanes_of_bank))
          << i;
      const std::uint32_t add = random() % 32, shift = 1 + random() % 5;
      std::set<std::uint32_t> keys;
      for (const std::uint32_t offset : offsets) keys.insert((offset + add) >> shift);
      ASSERT_EQ(functions.different(offsets.data(), add, shift), keys.size()) << i;
    }
  });
}

TEST(LaneShapes, CountWordsOfSharedMemory) {
  for_each_level([](const LaneShapeFunctions& functions) {
    std::mt19937 random(13);
    for (int i = 0; i < 2'000; ++i) {
      // Some lie within 256 words, from any word, and some do not.
      const std::uint32_t places = 1u << random() % 10, begin = random() % 1000;
      Offsets offsets;
      for (std::uint32_t& offset : offsets) {
        offset = (begin + static_cast<std::uint32_t>(random() % places)) * kBankBytes;
      }
      const SharedWords words = functions.shared_words(offsets.data());
      ASSERT_EQ(words.lanes_of_busiest_bank, functions.lanes_of_busiest_bank(offsets.data())) << i;
      ASSERT_EQ(words.different, functions.different(offsets.data(), 0, 2)) << i;
    }
  });
}

TEST(LaneShapes, AreMovedIfAllLanesAre) {
  for_each_level([](const LaneShapeFunctions& functions) {
    std::mt19937 random(12);
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      const Offsets earlier = random_offsets(random);
      const auto shift = static_cast<std::uint32_t>(random());
      Offsets moved = earlier;
      for (std::uint32_t& offset : moved) offset += shift;
      EXPECT_TRUE(functions.is_moved(moved.data(), earlier.data()));
      moved[lane] ^= 1u << lane;
      EXPECT_FALSE(functions.is_moved(moved.data(), earlier.data())) << lane;
    }
  });
}

}  // namespace
}  // namespace warpcheck::vgpu
