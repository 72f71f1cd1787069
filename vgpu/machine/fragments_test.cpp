// The rule by which lanes diverge, run and reconverge.
#include "vgpu/machine/fragments.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kNothing = Fragments::kNothing;
constexpr auto kAtBarrier = Fragment::State::at_barrier;

std::vector<Return> called_from(std::initializer_list<std::uint32_t> places) {
  std::vector<Return> callers;
  for (const std::uint32_t pc : places) callers.push_back({.pc = pc});
  return callers;
}

Fragments fragments_of(std::initializer_list<Fragment> all) {
  Fragments fragments;
  for (const Fragment& fragment : all) fragments.add(fragment);
  return fragments;
}

// Returns the places and lanes, in order.
std::string listed(const Fragments& fragments) {
  std::string list;
  for (const Fragment& one : fragments) list += fmt::format("{}:{:x} ", one.pc, one.mask);
  return list;
}

void expect_choice(Fragments& fragments, std::size_t index, std::uint32_t limit) {
  const Fragments::Choice choice = fragments.choose();
  EXPECT_EQ(choice.index, index);
  EXPECT_EQ(choice.limit, limit);
}

TEST(Fragments, OneRunsWithoutLimitIfItIsReady) {
  Fragments fragments = fragments_of({{.pc = 7, .mask = 0xf, .held = true, .callers = {}}});
  expect_choice(fragments, 0, ptx::kNone);
  EXPECT_FALSE(fragments[0].held);
  fragments[0].state = kAtBarrier;
  expect_choice(fragments, kNothing, ptx::kNone);
  fragments.clear();
  expect_choice(fragments, kNothing, ptx::kNone);
}

TEST(Fragments, TheLowestPcRunsUpToTheNextOne) {
  Fragments fragments = fragments_of({{.pc = 9, .mask = 1, .callers = {}},
                                      {.pc = 4, .mask = 2, .callers = {}},
                                      {.pc = 30, .mask = 4, .callers = {}},
                                      {.pc = 6, .mask = 8, .state = kAtBarrier, .callers = {}}});
  expect_choice(fragments, 1, 9);
}

TEST(Fragments, TheDeepestRunsFirstAndMeetsOnlyThoseWithItsCallers) {
  Fragments fragments = fragments_of({{.pc = 4, .mask = 1, .callers = {}},
                                      {.pc = 50, .mask = 2, .callers = called_from({5})},
                                      {.pc = 60, .mask = 4, .callers = called_from({5})},
                                      {.pc = 55, .mask = 8, .callers = called_from({6})}});
  expect_choice(fragments, 1, 60);
  EXPECT_EQ(listed(fragments), "4:1 50:2 60:4 55:8 ");
}

TEST(Fragments, FragmentsAtOnePlaceReconvergeWhereTheFirstIsListed) {
  Fragments fragments = fragments_of({{.pc = 8, .mask = 1, .local_top = 16, .callers = {}},
                                      {.pc = 3, .mask = 2, .callers = {}},
                                      {.pc = 8, .mask = 4, .local_top = 32, .callers = {}},
                                      {.pc = 8, .mask = 8, .callers = called_from({5})},
                                      {.pc = 8, .mask = 16, .state = kAtBarrier, .callers = {}},
                                      {.pc = 8, .mask = 32, .held = true, .callers = {}},
                                      {.pc = 8, .mask = 64, .callers = {}}});
  expect_choice(fragments, 2, ptx::kNone);
  EXPECT_EQ(listed(fragments), "8:45 3:2 8:8 8:10 8:20 ");
  EXPECT_EQ(fragments[0].local_top, 32u);
}

TEST(Fragments, LanesThatDivergeAreListedLast) {
  Fragments fragments = fragments_of({{.pc = 5, .mask = 0xff, .callers = called_from({2})},
                                      {.pc = 6, .mask = 0x100, .callers = {}}});
  EXPECT_EQ(fragments.split(0, 0x0f), 2u);
  EXPECT_EQ(listed(fragments), "5:f0 6:100 5:f ");
  EXPECT_TRUE(fragments[2].is_at_place_of(fragments[0]));
  expect_choice(fragments, 0, ptx::kNone);
  EXPECT_EQ(listed(fragments), "5:ff 6:100 ");
}

TEST(Fragments, HeldOnesRunWhenNoOtherCan) {
  Fragments fragments =
      fragments_of({{.pc = 2, .mask = 1, .held = true, .callers = {}},
                    {.pc = 9, .mask = 2, .callers = {}},
                    {.pc = 1, .mask = 4, .state = kAtBarrier, .held = true, .callers = {}}});
  expect_choice(fragments, 1, ptx::kNone);
  EXPECT_TRUE(fragments[0].held);
  fragments[1].state = kAtBarrier;
  expect_choice(fragments, 0, ptx::kNone);
  EXPECT_FALSE(fragments[0].held);
  EXPECT_FALSE(fragments[2].held);
}

TEST(Fragments, MachineCodeNeedsSeveralInOneFrame) {
  const Fragment first{.pc = 2, .mask = 1, .callers = called_from({9})};
  const auto share = [&](auto change) {
    Fragment second = first;
    second.pc = 3;
    change(second);
    return fragments_of({first, second}).several_share_frame();
  };
  EXPECT_TRUE(share([](Fragment&) {}));
  EXPECT_FALSE(share([](Fragment& one) { one.function = 1; }));
  EXPECT_FALSE(share([](Fragment& one) { one.callers.clear(); }));
  EXPECT_FALSE(share([](Fragment& one) { one.local_top = 8; }));
  EXPECT_FALSE(share([](Fragment& one) { one.held = true; }));
  EXPECT_FALSE(share([](Fragment& one) { one.state = kAtBarrier; }));
}

}  // namespace
}  // namespace warpcheck::vgpu
