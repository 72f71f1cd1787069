// The result of a trial, and the class of a failure, which shrinking keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck {

// The class of a failure, whatever the input.  Notes do not count.
//
// A *signature* is (kind, space, kernel) of a finding; a *place* is its vgpu::class_of(): the
// signature and its source lines.  Both ascending and unique.
struct FailureClass {
  std::vector<std::string> signatures;
  std::vector<std::string> places;

  [[nodiscard]] bool empty() const { return signatures.empty(); }
  friend bool operator==(const FailureClass&, const FailureClass&) = default;
};

// Whether a failure of class `candidate` may replace one of class `target`: the same signatures, at
// no new place.  So a race never becomes a mismatch, nor a race at another line; but a failure that
// showed at five lines may be shown at the one that needs the smallest input.
[[nodiscard]] bool keeps(const FailureClass& target, const FailureClass& candidate);

struct Verdict {
  // Source files are relative to the repository.
  std::vector<vgpu::Finding> findings;
  vgpu::Schedule schedule;  // the decisions that were made
  std::uint64_t launches = 0;
  // The number of statements about the result: 1 for a compared output with at least one element,
  // or the number of expectations that a property evaluated.
  std::uint64_t claims = 0;
  std::uint64_t steps = 0;              // warp instructions
  std::uint64_t lane_steps = 0;         // thread instructions
  std::uint64_t decisions_ignored = 0;  // for a recorded schedule: those that did not apply
  std::uint64_t ptx_hash = 0;
  std::vector<std::string> refusals;  // what could not be run, and why
  // Why another schedule may give another result, although no race was found; empty: it cannot, so
  // that a run without findings holds for every schedule (docs/use/proofs.md).
  std::string order_source;
  std::uint64_t edited_places = 0;  // of the device code, by the settings' edits
  bool for_every_schedule = false;  // this run without findings holds for every schedule

  // For a run in the independent warp model with all checkers.
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
