#include "campaign/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace warpcheck::campaign {
namespace {

// A pair without any data is worth a try.
double rate(const PairProgress& progress) { return (progress.gain + 1) / (progress.span + 1); }

std::size_t draw_by_rate(std::span<const Arm> arms, const std::vector<std::size_t>& open,
                         vgpu::Prng& prng) {
  double total = 0;
  for (const std::size_t i : open) total += rate(*arms[i].progress);
  double drawn = total * static_cast<double>(prng.next() >> 11) * 0x1p-53;
  for (const std::size_t i : open) {
    drawn -= rate(*arms[i].progress);
    if (drawn < 0) return i;
  }
  return open.back();
}

}  // namespace

std::optional<std::size_t> choose_arm(std::span<const Arm> arms, std::int64_t slots,
                                      vgpu::Prng& prng) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (arms[i].finished) continue;
    if (!open.empty() && arms[i].workers < arms[open.front()].workers) open.clear();
    if (open.empty() || arms[i].workers == arms[open.front()].workers) open.push_back(i);
  }
  if (open.empty()) return std::nullopt;
  std::vector<std::size_t> ours;
  std::ranges::copy_if(open, std::back_inserter(ours), [&](std::size_t i) { return arms[i].ours; });
  for (const std::size_t i : ours) {
    if (arms[i].progress->slots == 0) return i;
  }
  const auto seconds = [&](std::size_t i) { return arms[i].progress->seconds; };
  const auto executions = [&](std::size_t i) { return arms[i].progress->executions; };
  if (!ours.empty() && slots % kFloorEvery == 0) {
    return slots % (2 * kFloorEvery) == 0 ? *std::ranges::min_element(ours, {}, seconds)
                                          : *std::ranges::min_element(ours, {}, executions);
  }
  return draw_by_rate(arms, open, prng);
}

void forget(PairProgress& progress, double seconds, double seconds_of_others) {
  const double half_life =
      std::clamp((progress.seconds + seconds_of_others) / 4, 1.0, kHalfLifeSecondsMax);
  const double kept = std::exp2(-seconds / half_life);
  progress.gain *= kept;
  progress.span *= kept;
}

void account(PairProgress& progress, double seconds, double gain, double seconds_of_others) {
  forget(progress, seconds, seconds_of_others);
  progress.seconds += seconds;
  progress.gain += gain;
  progress.span += seconds;
}

std::uint64_t slot_seconds(const PairProgress& progress) {
  return static_cast<std::uint64_t>(std::clamp(progress.seconds / 4, 1.0, 20.0));
}

}  // namespace warpcheck::campaign
