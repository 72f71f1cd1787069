// What a trial showed, and the class of a failure, which shrinking keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck {

// What kind of failure it is, whatever the input.  Notes do not count.
//
// A *signature* is (kind, space, kernel) of a finding; a *place* is vgpu::class_of() it: the
// signature and its source lines.  Both ascending and unique.
struct FailureClass {
  std::vector<std::string> signatures;
  std::vector<std::string> places;

  [[nodiscard]] bool empty() const { return signatures.empty(); }
  friend bool operator==(const FailureClass&, const FailureClass&) = default;
};

// Whether a failure of class `candidate` is the one that `target` stands for: the same
// signatures, at no new place.  So a race never slips into a mismatch, nor to another line; but
// a failure that showed at five lines may be shown at the one that needs the smallest input.
[[nodiscard]] bool keeps(const FailureClass& target, const FailureClass& candidate);

struct Verdict {
  // Source files are relative to the repository.
  std::vector<vgpu::Finding> findings;
  vgpu::Schedule schedule;  // the decisions that were taken
  std::uint64_t launches = 0;
  // What the trial said anything about: 1 for an output that was compared and has an element, or
  // the expectations that a property evaluated.
  std::uint64_t claims = 0;
  std::uint64_t steps = 0;              // warp instructions
  std::uint64_t lane_steps = 0;         // thread instructions
  std::uint64_t decisions_ignored = 0;  // of a recorded schedule: those that did not fit
  std::uint64_t ptx_hash = 0;
  std::vector<std::string> kernels;   // mangled names
  std::vector<std::string> refusals;  // what could not be run, and why
  // Why another schedule may show something else, although no race was found; empty: nothing does,
  // so that a run without findings stands for every schedule (docs/proofs.md).
  std::string order_source;
  bool for_every_schedule = false;  // this run without findings stands for every schedule

  // Of a run in the independent warp model with all checkers.
  [[nodiscard]] bool holds_for_every_schedule() const {
    return launches != 0 && findings.empty() && refusals.empty() && order_source.empty();
  }
  [[nodiscard]] bool failed() const;  // a finding of severity error
};

[[nodiscard]] FailureClass failure_class(const Verdict& verdict);
[[nodiscard]] FailureClass failure_class(const std::vector<vgpu::Finding>& findings);
// Kinds of the error findings, ascending, each once.
[[nodiscard]] std::vector<vgpu::FindingKind> failure_kinds(const Verdict& verdict);
// "data-race, mismatch"
[[nodiscard]] std::string show_kinds(const std::vector<vgpu::FindingKind>& kinds);

}  // namespace warpcheck
