// What runs next: the default policy, and where the strategy is asked.
//
// The device admits blocks in ascending order while they fit.  Blocks that it has admitted begin
// when one of their warps is chosen.
#include <algorithm>
#include <bit>

#include "vgpu/machine/core.hpp"

namespace warpcheck::vgpu {
namespace {

// How far `number` is from `first` in a circle of `count`.
std::uint32_t distance(std::uint32_t first, std::uint32_t number, std::uint32_t count,
                       bool descending) {
  const std::uint32_t from = descending ? number : first, to = descending ? first : number;
  return to >= from ? to - from : to + count - from;
}

// Of a non-empty set of warps, the first one in the circle.
std::uint32_t first_warp(std::uint32_t warps, const StartOrder& order) {
  if (!order.descending) {
    const std::uint32_t behind = warps & ~0u << order.first.warp;
    return static_cast<std::uint32_t>(std::countr_zero(behind != 0 ? behind : warps));
  }
  const std::uint32_t behind = warps & ~0u >> (31 - order.first.warp);
  return 31 - static_cast<std::uint32_t>(std::countl_zero(behind != 0 ? behind : warps));
}

// And the last one.
std::uint32_t last_warp(std::uint32_t warps, const StartOrder& order) {
  const std::uint32_t upto = ~0u >> (31 - order.first.warp);  // the first one's number
  if (!order.descending) {
    const std::uint32_t before = warps & upto >> 1;
    return 31 - static_cast<std::uint32_t>(std::countl_zero(before != 0 ? before : warps));
  }
  const std::uint32_t above = warps & ~upto;
  return static_cast<std::uint32_t>(std::countr_zero(above != 0 ? above : warps));
}

}  // namespace

void Core::admit_blocks() {
  const auto size = static_cast<std::size_t>(has_clusters() ? launch_->cluster.count() : 1);
  const auto fits = [&] {
    return launch_->cooperative ||
           resident_.size() + admitted_.size() * size < limits_.resident_blocks;
  };
  while (next_block_ < block_count_ && fits()) {
    admitted_.push_back(next_block_);
    do {
      ++next_block_;
    } while (size > 1 && next_block_ < block_count_ &&
             first_of_cluster(next_block_) != next_block_);
  }
}

std::uint32_t Core::blocks_not_begun() const {
  const auto size = static_cast<std::uint32_t>(has_clusters() ? launch_->cluster.count() : 1);
  return block_count_ - next_block_ + static_cast<std::uint32_t>(admitted_.size()) * size;
}

// Asks the strategy which warp comes first in this launch.
void Core::choose_order() {
  const StartPoint point{launch_->index, next_block_, warps_per_block_};
  const StartOrder order = strategy_->choose_start(point);
  const bool fits = order.first.block < point.blocks && order.first.warp < point.warps_per_block;
  if (!fits || order == StartOrder{}) return;
  order_ = order;
  Decision decision;
  decision.launch = launch_->index;
  decision.point = Decision::Point::start;
  decision.index = order.descending ? 1 : 0;
  decision.next = order.first;
  outcome_.decisions.push_back(decision);
}

// Makes an admitted block resident; with it, all others of its cluster.
void Core::begin_block(std::uint32_t block) {
  const std::uint32_t first = has_clusters() ? first_of_cluster(block) : block;
  admitted_.erase(std::ranges::lower_bound(admitted_, first));
  if (has_clusters()) {
    dispatch_cluster(first);
  } else {
    dispatch(block);
  }
}

std::uint64_t Core::rank_of(const WarpId& id) const {
  const auto rank = [&](std::uint32_t first, std::uint32_t number, std::uint32_t count) {
    return std::uint64_t{distance(first, number, count, order_.descending)};
  };
  return rank(order_.first.block, id.block, block_count_) << 32 |
         rank(order_.first.warp, id.warp, warps_per_block_);
}

// Calls visit(slot) for the resident blocks in the order of the default policy, until it is true.
template <class Visit>
bool Core::visit_in_order(Visit visit) const {
  const auto first = std::ranges::lower_bound(resident_, order_.first.block, {},
                                              [](const Slot* slot) { return slot->block; });
  if (!order_.descending) {
    return std::any_of(first, resident_.end(), visit) ||
           std::any_of(resident_.begin(), first, visit);
  }
  const bool is_there = first != resident_.end() && (*first)->block == order_.first.block;
  const auto last = std::make_reverse_iterator(is_there ? std::next(first) : first);
  return std::any_of(last, resident_.rend(), visit) || std::any_of(resident_.rbegin(), last, visit);
}

// The first warp of the first block that could begin.
std::optional<WarpId> Core::first_admitted() const {
  if (admitted_.empty()) return std::nullopt;
  const StartOrder& order = order_;
  if (order == StartOrder{}) return WarpId{admitted_.front(), 0};
  const std::uint32_t cluster =
      has_clusters() ? first_of_cluster(order.first.block) : order.first.block;
  if (std::ranges::binary_search(admitted_, cluster)) return order.first;
  const std::uint32_t block = *std::ranges::min_element(admitted_, {}, [&](std::uint32_t other) {
    return distance(cluster, other, block_count_, order.descending);
  });
  return WarpId{block, order.first.warp};
}

void Core::list_ready() {
  ready_.clear();
  auto admitted = admitted_.begin();
  const auto list_admitted = [&](std::uint32_t before) {
    for (; admitted != admitted_.end() && *admitted < before; ++admitted) {
      ready_.push_back({*admitted, 0});
    }
  };
  for (const Slot* slot : resident_) {
    list_admitted(slot->block);
    std::uint32_t rest = slot->ready_warps;
    if (slot->polling_warps != 0) rest &= ~vain_warps(*slot);
    for (; rest != 0; rest &= rest - 1) {
      ready_.push_back({slot->block, static_cast<std::uint32_t>(std::countr_zero(rest))});
    }
  }
  list_admitted(UINT32_MAX);
  if (!ready_.empty()) return;
  for (const Slot* slot : resident_) {  // all poll in vain
    for (std::uint32_t rest = slot->ready_warps; rest != 0; rest &= rest - 1) {
      ready_.push_back({slot->block, static_cast<std::uint32_t>(std::countr_zero(rest))});
    }
  }
}

bool Core::can_run(const WarpId& id) {
  if (id.warp >= warps_per_block_) return false;
  const Slot* slot = slot_of(id.block);
  if (slot == nullptr) return std::ranges::binary_search(admitted_, id.block);
  return ((slot->ready_warps >> id.warp) & 1) != 0;
}

// The default policy's choice: the first ready warp; a new block only when none is ready.  Warps
// whose quantum is over, and blocks whose turn is, go behind all others and behind new blocks,
// until all are in that state: what they may be waiting for must get its turn.  Warps that poll
// count as blocked where what they read is as it was, unless there is nobody else.
// next: in, the warp that stopped; it is passed over if `after_current`, unless it is alone.
bool Core::default_next(bool after_current, WarpId& next) {
  if (after_current || order_ != StartOrder{}) return search_next(after_current, next);
  for (const Slot* slot : resident_) {
    const std::uint32_t rest = slot->ready_warps & ~(slot->yielded_warps | slot->polling_warps);
    if (rest == 0) continue;
    next = {slot->block, static_cast<std::uint32_t>(std::countr_zero(rest))};
    return true;
  }
  return search_next(false, next);
}

bool Core::search_next(bool after_current, WarpId& next) {
  const WarpId stopped = next;
  bool found = false;
  const auto search = [&](bool yielded_too) {
    return visit_in_order([&](const Slot* slot) {
      std::uint32_t rest = slot->ready_warps & ~slot->polling_warps;
      if (!yielded_too) rest &= ~slot->yielded_warps;
      while (rest != 0) {
        const WarpId id{slot->block, first_warp(rest, order_)};
        if (!found) next = id;
        found = true;
        if (!after_current) return true;
        if (rank_of(id) > rank_of(stopped)) {
          next = id;
          return true;
        }
        rest &= ~(1u << id.warp);
      }
      return false;
    });
  };
  if (search(false)) return true;
  // Nobody ready after the one whose quantum is over: a new block is next in turn.
  if (!found || after_current) {
    if (const auto begins = first_admitted()) {
      next = *begins;
      return true;
    }
  }
  if (found) return true;
  for (Slot* slot : resident_) {
    slot->yielded_warps = 0;
    slot->turn_steps = 0;
    slot->polling_warps &= vain_warps(*slot);
  }
  if (search(true) || found) return true;
  for (Slot* slot : resident_) slot->polling_warps = 0;
  return search(true) || found;
}

void Core::record(const SchedulePoint& point, const Choice& choice) {
  outcome_.decisions.push_back(
      {point.launch, point.at, point.point, point.index, choice.held, choice.next});
}

// A warp whose default is to go on, to begin with.
SchedulePoint Core::point_of(const WarpId& at, Decision::Point kind, std::uint64_t index) {
  list_ready();
  SchedulePoint point;
  point.launch = launch_->index;
  point.at = at;
  point.point = kind;
  point.index = index;
  point.model = model_;
  point.default_next = at;
  point.ready = ready_;
  point.not_begun = admitted_;
  point.warps_per_block = warps_per_block_;
  return point;
}

// What runs after a warp stopped by itself.  False: nothing can.
// slot: of the stopped warp; null if its block has ended.
bool Core::choose_after_stop(Stop stop, Slot* slot, const WarpId& stopped, std::uint64_t stop_index,
                             WarpId& next) {
  next = stopped;
  bool yielded = stop == Stop::quantum;
  if (yielded) slot->yielded_warps |= 1u << stopped.warp;
  if (slot != nullptr && slot->turn_steps >= slot->watch_at && ends_turn(*slot)) {
    slot->yielded_warps = ~0u;
  }
  yielded |= slot != nullptr && slot->yielded_warps == ~0u;
  if (!default_next(yielded, next)) return false;
  if (!strategy_->decides_stops()) return true;
  SchedulePoint point = point_of(stopped, Decision::Point::stop, stop_index);
  point.default_next = next;
  point.yielded = yielded;
  const std::optional<Choice> choice = strategy_->decide(point);
  if (choice && choice->next != next && can_run(choice->next)) {
    record(point, {0, choice->next});
    next = choice->next;
  }
  return true;
}

// The running warp came last to a barrier, and goes on.  Where another warp than number 0 comes
// first in this launch, that is the last in order, whatever made this one the last to come.
void Core::choose_at_release(const Slot& slot, const Warp& warp, WarpId& next) {
  const WarpId released = next;
  if (order_ != StartOrder{}) next.warp = last_warp(slot.ready_warps, order_);
  if (!strategy_->decides_releases()) return;
  SchedulePoint point = point_of(released, Decision::Point::release, warp.releases - 1);
  point.default_next = next;
  const std::optional<Choice> choice = strategy_->decide(point);
  if (!choice || choice->next == next || !can_run(choice->next)) return;
  record(point, {0, choice->next});
  next = choice->next;
}

// Whether others must have their turn before this block, which has stopped, goes on.
bool Core::ends_turn(Slot& slot) {
  const std::uint64_t quantum = limits_.quantum;
  if (slot.turn_steps >= kQuantaOfTurn * quantum * warps_per_block_) {
    if (watched_ == &slot) end_watch();
    return true;
  }
  if (watched_ == nullptr) begin_watch(slot);
  if (watched_ != &slot) return false;
  const PollWatch::Verdict verdict = watch_.verdict();
  // There may be hardly any accesses.
  const bool is_over = slot.turn_steps >= 2 * std::max(slot.watch_at, kQuantaBeforeWatch * quantum);
  if (verdict == PollWatch::Verdict::undecided && !is_over) return false;
  end_watch();
  if (verdict == PollWatch::Verdict::polls) {
    slot.watch_at = kQuantaBeforeNextWatch * quantum;
    return true;
  }
  slot.watch_at = 2 * slot.turn_steps;
  return false;
}

void Core::begin_watch(Slot& slot) {
  constexpr std::uint64_t kAccessesMin = 2'048, kStepsPerAccess = 256;
  watch_.begin(slot.block, std::max(kAccessesMin, slot.turn_steps / kStepsPerAccess));
  access_observers_.push_back(&watch_);
  watched_ = &slot;
}

void Core::end_watch() {
  if (std::exchange(watched_, nullptr) != nullptr) std::erase(access_observers_, &watch_);
}

}  // namespace warpcheck::vgpu
