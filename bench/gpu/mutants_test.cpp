// Every barrier, fence and strong access of the fast kernels is necessary: without it there is a
// finding.  The kernels without mutation have no finding.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/gpu/mutant_trials.hpp"

namespace warpcheck {
namespace {

constexpr std::uint64_t kSchedulesMax = 20;

TEST(FastMutants, AreEachFoundWithinTwentySchedules) {
  for (const fast::Mutant& mutant : fast::fast_mutants()) {
    SCOPED_TRACE(std::string(mutant.kernel) + " without " + mutant.missing);
    const std::vector<std::uint32_t> expected = run_mutant(mutant.unchanged, "default", 0).out;
    const MutantSearch search = search_mutant(mutant, "pct", 1, kSchedulesMax, expected);
    EXPECT_GT(search.schedules, 0U);
    EXPECT_TRUE(search.kinds.contains("data-race")) << ::testing::PrintToString(search.kinds);
  }
}

TEST(FastMutants, AreSilentWithAllTheirOrders) {
  std::set<fast::MutantKernel> seen;
  for (const fast::Mutant& mutant : fast::fast_mutants()) {
    if (!seen.insert(mutant.unchanged).second) continue;
    SCOPED_TRACE(mutant.kernel);
    const MutantRun first = run_mutant(mutant.unchanged, "default", 0);
    EXPECT_EQ(first.kinds, std::set<std::string>{});
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const MutantRun other = run_mutant(mutant.unchanged, "pct", seed);
      EXPECT_EQ(other.kinds, std::set<std::string>{});
      EXPECT_EQ(other.out, first.out);
    }
  }
}

}  // namespace
}  // namespace warpcheck
