#include "vgpu/check/finding_groups.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warpcheck::vgpu {
namespace {

using Indices = std::vector<std::size_t>;

Finding race(std::uint32_t first, std::uint32_t second, Lack lack = Lack::block_barrier,
             Relation relation = Relation::warps) {
  Finding finding;
  finding.kind = FindingKind::data_race;
  finding.space = "shared";
  finding.kernel = "k";
  finding.variable = "s";
  finding.object = "s[1], 4 bytes";
  finding.relation = relation;
  finding.lack = lack;
  finding.accesses = {{.role = "write", .file = "k.cu", .line = first, .ptx = "st"},
                      {.role = "read", .file = "k.cu", .line = second, .ptx = "ld"}};
  return finding;
}

TEST(FindingGroupsTest, OneBarrierForAllThatItCanOrder) {
  // A barrier at line 11 or 12 would order the first three races, but not the last one.
  const std::vector findings{race(10, 12), race(10, 14), race(9, 11), race(20, 22)};
  EXPECT_EQ(group_by_cause(findings), (Indices{0, 0, 0, 3}));
}

TEST(FindingGroupsTest, GroupsAreInTheOrderOfTheirFirst) {
  const std::vector findings{race(20, 22), race(10, 12), race(10, 14), race(20, 23)};
  EXPECT_EQ(groups_of_one_cause(findings), (std::vector<Indices>{{0, 3}, {1, 2}}));
  EXPECT_EQ(groups_of_one_cause({}), std::vector<Indices>{});
}

TEST(FindingGroupsTest, WhatHasNoLineInCommonWithAllIsAnother) {
  // The races 10-14 and 14-16 share line 14; the race 10-12 overlaps only with the first one.
  const std::vector findings{race(10, 14), race(14, 16), race(10, 12)};
  EXPECT_EQ(group_by_cause(findings), (Indices{0, 0, 2}));
}

TEST(FindingGroupsTest, AnotherVariableKernelRelationLackOrSeverityIsAnotherCause) {
  std::vector<Finding> findings(6, race(10, 12));
  findings[1].variable = "t";
  findings[2].kernel = "other";
  findings[3].relation = Relation::lanes;
  findings[4].lack = Lack::atomicity;
  findings[5].severity = Severity::note;
  EXPECT_EQ(group_by_cause(findings), (Indices{0, 1, 2, 3, 4, 5}));
}

TEST(FindingGroupsTest, BlocksThatShareAVariableShareItEverywhere) {
  const std::vector findings{race(10, 12, Lack::order_of_blocks, Relation::blocks),
                             race(90, 95, Lack::order_of_blocks, Relation::blocks)};
  EXPECT_EQ(group_by_cause(findings), (Indices{0, 0}));
}

TEST(FindingGroupsTest, EachUpdateIsItsOwn) {
  const std::vector findings{race(10, 10, Lack::atomic_update), race(12, 12, Lack::atomic_update),
                             race(10, 10, Lack::atomic_update)};
  EXPECT_EQ(group_by_cause(findings), (Indices{0, 1, 0}));
}

TEST(FindingGroupsTest, WithoutLinesOrReasonsNothingIsGrouped) {
  Finding without_line = race(10, 12);
  without_line.accesses[1].file.clear();
  const std::vector findings{without_line, without_line, race(1, 2, Lack::unknown),
                             race(1, 2, Lack::unknown)};
  EXPECT_EQ(group_by_cause(findings), (Indices{0, 1, 2, 3}));
}

TEST(FindingGroupsTest, OneShuffleForAllThatUsesItsValue) {
  Finding use;
  use.kind = FindingKind::uninitialized_read;
  use.kernel = "k";
  use.lack = Lack::participation;
  use.accesses = {{.role = "shuffle", .file = "k.cu", .line = 7, .ptx = "shfl"},
                  {.role = "branch", .file = "k.cu", .line = 8, .ptx = "bra"}};
  Finding later = use, other = use;
  later.accesses[1].line = 80;
  other.accesses[0].line = 17;
  EXPECT_EQ(group_by_cause(std::vector{use, later, other}), (Indices{0, 0, 2}));
}

TEST(FindingGroupsTest, AnEarlierMishapIsTheCauseOfAllThatNamesIt) {
  Finding null_write;
  null_write.kind = FindingKind::out_of_bounds;
  null_write.kernel = "k";
  null_write.cause = "cudaMalloc() has failed";
  Finding other = null_write, third = null_write;
  other.kernel = "other";
  third.cause = "another call has failed";
  EXPECT_EQ(group_by_cause(std::vector{null_write, other, third}), (Indices{0, 0, 2}));
}

TEST(FindingGroupsTest, Texts) {
  Finding finding = race(10, 12);
  EXPECT_EQ(headline_of(finding), "data-race on shared memory s[1], 4 bytes");
  EXPECT_EQ(headline_of(Finding{}), "data-race") << "without a space and an object";
  EXPECT_EQ(places_text(finding), "write k.cu:10 and read k.cu:12");
  EXPECT_EQ(also_text(finding), "");
  finding.also_between = {Relation::warps};
  EXPECT_EQ(also_text(finding), "also between warps of a block");
  finding.also_between = {Relation::blocks, Relation::warps, Relation::lanes};
  EXPECT_EQ(also_text(finding),
            "also between blocks, between warps of a block and between lanes of a warp");
  finding.accesses[1] = {};
  finding.accesses[1].role = "host copy";
  EXPECT_EQ(places_text(finding), "write k.cu:10 and host copy by the host");
  finding.accesses[1].file = "host.cu";
  finding.accesses[1].line = 7;
  EXPECT_EQ(places_text(finding), "write k.cu:10 and host copy host.cu:7");
}

}  // namespace
}  // namespace warpcheck::vgpu
