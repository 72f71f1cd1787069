#include "harness/trial/rounding.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "harness/pair/agreement.hpp"
#include "harness/pair/exact.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/trial/shadow_results.hpp"
#include "harness/trial/watched_run.hpp"
#include "vgpu/check/precision/precision_domain.hpp"
#include "vgpu/check/precision/rounding_domain.hpp"
#include "vgpu/schedule/replay.hpp"

namespace warpcheck {
namespace {

using vgpu::DoubleDouble;
using vgpu::RoundingDomain;
using vgpu::ShadowState;
// Another order of the reference's sums may lose a few times as much.
constexpr double kOfReference = 8;
// The toolkit's functions are polynomials, off by up to two units in the last place.
constexpr double kUnitsOfFunctions = 2;

using RoundingPlane = vgpu::ShadowPlane<RoundingDomain>;

ptx::Type declared_type_of(Arithmetic declared) {
  switch (declared) {
    case Arithmetic::of_half: return ptx::Type::f16;
    case Arithmetic::of_bfloat16: return ptx::Type::bf16;
    case Arithmetic::of_double: return ptx::Type::f64;
    default: return ptx::Type::f32;
  }
}

std::string shown_place(const vgpu::AccessSide& side) {
  const std::string file = repository_path(side.file);
  return file.empty() ? side.ptx : fmt::format("{}:{} ({})", file, side.line, side.ptx);
}

// A number of the output, what it should be, and how far it may be from that.
struct RoundedElement {
  double computed = 0;
  DoubleDouble reference{};
  double allowed = 0;
  // The kernel's operations without rounding; nothing: they are not known.
  std::optional<RoundingDomain::Value> value{};
  std::optional<vgpu::AccessSide> unknown_at{};

  [[nodiscard]] double distance() const {
    return vgpu::magnitude(DoubleDouble{computed, 0} - reference);
  }
  // Over 1: too far.
  [[nodiscard]] double excess() const {
    const double wanted = vgpu::to_double(reference);
    if (computed == wanted || (std::isnan(computed) && std::isnan(wanted))) return 0;
    if (!std::isfinite(computed) || !std::isfinite(wanted))
      return std::numeric_limits<double>::infinity();
    return allowed > 0 ? distance() / allowed : std::numeric_limits<double>::infinity();
  }
};

// A number that is too large for the elements of the output is an infinity there.
DoubleDouble fitted_to(const DoubleDouble& number, const NumberPlace& place) {
  const bool is_float = place.bytes == 4 && std::isfinite(number.hi);
  const double rounded = is_float ? static_cast<double>(static_cast<float>(number.hi)) : 0;
  return std::isinf(rounded) ? DoubleDouble{rounded, 0} : number;
}

struct ReferenceNumber {
  DoubleDouble value{};
  double bound = 0;  // of the error that its own operations would have
};

// The reference's numbers: of .exact_reference with 106 bits, or those of the reference's output.
//   declared: the type in which the exact reference would be calculated
std::vector<ReferenceNumber> reference_numbers(const Case& a_case, const NumberPlaces& reference,
                                               ptx::Type declared) {
  std::vector<ReferenceNumber> numbers;
  if (a_case.pair->has_exact_reference()) {
    const ExactScope scope(vgpu::unit_roundoff_of(declared), vgpu::smallest_normal_of(declared));
    ExactData data;
    for (const NumberPlace& place : a_case.pair->numbers_of_input(a_case.input).places) {
      const std::uint64_t bits = bits_at(place.at, place.bytes);
      const unsigned unused = 64 - 8u * place.bytes;
      const double number =
          place.is_float ? number_at(place)
          : place.is_signed
              ? static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused)
              : static_cast<double>(bits);
      data.add(place.at, Exact(DoubleDouble{number, 0}));
    }
    for (const Exact& one : a_case.pair->run_exact_reference(a_case.input, data))
      numbers.push_back({one.as_number(), one.bound()});
    if (numbers.size() == reference.places.size()) return numbers;
    throw std::logic_error(
        fmt::format("within_rounding(): the exact reference has {} numbers, the output {}",
                    numbers.size(), reference.places.size()));
  }
  for (const NumberPlace& place : reference.places) numbers.push_back({{number_at(place), 0}, 0});
  return numbers;
}

std::string text_of_rounded(const RoundedElement& element, std::size_t index, ptx::Type type,
                            const std::vector<vgpu::AccessSide>& sites, std::string_view whose) {
  const auto shown = [&](double number) {
    return type == ptx::Type::f64 ? detail::show_number(number)
                                  : detail::show_number(static_cast<float>(number));
  };
  std::string text = fmt::format("out[{}] = {}, reference {}", index, shown(element.computed),
                                 shown(vgpu::to_double(element.reference)));
  const bool is_made = element.value && element.value->made_at != ptx::kNone;
  if (!std::isfinite(element.computed)) {
    return text + (is_made ? fmt::format("; {} is made at {}", shown(element.computed),
                                         shown_place(sites[element.value->made_at]))
                           : std::string("; --check numerics names the line that makes it"));
  }
  if (element.unknown_at) {
    return text + fmt::format("; its rounding has no bound: no rule for {}",
                              shown_place(*element.unknown_at));
  }
  const double ulps = element.distance() / vgpu::unit_in_last_place(element.reference.hi, type);
  text += fmt::format(" ({:.4g} ulps)", ulps);
  if (element.allowed > 0) {
    text += fmt::format(": {:.3g} times what the rounding of {} operations explains",
                        element.excess(), whose);
  }
  if (!element.value) return text;
  const double formula = vgpu::magnitude(element.value->exact - element.reference);
  if (formula > element.distance() / 2) {
    return text + fmt::format("; without rounding, its own give {}: it is another formula",
                              shown(vgpu::to_double(element.value->exact)));
  }
  if (!is_made) return text;
  return text + fmt::format("; most of its digits were lost at {}",
                            shown_place(sites[element.value->made_at]));
}

WatchedRun run_analysed(const Case& a_case, const vgpu::Schedule& schedule, RoundingPlane& plane,
                        Engine& engine) {
  vgpu::Replay replay(schedule);
  return run_watched(a_case, engine, plane, nullptr,
                     schedule.decisions.empty() ? nullptr : &replay);
}

}  // namespace

std::optional<std::string> rounding_difference(const Case& a_case, const AnyOutput& output,
                                               const AnyOutput& reference,
                                               const vgpu::Schedule& schedule, Engine& engine) {
  const NumberPlaces out = a_case.pair->numbers_of_output(output);
  const NumberPlaces wanted = a_case.pair->numbers_of_output(reference);
  if (out.places.size() != wanted.places.size())
    return detail::size_difference(out.places.size(), wanted.places.size(), "reference");
  std::optional<std::string> other = a_case.pair->difference(a_case.input, output, reference);
  if (!other) return std::nullopt;

  const RoundingRule rule = a_case.pair->rounding().value();
  const ptx::Type type = declared_type_of(rule.declared);
  const bool is_exact = a_case.pair->has_exact_reference();
  if (rule.is_of_reference && !is_exact)
    throw std::logic_error("within_rounding_of_reference() needs the pair's .exact_reference");
  const std::vector<ReferenceNumber> numbers = reference_numbers(a_case, wanted, type);
  RoundingDomain domain(type);
  RoundingPlane plane(domain);
  WatchedRun run = run_analysed(a_case, schedule, plane, engine);
  // A real GPU has no observers.
  if (run.error.empty() && plane.host().fetched().empty() && !out.places.empty())
    run = run_analysed(a_case, schedule, plane, virtual_gpu());
  if (!run.error.empty()) return *other + "; the kernel fails when it is run once more";
  // Of the run that was analysed: floats may differ where the first one was of another build.
  const NumberPlaces analysed = a_case.pair->numbers_of_output(run.output);
  if (analysed.places.size() != out.places.size()) return other;
  RoundedElement worst;
  double worst_excess = 1;
  std::size_t worst_index = 0;
  for (std::size_t i = 0; i < out.places.size(); ++i) {
    RoundedElement element{.computed = number_at(out.places[i]),
                           .reference = fitted_to(numbers[i].value, wanted.places[i])};
    const double of_reference = is_exact                      ? 0x1p-80
                                : wanted.places[i].bytes == 8 ? 0x1p-53
                                                              : 0x1p-24;
    element.allowed = of_reference * std::abs(numbers[i].value.hi) + (is_exact ? 0 : 0x1p-150);
    const auto reading = shadow_of_result(plane, analysed, i);
    if (!reading) {
      throw std::logic_error(
          fmt::format("within_rounding(): host code calculates result {}, and is not followed", i));
    }
    if (reading->state == ShadowState::value) {
      element.value = reading->value;
      element.allowed += reading->value.bound * (1 + 0x1p-20);
      const double formula = vgpu::magnitude(reading->value.exact - element.reference);
      const double unit = vgpu::unit_in_last_place(numbers[i].value.hi, type);
      const bool is_wide = type == ptx::Type::f32 || type == ptx::Type::f64;
      if (is_wide && formula <= kUnitsOfFunctions * unit) element.allowed += formula;
    }
    if (rule.is_of_reference) element.allowed = kOfReference * numbers[i].bound;
    if (reading->state == ShadowState::lost) element.unknown_at = plane.sites()[reading->site];
    // Below a unit in the last place, no bound is needed.
    const bool is_near =
        element.distance() <= 0.5 * vgpu::unit_in_last_place(numbers[i].value.hi, type);
    if (element.unknown_at && is_near) continue;
    const double excess = element.unknown_at ? std::max(element.excess(), 2.0) : element.excess();
    if (excess <= worst_excess) continue;
    worst = element;
    worst_excess = excess;
    worst_index = i;
  }
  if (worst_excess <= 1) return std::nullopt;
  return text_of_rounded(worst, worst_index, type, domain.sites(),
                         rule.is_of_reference ? "the reference's" : "its own");
}

}  // namespace warpcheck
