// Case -> run_trial -> Verdict.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"
#include "harness/trial/engine.hpp"
#include "vgpu/schedule/reads_from_seen.hpp"

namespace warpcheck {

// Seconds of the host's clock: for notes to the user, never for results.
struct TrialSeconds {
  double kernel = 0;  // on the engine, host code included
  double reference = 0;
};

// Times the parts of trials.  The first trials are all timed.  Of the others, one in eight is, and
// counts for eight, because reading the clock takes 2 % of a small trial.
class TrialClock {
 public:
  static constexpr std::uint64_t kTimedAll = 64, kTimedOneIn = 8;

  // number: of the trial, from 1
  void begin_trial(std::uint64_t number);
  // Adds the time since the trial began, or since its last part ended.
  void end_part(double& seconds);

 private:
  std::chrono::steady_clock::time_point at_;
  std::uint64_t weight_ = 0;  // of the running trial; 0: not timed
};

// Runs trials on one engine.  Caches the last input's reference and its output under the default
// schedule, so that many schedules of one input compute them once; and keeps what reads have seen,
// for strategies that are guided by it.
class TrialRunner {
 public:
  //   for_references: runs kernels that are references; null: the same engine
  explicit TrialRunner(Engine& engine = virtual_gpu(), Engine* for_references = nullptr)
      : engine_(engine), for_references_(for_references != nullptr ? *for_references : engine) {}

  // The findings of the trial, and of the harness: `mismatch` (a wrong output, a failed property,
  // or no output because a CUDA call failed) and `schedule-dependent`.  If the output is compared
  // with that under the default schedule, findings of that run alone are included.
  Verdict run(const Case& a_case);
  // The same under `strategy`, whatever schedule the case has.
  Verdict run(const Case& a_case, vgpu::Strategy& strategy);
  // For a search, used if the case names a strategy: the strategy is not run if the run under the
  // default schedule holds for every schedule (docs/use/proofs.md).  That is tried for kernels that
  // have shown no order of threads before.
  Verdict run_for_search(const Case& a_case, vgpu::Strategy& strategy);

  [[nodiscard]] std::uint64_t trials() const { return trials_; }
  [[nodiscard]] const TrialSeconds& seconds() const { return seconds_; }

 private:
  struct Attempt {
    TrialResult result;
    std::uint64_t expectations = 0;
    AnyOutput output;                    // null: a property, or the kernel returned none
    std::optional<std::string> failure;  // why a property failed, or why there is no output
    bool call_failed = false;            // the reason is a failed call of the CUDA runtime
  };

  // The run with which other schedules are compared.
  struct DefaultRun {
    AnyOutput output;
    Verdict verdict;  // findings of this run itself
  };

  void begin(const Case& a_case);
  std::optional<Verdict> run_for_every_schedule(const Case& a_case);
  Attempt attempt(const Case& a_case, vgpu::Strategy& strategy);
  void judge_output(const Case& a_case, const Attempt& attempt, Verdict& verdict);
  void explain_schedule_dependence(const Case& a_case, const Verdict& verdict,
                                   vgpu::Finding& finding);
  const AnyOutput& reference_of(const Case& a_case);
  const DefaultRun& default_run_of(const Case& a_case);

  Engine& engine_;
  Engine& for_references_;
  std::uint64_t trials_ = 0;
  TrialSeconds seconds_;
  TrialClock clock_;

  // For one search: consecutive trials of a pair.
  const AnyPair* searched_ = nullptr;
  vgpu::ReadsFromSeen seen_;

  // For the last input.
  const AnyPair* pair_ = nullptr;
  AnyInput input_;
  Settings settings_;
  AnyOutput reference_;
  std::string no_reference_;  // why the kernel that is the reference has no output; or empty
  std::optional<DefaultRun> default_run_;
  bool tried_default_ = false;  // and it does not hold for every schedule
  // For the last run of the pair and build: the order could show, or nothing was launched.
  bool shows_order_ = true;
};

}  // namespace warpcheck
