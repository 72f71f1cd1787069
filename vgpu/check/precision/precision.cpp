// Follows each float by a more precise one (precision_domain.hpp), and reports where the digits of
// a result were lost: which outputs are far from what exact arithmetic gives, the sums that have
// swallowed addends, the differences in which leading digits cancel, and the comparisons that turn
// out otherwise.
//
// A line is named only if an output shows it.  A compensated sum swallows addends too, and takes
// them up again in its next step: its result is right, so nothing is reported.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/numerics/operations.hpp"
#include "vgpu/check/precision/iterates.hpp"
#include "vgpu/check/precision/precision_domain.hpp"
#include "vgpu/check/precision/precision_outputs.hpp"
#include "vgpu/check/shadow/host_shared_memory.hpp"
#include "vgpu/check/shadow/printed_arguments.hpp"
#include "vgpu/check/shadow/shadow_plane.hpp"
#include "vgpu/machine/state.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// The errors from which an output has lost digits, in units in the last place.
//
// Sums and roots of a few hundred numbers are wrong by some tens of units, as a rule that a user
// chose knowingly.  A double that has kept half of its digits is more exact than most inputs, and
// halves have few digits to lose.  Where sums have swallowed addends, fewer units are enough.
double least_error(ptx::Type type) {
  switch (type) {
    case ptx::Type::f64: return 0x1p26;
    case ptx::Type::f32: return 64;
    default: return 4;
  }
}
double least_error_of_swallowed(ptx::Type type) { return std::min(8.0, least_error(type)); }
// So many leading bits of a float that cancel make a result of few digits.
constexpr int kCancelledMin = 8;

std::string text_of_number(double value, ptx::Type type) {
  const bool is_double = type == ptx::Type::f64;
  return is_double ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::string text_of_ulps(double ulps) {
  return ulps < 1e6 ? fmt::format("{:.1f} ulps", ulps) : fmt::format("{:.1e} ulps", ulps);
}

class PrecisionChecker final : public Checker {
 public:
  explicit PrecisionChecker(Reporter& reporter) : Checker(reporter), domain_(reporter) {
    reset({});
  }

  void reset(WarpModel /*model*/) override {
    domain_ = PrecisionDomain(reporter_);
    plane_ = std::make_unique<ShadowPlane<PrecisionDomain>>(domain_);
    shared_.clear();
    outputs_.clear();
  }

  [[nodiscard]] Watched watches() const override {
    return {.trial_end = true, .collectives = true, .steps = true};
  }
  void on_allocate(const Allocation& allocation) override {
    plane_->on_allocate(allocation);
    shared_.allocated(allocation);
  }
  void on_hand_out(const Allocation& allocation, std::uint32_t offset,
                   std::uint32_t bytes) override {
    plane_->on_hand_out(allocation, offset, bytes);
  }

  void on_free(const Allocation& allocation) override {
    forget_written_by_host();
    allocation.for_each_part([&](const Allocation& part) { look_at_shared(part); });
    shared_.freed(allocation);
    plane_->on_free(allocation);
  }

  void on_sync(const Sync& sync) override {
    if (sync.kind == Sync::Kind::kernel_start) forget_written_by_host();
    plane_->on_sync(sync);
    if (sync.kind != Sync::Kind::kernel_end) return;
    shared_.keep([&](const Allocation& allocation) { return plane_->is_known(allocation); });
  }

  void on_device_copy(const DeviceCopy& copy) override { plane_->on_device_copy(copy); }

  void on_step(const InstrStep& step) override {
    if (step.program->code[step.pc].kind == InstrKind::print) look_at_printed(step);
    plane_->on_step(step);
  }

  void on_step_end(const InstrStep& step) override { plane_->on_step_end(step); }
  void on_access(const Access& access) override { plane_->on_access(access); }
  void on_collective(const Collective& collective) override { plane_->on_collective(collective); }

  void on_host_access(const HostAccess& access) override {
    if (!access.write) look_at(*access.allocation, access.offset, access.bytes);
    plane_->on_host_access(access);
  }

  void on_trial_end(std::span<const Allocation* const> /*left*/) override {
    forget_written_by_host();
    shared_.for_each([&](const Allocation& allocation) { look_at_shared(allocation); });
    for (const auto& [place, outputs] : std::exchange(outputs_, {})) report_output(outputs);
    for (const PrecisionSite& site : domain_.sites()) {
      if (site.unstable != 0 && !compares_iterates(*site.program, site.pc)) report_unstable(site);
    }
  }

  // An element that the host has read.
  struct Output {
    std::string object{}, space{};
    double computed = 0, ulps = 0;
    PrecisionDomain::Value value{};
  };

 private:
  // Outputs that have lost digits, whose errors were made at one line and have the same
  // cancellation; the worst is kept.
  struct Outputs {
    Output worst;
    std::uint64_t count = 0;
  };

  void look_at(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes) {
    for_each_output(*plane_, allocation, offset, bytes, [&](const PrecisionOutput& output) {
      take(output.value, output.computed, [&] {
        return Output{.object = describe(allocation, output.offset, output.bytes),
                      .space = "global"};
      });
    });
  }

  // What a program prints is its output, too: floats as doubles.
  void look_at_printed(const InstrStep& step) {
    const Allocation* const local = step.warp->local;
    if (local == nullptr || !plane_->is_known(*local)) return;
    for (std::uint32_t lanes = step.active; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      std::size_t number = 0;
      for (const PrintedArgument& argument : printed_arguments(step, lane)) {
        ++number;
        if (argument.bytes != 8) continue;
        const auto reading = plane_->in_local_memory(*local, lane, argument.offsets[0], 8);
        if (reading.state != ShadowState::value || reading.value.type != ptx::Type::f64) continue;
        take(reading.value, std::bit_cast<double>(argument.bits),
             [&] { return Output{.object = fmt::format("argument {} of printf()", number)}; });
      }
    }
  }

  void take(const PrecisionDomain::Value& value, double computed,
            const std::function<Output()>& describe) {
    const double ulps = lost_ulps(value, computed);
    if (ulps == 0) return;
    Outputs& outputs = outputs_[{value.made_at, value.cancelled_at}];
    if (outputs.count++ != 0 && ulps <= outputs.worst.ulps) return;
    outputs.worst = describe();
    outputs.worst.computed = computed;
    outputs.worst.ulps = ulps;
    outputs.worst.value = value;
  }

  void look_at_shared(const Allocation& allocation) {
    if (shared_.has(allocation) && plane_->is_known(allocation))
      look_at(allocation, 0, allocation.limit());
  }

  void forget_written_by_host() {
    shared_.for_each_changed([&](const Allocation& allocation, std::uint32_t at,
                                 std::uint32_t size) { plane_->forget(allocation, at, size); });
  }

  // Returns the error if it is large, and is not what inputs that are rounded themselves lead to;
  // else 0.  A sum of halves is wrong by units of a half, also where it has become a float.
  [[nodiscard]] double lost_ulps(const PrecisionDomain::Value& value, double computed) const {
    if (value.made_at == PrecisionDomain::kNoSite || !std::isfinite(computed)) return 0;
    const PrecisionSite& made = domain_.sites()[value.made_at];
    const bool is_narrower = unit_in_last_place(1, made.type) > unit_in_last_place(1, value.type);
    const ptx::Type type = is_narrower ? made.type : value.type;
    const bool swallows = 4 * made.absorbed >= made.executed;
    const double least = swallows ? least_error_of_swallowed(type) : least_error(type);
    const double error = error_of(computed, value);
    const double ulps = error / unit_in_last_place(value.exact.hi, type);
    return ulps >= least && error > 2 * least * largest(value.moved) ? ulps : 0;
  }

  void report_output(const Outputs& outputs) {
    const Output& worst = outputs.worst;
    const PrecisionDomain::Value& value = worst.value;
    const PrecisionSite& made = domain_.sites()[value.made_at];
    Finding finding;
    finding.kind = FindingKind::rounding_error;
    finding.severity = Severity::note;
    finding.space = worst.space;
    finding.kernel = made.kernel;
    finding.object = worst.object;
    finding.accesses = {made.side};
    finding.message =
        fmt::format("{} is {} from {}, which exact arithmetic gives; most of the error is of (1)",
                    text_of_number(worst.computed, value.type), text_of_ulps(worst.ulps),
                    text_of_number(to_double(value.exact), value.type));
    // The compiler has unrolled the loop of a line.
    std::int64_t executed = 0, absorbed = 0;
    for (const PrecisionSite& site : domain_.sites()) {
      const bool is_same = site.side.file == made.side.file && site.side.line == made.side.line &&
                           site.side.ptx == made.side.ptx && site.kernel == made.kernel;
      const bool is_line = made.side.line != 0 && is_same;
      if (!is_line && &site != &made) continue;
      executed += static_cast<std::int64_t>(site.executed);
      absorbed += static_cast<std::int64_t>(site.absorbed);
    }
    if (absorbed != 0) {
      finding.message += fmt::format(
          ": of {} sums, {} changed nothing, because the addend was below half an ulp of the sum "
          "(compensated or pairwise summation would keep it)",
          with_commas(executed), with_commas(absorbed));
    }
    if (made.overflows) finding.message += "; (1) overflows, and its infinity is divided away";
    const bool cancels =
        value.cancelled_bits >= kCancelledMin && value.cancelled_at != PrecisionDomain::kNoSite;
    if (cancels) {
      finding.accesses.push_back(domain_.sites()[value.cancelled_at].side);
      finding.message += fmt::format(
          "; (2) makes it matter: {} leading bits of its operands cancel", value.cancelled_bits);
    }
    reporter_.report(
        {made.program, made.pc, value.cancelled_at, 7}, [&] { return finding; }, outputs.count);
  }

  void report_unstable(const PrecisionSite& site) {
    reporter_.report(
        {site.program, site.pc, ptx::kNone, 8},
        [&] {
          Finding finding;
          finding.kind = FindingKind::rounding_error;
          finding.severity = Severity::note;
          finding.kernel = site.kernel;
          finding.accesses = {site.side};
          finding.accesses[0].role = "branch";
          finding.message = fmt::format(
              "rounding decides (1): it compares {} with {}, which are {} and {} in exact "
              "arithmetic; {} of {} comparisons turn out otherwise, also if these are rounded once",
              site.a, site.b, site.exact_a, site.exact_b,
              with_commas(static_cast<std::int64_t>(site.unstable)),
              with_commas(static_cast<std::int64_t>(site.executed)));
          return finding;
        },
        site.unstable);
  }

  PrecisionDomain domain_;
  std::unique_ptr<ShadowPlane<PrecisionDomain>> plane_;
  HostSharedMemory shared_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Outputs> outputs_;
};

}  // namespace

std::unique_ptr<Checker> make_precision_checker(Reporter& reporter) {
  return std::make_unique<PrecisionChecker>(reporter);
}

}  // namespace warpcheck::vgpu
