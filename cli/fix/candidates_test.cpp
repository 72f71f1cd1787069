// Which changes are tried for a finding, and where.
#include "cli/fix/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace warpcheck {
namespace {

// Line 3 of tile.hpp stores, line 6 loads; lines 4, 5 and 7 of twice.cu call these.
constexpr const char* kTile =
    "#pragma once\n"
    "__device__ void put(float* to, int i, float v) {\n"
    "  to[i] = v;\n"
    "}\n"
    "__device__ float next(const float* from, int i) {\n"
    "  return from[i + 1];\n"
    "}\n";
constexpr const char* kKernel =
    "__global__ void twice(float* out, const float* in) {\n"
    "  __shared__ float s[65];\n"
    "  int t = threadIdx.x;\n"
    "  put(s, t, in[t]);\n"
    "  float v = next(s, t);\n"
    "  out[t] = v;\n"
    "}\n";

Verdict race(const std::vector<vgpu::SourceLine>& callers_of_store,
             const std::vector<vgpu::SourceLine>& callers_of_load) {
  vgpu::Finding finding;
  finding.space = "shared";
  finding.kernel = "twice";
  finding.relation = vgpu::Relation::warps;
  finding.lack = vgpu::Lack::block_barrier;
  finding.accesses.resize(2);
  finding.accesses[0] = {.role = "write",
                         .file = "tile.hpp",
                         .line = 3,
                         .ptx = "st.shared.f32",
                         .callers = callers_of_store};
  finding.accesses[1] = {.role = "read",
                         .file = "tile.hpp",
                         .line = 6,
                         .ptx = "ld.shared.f32",
                         .callers = callers_of_load};
  Verdict verdict;
  verdict.findings = {finding};
  return verdict;
}

std::vector<Candidate> candidates_of(const Verdict& verdict) {
  Sources sources;
  sources.try_emplace("tile.hpp", SourceTree(kTile));
  sources.try_emplace("twice.cu", SourceTree(kKernel));
  return candidates_for(sources, verdict, {.names = {"twice"}, .threads_max = 64}, Evidence::none);
}

TEST(Candidates, StandFirstWhereTheWaysToBothSidesPart) {
  const Verdict verdict = race({{"twice.cu", 4}}, {{"twice.cu", 5}});
  EXPECT_TRUE(lies_in_a_caller(verdict.findings[0]));
  const std::vector<Candidate> candidates = candidates_of(verdict);
  ASSERT_FALSE(candidates.empty());
  EXPECT_TRUE(candidates[0].patch.files.contains("twice.cu"));
  EXPECT_TRUE(std::ranges::any_of(candidates, [&](const Candidate& candidate) {
    return candidate.rank == candidates[0].rank && candidate.patch.files.contains("twice.cu") &&
           candidate.patch.what.front() == "__syncthreads(); after line 4";
  }));
}

TEST(Candidates, StandInTheFunctionThatHasBothSides) {
  const Verdict verdict = race({{"twice.cu", 4}}, {{"twice.cu", 4}});
  EXPECT_FALSE(lies_in_a_caller(verdict.findings[0]));
  for (const Candidate& candidate : candidates_of(verdict)) {
    EXPECT_TRUE(candidate.patch.files.contains("tile.hpp"));
  }
}

}  // namespace
}  // namespace warpcheck
