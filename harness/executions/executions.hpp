// Every execution of a case: all orders of those steps of its threads that other threads can
// observe, and on weak memory all writes that their loads may find.
//
// The case runs repeatedly; vgpu/check/executions decides which runs are needed.  Assumptions and
// limits: docs/use/proofs.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"
#include "harness/trial/engine.hpp"

namespace warpcheck {

struct ExecutionLimits {
  std::uint64_t runs = 2'000;        // for a case
  std::uint64_t steps = 2'000'000;   // warp instructions of all runs of a case
  std::uint64_t events = 3'000'000;  // examined to decide which executions must run
  std::uint64_t threads = 64;        // of a launch
};

struct Executions {
  std::uint64_t count = 0;  // distinct executions
  std::uint64_t runs = 0;   // runs that were needed to find them
  // Whether these are all executions.  If not, and none failed: the reason.
  bool all = false;
  std::string why_not{};
  // The first execution that failed, with its schedule; its verdict.
  std::optional<Case> failed{};
  Verdict verdict{};
};

// Runs in the independent warp model with all checkers, whatever the case says about them; ends at
// the first execution that fails.
[[nodiscard]] Executions try_every_execution(const Case& a_case, const ExecutionLimits& limits,
                                             Engine& engine = virtual_gpu());

// 12345 as "12,345".
[[nodiscard]] std::string grouped(std::uint64_t number);
// "all 6 executions agree", "120 executions tried; the search was cut at 2,000 runs"
[[nodiscard]] std::string text_of(const Executions& executions);

}  // namespace warpcheck
