#include "vgpu/schedule/weak.hpp"

#include "vgpu/schedule/held_lanes.hpp"

namespace warpcheck::vgpu {

void Weak::begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) {
  order_.begin(launch, blocks, warps_per_block);
  // Limits the number of choices, so that schedules are readable and a wait cannot last for ever.
  constexpr std::uint64_t kBudgetMax = 256;
  budget_ = prng_.one_in(4) ? kBudgetMax : 1 + prng_.below(8);
  odds_ = std::uint64_t{1} << prng_.below(5);
  latest_.reset();
}

std::optional<PastChoice> Weak::choose_past(const PastPoint& point) {
  if (budget_ == 0) return std::nullopt;
  // If two writes may have either order, the schedule has already chosen one.
  if (!prng_.one_in(point.is_store ? 2 * odds_ : odds_)) return std::nullopt;
  // A poll that has found an older value repeats at once: it should see the awaited value, so that
  // a violation of the expected order can show.
  const bool is_next = latest_ && latest_->first == point.at && latest_->second + 1 == point.index;
  if (is_next && !prng_.one_in(4)) return std::nullopt;
  latest_.emplace(point.at, point.index);
  --budget_;
  PastChoice choice{point.lanes, point.depth};
  if (prng_.one_in(2)) choice.writes = 1 + static_cast<std::uint32_t>(prng_.below(point.depth));
  const std::uint32_t some = draw_held_lanes(prng_, point.lanes, 0);
  if (some != 0 && prng_.one_in(2)) choice.lanes = some;
  return choice;
}

}  // namespace warpcheck::vgpu
