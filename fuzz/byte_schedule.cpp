#include "fuzz/byte_schedule.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/schedule/held_lanes.hpp"
#include "vgpu/schedule/prng.hpp"

namespace warpcheck::fuzz {

using vgpu::Choice;
using vgpu::WarpId;
using Point = vgpu::Decision::Point;

ByteSchedule::ByteSchedule(const InputLayout& input) {
  for (std::size_t i = 0; i < input.decision_count(); ++i) {
    encoded_.push_back(decode(input.decision(i)));
    has_stops_ |= encoded_.back().point == Point::stop;
  }
}

ByteSchedule::Encoded ByteSchedule::decode(std::span<const std::uint8_t> bytes) {
  const auto pair = [&](std::size_t i) -> std::uint32_t { return bytes[i] | bytes[i + 1] << 8; };
  const std::uint32_t scaled = pair(4);
  Encoded decision;
  const bool is_access = bytes[0] >> 6 != 0b11;
  const bool is_start = bytes[0] >> 5 == 0b111;
  decision.point = is_access ? Point::access : is_start ? Point::start : Point::stop;
  const unsigned launch = bytes[0] & (is_access ? 0x3f : 0x1f);
  decision.launch = static_cast<std::uint32_t>(std::countr_one(launch));
  decision.block = pair(1);
  decision.warp = bytes[3];
  decision.index = (scaled & 0xfff) >> ((scaled >> 12) * 3 / 4);
  decision.choice = pair(6);
  return decision;
}

void ByteSchedule::begin(std::uint32_t launch, std::uint32_t blocks,
                         std::uint32_t warps_per_block) {
  planned_.clear();
  for (const Encoded& decision : encoded_) {
    if (decision.launch != launch || decision.point == Point::start) continue;
    const WarpId at{decision.block % blocks, decision.warp % warps_per_block};
    planned_.push_back({{at, decision.point, decision.index}, decision.choice});
  }
  std::ranges::stable_sort(planned_, {}, &Planned::place);
}

vgpu::StartOrder ByteSchedule::choose_start(const vgpu::StartPoint& point) {
  for (const Encoded& decision : encoded_) {
    if (decision.launch != point.launch || decision.point != Point::start) continue;
    const WarpId first{decision.block % point.blocks, decision.warp % point.warps_per_block};
    return {first, decision.index % 2 == 1};
  }
  return {};
}

std::uint64_t ByteSchedule::next_access(std::uint32_t, WarpId warp, std::uint64_t from) {
  const auto found =
      std::ranges::lower_bound(planned_, Place{warp, Point::access, from}, {}, &Planned::place);
  const bool is_access =
      found != planned_.end() && found->place.at == warp && found->place.point == Point::access;
  return is_access ? found->place.index : UINT64_MAX;
}

std::optional<Choice> ByteSchedule::decide(const vgpu::SchedulePoint& point) {
  const Place place{point.at, point.point, point.index};
  const auto found = std::ranges::lower_bound(planned_, place, {}, &Planned::place);
  if (found == planned_.end() || found->place != place || point.ready.empty()) return std::nullopt;
  vgpu::Prng prng(found->choice);
  const WarpId other = point.ready[prng.below(point.ready.size())];
  if (point.point == Point::stop) {
    return other == point.default_next ? std::nullopt : std::optional(Choice{0, other});
  }
  // Half of the decisions hold back some lanes; the others preempt the warp.
  if (point.model == vgpu::WarpModel::independent && prng.one_in(2)) {
    const std::uint32_t held = vgpu::draw_held_lanes(prng, point.active, point.other_ready);
    if (held != 0) return Choice{held, prng.one_in(8) ? other : point.at};
  }
  if (other != point.at) return Choice{point.active, other};
  if (point.model != vgpu::WarpModel::independent) return std::nullopt;
  const std::uint32_t held = vgpu::draw_held_lanes(prng, point.active, point.other_ready);
  return held == 0 ? std::nullopt : std::optional(Choice{held, point.at});
}

bool ByteSchedule::chooses_past(std::uint32_t launch) const {
  return std::ranges::any_of(encoded_, [&](const Encoded& decision) {
    return decision.launch == launch && decision.point == Point::access;
  });
}

std::optional<vgpu::PastChoice> ByteSchedule::choose_past(const vgpu::PastPoint& point) {
  const Place place{point.at, Point::access, point.index};
  const auto found = std::ranges::lower_bound(planned_, place, {}, &Planned::place);
  if (found == planned_.end() || found->place != place) return std::nullopt;
  vgpu::Prng prng(~found->choice);  // independent of what is held back
  if (prng.one_in(2)) return std::nullopt;
  const std::uint32_t some = vgpu::draw_held_lanes(prng, point.lanes, 0);
  const std::uint32_t lanes = some != 0 && prng.one_in(2) ? some : point.lanes;
  return vgpu::PastChoice{lanes, 1 + static_cast<std::uint32_t>(prng.below(point.depth))};
}

}  // namespace warpcheck::fuzz
