#include "vgpu/check/race/general/cells/race_cells.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <utility>

#include "vgpu/check/race/race_class.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr unsigned kAtomicClass =
    AccessClass{.write = true, .strong = true, .atomic = true}.index();

CellList list_of(std::initializer_list<unsigned> classes) {
  CellList list;
  for (const unsigned one : classes) {
    list.add({.access_class = static_cast<std::uint8_t>(one)});
  }
  return list;
}

std::pair<std::uint32_t, std::uint32_t> extent(const CellList& list, std::uint32_t classes) {
  const CellList::Extent found = list.extent_of(classes);
  return {found.begin, found.end};
}

TEST(CellLists, ExtentsIncludeTheEntriesOfTheirClassesAlone) {
  CellList list = list_of({kWeakRead, kWeakWrite, kWeakRead, kAtomicClass, kWeakRead});
  EXPECT_EQ(extent(list, 1u << kWeakWrite), std::pair(1u, 2u));
  EXPECT_EQ(extent(list, 1u << kAtomicClass), std::pair(3u, 4u));
  EXPECT_EQ(extent(list, 1u << kWeakWrite | 1u << kAtomicClass), std::pair(1u, 4u));
  EXPECT_EQ(extent(list, 1u << kWeakRead), std::pair(0u, 5u));
  list.entries.erase(list.entries.begin());
  list.include_all();
  EXPECT_EQ(extent(list, 1u << kWeakWrite), std::pair(0u, 1u));
  EXPECT_EQ(extent(list, 1u << kWeakRead), std::pair(1u, 4u));
  EXPECT_EQ(list.classes, 1u << kWeakRead | 1u << kWeakWrite | 1u << kAtomicClass);
}

TEST(CellLists, ExtentsOfClassesThatNoEntryHasAreEmpty) {
  const CellList list = list_of({kWeakRead, kWeakRead});
  const CellList::Extent found = list.extent_of(1u << kWeakWrite | 1u << kAtomicClass);
  EXPECT_GE(found.begin, found.end);
}

// Atomics of all sizes and scopes are one group.
TEST(CellLists, EachClassIsInOneGroup) {
  std::uint32_t all = 0;
  for (const std::uint32_t group : kClassGroups) {
    EXPECT_EQ(all & group, 0u);
    all |= group;
  }
  EXPECT_EQ(all, ~0u);
  EXPECT_EQ(kClassGroups[4] >> kAtomicClass & 1, 1u);
}

TEST(CellList, KnowsTheSegmentOfItsLastEntry) {
  CellList list = list_of({kWeakRead, kWeakRead});
  list.add({.segment = 7});
  EXPECT_EQ(list.last_segment, 7U);
  list.entries.back().segment = 3;
  list.renumber();
  EXPECT_EQ(list.last_segment, 3U);
  list.entries.pop_back();
  list.include_all();
  EXPECT_EQ(list.last_segment, 0U);
}

// Of this process, in the host's memory.
std::int64_t resident_bytes() {
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(CellMemory, BecomesNarrowWithoutMemoryForLinesThatWereNeverWritten) {
  CellLists lists;
  const ThreadOrder order;
  CellMemory memory;
  memory.fit(std::uint32_t{1} << 29, true);
  const std::int64_t before = resident_bytes();
  memory.narrow_to(1, lists, order);
  EXPECT_EQ(memory.cell_bytes(), 1u);
  EXPECT_LT(resident_bytes() - before, std::int64_t{1} << 26);  // all lines are four times that
}

}  // namespace
}  // namespace warpcheck::vgpu
