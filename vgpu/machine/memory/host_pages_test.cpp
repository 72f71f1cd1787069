#include "vgpu/machine/memory/host_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;
constexpr std::byte kValue{0xa5};

// The resident memory of this process, in anonymous pages and in pages of files.
std::size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * 4096;
}

bool holds(const HostPages& pages, std::size_t offset, std::size_t bytes, std::byte value) {
  const std::byte* const begin = pages.data() + offset;
  return std::all_of(begin, begin + bytes, [&](std::byte byte) { return byte == value; });
}

TEST(HostPages, AreAllAlikeWhateverTheirSize) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4097}, kMega, 33 * kMega + 5}) {
    EXPECT_TRUE(holds(HostPages(bytes, kValue), 0, bytes, kValue)) << bytes;
    EXPECT_TRUE(holds(HostPages(bytes, std::byte{0}), 0, bytes, std::byte{0})) << bytes;
  }
}

TEST(HostPages, CostNothingBeforeTheyAreWritten) {
  const std::size_t before = resident_bytes();
  const HostPages pages(std::size_t{64} << 30, kValue);
  ASSERT_FALSE(pages.is_empty());
  pages.data()[std::size_t{40} << 30] = std::byte{1};
  EXPECT_EQ(pages.data()[(std::size_t{40} << 30) + 1], kValue);
  EXPECT_LT(resident_bytes(), before + 8 * kMega);
}

TEST(HostPages, OfOneBlockAreNobodyElses) {
  const HostPages one(2 * kMega, kValue), other(2 * kMega, kValue);
  one.data()[kMega] = std::byte{1};
  EXPECT_EQ(one.data()[kMega], std::byte{1});
  EXPECT_TRUE(holds(other, 0, other.bytes(), kValue));
}

TEST(HostPages, FillARangeToTheByteAndGiveItsPagesBack) {
  for (const std::size_t bytes : {100 * kMega, kMega / 2}) {
    HostPages pages(bytes, std::byte{0});
    std::fill_n(pages.data(), bytes, std::byte{7});
    const std::size_t before = resident_bytes();
    const std::size_t begin = 4095, count = bytes - 2 * 4095;
    pages.fill(begin, count, kValue);
    EXPECT_TRUE(holds(pages, 0, begin, std::byte{7}));
    EXPECT_TRUE(holds(pages, begin + count, bytes - begin - count, std::byte{7}));
    if (bytes > kMega) {
      EXPECT_LT(resident_bytes(), before - 90 * kMega);
    }
    EXPECT_TRUE(holds(pages, begin, count, kValue));
  }
}

TEST(HostPages, KnowWhichOfThemWereWritten) {
  for (const std::byte value : {std::byte{0}, kValue}) {
    HostPages pages(64 * kMega, value);
    EXPECT_EQ(pages.data()[5 * kMega], value);  // reading does not write
    for (const std::size_t at : {std::size_t{0}, 7 * kMega + 9, 64 * kMega - 1}) {
      pages.data()[at] = std::byte{1};
    }
    std::size_t sum = 0;
    std::vector<std::size_t> ones;
    pages.for_each_written([&](std::size_t offset, std::size_t bytes) {
      sum += bytes;
      for (std::size_t at = offset; at < offset + bytes; ++at) {
        if (pages.data()[at] == std::byte{1}) ones.push_back(at);
      }
    });
    EXPECT_EQ(ones, (std::vector<std::size_t>{0, 7 * kMega + 9, 64 * kMega - 1}));
    EXPECT_LT(sum, kMega);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
