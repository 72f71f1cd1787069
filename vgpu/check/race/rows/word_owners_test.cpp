// Marks of owners, in random rows, against what each word's accesses say.
#include "vgpu/check/race/rows/word_owners.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "vgpu/machine/compute/simd.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kWords = 512, kBlocks = 3, kWarps = 2;

// The threads that have accessed a word in a period, and whether one has written.
struct Word {
  std::set<std::uint32_t> threads;
  bool is_written = false;

  // Adds an access.  False: another thread has accessed the word, and one of both has written.
  bool add(std::uint32_t thread, bool is_write) {
    threads.insert(thread);
    is_written |= is_write;
    return threads.size() == 1 || !is_written;
  }
};

class Rows {
 public:
  explicit Rows(std::uint64_t seed) : random_(seed) {}

  // Returns a row, mostly of the words of its warp.
  RowAccess next(WarpPlace& place, std::array<std::uint32_t, kWarpLanes>& offsets) {
    place.block = below(kBlocks);
    place.warp = below(kWarps);
    RowAccess row{.place = place, .mask = below(3) == 0 ? random_word() | 1 : ~0u};
    row.space = ptx::Space::global;
    row.kind = below(3) == 0 ? AccessKind::write : AccessKind::read;
    row.bytes = static_cast<std::uint8_t>(4u << below(3));
    row.element_bytes = row.bytes;
    const std::uint32_t at = place.block * kWarps + place.warp, room = kWords / 8 * 4;
    const std::uint32_t shape = below(8), elements = room / row.bytes;
    row.pattern = shape < 4 ? Pattern::scattered : shape == 4 ? Pattern::uniform : Pattern::strided;
    // Strided rows of wide lanes cross into the words of other warps.
    row.first = at * room;
    if (row.pattern == Pattern::uniform) row.first += below(elements) * row.bytes;
    const std::uint32_t shift = below(elements), area = below(20) == 0 ? below(8) : at;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t element =  // shape 1 descends
          shape == 0   ? below(elements)
          : shape == 1 ? elements + shift - lane
                       : lane + shift;
      offsets[lane] = area * room + element % elements * row.bytes;
    }
    row.offsets = offsets.data();
    return row;
  }

 private:
  std::uint32_t random_word() { return static_cast<std::uint32_t>(random_()); }
  std::uint32_t below(std::uint32_t bound) { return random_word() % bound; }
  std::mt19937_64 random_;
};

class WordOwnersTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const bool has_level =
        GetParam() == "baseline" || GetParam() == simd_level() || simd_level() == "avx512";
    if (!has_level) GTEST_SKIP() << "this host has no " << GetParam();
  }
};

TEST_P(WordOwnersTest, RowsAreTakenWhileWordsHaveOneThreadOrAreOnlyRead) {
  Rows rows(1);
  WordOwners owners(race_row_functions(GetParam()).own);
  std::array<std::uint32_t, 2> taken{};
  constexpr int kPeriods = 2000;  // more than marks have numbers for
  for (int period = 0; period < kPeriods; ++period) {
    std::vector<Word> words(kWords);
    ASSERT_TRUE(owners.begin(kWords * 4));
    for (bool is_allowed = true; is_allowed;) {
      WarpPlace place;
      std::array<std::uint32_t, kWarpLanes> offsets;
      const RowAccess row = rows.next(place, offsets);
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        if ((row.mask >> lane & 1) == 0) continue;
        const std::uint32_t thread = (place.block * kWarps + place.warp) * kWarpLanes + lane;
        for (std::uint32_t byte = 0; byte < row.bytes; byte += 4) {
          const bool is_write = row.kind == AccessKind::write;
          is_allowed &= words[(row.offset_of(lane) + byte) / 4].add(thread, is_write);
        }
      }
      ASSERT_EQ(owners.take(row, place), is_allowed);
      ++taken[is_allowed];
    }
  }
  EXPECT_EQ(taken[0], kPeriods);
  EXPECT_GT(taken[1], kPeriods);
}

TEST_P(WordOwnersTest, PartsOfWordsAndThreadsThatMarksCannotNameAreNotTaken) {
  WordOwners owners(race_row_functions(GetParam()).own);
  ASSERT_TRUE(owners.begin(kWords * 4));
  RowAccess row{.mask = ~0u, .bytes = 2};
  EXPECT_FALSE(owners.take(row, {}));
  row.bytes = 4;
  EXPECT_FALSE(owners.take(row, {.block = OwnerMark::kBlocksEnd}));
  EXPECT_TRUE(owners.take(row, {.block = OwnerMark::kBlocksEnd - 1}));
}

INSTANTIATE_TEST_SUITE_P(Levels, WordOwnersTest, testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace warpcheck::vgpu
