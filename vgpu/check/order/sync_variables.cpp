#include "vgpu/check/order/sync_variables.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "vgpu/machine/memory/grid_workspace.hpp"
#include "vgpu/ptx/memory_order.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

std::size_t index_of(Reach reach) { return static_cast<std::size_t>(reach); }

}  // namespace

StrongOperation::StrongOperation(const Access& row)
    : access(&row),
      reads(row.kind != AccessKind::write),
      may_acquire(row.program->code[row.pc].opcode != ptx::Opcode::red_) {}

SyncVariables& SyncVariables::operator=(SyncVariables&& other) noexcept {
  allocations_ = std::move(other.allocations_);
  polled_ = std::move(other.polled_);
  chains_ = other.chains_;
  variables_ = other.variables_;
  for_several_ = other.for_several_;
  return *this;
}

std::uint64_t SyncVariables::thread_of(const StrongOperation& operation) const {
  return operation.block << kThreadBits |
         order_.threads().thread_at(operation.access->place, operation.lane);
}

// Returns null if no variable is there, and the operation neither writes nor polls.
SyncVariables::Granule* SyncVariables::granule_of(const StrongOperation& operation) {
  const std::uint32_t id = operation.access->allocation->id;
  const std::uint32_t number = operation.offset / kGranuleBytes;
  const bool makes = operation.writes || operation.polls != nullptr || operation.takes != nullptr;
  if (id >= allocations_.size()) {
    if (!makes) return nullptr;
    allocations_.resize(id + 1);
  }
  return makes ? &allocations_[id].make(number) : allocations_[id].find(number);
}

SyncVariables::Granule& SyncVariables::Granules::make(std::uint32_t number) {
  const std::uint32_t page = number / kPage;
  if (page >= pages_.size()) pages_.resize(page + 1);
  if (pages_[page] == nullptr) pages_[page] = std::make_unique<std::array<Granule, kPage>>();
  return (*pages_[page])[number % kPage];
}

SyncVariables::Variable* SyncVariables::find(Granule& granule, const StrongOperation& operation) {
  for (Variable& variable : granule) {
    if (variable.offset == operation.offset && variable.bytes == operation.bytes) return &variable;
  }
  return nullptr;
}

ChainPlace SyncVariables::perform(const StrongOperation& operation, Miss& miss) {
  Granule* const granule = granule_of(operation);
  if (granule == nullptr) return {};
  Variable* found = find(*granule, operation);
  if (found == nullptr) {
    if (!operation.writes && operation.polls == nullptr && operation.takes == nullptr) return {};
    found = &granule->emplace_back();
    found->offset = operation.offset;
    found->bytes = operation.bytes;
    found->number = ++variables_;
  }
  Variable& variable = *found;
  if (operation.writes) {
    // Variables of another offset or size that overlap these bytes have lost their value.
    for (Variable& other : *granule) {
      if (&other != found && other.overlaps(found->offset, found->bytes)) other.lose();
    }
  }
  // The operation finds a write that is not the latest one.  If it only reads, the variable's state
  // stays unchanged.
  std::optional<Written> present;
  if (operation.reads && operation.source != 0) {
    if (!operation.writes) present = variable.written();
    variable.find_source(operation.source);
  }
  variable.follow_barrier(operation);
  const ChainPlace place = perform_on(variable, operation, miss);
  if (present) variable.find(*std::move(present));
  const bool is_kept = operation.writes && operation.access->sources != nullptr;
  if (is_kept) variable.past.push(variable.written());
  return place;
}

ChainPlace SyncVariables::perform_on(Variable& variable, const StrongOperation& operation,
                                     Miss& miss) {
  const bool is_followed =
      variable.waits != nullptr || operation.polls != nullptr || operation.takes != nullptr;
  const bool is_weak_memory = operation.access->sources != nullptr;
  std::uint64_t value = 0;
  if (is_followed && !is_weak_memory) {
    std::memcpy(&value, operation.access->allocation->data + variable.offset,
                std::min<std::size_t>(variable.bytes, sizeof value));
    variable.complete_writes(value);
  }
  ChainPlace seen;
  if (operation.reads) {
    const bool is_barrier = variable.barrier != nullptr && !operation.writes;
    Written* found = is_barrier ? &variable.barrier->completed : nullptr;
    if (operation.polls != nullptr && !is_weak_memory && !is_barrier) {
      found = variable.find_exit(operation, thread_of(operation), value);
    } else if (operation.takes != nullptr && !is_weak_memory && !is_barrier) {
      found = find_needed(variable, operation, value);
    }
    if (variable.waits != nullptr) polled_.insert(operation.access->allocation->id);
    const Writer latest = variable.last;
    if (found != nullptr) variable.exchange(*found);
    seen = observe(variable, operation, miss);
    if (found != nullptr) variable.exchange(*found);
    if (found != nullptr && operation.takes != nullptr)
      miss = latest.missed_for(Missed::not_needed);
  }
  if (!operation.writes) return seen;
  write(variable, operation, operation.reads && is_linked(variable, operation));
  if (variable.waits != nullptr && !is_weak_memory) variable.keep_write(value);
  return variable.place;
}

bool SyncVariables::is_linked(const Variable& variable, const StrongOperation& operation) const {
  return variable.last.is_set && reach_each_other(variable.last, operation.block,
                                                  order_.launches().reach_of(*operation.access));
}

// The reading part of an operation.
ChainPlace SyncVariables::observe(Variable& variable, const StrongOperation& operation,
                                  Miss& miss) {
  const bool linked = is_linked(variable, operation);
  if (variable.last.is_set && !linked) {
    miss = variable.last.missed_for(Missed::scope);
  }
  read(variable, operation, linked, miss);
  return linked ? variable.place : ChainPlace{};
}

// Called before every operation, when the bytes of the latest write have moved.  A write that has
// changed nothing is forgotten.
//   value: of the variable
void SyncVariables::Variable::complete_writes(std::uint64_t value) {
  if (waits == nullptr || waits->writes.empty() || waits->writes.back().has_moved) return;
  Waits::Write& latest = waits->writes.back();
  latest.after = value;
  latest.has_moved = true;
  if (latest.before == latest.after) waits->writes.pop_back();
}

// Returns what the first write since the thread polled in vain has left that ends its loop; null:
// there is none.  An atomic operation that changed nothing may have come after that write, and has
// released more.
SyncVariables::Written* SyncVariables::Variable::find_exit(const StrongOperation& operation,
                                                           std::uint64_t thread,
                                                           std::uint64_t value) {
  const std::uint64_t present = waits == nullptr ? 0 : waits->forgotten + waits->writes.size();
  const auto ends = [&](std::uint64_t one) {
    return operation.polls->ends(*operation.access, operation.lane, one);
  };
  const auto seen = waits == nullptr ? decltype(waits->seen)::iterator{} : waits->seen.find(thread);
  const bool polls_again = waits != nullptr && seen != waits->seen.end();
  if (polls_again && seen->second == present) return nullptr;  // nothing has changed since
  const std::optional<bool> leaves = ends(value);
  if (leaves == false) {
    if (waits == nullptr) waits = std::make_unique<Waits>();
    waits->seen[thread] = present;
    return nullptr;
  }
  if (!polls_again) return nullptr;
  const std::uint64_t first = std::max(seen->second, waits->forgotten) - waits->forgotten;
  waits->seen.erase(seen);
  if (!leaves) return nullptr;
  for (std::size_t i = first; i < waits->writes.size(); ++i) {
    if (ends(waits->writes[i].after) == true) return &waits->writes[i].written;
  }
  return nullptr;
}

// Returns whether a thread that takes something leaves a value with which it would have gone the
// same way.
bool SyncVariables::Variable::lets_several_take(const StrongOperation& operation,
                                                std::uint64_t value) {
  EarlyTakes& takes = *operation.takes;
  const std::optional<std::uint64_t> left = takes.left_by(*operation.access, operation.lane, value);
  return left && *left != value && takes.are_alike(*operation.access, operation.lane, value, *left);
}

// Returns whether the thread of an operation knows of a write, so that it cannot have come before.
bool SyncVariables::knows_of(const Writer& writer, const StrongOperation& operation) const {
  const WarpPlace& place = operation.access->place;
  const std::uint32_t thread = order_.threads().thread_at(place, operation.lane);
  if (writer.block == operation.block &&
      (writer.thread == thread || writer.phase < operation.phase)) {
    return true;
  }
  const VectorClock& clock = order_.threads().at(place, operation.lane).knows;
  const VectorClock::Knowledge known = clock.of_block(writer.block);
  return writer.phase < known.phases || writer.ticks < known.ticks_of(writer.thread);
}

// Returns the earliest write after which an operation that takes something would have gone the same
// way, without one of the writes since then; null: the latest write is needed.
//   value: of the variable
SyncVariables::Written* SyncVariables::find_needed(Variable& variable,
                                                   const StrongOperation& operation,
                                                   std::uint64_t value) {
  if (variable.waits == nullptr || !variable.waits->is_for_several) {
    if (for_several_ == kForSeveralMax || !variable.lets_several_take(operation, value)) {
      return nullptr;
    }
    if (variable.waits == nullptr) variable.waits = std::make_unique<Waits>();
    variable.waits->is_for_several = true;
    ++for_several_;
  }
  Waits& waits = *variable.waits;
  const std::uint64_t thread = thread_of(operation);
  const std::uint64_t present = waits.forgotten + waits.writes.size();
  const auto guess = waits.guesses.find(thread);
  if (guess != waits.guesses.end()) {
    const Waits::Guess made = guess->second;
    waits.guesses.erase(guess);
    const bool is_its_swap = made.swap == operation.access->pc && made.present == present;
    if (is_its_swap && made.found >= waits.forgotten) {
      return &waits.writes[made.found - waits.forgotten].written;
    }
  }
  EarlyTakes& takes = *operation.takes;
  const Access& access = *operation.access;
  Written* needed = nullptr;
  for (std::size_t i = waits.writes.size(); i-- > 1;) {
    const Waits::Write& write = waits.writes[i];
    if (knows_of(write.written.last, operation)) break;
    if (!takes.are_alike(access, operation.lane, value, write.before)) break;
    needed = &waits.writes[i - 1].written;
    if (!operation.writes) {
      waits.guesses[thread] = {present, waits.forgotten + i - 1,
                               takes.last_access(access, operation.lane, value)};
    }
  }
  return needed;
}

// Called after a write, before its bytes move.
//   value: before the write
void SyncVariables::Variable::keep_write(std::uint64_t value) {
  const std::size_t others_max = waits->is_for_several ? kTakenMax - 1 : 0;
  const std::size_t kept_max = waits->seen.empty() ? others_max : kPastMax - 1;
  while (waits->writes.size() > kept_max) {
    waits->writes.pop_front();
    ++waits->forgotten;
  }
  if (waits->seen.empty() && !waits->is_for_several) return;
  waits->writes.push_back({written(), value, 0, false});
}

SyncVariables::Written SyncVariables::Variable::written() const {
  Written state;
  state.last = last;
  state.place = place;
  state.released = released;
  state.sc_released = sc_released;
  if (patterns == nullptr) return state;
  state.released_in = patterns->released_in;
  state.has_released = patterns->has_released;
  state.is_for_some = patterns->is_for_some;
  return state;
}

void SyncVariables::Variable::find(Written written) {
  last = written.last;
  place = written.place;
  released = std::move(written.released);
  sc_released = std::move(written.sc_released);
  if (patterns == nullptr) return;
  patterns->released_in = std::move(written.released_in);
  patterns->has_released = written.has_released;
  patterns->is_for_some = written.is_for_some;
}

void SyncVariables::Variable::exchange(Written& other) {
  std::swap(last, other.last);
  std::swap(place, other.place);
  std::swap(released, other.released);
  std::swap(sc_released, other.sc_released);
  if (patterns == nullptr) return;
  std::swap(patterns->released_in, other.released_in);
  std::swap(patterns->has_released, other.has_released);
  std::swap(patterns->is_for_some, other.is_for_some);
}

// Operations come before their bytes move, so the word holds what the one before has written.
void SyncVariables::Variable::follow_barrier(const StrongOperation& operation) {
  const Access& access = *operation.access;
  std::uint32_t word = 0;
  if (access.allocation->name != kGridWorkspaceName || bytes != sizeof word) return;
  if (access.sources != nullptr) return;
  std::memcpy(&word, access.allocation->data + offset, sizeof word);
  const bool top_bit = word >> 31 != 0;
  if (barrier == nullptr) {
    barrier = std::make_unique<GridBarrier>();
  } else if (barrier->top_bit != top_bit) {
    barrier->completed = written();
  }
  barrier->top_bit = top_bit;
}

// Sets the state to that of the write which `source` names.
void SyncVariables::Variable::find_source(std::uint8_t source) {
  const Written* const write = source == Access::kNoStrongSource ? nullptr : past.find(source);
  if (write == nullptr) return silence();
  find(*write);
}

// Returns whether the scopes of two operations include each other's thread.
bool SyncVariables::reach_each_other(const Writer& writer, BlockKey block, Reach reach) const {
  if (writer.block == block) return true;
  const Reach nearer = std::min(writer.reach, reach);
  if (nearer != Reach::cluster) return nearer == Reach::grid;
  return order_.launches().group_of(writer.block) == order_.launches().group_of(block);
}

// Returns whether the thread has made the latest write.
bool SyncVariables::is_last_writer(const Variable& variable,
                                   const StrongOperation& operation) const {
  return variable.last.block == operation.block &&
         variable.last.thread ==
             order_.threads().thread_at(operation.access->place, operation.lane);
}

void SyncVariables::read(Variable& variable, const StrongOperation& operation, bool linked,
                         Miss& miss) {
  if (!operation.may_acquire) return;
  const Access& access = *operation.access;
  const BlockKey block = operation.block;
  if (linked && !variable.sc_released.is_empty() && operation.is_present) {
    order_.fences().observe_sc(access.place, operation.lane, variable.sc_released);
  }
  // Most variables release nothing, and their readers acquire nothing.
  const bool releases_nothing =
      !linked || (variable.patterns == nullptr && variable.released.is_empty());
  if (releases_nothing && !ptx::acquires(access.order)) {
    if (linked && !is_last_writer(variable, operation)) {
      miss = variable.last.missed_for(Missed::release);
    }
    return;
  }
  ReleasedClocks released_clocks;
  if (linked) {
    bool has_released = false;
    if (variable.patterns != nullptr) {
      const auto& released_in = variable.patterns->released_in;
      has_released = variable.patterns->has_released;
      const auto nearby = released_in.find(group_of(block, Reach::block));
      if (nearby != released_in.end()) released_clocks.block = nearby->second;
      released_clocks.cluster = released_clocks.block;
      if (order_.launches().has_groups()) {
        const auto around = released_in.find(group_of(block, Reach::cluster));
        if (around != released_in.end()) released_clocks.cluster.join(around->second);
      }
    }
    released_clocks.grid = variable.released;
    if (variable.patterns != nullptr && variable.patterns->is_for_some) {
      released_clocks.grid.join(released_clocks.cluster);
    }
    if (released_clocks.is_empty() && !is_last_writer(variable, operation)) {
      miss = variable.last.missed_for(has_released ? Missed::release_scope : Missed::release);
    }
  }
  if (ptx::acquires(access.order)) {
    const ThreadState& self = order_.threads().at(access.place, operation.lane);
    const Reach reach = order_.launches().reach_of(access);
    VectorClock acquired = released_clocks.at(reach);
    for (const ThreadState::Seen& seen : self.seen) {
      if (seen.variable == variable.number) acquired.join(seen.released_clocks.at(reach));
    }
    order_.threads().learn(access.place, operation.lane, acquired);
  }
  const bool acquired_all =
      ptx::acquires(access.order) && order_.launches().reach_of(access) == Reach::grid;
  if (released_clocks.is_empty() || acquired_all || !operation.is_present) return;
  // A later fence, or a later acquire of this variable, may complete the acquire pattern.
  order_.threads()
      .own(access.place, operation.lane)
      .observe(variable.number, variable.place.chain, released_clocks);
}

void SyncVariables::Patterns::forget_ended(const ThreadOrder& order) {
  std::erase_if(released_in, [&](const auto& group) {
    return (group.first & kClusters) == 0 && order.launches().has_ended(group.first);
  });
  std::erase_if(releases, [&](const auto& own) {
    return order.launches().has_ended(own.first >> kThreadBits);
  });
  forget_at = 8 + 2 * (released_in.size() + releases.size());
}

void SyncVariables::release(Variable& variable, Reach reach, const VectorClock& clock,
                            BlockKey block) {
  Patterns& patterns = variable.made_patterns();
  auto& released_in = patterns.released_in;
  if (released_in.size() + patterns.releases.size() >= patterns.forget_at) {
    patterns.forget_ended(order_);
  }
  patterns.has_released = true;
  patterns.is_for_some |= reach != Reach::grid;
  VectorClock& in_block = released_in[group_of(block, Reach::block)];
  const bool are_alike = reach == Reach::grid && in_block.is_same(variable.released);
  if (are_alike) variable.released = {};  // so that the other changes in place
  in_block.join(clock);
  if (are_alike) {
    variable.released = in_block;
  } else if (reach == Reach::grid) {
    variable.released.join(clock);
  }
  if (reach != Reach::block && order_.launches().has_groups()) {
    released_in[group_of(block, Reach::cluster)].join(clock);
  }
}

// Releases what a thread has released at each reach beyond `covered`.
void SyncVariables::release_moments(Variable& variable, const std::array<Moment, 3>& moments,
                                    std::optional<Reach> covered,
                                    const StrongOperation& operation) {
  const Moment& far = moments[index_of(Reach::grid)];
  for (const Reach reach : kReaches) {
    const Moment& moment = moments[index_of(reach)];
    if (!moment.is_set || (covered && reach <= *covered)) continue;
    if (reach == Reach::cluster && !order_.launches().has_groups()) continue;
    // What is released to all threads is also released to the threads of the block or cluster.
    if (reach != Reach::grid && far.is_set && far.ticks == moment.ticks) continue;
    release(variable, reach, clock_of(moment, operation), operation.block);
  }
}

void SyncVariables::release_fences(Variable& variable, std::optional<Reach> covered,
                                   const StrongOperation& operation) {
  if (operation.fences == nullptr || operation.fences->is_empty()) return;
  const ReleasedFences& fences = *operation.fences;
  const Moment& far = fences[index_of(Reach::grid)];
  // Mostly all fences are fence.sc.
  const bool are_alike = !covered && fences.sc.is_set && far.is_set &&
                         fences.sc.ticks == far.ticks && fences.sc_of_others.is_empty() &&
                         variable.sc_released.is_same(variable.released);
  if (!are_alike) {
    variable.sc_released.join(fences.sc_of_others);
    if (fences.sc.is_set) variable.sc_released.join(clock_of(fences.sc, operation));
  }
  release_moments(variable, fences.latest, covered, operation);
  if (are_alike) variable.sc_released = variable.released;
}

VectorClock SyncVariables::clock_of(const Moment& moment, const StrongOperation& operation) const {
  return vgpu::clock_of(moment, operation.block,
                        order_.threads().thread_at(operation.access->place, operation.lane));
}

void SyncVariables::write(Variable& variable, const StrongOperation& operation, bool linked) {
  const Access& access = *operation.access;
  if (linked) {
    ++variable.place.position;
  } else {
    variable.silence();
    variable.place = {++chains_, 0};
  }
  // A release includes everything that its thread has released before, as far as it reaches.
  const Reach reach = order_.launches().reach_of(access);
  const std::optional<Reach> covered =
      ptx::releases(access.order) ? std::optional(reach) : std::nullopt;
  const std::uint64_t thread = thread_of(operation);
  release_fences(variable, covered, operation);
  if (variable.patterns != nullptr) {
    const auto own = variable.patterns->releases.find(thread);
    if (own != variable.patterns->releases.end()) {
      // A copy, because the map may change.
      const std::array<Moment, 3> earlier = own->second;
      release_moments(variable, earlier, covered, operation);
    }
  }
  if (covered) {
    const Moment moment = order_.threads().release(access.place, operation.lane);
    release(variable, reach, clock_of(moment, operation), operation.block);
    auto& own = variable.patterns->releases[thread];
    for (const Reach near : kReaches) {
      if (near <= reach) own[index_of(near)] = moment;
    }
  }
  variable.last = {operation.block, order_.threads().thread_at(access.place, operation.lane),
                   reach,           true,
                   operation.phase, operation.ticks};
}

void SyncVariables::overwrite(std::uint32_t allocation, std::uint32_t offset, std::uint32_t bytes) {
  if (is_empty(allocation)) return;
  allocations_[allocation].for_each(offset / kGranuleBytes, (offset + bytes - 1) / kGranuleBytes,
                                    [&](Granule& granule) {
                                      for (Variable& variable : granule) {
                                        if (variable.overlaps(offset, bytes)) variable.lose();
                                      }
                                    });
}

void SyncVariables::forget(std::uint32_t allocation) {
  if (allocation < allocations_.size()) allocations_[allocation].clear();
  polled_.erase(allocation);
}

void SyncVariables::forget_all() {
  for (Granules& granules : allocations_) granules.clear();
  polled_.clear();
  for_several_ = 0;
}

}  // namespace warpcheck::vgpu
