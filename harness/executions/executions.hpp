// Every execution of a case: all orders in which its threads may do what others notice, and on weak
// memory all writes that their loads may find.
//
// The case is run again and again; which runs are needed is vgpu/check/executions.  What it rests
// on, and what is not covered: docs/proofs.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/case/case.hpp"
#include "harness/trial/engine.hpp"
#include "harness/trial/verdict.hpp"

namespace warpcheck {

struct ExecutionLimits {
  std::uint64_t runs = 2'000;        // of a case
  std::uint64_t steps = 2'000'000;   // warp instructions of all runs of a case
  std::uint64_t events = 3'000'000;  // looked at, to find out what must be run
  std::uint64_t threads = 64;        // of a launch
};

struct Executions {
  std::uint64_t count = 0;  // that differ
  std::uint64_t runs = 0;   // that it took to find them
  // Whether those are all.  If not, and none failed: why.
  bool all = false;
  std::string why_not{};
  // The first that failed, with its schedule; its verdict.
  std::optional<Case> failed{};
  Verdict verdict{};
};

// In the independent warp model with all checkers, whatever the case says of them; ends at the
// first execution that fails.
[[nodiscard]] Executions try_every_execution(const Case& a_case, const ExecutionLimits& limits,
                                             Engine& engine = virtual_gpu());

// 12345 as "12,345".
[[nodiscard]] std::string grouped(std::uint64_t number);
// "all 6 executions agree", "120 executions tried; the search was cut at 2,000 runs"
[[nodiscard]] std::string text_of(const Executions& executions);

}  // namespace warpcheck
