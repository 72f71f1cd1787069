// What one run of a pair proves: nothing beyond itself, something about every schedule, or that and
// about all data of its sizes and launch.  The theorem and what it rests on: docs/proofs.md.
//
// What is proved is that no finding is there: no race, nothing out of bounds or unwritten, no
// barrier missed, no leak.  That the result is the reference's is tried, not proved.
#pragma once

#include <cstdint>
#include <string>

#include "harness/case/case.hpp"
#include "harness/trial/engine.hpp"
#include "harness/trial/verdict.hpp"

namespace warpcheck {

enum class Proof : std::uint8_t {
  failed,  // there is a finding, or the result is wrong
  tried,   // this input under this schedule
  // This input, in all executions that its threads may show: they were enumerated, and none fails.
  every_execution,
  every_schedule,  // this input
  all_data,        // and every other of the same sizes and scalars, under every schedule
};
[[nodiscard]] std::string_view name_of(Proof proof);     // "every-schedule"
[[nodiscard]] Proof proof_named(std::string_view name);  // tried, if there is none
[[nodiscard]] std::string_view text_of(Proof proof);     // "proved for this data and all schedules"

struct Certificate {
  Proof proof = Proof::tried;
  // Why it is no better, with the line that decides: empty where it is the best.
  std::string reason{};
  // The results' bytes are the same under every schedule; else what they depend on, in `varies`.
  bool same_bytes = false;
  std::string varies{};
  Verdict verdict{};  // of the ordinary run
};

// Runs a case under the default schedule in the independent warp model, whose schedules include
// those of lockstep: once with all checkers, then once more for each kind of value that has to be
// followed, and with other data.
[[nodiscard]] Certificate certify(const Case& a_case, Engine& engine = virtual_gpu());

// The input with other data in its arrays, as far as the domain has one: 0, 1, ... say which.
// Null: the domain refuses it.
[[nodiscard]] AnyInput with_other_data(const AnyPair& pair, const AnyInput& input, unsigned which);
inline constexpr unsigned kOtherData = 3;

}  // namespace warpcheck
