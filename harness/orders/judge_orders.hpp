// Whether an order is needed: what happens to the pair without it.
//
// Needed: a trial without it fails, and the case is shrunk.  Redundant: it is proved that nothing
// fails and that results stay the same.  Every execution of the kernel is one of the kernel
// without the order; so if that has one result for each input, whatever the schedule, it is the
// kernel's.  That no trial failed proves nothing: then nothing is known.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/orders/order.hpp"
#include "harness/prove/prove.hpp"
#include "harness/report/report.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {

// A proof of fewer sizes and blocks is none.
inline constexpr std::uint64_t kPointsMin = 8;

enum class Need : std::uint8_t { needed, redundant, unknown };
[[nodiscard]] std::string_view name_of(Need need);  // "needed", "redundant", "not-known"

struct JudgeOptions {
  std::uint64_t trials = 1'000;  // without an order, in each build
  std::uint64_t seed = 1;
  std::uint64_t shrink_trials = 1'000;
  std::uint64_t points = 96;  // of a proof; 0: none is tried
  unsigned jobs = 1;          // processes of a proof
  const volatile std::sig_atomic_t* stop = nullptr;
};

// What trials of a pair without an order, or with another change, have shown.
struct ChangeTrials {
  std::optional<Report> failure;  // shrunk
  std::uint64_t trials = 0;
  std::string refusal;  // why the changed kernel cannot run
};

struct JudgedOrder {
  Order order;
  Need need = Need::unknown;
  ChangeTrials tried;
  // needed: so many trials with lanes in lockstep, and none failed; 0: one failed.
  std::uint64_t lockstep_trials = 0;
  std::string proof;    // redundant: for which sizes, "96 points: size 0 to 64, block 1 to 1024"
  std::string why_not;  // unknown: what prevents a proof
  // redundant: without it there is no race and nothing out of bounds at any size (`prove
  // --all-sizes`).
  bool is_safe_at_all_sizes = false;
};

// The builds in which it can be taken away.
[[nodiscard]] std::vector<cudart::Build> builds_of(const Order& order);

// Trials of a pair with edits, alternately in each build, until one fails.
[[nodiscard]] ChangeTrials try_change(const AnyPair& pair, const ptx::Edits& edits,
                                      const std::vector<cudart::Build>& builds,
                                      vgpu::WarpModel model, const JudgeOptions& options,
                                      bool shrinks);

// What is proved of the pair with edits.
struct ChangeProof {
  bool has_same_results = false;  // at all points, for all data and schedules
  bool equals_reference = false;  // at all points, for all data
  std::string points{};           // "96 points: size 0 to 64, block 1 to 1024"
  std::string obstacle{};         // why not
};
[[nodiscard]] ChangeProof prove_change(const AnyPair& pair, const ptx::Edits& edits,
                                       const std::vector<cudart::Build>& builds,
                                       const JudgeOptions& options);

// Throws std::runtime_error if the pair's trials fail as it is.
void require_clean(const AnyPair& pair, const JudgeOptions& options);

// A case fails without the order, so it is needed, whatever was known of it before.
void show_need(JudgedOrder& judged, Case failing, const JudgeOptions& options);

[[nodiscard]] JudgedOrder judge_order(const AnyPair& pair, Order order,
                                      const JudgeOptions& options);

}  // namespace warpcheck
