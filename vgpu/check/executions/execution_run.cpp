#include "vgpu/check/executions/execution_run.hpp"

#include <algorithm>
#include <utility>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/weak/write_histories.hpp"

namespace warpcheck::vgpu {
namespace {

// In a correct run, the strategy is asked at most so many times without an event.
constexpr std::uint32_t kAskedMax = 4'096;
// The base of the shared memory of a launch's blocks in the number space of addresses.
constexpr std::uint64_t kSharedBase = std::uint64_t{1} << 62;
constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kWordOfPoll = 4;

std::uint64_t address_of(const Access& access, unsigned lane) {
  const Allocation& allocation = *access.allocation;
  if (allocation.space != ptx::Space::shared) return allocation.address + access.offset[lane];
  const std::uint64_t block = access.place.block;
  const std::uint64_t part = allocation.reserved ? kBlockBytes / 2 : 0;
  return kSharedBase + block * kBlockBytes + part + access.offset[lane];
}

}  // namespace

const CoveredProgram& CoveredPrograms::of(const Program& program) {
  auto& known = known_[&program];
  // A module may have been unloaded and another one loaded at the same address.
  if (known == nullptr || known->kernel() != program.kernel)
    known = std::make_unique<CoveredProgram>(program);
  return *known;
}

ExecutionRun::ExecutionRun(std::vector<Event> order, const Options& options,
                           CoveredPrograms& programs)
    : order_(std::move(order)), options_(options), programs_(programs) {}

ExecutionTrace ExecutionRun::take_trace() {
  if (next_ < order_.size()) trace_.strayed = true;
  return std::move(trace_);
}

// --- whose turn it is ----------------------------------------------------------------------------

void ExecutionRun::stray() {
  trace_.strayed = true;
  gave_up_ = true;
}

std::uint64_t ExecutionRun::next_access(std::uint32_t, WarpId, std::uint64_t from) {
  if (std::exchange(asks_again_, false)) return from - 1;
  return gave_up_ ? UINT64_MAX : from;
}

std::uint64_t ExecutionRun::next_fence(std::uint32_t launch, WarpId warp, std::uint64_t from) {
  return options_.is_weak ? next_access(launch, warp, from) : UINT64_MAX;
}

StartOrder ExecutionRun::choose_start(const StartPoint& point) {
  if (program_ != nullptr && point.blocks < blocks_ && trace_.gap.empty()) {
    trace_.gap = "more blocks than the device runs at once";
  }
  return {};
}

std::uint32_t ExecutionRun::choose_operation(const OperationPoint& point) {
  trace_.gap = "operations of streams that nothing orders";
  return point.ready.front();
}

std::optional<Choice> ExecutionRun::hold(const SchedulePoint& point, std::uint32_t lanes) {
  asks_again_ = true;
  return Choice{lanes, point.at};
}

std::optional<Choice> ExecutionRun::preempt(const SchedulePoint& point, const WarpId& next) {
  asks_again_ = true;
  return Choice{point.active, next};
}

std::optional<Choice> ExecutionRun::decide(const SchedulePoint& point) {
  if (gave_up_) return std::nullopt;
  const bool is_of_lanes =
      point.point == Decision::Point::access || point.point == Decision::Point::fence;
  if (!is_of_lanes) return decide_stop(point);
  if (++asked_ > kAskedMax) {
    stray();
    return std::nullopt;
  }
  if (const Event* const first = turn()) return decide_in_order(point, *first);
  return decide_freely(point);
}

std::optional<Choice> ExecutionRun::decide_stop(const SchedulePoint& point) const {
  const Event* const first = turn();
  if (first == nullptr) return std::nullopt;
  const WarpId warp = first->thread.warp;
  if (point.can_run(warp)) return Choice{0, warp};
  const auto other = std::ranges::find_if(
      point.ready, [&](const WarpId& ready) { return !parked_.contains(ready); });
  if (other == point.ready.end()) return std::nullopt;
  return Choice{0, *other};
}

std::optional<Choice> ExecutionRun::decide_in_order(const SchedulePoint& point,
                                                    const Event& first) {
  const WarpId warp = first.thread.warp;
  const std::uint32_t lane = 1u << first.thread.lane;
  if (warp == point.at && (point.active & lane) != 0) {
    if (point.active == lane) return std::nullopt;
    return hold(point, point.active & ~lane);
  }
  // The requested lane may wait for other lanes of its warp, so those must run first.
  if (warp == point.at && (point.other_ready | point.behind) != 0) return hold(point, point.active);
  parked_.insert(point.at);
  if (warp != point.at && point.can_run(warp)) return preempt(point, warp);
  for (const WarpId& other : point.ready) {
    if (other != point.at && !parked_.contains(other)) return preempt(point, other);
  }
  stray();
  return std::nullopt;
}

std::optional<Choice> ExecutionRun::decide_freely(const SchedulePoint& point) {
  std::uint32_t vain = 0;
  for_each_bit(point.active, [&](unsigned lane) {
    if (polls_in_vain({launch_, point.at, lane}, point.pc)) vain |= 1u << lane;
  });
  if (vain == 0) return std::nullopt;
  if (vain != point.active) return hold(point, vain);
  std::uint32_t& lanes = vain_lanes_[point.at];
  lanes |= vain;
  if (((point.other_ready | point.behind) & ~lanes) != 0) return hold(point, vain);
  vain_warps_.insert(point.at);
  for (const WarpId& other : point.ready) {
    if (other != point.at && !vain_warps_.contains(other)) return preempt(point, other);
  }
  gave_up_ = true;  // all threads wait for ever; the machine will report that
  return std::nullopt;
}

// Returns whether a thread is about to begin another round of an await, and the places that it read
// in the last round are unchanged.
bool ExecutionRun::polls_in_vain(const TrialThread& thread, std::uint32_t pc) const {
  const auto round = rounds_.find(thread);
  if (round == rounds_.end() || round->second.loop == AwaitLoops::kNone || round->second.writes ||
      round->second.first_pc != pc) {
    return false;
  }
  return std::ranges::none_of(round->second.items, [&](std::size_t item) {
    const Event& event = trace_.items[item].event;
    if (event.left_out != 0) return true;
    if (event.effect == Event::Effect::fence) return false;
    const std::uint64_t last = (event.address + event.bytes - 1) / kWordOfPoll;
    for (std::uint64_t word = event.address / kWordOfPoll; word <= last; ++word) {
      const auto changed = changed_.find(word);
      if (changed != changed_.end() && changed->second > item) return true;
    }
    return false;
  });
}

std::optional<PastChoice> ExecutionRun::choose_past(const PastPoint& point) {
  past_ = point;
  past_lanes_ = past_writes_ = 0;
  const Event* const first = turn();
  if (first == nullptr || first->left_out == 0 || first->thread.warp != point.at ||
      (point.lanes >> first->thread.lane & 1) == 0) {
    return std::nullopt;
  }
  past_lanes_ = 1u << first->thread.lane;
  past_writes_ = std::min(first->left_out, point.depth);
  return PastChoice{past_lanes_, past_writes_};
}

// --- what happens --------------------------------------------------------------------------------

void ExecutionRun::on_sync(const Sync& sync) {
  if (has_ended_) return;
  if (sync.kind == Sync::Kind::kernel_start) return begin_launch(sync);
  if (sync.kind != Sync::Kind::barrier_complete) return;
  Item item;
  item.kind = Item::Kind::meeting;
  const auto threads = static_cast<std::uint32_t>(block_.count());
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    WarpPlace place = sync.place;
    place.warp = thread / kWarpLanes;
    item.members.push_back(thread_of(place, thread % kWarpLanes));
  }
  trace_.items.push_back(std::move(item));
}

void ExecutionRun::begin_launch(const Sync& sync) {
  launch_ = launches_++;
  program_ = sync.program;
  covered_ = &programs_.of(*sync.program);
  block_ = sync.block;
  blocks_ = static_cast<std::uint32_t>(sync.grid.count());
  is_weak_launch_ = options_.is_weak && WriteHistories::concern(*sync.program);
  rounds_.clear();
  vain_warps_.clear();
  vain_lanes_.clear();
  parked_.clear();
  if (trace_.gap.empty()) trace_.gap = covered_->gap();
  if (trace_.gap.empty() && std::uint64_t{blocks_} * block_.count() > options_.threads_max)
    trace_.gap = "more threads than are followed";
  if (!trace_.gap.empty()) gave_up_ = true;
  trace_.items.push_back({.kind = Item::Kind::launch});
}

Event ExecutionRun::event_of(const Access& access, unsigned lane) {
  Event event;
  event.thread = thread_of(access.place, lane);
  event.pc = access.pc;
  event.address = address_of(access, lane);
  event.bytes = access.bytes;
  const bool writes = access.kind != AccessKind::read && (access.unwritten >> lane & 1) == 0;
  event.is_update = writes && access.kind == AccessKind::atomic;
  if (writes) event.effect = Event::Effect::write;
  if (event.is_update && covered_->commutes(access.pc, is_weak_launch_)) {
    event.effect = Event::Effect::reduce;
    event.reduction = *reduction_of(access.program->code[access.pc]);
  }
  if (past_ && (past_->lanes >> lane & 1) != 0) {
    event.depth = past_->depth;
    if ((past_lanes_ >> lane & 1) != 0) event.left_out = past_writes_;
  }
  return event;
}

void ExecutionRun::on_access(const Access& access) {
  if (has_ended_ || !trace_.gap.empty()) return;
  const bool is_shared = access.space == ptx::Space::global || access.space == ptx::Space::shared;
  if (is_shared) {
    for_each_bit(access.mask, [&](unsigned lane) { add_event(event_of(access, lane)); });
  }
  past_.reset();
}

void ExecutionRun::on_fence(const Fence& fence) {
  if (has_ended_ || !trace_.gap.empty() || !is_weak_launch_) return;
  if (fence.proxy || fence.object_inits || fence.order != ptx::Order::sc) return;
  for_each_bit(fence.mask, [&](unsigned lane) {
    Event event;
    event.thread = thread_of(fence.place, lane);
    event.pc = fence.pc;
    event.effect = Event::Effect::fence;
    add_event(event);
  });
}

void ExecutionRun::on_meeting(const Meeting& meeting) {
  if (has_ended_) return;
  Item item;
  item.kind = Item::Kind::meeting;
  for (const auto& lists : {meeting.arrived, meeting.released}) {
    for (const WarpLanes& lanes : lists) {
      WarpPlace place = meeting.place;
      place.warp = lanes.warp;
      for_each_bit(lanes.lanes,
                   [&](unsigned lane) { item.members.push_back(thread_of(place, lane)); });
    }
  }
  std::ranges::sort(item.members);
  item.members.erase(std::unique(item.members.begin(), item.members.end()), item.members.end());
  trace_.items.push_back(std::move(item));
}

void ExecutionRun::on_collective(const Collective& event) {
  if (has_ended_) return;
  Item item;
  item.kind = Item::Kind::meeting;
  for_each_bit(event.members,
               [&](unsigned lane) { item.members.push_back(thread_of(event.place, lane)); });
  trace_.items.push_back(std::move(item));
}

void ExecutionRun::add_event(const Event& event) {
  if (trace_.items.size() >= kItemsMax) {
    trace_.gap = "more accesses than are followed";
    gave_up_ = true;
    return;
  }
  asked_ = 0;
  parked_.erase(event.thread.warp);
  if (const Event* const first = turn()) {
    // Only now is it known whether a write could be left out.
    const bool is_last = next_ + 1 == order_.size();
    if (first->is_same_step(event) && (is_last || first->left_out == event.left_out)) {
      ++next_;
    } else {
      stray();
    }
  }
  const std::size_t item = trace_.items.size();
  trace_.items.push_back({.kind = Item::Kind::event, .event = event});
  follow_await(event);
  if (!event.writes()) return;
  const std::uint64_t last = (event.address + event.bytes - 1) / kWordOfPoll;
  for (std::uint64_t word = event.address / kWordOfPoll; word <= last; ++word)
    changed_[word] = item;
  vain_warps_.clear();
  vain_lanes_.clear();
}

// The event begins another round of the thread's await, so the last round was in vain.
void ExecutionRun::follow_await(const Event& event) {
  Round& round = rounds_[event.thread];
  const std::uint32_t loop = covered_->awaits().loop_of(event.pc);
  const bool goes_on = loop != AwaitLoops::kNone && round.loop == loop;
  if (goes_on && round.first_pc == event.pc && !round.writes) {
    for (const std::size_t item : round.items) trace_.items[item].kind = Item::Kind::failed_poll;
  }
  if (!goes_on || round.first_pc == event.pc) {
    round = {};
    round.loop = loop;
    round.first_pc = event.pc;
  }
  round.items.push_back(trace_.items.size() - 1);
  trace_.items.back().round = round.items.front();
  round.writes |= event.writes();
}

}  // namespace warpcheck::vgpu
