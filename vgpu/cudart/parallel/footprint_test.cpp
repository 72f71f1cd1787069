#include "vgpu/cudart/parallel/footprint.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::AccessKind;
using vgpu::kWarpLanes;
using vgpu::Pattern;
using Offsets = std::array<std::uint32_t, kWarpLanes>;

constexpr std::uint32_t kPages = 3;

// An allocation that ends within the last word of its last page, and a machine that runs a launch.
struct FootprintTest : testing::Test {
  std::vector<std::byte> data = std::vector<std::byte>(kPages * kParallelPageBytes - 2);
  vgpu::Allocation allocation;
  vgpu::Checkers checkers{vgpu::CheckerSet{}, vgpu::WarpModel::independent};
  SavedPages saved;
  vgpu::SharedGrid group{0, 1};
  Footprint footprint{saved};

  FootprintTest() {
    allocation.id = 2;
    allocation.space = ptx::Space::global;
    allocation.data = data.data();
    allocation.bytes = data.size();
    saved.begin(checkers, std::uint64_t{1} << 30);
    footprint.begin_whole(group);
  }
  [[nodiscard]] vgpu::RowAccess row(Pattern pattern, std::uint32_t bytes) const {
    return {.allocation = &allocation,
            .mask = ~0u,
            .space = ptx::Space::global,
            .pattern = pattern,
            .bytes = static_cast<std::uint8_t>(bytes),
            .element_bytes = static_cast<std::uint8_t>(bytes)};
  }
  // Returns the numbers of the words that have been touched.
  struct Words {
    std::set<std::uint32_t> read, written;
    bool operator==(const Words&) const = default;
  };
  Words take() {
    const TouchedWords touched = footprint.take_words();
    Words words;
    for (const TouchedWords::Page& page : touched.pages()) {
      for (std::uint32_t i = 0; i < kParallelPageBytes / 4; ++i) {
        const std::uint32_t word = page.number * (kParallelPageBytes / 4) + i;
        if ((touched.read(page)[i / 64] >> i % 64 & 1) != 0) words.read.insert(word);
        if ((touched.written(page)[i / 64] >> i % 64 & 1) != 0) words.written.insert(word);
      }
    }
    return words;
  }
};

// Draws rows of every pattern and size, and tells the same rows lane by lane.
struct RandomRows {
  std::mt19937 bits{1};

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(bits() % end); }
  // Returns the offsets of all lanes; inactive lanes of a row with gaps may be anywhere.
  Offsets offsets(Pattern pattern, std::uint32_t bytes, std::uint32_t size) {
    Offsets all{};
    const std::uint32_t elements = size / bytes;
    const std::uint32_t first = below(elements - kWarpLanes), run = 1 + below(16);
    std::uint32_t other = below(elements - kWarpLanes);
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      if (pattern == Pattern::scattered && lane % run == 0) other = below(elements - kWarpLanes);
      const std::uint32_t element = pattern == Pattern::strided   ? first + lane
                                    : pattern == Pattern::uniform ? first
                                                                  : other + lane % run;
      all[lane] = element * bytes;
    }
    return all;
  }
  std::uint32_t mask() {
    const std::uint32_t some = bits();
    return below(2) == 0 ? ~0u : some == 0 ? 1 : some;
  }
};

TEST_F(FootprintTest, TouchesTheWordsOfEveryActiveLane) {
  RandomRows random;
  for (int round = 0; round < 3000; ++round) {
    Words expected;
    for (std::uint32_t count = 1 + random.below(3); count != 0; --count) {
      const auto pattern =
          std::array{Pattern::scattered, Pattern::strided, Pattern::uniform}[random.below(3)];
      const std::uint32_t bytes = 1u << random.below(5);
      vgpu::RowAccess one = row(pattern, bytes);
      const Offsets offsets = random.offsets(pattern, bytes, kPages * kParallelPageBytes - 4);
      one.kind = random.below(2) == 0 ? AccessKind::read : AccessKind::write;
      one.mask = random.mask();
      one.first = offsets[0];
      one.offsets = offsets.data();
      auto& words = one.kind == AccessKind::read ? expected.read : expected.written;
      for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
        if ((one.mask >> lane & 1) == 0) continue;
        for (std::uint32_t byte = 0; byte < bytes; ++byte) words.insert((offsets[lane] + byte) / 4);
      }
      EXPECT_TRUE(footprint.takes_row(one));
    }
    ASSERT_TRUE(take() == expected) << "round " << round;
  }
  EXPECT_FALSE(group.is_given_up());
}

// The nominal offset of lane 0 is before the allocation if the first lanes are inactive.
TEST_F(FootprintTest, TheFirstLanesMayBeOutside) {
  vgpu::RowAccess one = row(Pattern::strided, 8);
  one.mask = 0xc0000000;
  one.first = 0u - 30 * 8;
  footprint.takes_row(one);
  EXPECT_EQ(take(), (Words{{0, 1, 2, 3}, {}}));
}

TEST_F(FootprintTest, TheLastWordMayBeIncomplete) {
  vgpu::RowAccess one = row(Pattern::uniform, 2);
  one.kind = AccessKind::write;
  one.first = static_cast<std::uint32_t>(data.size()) - 2;
  footprint.takes_row(one);
  EXPECT_EQ(take(), (Words{{}, {kPages * kParallelPageBytes / 4 - 1}}));
}

// What one launch has touched is forgotten before the next one.
TEST_F(FootprintTest, ALaunchBeginsWithoutWords) {
  vgpu::RowAccess one = row(Pattern::strided, 4);
  footprint.takes_row(one);
  footprint.clear();
  saved.begin(checkers, std::uint64_t{1} << 30);
  footprint.begin_whole(group);
  one.first = 512;
  footprint.takes_row(one);
  const Words words = take();
  EXPECT_EQ(words.read.size(), kWarpLanes);
  EXPECT_EQ(*words.read.begin(), 128u);
}

// Machines that have touched one word meet if one of them has written it.
TEST_F(FootprintTest, MachinesMeetInAWord) {
  const Reductions none{vgpu::Program{}};
  Footprint other{saved};
  const std::array<Footprint*, 2> both{&footprint, &other};
  const auto meet = [&](AccessKind kind, std::uint32_t first) {
    saved.begin(checkers, std::uint64_t{1} << 30);
    vgpu::SharedGrid grid(2, 2);
    std::uint32_t number = 0;
    for (Footprint* const machine : both) machine->begin(grid, number++, none);
    vgpu::RowAccess one = row(Pattern::strided, 4);
    footprint.takes_row(one);
    one.kind = kind;
    one.first = first;
    other.takes_row(one);
    const bool have_met = Footprint::have_met(both);
    for (Footprint* const machine : both) machine->clear();
    return have_met;
  };
  EXPECT_TRUE(meet(AccessKind::write, 0));
  EXPECT_TRUE(meet(AccessKind::write, 124));
  EXPECT_FALSE(meet(AccessKind::write, 128));
  EXPECT_FALSE(meet(AccessKind::read, 0));
  EXPECT_TRUE(meet(AccessKind::write, 0));
}

TEST(PageUsers, MachinesAreComparedIfOneOfSeveralWrites) {
  using Use = PageUsers::Use;
  PageUsers users;
  EXPECT_FALSE(users.add(0, Use::read));
  EXPECT_FALSE(users.add(0, Use::write));
  EXPECT_TRUE(users.add(1, Use::read));
  EXPECT_FALSE(users.add(2, Use::write));
  PageUsers read;
  EXPECT_FALSE(read.add(7, Use::read));
  EXPECT_FALSE(read.add(5, Use::read));
  EXPECT_FALSE(read.add(7, Use::read));
  EXPECT_TRUE(read.add(7, Use::write));
  EXPECT_FALSE(read.add(7, Use::reduce));
  PageUsers reduced;
  EXPECT_TRUE(reduced.add(PageUsers::kMachinesMax - 1, Use::reduce));
  EXPECT_FALSE(reduced.add(0, Use::write));
}

}  // namespace
}  // namespace warpcheck::cudart
