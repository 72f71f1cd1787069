// What is known about the findings of a pair beyond the trials that ran (docs/use/proofs.md).
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
  // This input, in all executions of its threads: they were enumerated, and none fails.
  every_execution,
  every_schedule,  // this input
  all_data,        // and every other of the same sizes and scalars, under every schedule
};
[[nodiscard]] std::string_view name_of(Proof proof);  // "every-schedule"
[[nodiscard]] std::string_view text_of(Proof proof);  // "proved for this data and all schedules"

template <>
struct FieldTraits<Proof> {
  static void write(Json& json, Proof proof) { write_name(json, name_of(proof)); }
  static Proof read(const Json& json, const FieldPath& path);
  static bool identical(Proof a, Proof b) { return a == b; }
};

// Whether the results are the reference's for all data of the same sizes, in exact arithmetic.
enum class Equality : std::uint8_t {
  none,       // the pair has no exact reference, or less than all finite data is proved
  equal,      // certified
  unknown,    // not certified
  different,  // they are other functions of the data
};
[[nodiscard]] std::string_view name_of(Equality equality);  // "different"

template <>
struct FieldTraits<Equality> {
  static void write(Json& json, Equality equality) { write_name(json, name_of(equality)); }
  static Equality read(const Json& json, const FieldPath& path);
  static bool identical(Equality a, Equality b) { return a == b; }
};

inline constexpr std::uint64_t kSampleInputs = 4;

// What is proved for kSampleInputs inputs of a pair: a sample of its domain, no more.
struct SampleProof {
  Proof proof = Proof::tried;  // for all of them
  // Their elements, ascending, each once; empty: they have none.
  std::vector<std::uint64_t> sizes{};
  std::string reason{};                // why no more is proved; empty for the strongest proof
  Equality equality = Equality::none;  // the weakest of the inputs
  std::string unequal{};               // why it is not certified
};
FIELDS(SampleProof, proof, sizes, reason, equality, unequal);

// What is known about a pair beyond its trials without findings.
struct BeyondTrials {
  std::uint64_t for_every_schedule = 0;  // trials that hold for every schedule
  std::optional<SampleProof> proved{};   // for a clean pair, in the builds that were tried

  // ", 12 trials for every schedule, proved for all data and schedules at ..."; or empty
  [[nodiscard]] std::string text() const;
};

// "proved for all data and schedules at 4 of its sizes (n = 0, 31, 480, 1024)", and why no more is.
// An input without lists has no size: "proved for all data and schedules for 4 of its inputs".
[[nodiscard]] std::string text_of(const SampleProof& sample);

}  // namespace warpcheck
