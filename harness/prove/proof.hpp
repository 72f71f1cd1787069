// What is known of the findings of a pair beyond the runs that were made (docs/proofs.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/input/fields.hpp"

namespace warpcheck {

enum class Proof : std::uint8_t {
  failed,  // there is a finding, or the result is wrong
  tried,   // this input under this schedule
  // This input, in all executions that its threads may show: they were enumerated, and none fails.
  every_execution,
  every_schedule,  // this input
  all_data,        // and every other of the same sizes and scalars, under every schedule
};
[[nodiscard]] std::string_view name_of(Proof proof);  // "every-schedule"
[[nodiscard]] std::optional<Proof> find_proof(std::string_view name);
[[nodiscard]] std::string_view text_of(Proof proof);  // "proved for this data and all schedules"

template <>
struct FieldTraits<Proof> {
  static Json to_json(Proof proof) { return name_of(proof); }
  static Proof from_json(const Json& json, const FieldPath& path);
  static bool identical(Proof a, Proof b) { return a == b; }
};

// What is proved of each of some inputs of a pair: of its domain that is a sample, no more.
struct SampleProof {
  Proof proof = Proof::tried;          // of all of them
  std::vector<std::uint64_t> sizes{};  // their elements; ascending, each once
  std::string reason{};                // why not more; empty where it is the best
};
FIELDS(SampleProof, proof, sizes, reason);

// What is known of a pair beyond the trials that found nothing.
struct BeyondTrials {
  std::uint64_t for_every_schedule = 0;  // of its trials: they stand for every schedule
  std::optional<SampleProof> proved{};   // of a clean pair, in the builds that were tried

  // ", 12 trials for every schedule, proved for all data and schedules at ..."; or nothing
  [[nodiscard]] std::string text() const;
};

// "proved for all data and schedules at 4 of its sizes (n = 0, 31, 480, 1024)", and why not more
[[nodiscard]] std::string text_of(const SampleProof& sample);

}  // namespace warpcheck
