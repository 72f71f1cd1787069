// A search for the input with which a pair's kernel does most of something to memory: bank
// conflicts, sectors that it need not move, atomics that wait for each other.
//
// Hill climbing over the choices that draw an input (tape.hpp): some random inputs first, then the
// best one so far with a few choices changed.  A given seed and number of executions finds the same
// on every machine.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/case.hpp"
#include "vgpu/check/counters/memory_counts.hpp"

namespace warpcheck {

// What can be searched for, by its name on the command line.
struct WorstCaseGoal {
  std::string_view name;
  std::uint64_t (*value_of)(const vgpu::MemoryCounts&);
};
[[nodiscard]] const std::vector<WorstCaseGoal>& worst_case_goals();

struct WorstCaseOptions {
  const AnyPair* pair = nullptr;
  const WorstCaseGoal* goal = nullptr;
  std::uint64_t seconds = 60;    // 0: no limit
  std::uint64_t executions = 0;  // 0: no limit
  std::uint64_t seed = 1;
  Settings settings{};
  const volatile std::sig_atomic_t* stop = nullptr;  // non-zero: ends the search
};

struct WorstCase {
  Case a_case;
  std::uint64_t value = 0;  // of the goal
  std::uint64_t first = 0;  // that of the first input
  std::uint64_t executions = 0;
};

WorstCase find_worst_case(const WorstCaseOptions& options);

}  // namespace warpcheck
