#include "harness/prove/equality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/input/json.hpp"
#include "harness/pair/exact.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/trial/shadow_results.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/watched_run.hpp"
#include "vgpu/check/exact/exact_domain.hpp"
#include "vgpu/check/shadow/shadow_plane.hpp"

namespace warpcheck {
namespace {

using vgpu::ExactDomain;
using vgpu::ExactNumbers;
using vgpu::ExactValue;
using vgpu::ShadowState;
using Plane = vgpu::ShadowPlane<ExactDomain>;
using Reading = vgpu::ShadowReading<ExactValue>;

// The points at which two runs evaluate.
constexpr std::uint64_t kSeeds[] = {0x9e3779b97f4a7c15, 0xd1b54a32d192ed03};

std::string where(const vgpu::AccessSide& side) {
  const std::string file = side.file.substr(side.file.find_last_of('/') + 1);
  return file.empty() ? side.ptx : fmt::format("{}:{} ({})", file, side.line, side.ptx);
}

std::string_view text_of(vgpu::ShadowDecision what) {
  switch (what) {
    case vgpu::ShadowDecision::branch: return "a branch";
    case vgpu::ShadowDecision::address: return "an address";
    case vgpu::ShadowDecision::operand: return "what an instruction does";
  }
  return "";
}

// One run of the kernel and of the reference on random numbers.
class ExactRun {
 public:
  ExactRun(const Case& a_case, std::uint64_t seed) : a_case_(a_case), numbers_(seed) {}

  void run(Engine& engine);

  // Why nothing is certified; empty: the results are the same.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool is_different() const { return is_different_; }
  [[nodiscard]] double error() const { return numbers_.error(); }
  // What the host has copied to the device without its being data.
  [[nodiscard]] const std::vector<vgpu::ShadowHost<ExactValue>::Unknown>& copied() const {
    return plane_.host().unknown();
  }

 private:
  void give_data();
  void compare(const NumberPlaces& results);
  [[nodiscard]] std::optional<ExactValue> value_of(const Reading& reading,
                                                   const NumberPlace& place);

  const Case& a_case_;
  ExactNumbers numbers_;
  ExactDomain domain_{numbers_};
  Plane plane_{domain_};
  ExactData data_;
  std::string reason_;
  bool is_different_ = false;
};

void ExactRun::give_data() {
  for (const NumberPlace& place : a_case_.pair->numbers_of_input(a_case_.input).places) {
    if (place.bytes == 1) continue;
    const ExactValue value =
        place.is_float ? numbers_.new_float() : numbers_.new_integer(8u * place.bytes);
    plane_.host().set(place.at, place.bytes, value);
    data_.add(place.at, Exact(value, place.is_signed));
  }
}

void ExactRun::run(Engine& engine) {
  const ExactScope scope(numbers_);
  give_data();
  const WatchedRun kernel = run_watched(a_case_, engine, plane_);
  reason_ = kernel.error;
  if (!reason_.empty()) return;
  if (const std::optional<ExactDomain::Decision>& decision = domain_.decision()) {
    reason_ = fmt::format("data decides {}: {}", text_of(decision->what), where(decision->at));
    return;
  }
  const NumberPlaces results = a_case_.pair->numbers_of_output(kernel.output);
  if (!results.is_complete) {
    reason_ = "the result is no list of numbers";
    return;
  }
  compare(results);
}

std::optional<ExactValue> ExactRun::value_of(const Reading& reading, const NumberPlace& place) {
  if (reading.state == ShadowState::value) return reading.value;
  if (reading.state == ShadowState::lost) {
    reason_ =
        fmt::format("no rule in exact arithmetic for {}", where(plane_.sites()[reading.site]));
    return std::nullopt;
  }
  if (place.is_float) return numbers_.float_of(number_at(place));
  return numbers_.integer_of(bits_at(place.at, place.bytes), 8u * place.bytes);
}

void ExactRun::compare(const NumberPlaces& results) {
  std::vector<Exact> expected;
  try {
    expected = a_case_.pair->run_exact_reference(a_case_.input, data_);
  } catch (const std::invalid_argument& error) {
    reason_ = error.what();
    return;
  }
  if (expected.size() != results.places.size()) {
    reason_ = fmt::format("the exact reference has {} numbers, the result {}", expected.size(),
                          results.places.size());
    return;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const NumberPlace& place = results.places[i];
    const std::optional<Reading> reading = shadow_of_result(plane_, results, i);
    if (!reading) {
      reason_ = fmt::format("host code calculates result {}", i);
      return;
    }
    const std::optional<ExactValue> value = value_of(*reading, place);
    if (!value) return;
    const ExactValue& wanted = value->is_ring() ? expected[i].as_integer() : expected[i].as_float();
    if (numbers_.are_equal(*value, wanted)) continue;
    reason_ = fmt::format("result {} is another function of the data than the reference's", i);
    is_different_ = true;
    return;
  }
}

// Other data may show what the host calculates from it.
bool is_same_host(const ExactRun& one, const ExactRun& other, std::string& reason) {
  const auto& a = one.copied();
  const auto& b = other.copied();
  if (a.size() != b.size()) {
    reason = "data decides how often the host copies to the device";
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].hash == b[i].hash) continue;
    reason = fmt::format("host code calculates what it copies to the device (copy {})", a[i].copy);
    return false;
  }
  return true;
}

// Small integers instead of all numbers in lists: their sums and products have no rounding.
void fill(Json& json, std::uint64_t& state) {
  for (Json& one : json) {
    if (one.is_structured()) {
      fill(one, state);
    } else if (one.is_number()) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const auto number = static_cast<std::int64_t>(state >> 33) % 13 + 1;
      one = one.is_number_float() ? Json(static_cast<double>(number)) : Json(number);
    }
  }
}

std::optional<Case> counterexample_of(const Case& a_case, Engine& engine) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Json json = a_case.pair->to_json(a_case.input);
    std::uint64_t state = seed;
    for (Json& field : json) {
      if (field.is_array()) fill(field, state);
    }
    Case tried = a_case;
    try {
      tried.input = a_case.pair->from_json(json);
    } catch (const FieldError&) {
      return std::nullopt;
    }
    if (!a_case.pair->in_domain(tried.input)) continue;
    if (TrialRunner(engine).run(tried).failed()) return tried;
  }
  return std::nullopt;
}

}  // namespace

EqualityCertificate certify_equality(const Case& a_case, Engine& engine) {
  EqualityCertificate certificate;
  if (!a_case.pair->has_exact_reference()) return certificate;
  certificate.equality = Equality::unknown;
  ExactRun first(a_case, kSeeds[0]);
  first.run(engine);
  certificate.reason = first.reason();
  if (first.is_different()) {
    certificate.equality = Equality::different;
    certificate.counterexample = counterexample_of(a_case, engine);
  }
  if (!first.reason().empty()) return certificate;
  double error = first.error();
  for (const InputEdit::Data other : kOtherData) {
    Case changed = a_case;
    changed.input = with_other_data(*a_case.pair, a_case.input, other);
    if (changed.input == nullptr) continue;
    ExactRun second(changed, kSeeds[1]);
    second.run(engine);
    certificate.reason = second.reason();
    if (certificate.reason.empty() && !is_same_host(first, second, certificate.reason))
      return certificate;
    if (second.is_different()) certificate.equality = Equality::different;
    if (!certificate.reason.empty()) return certificate;
    error *= std::min(second.error(), 1.0);  // it has another prime and other points
    break;
  }
  constexpr int kErrorMost = -40;
  certificate.error_exponent = error == 0 ? -60 : static_cast<int>(std::ceil(std::log2(error)));
  if (certificate.error_exponent > kErrorMost) {
    certificate.reason = "the degrees are too large for the field";
    return certificate;
  }
  certificate.equality = Equality::equal;
  return certificate;
}

}  // namespace warpcheck
