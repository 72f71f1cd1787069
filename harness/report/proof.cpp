#include "harness/report/proof.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

constexpr std::array kProofs{Proof::failed, Proof::tried, Proof::every_execution,
                             Proof::every_schedule, Proof::all_data};

}  // namespace

std::string_view name_of(Proof proof) {
  switch (proof) {
    case Proof::failed: return "failed";
    case Proof::tried: return "tried";
    case Proof::every_execution: return "every-execution";
    case Proof::every_schedule: return "every-schedule";
    case Proof::all_data: return "all-data";
  }
  return "";
}

std::string_view text_of(Proof proof) {
  switch (proof) {
    case Proof::failed: return "failed";
    case Proof::tried: return "tried only";
    case Proof::every_execution: return "proved for this data: every execution was tried";
    case Proof::every_schedule: return "proved for this data and all schedules";
    case Proof::all_data: return "proved for all data and schedules";
  }
  return "";
}

std::string_view name_of(Equality equality) {
  switch (equality) {
    case Equality::none: return "none";
    case Equality::equal: return "equal";
    case Equality::unknown: return "unknown";
    case Equality::different: return "different";
  }
  return "";
}

Equality FieldTraits<Equality>::read(const Json& json, const FieldPath& path) {
  constexpr std::array kEqualities{Equality::none, Equality::equal, Equality::unknown,
                                   Equality::different};
  std::array<std::string_view, kEqualities.size()> names;
  std::ranges::transform(kEqualities, names.begin(), [](Equality one) { return name_of(one); });
  return kEqualities[read_name(json, path, names)];
}

Proof FieldTraits<Proof>::read(const Json& json, const FieldPath& path) {
  std::array<std::string_view, kProofs.size()> names;
  std::ranges::transform(kProofs, names.begin(), [](Proof proof) { return name_of(proof); });
  return kProofs[read_name(json, path, names)];
}

std::string text_of(const SampleProof& sample) {
  std::string text(text_of(sample.proof));
  if (sample.proof >= Proof::every_schedule) {
    text += sample.sizes.empty() ? fmt::format(" for {} of its inputs", kSampleInputs)
                                 : fmt::format(" at {} of its sizes (n = {})", sample.sizes.size(),
                                               fmt::join(sample.sizes, ", "));
  }
  if (!sample.reason.empty()) text += fmt::format(": {}", sample.reason);
  switch (sample.equality) {
    case Equality::none: break;
    case Equality::equal: text += ", equal to its reference there (exact arithmetic)"; break;
    case Equality::unknown:
      text += fmt::format(", not certified equal to its reference: {}", sample.unequal);
      break;
    case Equality::different: text += fmt::format(", NOT EQUAL: {}", sample.unequal); break;
  }
  return text;
}

std::string BeyondTrials::text() const {
  std::string text;
  if (for_every_schedule != 0)
    text += fmt::format(", {} for every schedule", counted(for_every_schedule, "trial"));
  if (proved) text += ", " + text_of(*proved);
  return text;
}

}  // namespace warpcheck
