#include "vgpu/machine/warp/turns.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu {
namespace {

// Returns how far `number` is from `first` in a circle of `count`, in the given direction.
std::uint32_t distance(std::uint32_t first, std::uint32_t number, std::uint32_t count,
                       bool descending) {
  const std::uint32_t from = descending ? number : first, to = descending ? first : number;
  return to >= from ? to - from : to + count - from;
}

// Returns the first warp of a non-empty set in the circular order.
std::uint32_t first_warp(std::uint32_t warps, const StartOrder& order) {
  if (!order.descending) {
    const std::uint32_t behind = warps & ~0u << order.first.warp;
    return static_cast<std::uint32_t>(std::countr_zero(behind != 0 ? behind : warps));
  }
  const std::uint32_t behind = warps & ~0u >> (31 - order.first.warp);
  return 31 - static_cast<std::uint32_t>(std::countl_zero(behind != 0 ? behind : warps));
}

// Returns the last warp of the set in that order.
std::uint32_t last_warp(std::uint32_t warps, const StartOrder& order) {
  const std::uint32_t upto = ~0u >> (31 - order.first.warp);  // bits up to the first warp
  if (!order.descending) {
    const std::uint32_t before = warps & upto >> 1;
    return 31 - static_cast<std::uint32_t>(std::countl_zero(before != 0 ? before : warps));
  }
  const std::uint32_t above = warps & ~upto;
  return static_cast<std::uint32_t>(std::countr_zero(above != 0 ? above : warps));
}

}  // namespace

void Turns::begin_launch() {
  words_ahead_.begin_launch();
  order_ = {};
  all_poll_in_vain_ = round_has_ended_ = false;
  const StartPoint point{launch_.request().index, blocks_.admitted_end(),
                         launch_.warps_per_block()};
  const StartOrder order = launch_.strategy().choose_start(point);
  const bool fits = order.first.block < point.blocks && order.first.warp < point.warps_per_block;
  if (!fits || order == StartOrder{}) return;
  order_ = order;
  Decision decision;
  decision.launch = launch_.request().index;
  decision.point = Decision::Point::start;
  decision.index = order.descending ? 1 : 0;
  decision.next = order.first;
  launch_.record(decision);
}

std::uint64_t Turns::rank_of(const WarpId& id) const {
  const auto rank = [&](std::uint32_t first, std::uint32_t number, std::uint32_t count) {
    return std::uint64_t{distance(first, number, count, order_.descending)};
  };
  return rank(order_.first.block, id.block, launch_.block_count()) << 32 |
         rank(order_.first.warp, id.warp, launch_.warps_per_block());
}

// Calls visit(slot) for the resident blocks in the order of the default policy, until it returns
// true.
template <class Visit>
bool Turns::visit_in_order(Visit visit) const {
  const auto first = std::ranges::lower_bound(launch_.resident(), order_.first.block, {},
                                              [](const Slot* slot) { return slot->block; });
  if (!order_.descending) {
    return std::any_of(first, launch_.resident().end(), visit) ||
           std::any_of(launch_.resident().begin(), first, visit);
  }
  const bool is_there = first != launch_.resident().end() && (*first)->block == order_.first.block;
  const auto last = std::make_reverse_iterator(is_there ? std::next(first) : first);
  return std::any_of(last, launch_.resident().rend(), visit) ||
         std::any_of(launch_.resident().rbegin(), last, visit);
}

// Returns the first warp of the first block that could begin.
std::optional<WarpId> Turns::first_admitted() const {
  if (blocks_.admitted().empty()) return std::nullopt;
  const StartOrder& order = order_;
  if (order == StartOrder{}) return WarpId{blocks_.admitted().front(), 0};
  const std::uint32_t cluster = clusters_.first_of(order.first.block);
  if (std::ranges::binary_search(blocks_.admitted(), cluster)) return order.first;
  const std::uint32_t block =
      *std::ranges::min_element(blocks_.admitted(), {}, [&](std::uint32_t other) {
        return distance(cluster, other, launch_.block_count(), order.descending);
      });
  return WarpId{block, order.first.warp};
}

void Turns::list_ready() {
  ready_.clear();
  auto admitted = blocks_.admitted().begin();
  const auto list_admitted = [&](std::uint32_t before) {
    for (; admitted != blocks_.admitted().end() && *admitted < before; ++admitted) {
      ready_.push_back({*admitted, 0});
    }
  };
  for (const Slot* slot : launch_.resident()) {
    list_admitted(slot->block);
    std::uint32_t rest = slot->ready_warps;
    if (slot->polling_warps != 0) rest &= ~slot->vain_warps();
    for (; rest != 0; rest &= rest - 1) {
      ready_.push_back({slot->block, static_cast<std::uint32_t>(std::countr_zero(rest))});
    }
  }
  list_admitted(UINT32_MAX);
  if (!ready_.empty()) return;
  for (const Slot* slot : launch_.resident()) {  // all ready warps would only poll
    for (std::uint32_t rest = slot->ready_warps; rest != 0; rest &= rest - 1) {
      ready_.push_back({slot->block, static_cast<std::uint32_t>(std::countr_zero(rest))});
    }
  }
}

bool Turns::can_run(const WarpId& id) const {
  if (id.warp >= launch_.warps_per_block()) return false;
  const Slot* slot = launch_.slot_of(id.block);
  if (slot == nullptr) return std::ranges::binary_search(blocks_.admitted(), id.block);
  return ((slot->ready_warps >> id.warp) & 1) != 0;
}

// The choice of the default policy: the first ready warp; a new block only if no warp is ready.
// Warps that have used up their quantum, and blocks that have used up their turn, come after all
// others and after new blocks, until all are in that state, because the threads that they may wait
// for must get their turn.  A warp that polls counts as blocked while the places that it reads are
// unchanged, unless no other warp can run. next: on entry, the warp that stopped; it is skipped if
// `after_current`, unless it is the only one.
bool Turns::default_next(bool after_current, WarpId& next) {
  if (after_current || order_ != StartOrder{}) return search_next(after_current, next);
  for (const Slot* slot : launch_.resident()) {
    const std::uint32_t rest = slot->ready_warps & ~(slot->yielded_warps | slot->polling_warps);
    if (rest == 0) continue;
    next = {slot->block, static_cast<std::uint32_t>(std::countr_zero(rest))};
    return true;
  }
  return search_next(false, next);
}

bool Turns::keeps_block(const Slot& slot) const {
  if (order_ != StartOrder{} || launch_.strategy().decides_stops() || launch_.has_clusters()) {
    return false;
  }
  // No warp of another block has become ready in the meantime.
  for (const Slot* before : launch_.resident()) {
    if (before == &slot) return true;
    if ((before->ready_warps & ~(before->yielded_warps | before->polling_warps)) != 0) return false;
  }
  return false;
}

bool Turns::search_next(bool after_current, WarpId& next) {
  if (launch_.resident().empty()) {
    const std::optional<WarpId> begins = first_admitted();
    if (begins) next = *begins;
    return begins.has_value();
  }
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
  // No warp is ready after the one whose quantum ended, so a new block has the next turn.
  if (!found || after_current) {
    if (const auto begins = first_admitted()) {
      next = *begins;
      return true;
    }
  }
  if (found) return true;
  round_has_ended_ = true;
  for (Slot* slot : launch_.resident()) {
    slot->yielded_warps = 0;
    slot->turn_steps = 0;
    slot->polling_warps &= slot->vain_warps();
  }
  if (search(true) || found) return true;
  for (Slot* slot : launch_.resident()) slot->polling_warps = 0;
  all_poll_in_vain_ = true;
  return search(true) || found;
}

void Turns::record(const SchedulePoint& point, const Choice& choice) {
  launch_.record({point.launch, point.at, point.point, point.index, choice.held, choice.next});
}

// Returns a point of decision at which the warp continues by default.
SchedulePoint Turns::point_of(const WarpId& at, Decision::Point kind, std::uint64_t index) {
  list_ready();
  SchedulePoint point;
  point.launch = launch_.request().index;
  point.at = at;
  point.point = kind;
  point.index = index;
  point.model = launch_.model();
  point.default_next = at;
  point.ready = ready_;
  point.not_begun = blocks_.admitted();
  point.warps_per_block = launch_.warps_per_block();
  return point;
}

bool Turns::choose_after_stop(Stop stop, Slot* slot, const WarpId& stopped,
                              std::uint64_t stop_index, WarpId& next) {
  next = stopped;
  bool yielded = stop == Stop::quantum;
  if (yielded) slot->yielded_warps |= 1u << stopped.warp;
  if (slot != nullptr && slot->turn_steps >= slot->watch_at && watch_.ends_turn(*slot)) {
    slot->yielded_warps = ~0u;
  }
  yielded |= slot != nullptr && slot->yielded_warps == ~0u;
  if (!default_next(yielded, next)) return false;
  if (!launch_.strategy().decides_stops()) return true;
  SchedulePoint point = point_of(stopped, Decision::Point::stop, stop_index);
  point.default_next = next;
  point.yielded = yielded;
  const std::optional<Choice> choice = launch_.strategy().decide(point);
  if (choice && choice->next != next && can_run(choice->next)) {
    record(point, {0, choice->next});
    next = choice->next;
  }
  return true;
}

// If a warp other than number 0 comes first in this launch, the default choice is the last warp in
// order, whichever warp completed the barrier.
void Turns::choose_at_release(const Slot& slot, const Warp& warp, WarpId& next) {
  const WarpId released = next;
  if (order_ != StartOrder{}) next.warp = last_warp(slot.ready_warps, order_);
  if (!launch_.strategy().decides_releases()) return;
  SchedulePoint point = point_of(released, Decision::Point::release, warp.releases - 1);
  point.default_next = next;
  const std::optional<Choice> choice = launch_.strategy().decide(point);
  if (!choice || choice->next == next || !can_run(choice->next)) return;
  record(point, {0, choice->next});
  next = choice->next;
}

Step Turns::ask(RunningFragment& run, std::size_t index, std::uint32_t active,
                Decision::Point kind) {
  Warp& warp = run.warp;
  const WarpId self{run.slot.block, warp.index};
  const bool is_fence = kind == Decision::Point::fence;
  SchedulePoint point = point_of(self, kind, is_fence ? warp.fences : warp.accesses);
  point.active = active;
  point.pc = run.pc;
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& other = warp.fragments[i];
    if (i == index || !other.is_ready()) continue;
    (other.held ? point.behind : point.other_ready) |= other.mask;
  }
  if (launch_.strategy().sees_words()) point.accessed = words_ahead_.of(run, active);
  const std::optional<Choice> choice = launch_.strategy().decide(point);
  if (is_fence) {
    warp.ask_at_fence = launch_.strategy().next_fence(point.launch, self, warp.fences + 1);
  } else {
    warp.ask_at = launch_.strategy().next_access(point.launch, self, warp.accesses + 1);
  }
  if (!choice) return Step::again;
  const bool all = choice->held == active;
  const bool preempts = all && choice->next != self;
  // No lane leaves an operation of the warp before all lanes have executed it.
  const bool is_part = launch_.program().code[run.pc].modifiers.sync;
  const bool fits = preempts
                        ? can_run(choice->next)
                        : choice->held != 0 && !is_part && (choice->held & ~active) == 0 &&
                              (!all || (point.other_ready | point.behind) != 0) &&
                              choice->next == self && launch_.model() == WarpModel::independent;
  if (!fits) return Step::again;
  record(point, *choice);
  if (preempts) {
    preempted_to_ = choice->next;
    return Step::preempted;
  }
  if (all && point.other_ready == 0) {
    warp.fragments.hold_none();
  }
  // Lanes of the fragment that are inactive only because of a guard are held together with the
  // others.
  const std::size_t held = all ? index : warp.fragments.split(index, choice->held);
  warp.fragments[held].held = true;
  return Step::again;
}

}  // namespace warpcheck::vgpu
