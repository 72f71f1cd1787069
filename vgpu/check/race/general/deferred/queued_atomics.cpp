#include "vgpu/check/race/general/deferred/queued_atomics.hpp"

#include <algorithm>
#include <utility>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

void QueuedAtomics::clear() {
  for (const std::unique_ptr<Queue>& queue : queues_) {
    if (queue == nullptr) continue;
    queue->rows.clear(room_);
    *queue = {};
  }
  open_.clear();
  known_ = nullptr;
  takes_ = false;
}

void QueuedAtomics::forget(std::uint32_t allocation) {
  if (!has(allocation)) return;
  Queue& queue = *queues_[allocation];
  std::erase(open_, &queue);
  queue.rows.clear(room_);
  queue = {};
}

// Machine code looks at the scope and the size of an atomic, so all atomics of the launch must be
// such that their values decide nothing about order (DeferredAtomics::may_defer()).
void QueuedAtomics::begin_launch(const Program& program, bool takes, bool begins_era) {
  end_launch();
  if (begins_era) ++eras_;
  program_ = &program;
  if (takes && known_ != &program) {
    known_ = &program;
    may_queue_ = !PollExits::may_poll_by_atomics(program) && !EarlyTakes::may_take(program);
  }
  takes_ = takes && may_queue_;
}

void QueuedAtomics::end_launch() {
  for (Queue* const queue : std::exchange(open_, {})) queue->rows.close();
  takes_ = false;
}

QueuedAtomics::Queue& QueuedAtomics::of(std::uint32_t allocation) {
  if (allocation >= queues_.size()) queues_.resize(allocation + 1);
  if (queues_[allocation] == nullptr) queues_[allocation] = std::make_unique<Queue>();
  return *queues_[allocation];
}

bool QueuedAtomics::reads(const Program& program, std::uint32_t pc) const {
  return program.code[pc].opcode != ptx::Opcode::red_;
}

QueuedAtomics::Taken QueuedAtomics::take(const Access& access) {
  if (!takes_) return Taken::no;
  Queue& queue = of(access.allocation->id);
  if (queue.left_in == launch()) return Taken::no;
  const QueuedKind kind = QueuedKind::atomics(access.scope, access.bytes);
  if (!queue.rows.takes(kind, launch())) {
    if (queue.rows.period() == launch()) return Taken::no;  // rows of another kind wait
    if (!begin(access, kind, queue)) return Taken::no_room;
  }
  const std::uint64_t time = time_of(access.place, queue);
  if (!queue.rows.take(vgpu::row_of(access), time, room_)) return Taken::no_room;
  queue.has_observers |= reads(*access.program, access.pc);
  return Taken::yes;
}

bool QueuedAtomics::begin(const Access& access, QueuedKind kind, Queue& queue) {
  const std::uint32_t bytes = access.allocation->limit();
  const ShadowPeriod period{.number = launch(), .launch = launch(), .global = true};
  if (!queue.rows.begin(kind, period, bytes, room_)) return false;
  queue.allocation = access.allocation;
  queue.era = eras_;
  state_.memories.of(*access.allocation).note(state_.order.launches().current(), {0, bytes});
  open_.push_back(&queue);
  return true;
}

// Returns the segment of a warp, and the number of what its rows have in common.
std::uint64_t QueuedAtomics::time_of(const WarpPlace& place, Queue& queue) {
  const SegmentId now = state_.order.segment_of(place, false);
  if (queue.latest != now) {
    queue.contexts.push_back({place.slot, queue.log.snapshot(place, now, state_.order)});
    queue.latest = now;
  }
  return std::uint64_t{queue.contexts.size() - 1} << kContextShift | now;
}

std::uint32_t QueuedAtomics::next_with_rows(std::uint32_t allocation, bool matters) const {
  for (; allocation < queues_.size(); ++allocation) {
    if (!has_rows_of(allocation)) continue;
    const Queue& queue = *queues_[allocation];
    if (!matters || (queue.has_observers && queue.log.has_snapshots())) return allocation;
  }
  return ptx::kNone;
}

AtomicLog QueuedAtomics::take_rows(std::uint32_t allocation) {
  Queue& queue = *queues_[allocation];
  std::erase(open_, &queue);
  AtomicLog log = std::exchange(queue.log, {});
  const std::vector<Context> contexts = std::exchange(queue.contexts, {});
  queue.rows.perform(
      room_,
      [&](const ShadowPeriod& period, std::uint32_t) {
        log.begin_era();
        if (period.number == launch()) queue.left_in = launch();  // rows of one size must follow
      },
      [&](const RowAccess& row, std::uint64_t time, QueuedKind kind) {
        const auto segment = static_cast<SegmentId>(time);
        const Context& context = contexts[time >> kContextShift];
        log.add({.program = state_.launches[state_.order.segments().at(segment).launch].program,
                 .segment = segment,
                 .slot = context.slot,
                 .fences = context.fences,
                 .scope = static_cast<ptx::Scope>(kind.scope - 1)},
                row, *queue.allocation);
      });
  if (queue.era != eras_) log.begin_era();
  queue.latest = 0;
  queue.has_observers = false;
  return log;
}

}  // namespace warpcheck::vgpu
