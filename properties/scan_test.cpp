// Where exactly the published scans are wrong, and where they are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

Json one_block(int n, int block) {
  return {{"in", std::vector<int>(static_cast<std::size_t>(n), 1)},
          {"launch", {{"grid", {1, 1, 1}}, {"block", {block, 1, 1}}, {"shared_bytes", 0}}}};
}

Json two_levels(int n, int grid, int block) {
  Json input = one_block(n, block);
  input["launch"]["grid"] = {grid, 1, 1};
  return input;
}

const vgpu::Finding* find_kind(const Verdict& verdict, vgpu::FindingKind kind) {
  for (const vgpu::Finding& finding : verdict.findings) {
    if (finding.kind == kind && finding.severity == vgpu::Severity::error) return &finding;
  }
  return nullptr;
}

// Blocks up to `max`, with as many elements as they hold, whose output is wrong.
std::set<int> wrong_blocks(std::string_view pair, int max, int elements_per_thread) {
  std::set<int> wrong;
  for (int block = 1; block <= max; ++block) {
    const Verdict verdict = run_case(case_of(pair, one_block(elements_per_thread * block, block)));
    if (find_kind(verdict, vgpu::FindingKind::mismatch) != nullptr) wrong.insert(block);
  }
  return wrong;
}

std::set<int> ranges(const std::vector<std::pair<int, int>>& from_to) {
  std::set<int> all;
  for (const auto& [from, to] : from_to) {
    for (int i = from; i <= to; ++i) all.insert(i);
  }
  return all;
}

TEST(ScanHillisSteelePublished, RacesAtOneLineWithinAWarp) {
  const Verdict verdict = run_case(case_of("scan_hillis_steele_published", one_block(3, 3)));
  EXPECT_EQ(kinds_of(verdict), "data-race");
  const vgpu::Finding* race = find_kind(verdict, vgpu::FindingKind::data_race);
  ASSERT_NE(race, nullptr);
  EXPECT_EQ(race->space, "shared");
  EXPECT_EQ(race->object, "share[1], 4 bytes");
  ASSERT_EQ(race->accesses.size(), 2U);
  for (const vgpu::AccessSide& side : race->accesses) {
    EXPECT_EQ(side.file, "kernels/specimens/scan_hillis_steele.cu");
    EXPECT_EQ(side.line, 14U);
  }
}

TEST(ScanHillisSteelePublished, NeedsThreeElements) {
  for (const Settings& settings : kAllSettings) {
    for (int n = 0; n <= 2; ++n) {
      const Case a_case = case_of("scan_hillis_steele_published", one_block(n, 1024), settings);
      EXPECT_EQ(kinds_of(run_case(a_case)), "") << n;
    }
  }
}

TEST(ScanHillisSteelePublished, IsWrongWithinAWarpByOneDecision) {
  Case a_case = case_of("scan_hillis_steele_published", one_block(3, 3));
  // Thread 2 is held back while thread 1 adds; access 0 is the load of `in`, 1 the store to share.
  a_case.schedule = vgpu::Schedule{{{.at = {}, .index = 2, .held = 0b100, .next = {}}}};
  EXPECT_EQ(kinds_of(run_case(a_case)), "data-race, mismatch");
}

TEST(ScanHillisSteelePublished, IsWrongAcrossWarpsWithoutADecision) {
  const Settings lockstep{.warp_model = vgpu::WarpModel::lockstep};
  const std::string pair = "scan_hillis_steele_published";
  EXPECT_EQ(kinds_of(run_case(case_of(pair, one_block(32, 32), lockstep))), "");
  EXPECT_EQ(kinds_of(run_case(case_of(pair, one_block(33, 33), lockstep))), "data-race, mismatch");
}

TEST(ScanTreePublished, IsWrongForTheseBlocks) {
  EXPECT_EQ(wrong_blocks("scan_tree_published", 70, 1),
            ranges({{3, 3}, {6, 7}, {12, 15}, {20, 31}, {36, 63}, {68, 70}}));
}

TEST(ScanPairsPublished, IsWrongForTheseBlocks) {
  EXPECT_EQ(wrong_blocks("scan_pairs_published", 40, 2),
            ranges({{3, 3}, {6, 7}, {10, 15}, {18, 31}, {34, 40}}));
}

TEST(ScanPairsPublished, StepsOverTheEndOfOddArrays) {
  for (const Settings& settings : kAllSettings) {
    for (int n = 0; n <= 9; ++n) {
      const Case a_case = case_of("scan_pairs_published", one_block(n, 8), settings);
      EXPECT_EQ(kinds_of(run_case(a_case)), n % 2 == 1 ? "out-of-bounds" : "") << n;
    }
  }
}

TEST(ScanTwoLevelPublished, HasTwiceTheThreadsInItsSecondLevel) {
  for (const Settings& settings : kAllSettings) {
    const Verdict verdict =
        run_case(case_of("scan_two_level_published", two_levels(1, 1, 1), settings));
    EXPECT_EQ(kinds_of(verdict), "out-of-bounds");
    const vgpu::Finding* finding = find_kind(verdict, vgpu::FindingKind::out_of_bounds);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->space, "shared");
  }
}

// All threads of a block write the same addend, and each has written it before it reads: a note.
// The optimiser forwards a thread's own write to its read, and no read remains.
TEST(ScanTwoLevelPublished, RacesForTheAddendButEachThreadFindsItsOwn) {
  const Json input = two_levels(64, 1, 64);
  for (const Settings& settings : kAllSettings) {
    const bool optimized = settings.build == cudart::Build::optimized;
    const Verdict verdict = run_case(case_of("scan_two_level_published", input, settings));
    EXPECT_EQ(kinds_of(verdict), "out-of-bounds");
    const auto reads_addend = [](const vgpu::Finding& finding) {
      return finding.kind == vgpu::FindingKind::data_race &&
             finding.severity == vgpu::Severity::note &&
             std::ranges::any_of(finding.accesses,
                                 [](const auto& side) { return side.role == "read"; });
    };
    EXPECT_EQ(std::ranges::any_of(verdict.findings, reads_addend), !optimized);
  }
}

}  // namespace
}  // namespace warpcheck
