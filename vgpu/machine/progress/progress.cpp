#include "vgpu/machine/progress/progress.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/block_share.hpp"
#include "vgpu/machine/device_runtime.hpp"
#include "vgpu/machine/progress/concurrent_work.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kVainTurns = 16;  // of a warp that seems to poll
constexpr std::size_t kWarpsListed = 64;  // in the report at the step limit

// What look-aheads may cost before the launch has paid for it (look_costs.hpp): 0.13 ms.
constexpr std::uint64_t kAdvance = 1u << 15;
// The interval between two look-aheads is a quarter of what has been executed so far, but at most
// what takes a fraction of a second, and not shorter than the launch needs to pay for the next one.
constexpr std::uint64_t kStepsBetweenLooksMax = 4'000'000;
// Once the launch has waited for concurrent work, it may soon wait again.
constexpr std::uint64_t kStepsAfterWait = 2'048;
constexpr std::uint64_t kStepsPerStepAfterWait = 8;
// A block that several machines run one after the other, and that takes so many steps, is assumed
// to wait for another one: if it accesses the same places again and again, or in any case.
constexpr std::uint64_t kStepsOfShareThatRepeats = 1u << 24, kStepsOfShareMax = 1u << 28;
// The interval for a launch that concurrent work may affect while it runs.
constexpr std::uint64_t kStepsBeforeOthers = 262'144;

// If memory changes and changes back, another interleaving may end that: so many consecutive
// look-aheads over so many steps must have seen it.
constexpr std::uint32_t kRepeatingLooks = 4;
constexpr std::uint32_t kLooksPerLivelock = 4;  // the search for livelocks costs more
constexpr std::uint64_t kRepeatingSteps = 8'000'000;

}  // namespace

void Progress::begin_launch() {
  look_at_ = launch_.limits().look_after;
  account_.begin(0, kAdvance, LookAccount::kShareOfLaunch);
  blocks_ended_at_look_ = 0;
  looks_ = repeating_looks_ = 0;
  goes_on_ = false;
  looked_at_ = 0;
  restless_block_ = 0;
  DeviceRuntime* const runtime = launch_.request().device_runtime;
  concurrent_work_ = runtime == nullptr ? nullptr : runtime->concurrent_work();
  soonest_look_ = interval_ = 0;
  reads_ = Reads::not_known;
  is_told_ = false;
}

bool Progress::release_stuck(Slot& slot) {
  return dependencies_.meetings.release_stuck(slot) ||
         (launch_.program().has_named_barriers && dependencies_.named_barriers.release_stuck(slot));
}

bool Progress::unblock(Slot& slot) {
  if (release_stuck(slot)) return true;
  std::vector<Waiting> waiting;
  dependencies_.waiting_threads.list(slot, waiting);
  for (Slot* other : launch_.resident()) {
    const bool is_sibling = other != &slot && other->cluster == slot.cluster;
    if (!is_sibling || other->ready_warps != 0) continue;
    if (release_stuck(*other)) return true;
    dependencies_.waiting_threads.list(*other, waiting);
  }
  dependencies_.waiting_threads.complete(waiting);
  Deadlock deadlock;
  deadlock.program = &launch_.program();
  deadlock.waiting = waiting;
  deadlock.steps = launch_.steps();
  launch_.notify([&](Observer& observer) { observer.on_deadlock(deadlock); });
  return false;
}

// Returns whether every warp that can run was found to poll when it was last tested, or read the
// same from the same places again and again when it was last watched, or waits for an mbarrier in
// vain.
bool Progress::all_seem_to_poll() const {
  return std::ranges::all_of(launch_.resident(), [](const Slot* slot) {
    if (slot->repeats_itself) return true;
    for (std::uint32_t rest = slot->ready_warps; rest != 0; rest &= rest - 1) {
      const auto number = static_cast<std::size_t>(std::countr_zero(rest));
      const Warp& warp = slot->warps[number];
      const bool polls = warp.quanta == Warp::kHasPolled || warp.places == Warp::Places::poll;
      if (!polls && warp.vain_turns < kVainTurns) return false;
    }
    return true;
  });
}

// Returns after how many steps every warp has been watched once, if all only poll.
std::uint64_t Progress::steps_until_watched() const {
  std::uint64_t warps = 0;
  for (const Slot* const slot : launch_.resident()) warps += std::popcount(slot->ready_warps);
  return warps * launch_.limits().quantum * 5 / 4;
}

bool Progress::cannot_end() {
  if (launch_.request().share != nullptr) {
    give_up_share_of_waiting_block();
    look_at_ = launch_.steps() + launch_.limits().look_after;
    return false;
  }
  const std::uint64_t now = launch_.steps();
  // A look that is likely to have a result may cost more than was paid.
  const bool is_likely = !account_.is_overdrawn(now) && all_seem_to_poll();
  // A look at many warps costs more than has been paid so early; each is watched after a quantum.
  const std::uint64_t watched = steps_until_watched();
  if (!is_likely && looks_ == 0 && now < watched) {
    look_at_ = watched;
    return false;
  }
  if (is_told_ && !is_likely && !account_.may_look(now)) {
    concurrent_work_->let_others_run();
    choose_next_look(0);
    return false;
  }
  LookCost cost(is_likely ? LookCost::kNoLimit : account_.left(now));
  std::uint64_t steps = 0;
  if (std::exchange(blocks_ended_at_look_, dependencies_.blocks.ended()) !=
      dependencies_.blocks.ended()) {
    repeating_looks_ = 0;
  } else if (look_ahead(cost, steps)) {
    return true;
  }
  choose_next_look(steps);
  return false;
}

// Several machines run the launch, each one block after the other.  A block that only waits may
// wait for a block that has not begun, or reads what another machine writes: in either case, one
// machine must run the launch.
void Progress::give_up_share_of_waiting_block() {
  if (launch_.resident().empty()) return;
  const Slot& slot = *launch_.resident().front();
  bool waits = slot.steps >= kStepsOfShareMax;
  if (!waits && slot.steps >= kStepsOfShareThatRepeats) {
    waits = true;
    for (std::uint32_t rest = slot.ready_warps; rest != 0; rest &= rest - 1) {
      waits &= slot.warps[static_cast<std::size_t>(std::countr_zero(rest))].places ==
               Warp::Places::repeat;
    }
  }
  if (!waits) {
    const std::uint64_t paid = account_.left(launch_.steps());
    Lookahead ahead(dependencies_.lookahead, all_seem_to_poll() ? LookCost::kNoLimit : paid);
    const Prospect prospect = ahead.look_at_launch(slot.block);
    waits = prospect != Prospect::goes_on && prospect != Prospect::unknown;
    if (!waits) account_.spend(ahead.cost());
  }
  if (waits) launch_.request().share->grid().give_up();
}

//   cost: of the last look, in steps
void Progress::choose_next_look(std::uint64_t cost) {
  const std::uint64_t most = is_told_ ? kStepsBeforeOthers : kStepsBetweenLooksMax;
  const std::uint64_t next = is_told_ ? 0 : account_.next_look();
  const std::uint64_t usual =
      std::max({std::uint64_t{launch_.limits().look_after}, std::min(launch_.steps() / 4, most),
                next - std::min(next, launch_.steps())});
  if (interval_ != 0) interval_ = std::min(2 * interval_, usual);
  const std::uint64_t after_wait = std::max(interval_, kStepsPerStepAfterWait * cost);
  soonest_look_ = launch_.steps() + std::max(kStepsAfterWait, kStepsPerStepAfterWait * cost);
  look_at_ = launch_.steps() + (interval_ == 0 ? usual : std::min(usual, after_wait));
}

// Returns whether the launch may read what concurrent work writes while it runs: host memory, or
// any memory by strong loads.
bool Progress::may_be_told_something(const Lookahead& ahead) {
  if (ahead.reads_host_memory()) return true;
  if (reads_ == Reads::not_known) {
    const bool strongly = std::ranges::any_of(launch_.program().code, [](const Instr& instr) {
      return instr.kind == InstrKind::load && instr.modifiers.order != ptx::Order::weak &&
             instr.modifiers.space != ptx::Space::shared;
    });
    reads_ = strongly ? Reads::strongly : Reads::weakly;
  }
  return reads_ == Reads::strongly;
}

// Runs one look-ahead.
//   cost: what it may cost; receives what it has cost
//   steps: receives the number of its steps
bool Progress::look_ahead(LookCost& cost, std::uint64_t& steps) {
  std::vector<Waiting> waiting;
  Deadlock deadlock;
  deadlock.program = &launch_.program();
  deadlock.of_launch = true;
  deadlock.steps = launch_.steps();
  deadlock.blocks_not_started = dependencies_.blocks.not_begun();
  deadlock.blocks = launch_.block_count();
  deadlock.blocks_exited = dependencies_.blocks.ended();
  ConcurrentWork* const others = concurrent_work_;
  std::vector<PolledBytes> polled;
  bool polls = false, is_complete = false;
  {
    Lookahead ahead(dependencies_.lookahead, cost.most());
    if (others != nullptr) ahead.list_reads();
    const bool may_start = !dependencies_.blocks.admitted().empty();
    Prospect prospect = may_start ? Prospect::goes_on : ahead.look_at_launch(restless_block_);
    restless_block_ = ahead.restless_block();
    const bool is_turn = ++looks_ % kLooksPerLivelock == 0 || repeating_looks_ != 0;
    if (prospect == Prospect::goes_on && !may_start && is_turn) {
      prospect = ahead.look_for_livelock();
    }
    cost = ahead.cost();
    steps = ahead.steps();
    is_complete = !may_start && !cost.is_used_up();
    deadlock.repeats = prospect == Prospect::repeats;
    deadlock.host_waits = ahead.reads_host_memory();
    polls = prospect == Prospect::polls;
    if (polls) polled = ahead.read_bytes();
    const bool was_told = is_told_ && cost.is_used_up();
    is_told_ = others != nullptr && !polls && (was_told || may_be_told_something(ahead));
    if (deadlock.repeats && deadlock.host_waits && launch_.request().host_runs) {
      prospect = Prospect::goes_on;
      deadlock.repeats = false;
    }
    if (!deadlock.repeats && !cost.is_used_up()) repeating_looks_ = 0;
    if (deadlock.repeats && repeating_looks_++ == 0) repeats_since_ = deadlock.steps;
    const bool repeats_long = deadlock.repeats && repeating_looks_ >= kRepeatingLooks &&
                              deadlock.steps - repeats_since_ >= kRepeatingSteps;
    const bool may_be_deadlock = polls || prospect == Prospect::stuck || repeats_long;
    if (may_be_deadlock) ahead.list(waiting);
  }
  if (is_told_) others->let_others_run();
  looked_at_ = launch_.steps();
  goes_on_ = is_complete && waiting.empty() && !deadlock.repeats;
  const bool may_admit = !waiting.empty() || deadlock.repeats;
  if ((may_admit && admit_more()) || waiting.empty()) {
    account_.spend(cost);
    launch_.charge_look(cost);
    return false;
  }
  if (polls && others->wait_for_change(polled, deadlock.host_waits)) {
    interval_ = kStepsAfterWait;
    account_.begin(launch_.steps(), kAdvance, LookAccount::kShareOfLaunch);
    return false;
  }
  dependencies_.waiting_threads.complete(waiting);
  deadlock.waiting = waiting;
  launch_.notify([&](Observer& observer) { observer.on_deadlock(deadlock); });
  return true;
}

// Few blocks are resident at once, so that launches stay small.  Where these wait for blocks that
// have not begun, as many are admitted as the device holds: persistent kernels with barriers of
// their own rely on that.
bool Progress::admit_more() {
  DeviceRuntime* const runtime = launch_.request().device_runtime;
  if (runtime == nullptr || dependencies_.blocks.not_begun() == 0) return false;
  const std::uint32_t blocks = runtime->size().blocks;
  if (blocks <= launch_.limits().resident_blocks) return false;
  launch_.allow_resident(blocks);
  dependencies_.blocks.admit();
  repeating_looks_ = 0;
  return true;
}

Outcome::End Progress::end_at_step_limit(Slot& slot, Warp& warp) {
  LookCost cost(LookCost::kNoLimit);
  std::uint64_t steps = 0;
  if (look_ahead(cost, steps)) return Outcome::End::deadlock;
  StepLimit limit;
  limit.program = &launch_.program();
  limit.place = launch_.place_of(slot, warp);
  if (!warp.fragments.empty()) {
    limit.pc = warp.fragments.front().pc;
    limit.lane = static_cast<unsigned>(std::countr_zero(warp.fragments.front().mask));
  }
  limit.steps = launch_.steps();
  limit.blocks_not_started = dependencies_.blocks.not_begun();
  std::vector<Waiting> waiting;
  for (const Slot* resident : launch_.resident())
    dependencies_.waiting_threads.list(*resident, waiting);
  std::size_t listed = 0;
  for (Slot* resident : launch_.resident()) {
    const std::uint32_t ready = resident->ready_warps;
    for (std::uint32_t rest = ready; rest != 0 && listed < kWarpsListed; rest &= rest - 1) {
      Lookahead ahead(dependencies_.lookahead);
      ahead.look_at_warp(
          *resident, resident->warps[static_cast<std::size_t>(std::countr_zero(rest))], waiting);
      ++listed;
    }
  }
  dependencies_.waiting_threads.complete(waiting);
  limit.waiting = waiting;
  launch_.notify([&](Observer& observer) { observer.on_step_limit(limit); });
  return Outcome::End::step_limit;
}

}  // namespace warpcheck::vgpu
