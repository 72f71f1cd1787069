// States by sectors are compared with one state for each byte.
#include "vgpu/machine/undefined/sector_states.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "vgpu/machine/undefined/memory_shadow.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kBytes = 16 * SectorStates::kSectorBytes + 5;
using Word = std::uint32_t;

struct SectorStatesTest : testing::Test {
  SectorStatesTest() { sectors.begin(kBytes, 0); }

  void set(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state) {
    sectors.set(offset, bytes, state);
    std::memset(expected.data() + offset, state, bytes);
  }
  void expect_equal() const {
    std::vector<std::uint8_t> found(kBytes);
    sectors.read(0, kBytes, found.data());
    EXPECT_EQ(found, expected);
    for (std::uint32_t i = 0; i < kBytes; ++i) {
      std::uint32_t undefined = i, written = i;
      while (undefined < kBytes && (expected[undefined] & 0x80) != 0) ++undefined;
      while (written < kBytes && expected[written] == 0) ++written;
      ASSERT_EQ(sectors.at(i), expected[i]) << i;
      ASSERT_EQ(sectors.find_undefined(i, kBytes), undefined) << i;
      ASSERT_EQ(sectors.find_written(i, kBytes), written) << i;
    }
  }

  SectorStates sectors;
  std::vector<std::uint8_t> expected = std::vector<std::uint8_t>(kBytes, 0);
};

TEST_F(SectorStatesTest, AreThoseOfTheirBytes) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  for (int i = 0; i < 400; ++i) {
    const std::uint32_t offset = below(kBytes), bytes = 1 + below(kBytes - offset);
    const std::uint8_t states[] = {0, 1, 0x82, 0x87, 0xff};
    const std::uint8_t state = states[below(5)];
    set(offset, i % 2 == 0 ? bytes : 1 + below(std::min(bytes, 40u)), state);
    if (i % 7 == 0) {
      sectors.fill(offset, bytes, state);
      std::memset(expected.data() + offset, state, bytes);
    }
    if (i % 5 == 0) {
      std::vector<std::uint8_t> copied(bytes);
      for (std::uint8_t& one : copied) one = states[below(5)];
      sectors.write(offset, bytes, copied.data());
      std::memcpy(expected.data() + offset, copied.data(), bytes);
    }
    if (i % 20 == 0) expect_equal();
  }
  expect_equal();
}

TEST_F(SectorStatesTest, RowsAreSetAndExamined) {
  for (const std::uint32_t first : {0u, 32u, 128u, 36u}) {
    sectors.begin(kBytes, 0);
    EXPECT_FALSE(sectors.is_row_defined<Word>(first));
    sectors.set_row<Word>(first, 0x82);
    EXPECT_TRUE(sectors.is_row_defined<Word>(first)) << first;
    EXPECT_FALSE(sectors.is_row_defined<Word>(first + 4)) << first;
    EXPECT_TRUE(sectors.is_defined<Word>(first + 124));
    EXPECT_FALSE(sectors.is_defined<Word>(first + 128));
    set(first, 128, 0x82);
    expect_equal();
    set(first, 128, 0);
  }
  sectors.set_row<unsigned __int128>(0, 0x84);
  EXPECT_EQ(sectors.common_state(0, 512), 0x84);
  EXPECT_EQ(sectors.find_undefined(0, kBytes), 512u);
}

// Inactive lanes may be before the beginning and behind the end.
TEST_F(SectorStatesTest, BytesBeyondTheEndsCountAsDefined) {
  EXPECT_FALSE(sectors.is_row_defined<Word>(-124));
  set(0, 4, 0x87);
  EXPECT_TRUE(sectors.is_row_defined<Word>(-124));
  EXPECT_FALSE(sectors.is_row_defined<Word>(-120));
  set(kBytes - 5, 5, 0x87);
  EXPECT_TRUE(sectors.is_row_defined<Word>(kBytes - 5));
  EXPECT_FALSE(sectors.is_row_defined<Word>(kBytes - 9));
}

// The bytes of a sector that were set one after the other have one state in the end.
TEST_F(SectorStatesTest, ASectorHasOneStateAgain) {
  for (std::uint32_t i = 32; i < 64; i += 4) {
    EXPECT_NE(sectors.common_state(32, 32), 0x87);
    set(i, 4, 0x87);
  }
  EXPECT_EQ(sectors.common_state(32, 32), 0x87);
  EXPECT_EQ(sectors.common_state(0, 64), std::nullopt);
}

// Each machine sets every second word of all sectors.
TEST_F(SectorStatesTest, SeveralMachinesSetThemAtOnce) {
  constexpr std::uint32_t kMany = 1u << 18;
  SectorStates shared;
  shared.begin(kMany, 0);
  const auto set_every_second = [&](std::uint32_t first) {
    for (std::uint32_t at = first; at < kMany; at += 8) shared.set(at, 4, 0x87);
  };
  std::thread other([&] { set_every_second(4); });
  set_every_second(0);
  other.join();
  EXPECT_EQ(shared.find_undefined(0, kMany), kMany);
}

// Returns the pages that this process has used for the first time.
long pages_touched() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

TEST(MemoryShadow, OfLargeMemoryCostsAThirtySecondOfIt) {
  constexpr std::uint32_t kMany = 64u << 20, kRow = 128;
  MemoryShadow shadow;
  shadow.begin(kMany);
  shadow.make_states();
  const long before = pages_touched();
  for (std::uint32_t at = 0; at < kMany; at += kRow) {
    shadow.with_states([&](auto& states) { states.template set_row<Word>(at, 0x82); });
  }
  EXPECT_EQ(shadow.find_undefined(0, kMany), kMany);
  EXPECT_LT(pages_touched() - before, 2048) << "16,384 pages if each byte had a state";
}

TEST(MemoryShadow, LargeMemoryIsCopiedLikeSmallMemory) {
  constexpr std::uint32_t kLarge = MemoryShadow::kSectoredMin, kSmall = 20'000;
  for (const auto& [from_bytes, to_bytes] :
       {std::pair{kLarge, kLarge}, std::pair{kLarge, kSmall}, std::pair{kSmall, kLarge}}) {
    MemoryShadow from, to;
    from.begin(from_bytes);
    to.begin(to_bytes);
    from.fill(0, 9'000, MemoryShadow::kDefined);
    from.fill(100, 7, MemoryShadow::kNeverWritten);
    from.taint(5'000, {3, 0x0f});
    to.copy(1'000, from, 64, 10'000);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
      ASSERT_EQ(to.state_at(1'000 + i), from.state_at(64 + i)) << i;
    }
    EXPECT_EQ(to.taint_at(1'000 + 5'000 - 64).origin, 3u);
    EXPECT_EQ(to.taint_at(1'000 + 5'000 - 64).bits, 0x0f);
    EXPECT_EQ(to.state_at(999), MemoryShadow::kNeverWritten);
    EXPECT_EQ(to.state_at(11'000), MemoryShadow::kNeverWritten);
    to.copy(3'000, to, 1'000, 10'000);  // the ranges overlap
    for (std::uint32_t i = 0; i < 10'000; ++i) {
      ASSERT_EQ(to.state_at(3'000 + i), from.state_at(64 + i)) << i;
    }
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
