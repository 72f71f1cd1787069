#include "fuzz/bad_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/trial/shadow_results.hpp"
#include "harness/trial/watched_run.hpp"
#include "vgpu/check/precision/precision_domain.hpp"
#include "vgpu/check/precision/precision_outputs.hpp"
#include "vgpu/check/precision/rounding_domain.hpp"
#include "vgpu/check/shadow/shadow_plane.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

using ptx::Opcode;
using vgpu::PrecisionDomain;

// More precise numbers, of which the extremes are kept.
class SearchedDomain : public PrecisionDomain {
 public:
  using PrecisionDomain::PrecisionDomain;

  std::optional<Value> apply(const vgpu::ShadowStep& step, const vgpu::ShadowOperation& operation,
                             std::span<const vgpu::ShadowOperand<Value>> operands,
                             const std::uint64_t* result) {
    if (result != nullptr && lifts(operation)) look_at(operation, operands, *result);
    return PrecisionDomain::apply(step, operation, operands, result);
  }
  bool compare(const vgpu::ShadowStep& step, const vgpu::ShadowOperation& operation,
               std::span<const vgpu::ShadowOperand<Value>> operands, bool outcome) {
    if (operands.size() == 2 &&
        lifts({operation.opcode, operation.modifiers, operation.type, operation.type})) {
      const auto error_of = [](const vgpu::ShadowOperand<Value>& one) {
        return vgpu::magnitude(
            vgpu::DoubleDouble{vgpu::float_of_bits(one.bits, one.value.type), 0} - one.value.exact);
      };
      const double apart = vgpu::magnitude(operands[0].value.exact - operands[1].value.exact);
      const double error = error_of(operands[0]) + error_of(operands[1]);
      if (error > 0) doubt = std::max(doubt, apart > 0 ? std::min(error / apart, 1.0) : 1.0);
    }
    return PrecisionDomain::compare(step, operation, operands, outcome);
  }

  double largest = 0;       // exponent of a result, or of the reciprocal of a divisor
  double doubt = 0;         // the largest error of operands that are compared, by their distance
  bool is_special = false;  // an operation has made an infinity or a NaN of finite operands

 private:
  void look_at(const vgpu::ShadowOperation& operation,
               std::span<const vgpu::ShadowOperand<Value>> operands, std::uint64_t bits) {
    const double result = vgpu::float_of_bits(bits, operation.result);
    if (!std::isfinite(result)) {
      is_special = true;
    } else if (result != 0) {
      largest = std::max(largest, static_cast<double>(std::ilogb(result)));
    }
    const bool divides = operation.opcode == Opcode::div_ || operation.opcode == Opcode::rcp_ ||
                         operation.opcode == Opcode::rsqrt_ || operation.opcode == Opcode::lg2_ ||
                         operation.opcode == Opcode::sqrt_;
    if (!divides) return;
    const auto& by = operands[operation.opcode == Opcode::div_ && operands.size() > 1 ? 1 : 0];
    const double divisor = vgpu::to_double(by.value.exact);
    if (divisor != 0) largest = std::max(largest, static_cast<double>(-std::ilogb(divisor)));
  }
};

// A plane that looks at what the host reads.
class SearchedPlane final : public vgpu::ShadowPlane<SearchedDomain> {
 public:
  SearchedPlane(SearchedDomain& domain, vgpu::Reporter& reporter)
      : ShadowPlane(domain), reporter_(reporter) {}
  void on_sync(const vgpu::Sync& sync) override {
    reporter_.on_sync(sync);
    ShadowPlane::on_sync(sync);
  }
  void on_host_access(const vgpu::HostAccess& access) override {
    if (!access.write) {
      vgpu::for_each_output(*this, *access.allocation, access.offset, access.bytes,
                            [&](const auto& output) {
                              // Beyond these all digits are lost.
                              const double most = 1 / vgpu::unit_roundoff_of(output.value.type);
                              ulps = std::max(ulps, std::min(output.ulps, most));
                            });
    }
    ShadowPlane::on_host_access(access);
  }
  double ulps = 0;

 private:
  vgpu::Reporter& reporter_;
};

// What one run has shown.
struct Seen {
  double ulps = 0, largest = 0, doubt = 0;
  bool is_special = false;
  std::uint64_t unstable = 0;
  AnyOutput output;
};

Seen seen_in(const Case& a_case) {
  vgpu::Reporter reporter;
  SearchedDomain domain(reporter);
  SearchedPlane plane(domain, reporter);
  WatchedRun run = run_watched(a_case, virtual_gpu(), plane);
  Seen seen{plane.ulps, domain.largest, domain.doubt, domain.is_special, 0, std::move(run.output)};
  for (const vgpu::PrecisionSite& site : domain.sites()) seen.unstable += site.unstable;
  return seen;
}

class Errors final : public WorstCaseWatch {
 public:
  double value_of(const Case& a_case) override { return seen_in(a_case).ulps; }
  [[nodiscard]] std::string text_of(double value) const override {
    return fmt::format("{:.4g} ulps of error", value);
  }
  [[nodiscard]] std::optional<double> enough_beside(double worst) const override {
    constexpr double kMostOfIt = 0.9;
    return worst > 0 ? std::optional(kMostOfIt * worst) : std::nullopt;
  }
  void prepare(Settings& settings) const override { settings.checkers.precision = true; }
};

// A value of at least one is a number of what is searched for; less than one is nearness.
class Counted : public WorstCaseWatch {
 public:
  [[nodiscard]] std::optional<double> enough_beside(double worst) const override {
    return worst >= 1 ? std::optional(1.0) : std::nullopt;
  }

 protected:
  static std::uint64_t count_in(double value) {
    return value < 1 ? 0 : static_cast<std::uint64_t>(value);
  }
};

class Nans final : public Counted {
 public:
  double value_of(const Case& a_case) override {
    for (const NumberPlace& place : a_case.pair->numbers_of_input(a_case.input).places) {
      if (place.is_float && !std::isfinite(number_at(place))) return 0;
    }
    const Seen seen = seen_in(a_case);
    if (seen.output == nullptr) return 0;
    double nans = 0;
    for (const NumberPlace& place : a_case.pair->numbers_of_output(seen.output).places) {
      if (place.is_float && std::isnan(number_at(place))) ++nans;
    }
    if (nans != 0) return nans;
    constexpr double kExponentsOfAll = 2'048;
    return seen.is_special ? 0.9 : std::max(seen.largest, 0.0) / kExponentsOfAll;
  }
  [[nodiscard]] std::string text_of(double value) const override {
    return fmt::format("{} NaNs", count_in(value));
  }
  void prepare(Settings& settings) const override { settings.checkers.numerics = true; }
};

class Flips final : public Counted {
 public:
  double value_of(const Case& a_case) override {
    const Seen seen = seen_in(a_case);
    return seen.unstable != 0 ? static_cast<double>(seen.unstable) : 0.9 * seen.doubt;
  }
  [[nodiscard]] std::string text_of(double value) const override {
    return fmt::format("{} that rounding decides", counted(count_in(value), "comparison"));
  }
  void prepare(Settings& settings) const override { settings.checkers.precision = true; }
};

}  // namespace

std::unique_ptr<WorstCaseWatch> watch_errors() { return std::make_unique<Errors>(); }
std::unique_ptr<WorstCaseWatch> watch_nans() { return std::make_unique<Nans>(); }
std::unique_ptr<WorstCaseWatch> watch_flips() { return std::make_unique<Flips>(); }

}  // namespace warpcheck
