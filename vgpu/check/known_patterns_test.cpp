#include "vgpu/check/known_patterns.hpp"

#include <gtest/gtest.h>

#include <string>

namespace warpcheck::vgpu {
namespace {

AccessSide side_in(const std::string& role, const std::string& file, const std::string& header) {
  AccessSide side;
  side.role = role;
  side.file = file;
  side.line = 8;
  side.ptx = "ld.shared.u32";
  side.header = header;
  side.header_line = header.empty() ? 0 : 99;
  return side;
}

constexpr const char* kInclude = "/usr/local/cuda/targets/x86_64-linux/include/";

// Returns a race that matches the pattern, in the toolkit's own kernel or called from a user's
// kernel.
Finding fitting(const KnownPattern& pattern) {
  Finding finding;
  finding.kind = pattern.kind;
  finding.space = pattern.space;
  const auto side = [&](const KnownPattern::Side& of) {
    const std::string header = kInclude + std::string(of.header) + "x.cuh";
    return pattern.kernel.empty() ? side_in(std::string(of.role), "user.cu", header)
                                  : side_in(std::string(of.role), header, "");
  };
  finding.kernel = "toolkit::" + std::string(pattern.kernel) + "policy<" +
                   std::string(pattern.instance) + ", int>";
  finding.accesses = {side(pattern.first), side(pattern.second)};
  if (pattern.writer == KnownPattern::Writer::tile_before) {
    finding.accesses[0].block = {5, 0, 0};
    finding.accesses[1].block = {4, 0, 0};
    finding.accesses[1].thread = {63, 0, 0};
  }
  return finding;
}

TEST(KnownPatterns, EachIsFoundInEitherOrder) {
  ASSERT_FALSE(known_patterns().empty());
  for (const KnownPattern& pattern : known_patterns()) {
    Finding finding = fitting(pattern);
    EXPECT_EQ(known_argument(finding), pattern.argument);
    std::swap(finding.accesses[0], finding.accesses[1]);
    EXPECT_EQ(known_argument(finding), pattern.argument);
    EXPECT_NE(pattern.argument, "");
    EXPECT_NE(pattern.first.header, "");
    EXPECT_NE(pattern.second.header, "");
  }
}

TEST(KnownPatterns, AUsersOwnCodeIsNeverExcused) {
  for (const KnownPattern& pattern : known_patterns()) {
    for (const std::size_t side : {0u, 1u}) {
      Finding finding = fitting(pattern);
      finding.accesses[side].header.clear();
      finding.accesses[side].file = "/home/someone/cub/user.cuh";
      EXPECT_EQ(known_argument(finding), "") << pattern.argument;
    }
  }
}

// A selection in place writes behind what it has read.
TEST(KnownPatterns, AnEarlierBlockThatWritesIsTheCallersDefect) {
  int count = 0;
  for (const KnownPattern& pattern : known_patterns()) {
    if (pattern.writer == KnownPattern::Writer::tile_before) continue;
    Finding finding = fitting(pattern);
    const bool is_write = finding.accesses[0].role == "write";
    finding.accesses[is_write ? 1 : 0].block = {4, 0, 0};
    finding.accesses[is_write ? 0 : 1].block = {5, 0, 0};
    EXPECT_EQ(known_argument(finding), pattern.argument);
    EXPECT_EQ(known_pattern_of_threads(finding), pattern.writer != KnownPattern::Writer::any);
    if (pattern.writer == KnownPattern::Writer::any) continue;
    ++count;
    std::swap(finding.accesses[0].block, finding.accesses[1].block);
    EXPECT_EQ(known_argument(finding), "");
  }
  EXPECT_EQ(count, 5);
}

// Of an output that is shifted, other lanes write before the tile, or another block.
TEST(KnownPatterns, OnlyTheLastItemOfTheTileBeforeStaysAsItIs) {
  int count = 0;
  for (const KnownPattern& pattern : known_patterns()) {
    if (pattern.writer != KnownPattern::Writer::tile_before) continue;
    ++count;
    Finding finding = fitting(pattern);
    EXPECT_TRUE(known_pattern_of_threads(finding));
    finding.accesses[1].thread = {62, 0, 0};
    EXPECT_EQ(known_argument(finding), "");
    finding = fitting(pattern);
    finding.accesses[1].block = {3, 0, 0};
    EXPECT_EQ(known_argument(finding), "");
  }
  EXPECT_EQ(count, 3);
}

TEST(KnownPatterns, WhatMovesTheUsersDataIsNoTile) {
  Finding finding = fitting(known_patterns().back());
  EXPECT_NE(known_argument(finding), "");
  finding.accesses[1].header = std::string(kInclude) + "cooperative_groups/details/async.h";
  EXPECT_EQ(known_argument(finding), "");
}

TEST(KnownPatterns, OtherKindsSpacesKernelsAndRolesAreNone) {
  for (const KnownPattern& pattern : known_patterns()) {
    Finding finding = fitting(pattern);
    finding.kind = FindingKind::out_of_bounds;
    EXPECT_EQ(known_argument(finding), "");
    finding = fitting(pattern);
    finding.space = "local";
    EXPECT_EQ(known_argument(finding), "");
    finding = fitting(pattern);
    finding.accesses[0].role = "atomic";
    EXPECT_EQ(known_argument(finding), "");
    if (pattern.kernel.empty()) continue;
    finding = fitting(pattern);
    finding.kernel = "users_kernel";
    EXPECT_EQ(known_argument(finding), "");
    if (pattern.instance.empty()) continue;
    finding.kernel = "toolkit::" + std::string(pattern.kernel) + "policy<SelectImpl)0>>";
    EXPECT_EQ(known_argument(finding), "");
  }
}

// A scan in unoptimised code: the look-back calls the user's operator for lanes without a value.
Finding branch_on_discarded() {
  Finding finding;
  finding.kind = FindingKind::uninitialized_read;
  finding.space = "local";
  finding.kernel = "cub::CUB_300001_SM_800::detail::scan::DeviceScanKernel<Policy, Max>";
  const std::string header =
      kInclude + std::string("cccl/cub/agent/single_pass_scan_operators.cuh");
  finding.accesses = {side_in("read", header, ""), side_in("branch", "user.cu", "")};
  return finding;
}

TEST(KnownPatterns, KernelsOfTheToolkitBranchOnWhatTheyDiscard) {
  EXPECT_NE(known_argument(branch_on_discarded()), "");
  Finding finding = branch_on_discarded();
  finding.space = "shared";
  finding.kernel =
      "thrust::cuda_cub::core::detail::_kernel_agent<__set_operations::SetOpAgent<R*>>";
  EXPECT_NE(known_argument(finding), "");
  finding.space = "global";
  EXPECT_EQ(known_argument(finding), "");
  finding.kernel =
      "thrust::cuda_cub::core::detail::_kernel_agent_vshmem<__set_operations::SetOpAgent<R*>>";
  EXPECT_NE(known_argument(finding), "");
  finding.accesses[0].file = std::string(kInclude) + "cccl/cub/thread/thread_load.cuh";
  EXPECT_EQ(known_argument(finding), "");  // it loads an input
}

TEST(KnownPatterns, WhatAUserHasNotWrittenIsNotDiscarded) {
  Finding finding = branch_on_discarded();
  finding.space = "global";  // an input of the algorithm
  EXPECT_EQ(known_argument(finding), "");
  finding = branch_on_discarded();
  finding.kernel = "users_kernel";  // a variable that it passes to cub::BlockScan
  EXPECT_EQ(known_argument(finding), "");
  finding = branch_on_discarded();
  finding.accesses[0].file = "user.cu";  // a variable of the operator
  EXPECT_EQ(known_argument(finding), "");
  finding.space = "";  // in a register
  EXPECT_EQ(known_argument(finding), "");
  finding = branch_on_discarded();
  finding.kernel = "cub::CUB_300001_SM_800::detail::transform::transform_kernel<Policy, Operator>";
  EXPECT_EQ(known_argument(finding), "");  // calls its operator for items alone
  finding = branch_on_discarded();
  finding.accesses[1].role = "host copy";  // a result
  EXPECT_EQ(known_argument(finding), "");
  finding = branch_on_discarded();
  finding.kind = FindingKind::out_of_bounds;
  EXPECT_EQ(known_argument(finding), "");
}

}  // namespace
}  // namespace warpcheck::vgpu
