#include "harness/prove/equality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/input/function_ref.hpp"
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
using vgpu::ExactPowers;
using vgpu::ExactValue;
using vgpu::ShadowState;
using Plane = vgpu::ShadowPlane<ExactDomain>;
using Reading = vgpu::ShadowReading<ExactValue>;

// The points at which two runs evaluate.
constexpr std::uint64_t kSeeds[] = {0x9e3779b97f4a7c15, 0xd1b54a32d192ed03};
// Powers of 2 have fewer points, so that more runs may be needed.
constexpr std::uint64_t kMoreSeeds[] = {0x8cb92ba72f3d8dd7, 0xf1357aea2e62a9c5, 0xda942042e4dd58b5,
                                        0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x589965cc75374cc3};

std::string where(const vgpu::AccessSide& side) {
  const std::string file = side.file.substr(side.file.find_last_of('/') + 1);
  return file.empty() ? side.ptx : fmt::format("{}:{} ({})", file, side.line, side.ptx);
}

// The type of a number's bits.
ptx::Type type_of(const NumberPlace& place) {
  using ptx::Type;
  if (place.is_float) return place.bytes == 8 ? Type::f64 : Type::f32;
  return place.bytes == 8 ? Type::b64 : place.bytes == 4 ? Type::b32 : Type::b16;
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
  ExactRun(const Case& a_case, std::uint64_t seed, ExactPowers powers)
      : a_case_(a_case), numbers_(seed, powers) {}

  void run(Engine& engine);

  // Why nothing is certified; empty: the results are the same.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool is_different() const { return is_different_; }
  // Whether only a failing input shows that they are different, because functions are known by
  // their arguments alone: max(x, -x) is abs(x).
  [[nodiscard]] bool needs_input() const { return numbers_.has_functions(); }
  // Zeros and ones for the numbers in the input's lists, with which they differ; empty: not known.
  [[nodiscard]] const std::vector<int>& zeros_and_ones() const { return zeros_and_ones_; }
  [[nodiscard]] bool has_powers() const { return numbers_.has_powers(); }
  [[nodiscard]] double error() const { return numbers_.error(); }
  // What the host has copied to the device without its being data, for both kernels.
  [[nodiscard]] std::vector<vgpu::ShadowHost<ExactValue>::Unknown> copied() const {
    auto all = plane_.host().unknown();
    const auto& for_reference = reference_plane_.host().unknown();
    all.insert(all.end(), for_reference.begin(), for_reference.end());
    return all;
  }

 private:
  void give_data();
  void compare(const NumberPlaces& results);
  std::optional<std::vector<ExactValue>> values_of(const Plane& plane, const NumberPlaces& results);
  std::optional<std::vector<ExactValue>> run_reference_kernel(Engine& engine);
  std::optional<std::vector<ExactValue>> run_exact_reference(const std::vector<ExactValue>& like);
  [[nodiscard]] bool is_decided(const ExactDomain& domain);
  void name_difference(const ExactNumbers::Comparison& comparison);
  [[nodiscard]] std::optional<ExactValue> value_of(const Plane& plane, const Reading& reading,
                                                   const NumberPlace& place);

  const Case& a_case_;
  ExactNumbers numbers_;
  ExactDomain domain_{numbers_};
  Plane plane_{domain_};
  // Of the kernel that is the reference.
  ExactDomain reference_domain_{numbers_};
  Plane reference_plane_{reference_domain_};
  ExactData data_;
  std::vector<ExactValue> of_input_;  // the numbers in the input's lists
  std::vector<int> zeros_and_ones_;
  std::string reason_;
  bool is_different_ = false;
};

void ExactRun::give_data() {
  for (const NumberPlace& place : a_case_.pair->numbers_of_input(a_case_.input).places) {
    of_input_.emplace_back();
    if (place.bytes == 1) continue;
    ExactValue value =
        place.is_float ? numbers_.new_float() : numbers_.new_integer(8u * place.bytes);
    if (place.is_float) value.format = type_of(place);
    of_input_.back() = value;
    plane_.host().set(place.at, place.bytes, value);
    reference_plane_.host().set(place.at, place.bytes, value);
    data_.add(place.at, Exact(value, place.is_signed));
  }
}

void ExactRun::run(Engine& engine) {
  const ExactScope scope(numbers_);
  give_data();
  const WatchedRun kernel = run_watched(a_case_, engine, plane_, &domain_.is_decided());
  if (is_decided(domain_)) return;
  reason_ = kernel.error;
  if (!reason_.empty()) return;
  const NumberPlaces results = a_case_.pair->numbers_of_output(kernel.output);
  if (!results.is_complete) {
    reason_ = "the result is no list of numbers";
    return;
  }
  const auto found = values_of(plane_, results);
  if (!found) return;
  const auto wanted = a_case_.pair->reference_kernel() != nullptr ? run_reference_kernel(engine)
                                                                  : run_exact_reference(*found);
  if (!wanted) return;
  if (wanted->size() != found->size()) {
    reason_ =
        fmt::format("the reference has {} numbers, the result {}", wanted->size(), found->size());
    return;
  }
  std::vector<std::pair<ExactValue, ExactValue>> pairs;
  for (std::size_t i = 0; i < found->size(); ++i) {
    const ExactValue &result = (*found)[i], &reference = (*wanted)[i];
    // A constant has as many bits as it is compared with; data has its own.
    if (result.is_ring() && reference.is_ring() && reference.is_data &&
        reference.bits != result.bits) {
      reason_ =
          fmt::format("result {} has {} bits, the reference's {}", i, result.bits, reference.bits);
      return;
    }
    pairs.emplace_back(result, reference);
  }
  name_difference(numbers_.compare(pairs));
}

bool ExactRun::is_decided(const ExactDomain& domain) {
  const std::optional<ExactDomain::Decision>& decision = domain.decision();
  if (decision)
    reason_ = fmt::format("data decides {}: {}", text_of(decision->what), where(decision->at));
  return decision.has_value();
}

std::optional<ExactValue> ExactRun::value_of(const Plane& plane, const Reading& reading,
                                             const NumberPlace& place) {
  if (reading.state == ShadowState::value) return reading.value;
  if (reading.state == ShadowState::lost) {
    reason_ = fmt::format("no rule in exact arithmetic for {}", where(plane.sites()[reading.site]));
    return std::nullopt;
  }
  if (place.is_float) return numbers_.float_of(number_at(place));
  return numbers_.integer_of(bits_at(place.at, place.bytes), 8u * place.bytes);
}

std::optional<std::vector<ExactValue>> ExactRun::values_of(const Plane& plane,
                                                           const NumberPlaces& results) {
  std::vector<ExactValue> values;
  for (std::size_t i = 0; i < results.places.size(); ++i) {
    const std::optional<Reading> reading = shadow_of_result(plane, results, i);
    if (!reading) {
      reason_ = fmt::format("host code calculates result {}", i);
      return std::nullopt;
    }
    std::optional<ExactValue> value = value_of(plane, *reading, results.places[i]);
    if (!value) return std::nullopt;
    if (value->is_ring() == results.places[i].is_float) {
      reason_ = fmt::format("result {} is the bits of another type of number", i);
      return std::nullopt;
    }
    values.push_back(*value);
  }
  return values;
}

// The same data in another kernel.
std::optional<std::vector<ExactValue>> ExactRun::run_reference_kernel(Engine& engine) {
  Case other = a_case_;
  other.pair = a_case_.pair->reference_kernel();
  const WatchedRun kernel = run_watched(other, engine, reference_plane_);
  reason_ = kernel.error;
  std::optional<std::vector<ExactValue>> values;
  if (reason_.empty() && !is_decided(reference_domain_))
    values = values_of(reference_plane_, other.pair->numbers_of_output(kernel.output));
  if (!reason_.empty()) reason_ = "of the reference: " + reason_;
  return values;
}

std::optional<std::vector<ExactValue>> ExactRun::run_exact_reference(
    const std::vector<ExactValue>& like) {
  std::vector<Exact> expected;
  try {
    expected = a_case_.pair->run_exact_reference(a_case_.input, data_);
  } catch (const std::invalid_argument& error) {
    reason_ = error.what();
    return std::nullopt;
  }
  std::vector<ExactValue> values;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool is_ring = i < like.size() && like[i].is_ring();
    values.push_back(is_ring ? expected[i].as_integer() : expected[i].as_float());
  }
  return values;
}

void ExactRun::name_difference(const ExactNumbers::Comparison& comparison) {
  using Kind = ExactNumbers::Comparison::Kind;
  if (comparison.kind == Kind::equal) return;
  if (comparison.kind == Kind::not_comparable) {
    reason_ = fmt::format(
        "result {} has too many states of zeros and ones: the data that it depends on is compared "
        "in "
        "an order that leaves much of it unsorted",
        comparison.pair);
    return;
  }
  reason_ = fmt::format("result {} is another function of the data than the reference's",
                        comparison.pair);
  is_different_ = true;
  std::map<std::uint64_t, int> bits(comparison.inputs.begin(), comparison.inputs.end());
  if (bits.empty()) return;
  for (const ExactValue& one : of_input_) zeros_and_ones_.push_back(bits[one.payload]);
}

// Other data may show what the host calculates from it.
bool is_same_host(const ExactRun& one, const ExactRun& other, std::string& reason) {
  const auto a = one.copied(), b = other.copied();
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

// Sets all numbers in lists, in their order.
void fill(Json& json, FunctionRef<int()> next) {
  for (Json& one : json) {
    if (one.is_structured()) {
      fill(one, next);
    } else if (one.is_number()) {
      const int number = next();
      one = one.is_number_float() ? Json(static_cast<double>(number)) : Json(number);
    }
  }
}

std::optional<Case> failing_with(const Case& a_case, Engine& engine, FunctionRef<int()> next) {
  Json json = a_case.pair->to_json(a_case.input);
  for (Json& field : json) {
    if (field.is_array()) fill(field, next);
  }
  Case tried = a_case;
  try {
    tried.input = a_case.pair->from_json(json);
  } catch (const FieldError&) {
    return std::nullopt;  // no number of such a list
  }
  if (!a_case.pair->in_domain(tried.input)) return std::nullopt;
  return TrialRunner(engine).run(tried).failed() ? std::optional(std::move(tried)) : std::nullopt;
}

// An input that shows a difference: the zeros and ones that are known to, and small integers, whose
// sums and products have no rounding.
std::optional<Case> counterexample_of(const Case& a_case, Engine& engine, const ExactRun& run) {
  const std::vector<int>& known = run.zeros_and_ones();
  std::size_t used = 0;
  const auto next_known = [&] { return known[used++ % known.size()]; };
  if (!known.empty()) {
    if (auto failing = failing_with(a_case, engine, next_known)) return failing;
  }
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const int least = seed <= 4 ? 1 : -6;
    std::uint64_t state = seed;
    const auto next = [&] {
      state = state * 6364136223846793005 + 1442695040888963407;
      return static_cast<int>((state >> 33) % 13) + least;
    };
    if (auto failing = failing_with(a_case, engine, next)) return failing;
  }
  return std::nullopt;
}

// The first run on random numbers, and what is known of powers there: as much as it takes to find
// no difference.
struct FirstRun {
  std::unique_ptr<ExactRun> run;
  ExactPowers powers = ExactPowers::named;
};
FirstRun first_run_of(const Case& a_case, Engine& engine) {
  const auto run_with = [&](ExactPowers powers) {
    FirstRun first{std::make_unique<ExactRun>(a_case, kSeeds[0], powers), powers};
    first.run->run(engine);
    return first;
  };
  FirstRun named = run_with(ExactPowers::named);
  if (!named.run->is_different() || !named.run->has_powers()) return named;
  for (const ExactPowers powers : {ExactPowers::of_expf, ExactPowers::of_fast}) {
    if (FirstRun other = run_with(powers); other.run->reason().empty()) return other;
  }
  return named;
}

}  // namespace

EqualityCertificate certify_equality(const Case& a_case, Engine& engine) {
  EqualityCertificate certificate;
  if (!a_case.pair->has_exact_reference() && a_case.pair->reference_kernel() == nullptr)
    return certificate;
  certificate.equality = Equality::unknown;
  const FirstRun found = first_run_of(a_case, engine);
  const ExactRun& first = *found.run;
  certificate.reason = first.reason();
  if (first.is_different()) {
    certificate.counterexample = counterexample_of(a_case, engine, first);
    if (certificate.counterexample || !first.needs_input()) {
      certificate.equality = Equality::different;
    } else {
      certificate.reason = "whether " + certificate.reason + " is not known, and no input shows it";
    }
  }
  if (!first.reason().empty()) return certificate;
  double error = first.error();
  for (const InputEdit::Data other : kOtherData) {
    Case changed = a_case;
    changed.input = with_other_data(*a_case.pair, a_case.input, other);
    if (changed.input == nullptr) continue;
    ExactRun second(changed, kSeeds[1], found.powers);
    second.run(engine);
    certificate.reason = second.reason();
    if (certificate.reason.empty() && !is_same_host(first, second, certificate.reason))
      return certificate;
    if (second.is_different() && !second.needs_input()) certificate.equality = Equality::different;
    if (!certificate.reason.empty()) return certificate;
    error *= std::min(second.error(), 1.0);  // it has another prime and other points
    break;
  }
  constexpr int kErrorMost = -40;
  for (const std::uint64_t seed : kMoreSeeds) {
    if (found.powers == ExactPowers::named || error <= std::ldexp(1.0, kErrorMost)) break;
    ExactRun more(a_case, seed, found.powers);
    more.run(engine);
    certificate.reason = more.reason();
    if (!certificate.reason.empty()) return certificate;
    error *= std::min(more.error(), 1.0);
  }
  certificate.error_exponent = error == 0 ? -60 : static_cast<int>(std::ceil(std::log2(error)));
  if (certificate.error_exponent > kErrorMost) {
    certificate.reason = "the degrees are too large for the field";
    return certificate;
  }
  certificate.equality = Equality::equal;
  return certificate;
}

}  // namespace warpcheck
