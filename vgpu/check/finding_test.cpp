#include "vgpu/check/finding.hpp"

#include <gtest/gtest.h>

namespace warpcheck::vgpu {
namespace {

Finding race_on_lines(std::uint32_t first, std::uint32_t second) {
  Finding finding;
  finding.kind = FindingKind::data_race;
  finding.space = "shared";
  finding.kernel = "k";
  finding.accesses.resize(2);
  finding.accesses[0].file = finding.accesses[1].file = "k.cu";
  finding.accesses[0].line = first;
  finding.accesses[1].line = second;
  return finding;
}

TEST(FindingTest, CallersAreKeptAndAreNotInTheClass) {
  Finding kept = race_on_lines(7, 9);
  kept.accesses[0].callers = {{"k.cu", 20}, {"k.cu", 40}};
  Finding same = race_on_lines(9, 7);  // its sides in the other order
  same.accesses[1].callers = {{"k.cu", 20}, {"k.cu", 50}};
  same.accesses[0].callers = {{"k.cu", 30}};
  EXPECT_EQ(class_of(kept), class_of(same));
  add_other_callers(same, kept);
  EXPECT_EQ(kept.accesses[0].other_callers, (std::vector<SourceLine>{{"k.cu", 50}}));
  EXPECT_EQ(kept.accesses[1].other_callers, (std::vector<SourceLine>{{"k.cu", 30}}));
  const Finding once = kept;
  add_other_callers(same, kept);
  EXPECT_EQ(kept, once) << "a call is named once";
  for (std::uint32_t line = 100; line > 80; --line) {
    same.accesses[1].callers = {{"k.cu", line}};
    add_other_callers(same, kept);
  }
  EXPECT_EQ(kept.accesses[0].other_callers.size(), 8u);
}

TEST(FindingTest, EveryKindHasAName) {
  for (int i = 0; i <= static_cast<int>(FindingKind::api_error); ++i) {
    const auto kind = static_cast<FindingKind>(i);
    FindingKind found{};
    ASSERT_TRUE(find_kind(name_of(kind), found)) << i;
    EXPECT_EQ(found, kind);
  }
  EXPECT_EQ(name_of(FindingKind::out_of_bounds), "out-of-bounds");
  FindingKind none{};
  EXPECT_FALSE(find_kind("data_race", none));
}

TEST(FindingTest, KernelNamesLoseParametersAndReturnType) {
  EXPECT_EQ(kernel_name("_Z1kPi"), "k");
  EXPECT_EQ(kernel_name("_Z4scanIiEvPT_S1_i"), "scan<int>");
  EXPECT_EQ(kernel_name("_ZN1a12_GLOBAL__N_11kEi"), "a::(anonymous namespace)::k");
  EXPECT_EQ(kernel_name("_Z1kILi3EEvPFivE"), "k<3>");
  EXPECT_EQ(kernel_name("_Z5outerIiEjT_"), "outer<int>");
  EXPECT_EQ(kernel_name("_Z1fILi2EEPKyi"), "f<2>");
  EXPECT_EQ(kernel_name("_ZNK1ScvjEv"), "S::operator unsigned int");
  EXPECT_EQ(kernel_name("_ZN1SnwEm"), "S::operator new");
  EXPECT_EQ(kernel_name("plain"), "plain");
}

TEST(FindingTest, LongNamesLoseTemplateArguments) {
  const std::string inner = "pair<int, tuple<float, double>>";
  EXPECT_EQ(short_kernel_name("scan<" + inner + ">"), "scan<" + inner + ">");
  const std::string nested = "policy<" + std::string(200, 'x') + ", less<int>>";
  EXPECT_EQ(short_kernel_name("a::scan<" + nested + ", int>"), "a::scan<policy<...>, int>");
  const std::string many = std::string(200, 'y');
  EXPECT_EQ(short_kernel_name("a<" + many + ">::b<" + many + ">::k"), "a<...>::b<...>::k");
  EXPECT_EQ(short_kernel_name(many), many);
}

TEST(FindingTest, TheClassIsKindSpaceKernelAndSortedLines) {
  EXPECT_EQ(class_of(race_on_lines(9, 7)), "data-race|shared|k|k.cu:7|k.cu:9");
  EXPECT_EQ(class_of(race_on_lines(7, 9)), class_of(race_on_lines(9, 7)));
  Finding elsewhere = race_on_lines(7, 9);
  elsewhere.object = "s[3], 4 bytes";
  elsewhere.accesses[0].thread = {5, 0, 0};
  elsewhere.count = 99;
  EXPECT_EQ(class_of(elsewhere), class_of(race_on_lines(7, 9)));
  elsewhere.kernel = "other";
  EXPECT_NE(class_of(elsewhere), class_of(race_on_lines(7, 9)));
}

TEST(FindingTest, TheHashIsStable) {
  EXPECT_EQ(hash_of(race_on_lines(7, 9)), "34d3276a5b02728d");
  EXPECT_NE(hash_of(race_on_lines(7, 9)), hash_of(race_on_lines(7, 8)));
}

TEST(FindingTest, TheHostHasNoLine) {
  Finding finding = race_on_lines(7, 9);
  finding.accesses[1] = {};
  finding.accesses[1].role = "host copy";
  EXPECT_EQ(class_of(finding), "data-race|shared|k|k.cu:7");
}

}  // namespace
}  // namespace warpcheck::vgpu
