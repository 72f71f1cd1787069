#include "vgpu/cudart/launch/run_ahead.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/copies/copy_runner.hpp"
#include "vgpu/cudart/copies/copy_sides.hpp"
#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/launch/kernel_runner.hpp"
#include "vgpu/cudart/memory/host_blocks.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"

namespace warpcheck::cudart {
namespace {

// Calls visit(part of an allocation, offset in it, bytes) for the device memory of a box.
using VisitBytes =
    std::function<bool(const vgpu::Allocation&, std::uint32_t offset, std::uint32_t bytes)>;

bool find_bytes(vgpu::DeviceMemory& memory, const Place& place, const Box& box,
                const VisitBytes& visit) {
  bool is_found = false;
  for_each_row(box, [&](std::size_t slice, std::size_t row) {
    const auto at = reinterpret_cast<std::uint64_t>(row_of(place, slice, row));
    const vgpu::Allocation* const allocation = is_found ? nullptr : memory.find(at);
    if (allocation == nullptr) return;
    const std::uint64_t offset = at - allocation->address;
    const std::uint64_t bytes = std::min<std::uint64_t>(box.width, allocation->bytes - offset);
    allocation->for_each_part(
        offset, bytes, [&](const vgpu::Allocation& part, std::uint32_t first, std::uint32_t count) {
          is_found |= visit(part, first, count);
        });
  });
  return is_found;
}

bool find_bytes(const vgpu::Allocation& allocation, const VisitBytes& visit) {
  bool is_found = false;
  allocation.for_each_part([&](const vgpu::Allocation& part) {
    is_found = is_found || visit(part, 0, static_cast<std::uint32_t>(part.bytes));
  });
  return is_found;
}

// Returns whether all memory that the work may touch is known before it runs.
bool is_known(const Work& work) {
  return std::holds_alternative<EmptyWork>(work) || std::holds_alternative<CopyWork>(work) ||
         std::holds_alternative<FillWork>(work) || std::holds_alternative<FreeWork>(work) ||
         std::holds_alternative<AllocateWork>(work) || std::holds_alternative<HostWork>(work);
}

// Returns whether the device side of a move is memory that the host may access too.
bool touches_shared_memory(const ParallelMove& move) {
  const auto is_shared = [](const ParallelMove::Side& side) {
    return side.on_device && side.allocation->is_shared_with_host();
  };
  return is_shared(move.target) || is_shared(move.source);
}

// Returns whether other threads of the program can make calls while it runs.
bool frees_the_lock(const Work& work) {
  return std::holds_alternative<HostWork>(work) || std::holds_alternative<ValueWork>(work) ||
         std::holds_alternative<ProcessEventWork>(work);
}

}  // namespace

struct RunAhead::Group {
  std::vector<OperationPtr> pending;  // all pending operations, by number
  std::vector<ParallelTask> tasks;    // of the first ones
  std::vector<std::vector<std::byte>>
      kept;                      // RanAhead::to_host of each task, or ParallelMove::source
  std::size_t kept_sources = 0;  // bytes
  // Memory of the host that copies of the group will have written.
  struct HostBytes {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
  };
  std::vector<HostBytes> to_host;
  // Tasks because of which the group does not count.
  std::vector<std::uint32_t> met;
  std::unique_ptr<const WordsOfGroup> words;  // when all have run
  std::uint32_t covered = 0;                  // the number of tasks that the first wait covers
  // The tasks that take their turns while the host waits now.
  std::uint32_t begin = 0, end = 0;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(tasks.size()); }
  [[nodiscard]] bool has_late() const { return covered < size(); }
  [[nodiscard]] Operation& operation(std::uint32_t task) const { return *pending[task]; }
  [[nodiscard]] bool is_launch(std::uint32_t task) const { return tasks[task].is_launch(); }
  [[nodiscard]] bool takes_turn(std::uint32_t task) const { return task >= begin && task < end; }
  [[nodiscard]] std::span<const OperationPtr> others() const {
    return std::span(pending).subspan(tasks.size());
  }
  void set_others(const std::vector<OperationPtr>& all_pending) {
    pending.resize(tasks.size());
    const std::uint32_t last = pending.back()->number;
    std::ranges::copy_if(all_pending, std::back_inserter(pending),
                         [&](const OperationPtr& one) { return one->number > last; });
  }
  // Returns a number that is at least the number of launches that can run at the same time.
  [[nodiscard]] unsigned chains() const {
    std::set<std::uint32_t> chains;
    for (std::uint32_t i = 0; i < size(); ++i) {
      if (is_launch(i)) chains.insert(operation(i).stamp.chain);
    }
    return static_cast<unsigned>(chains.size());
  }
  // Returns whether two operations are unordered, of which the first was requested first.
  static bool are_unordered(const Operation& first, const Operation& second) {
    return !second.clock.covers(first.stamp);
  }
};

RunAhead::RunAhead(const Dependencies& dependencies) : dependencies_(dependencies) {}
RunAhead::~RunAhead() = default;

void RunAhead::drop_late() {
  if (late_ == nullptr) return;
  late_ = nullptr;
  dependencies_.kernels.machines().forget_freed();
}

void RunAhead::run(const Operations& operations, const OperationSet& goal, const HostState& host) {
  if (late_ != nullptr && take_turns(operations, goal, host)) return;
  if (!operations.has_several_ready()) return;
  const OperationPtr first = operations.first_ready();
  if (first->number < decided_end_ || !is_possible(host)) return;
  const std::vector<OperationPtr> pending = operations.all_pending();
  if (pending.empty() || pending.front() != first) return;
  std::unique_ptr<Group> group = group_of(pending, goal, host, true);
  if (execute(*group)) {
    if (group->has_late()) late_ = std::move(group);
  } else if (group->has_late()) {
    execute(*group_of(pending, goal, host, false));
  }
}

//   has_late: it also has members that the wait does not cover
std::unique_ptr<RunAhead::Group> RunAhead::group_of(const std::vector<OperationPtr>& pending,
                                                    const OperationSet& goal, const HostState& host,
                                                    bool has_late) {
  auto group = std::make_unique<Group>();
  group->pending = pending;
  const auto is_covered = [&](const OperationPtr& one) { return goal.covers(one->stamp); };
  const auto behind_covered =
      std::ranges::find_if(pending.rbegin(), pending.rend(), is_covered).base();
  for (auto one = pending.begin(); one != pending.end(); ++one) {
    const bool is_late = !is_covered(*one);
    if (is_late && (!has_late || one < behind_covered || group->covered == 0)) break;
    if (!add_member(*group, **one, is_late, host)) break;
    if (!is_late) ++group->covered;
  }
  leave_whole_machines(*group);
  group->covered = std::min(group->covered, group->size());
  group->end = group->covered;
  decided_end_ = pending[std::max(group->size(), 1u) - 1]->number + 1;
  return group;
}

// Returns whether the group counts.
bool RunAhead::execute(Group& group) {
  if (!is_worth_it(group) || !add_order(group) || !others_are_known(group)) return false;
  ParallelMachines& machines = dependencies_.kernels.machines();
  ParallelMachines::Settings settings = dependencies_.kernels.parallel_settings();
  settings.machines = std::min(settings.machines, group.chains());
  using Effect = ParallelMachines::Effect;
  const bool counts = machines.run_together(group.tasks, settings,
                                            group.has_late() ? Effect::later : Effect::at_once,
                                            [&] { return has_met_nothing(group); });
  counts ? keep(group) : blame(group);
  return counts;
}

// ---- late members ----

// Lets the members that the wait covers take their turns.  False: no member is left, or the rest
// was given up.
bool RunAhead::take_turns(const Operations& operations, const OperationSet& goal,
                          const HostState& host) {
  Group& group = *late_;
  std::uint32_t next = std::max(group.begin, group.end);
  while (group.begin < group.size() &&
         group.operation(group.begin).state != Operation::State::waiting) {
    ++group.begin;
  }
  if (group.begin < next) return true;
  next = group.begin;
  if (next == group.size()) {
    drop_late();
    return false;
  }
  if (!is_possible(host)) return true;
  ParallelMachines& machines = dependencies_.kernels.machines();
  group.end = next;
  while (group.end < group.size() && goal.covers(group.operation(group.end).stamp)) ++group.end;
  if (group.end == next) {  // its accesses must be recorded
    if (group.is_launch(next)) machines.never_later(*group.tasks[next].launch.program);
    return true;
  }
  group.set_others(operations.all_pending());
  if (may_take_turns(group, host)) {
    keep(group);
    return true;
  }
  for (; next < group.size(); ++next) {
    if (group.is_launch(next)) machines.never_later(*group.tasks[next].launch.program);
  }
  drop_late();
  return false;
}

bool RunAhead::may_take_turns(Group& group, const HostState& host) const {
  const WordsOfGroup& words = *group.words;
  if (words.have_touched(dependencies_.kernels.machines().freed())) return false;
  for (std::uint32_t i = group.begin; i < group.end; ++i) {
    if (!is_unchanged(group, i, host)) return false;
  }
  return others_are_known(group) && !has_met_launches(group) && !has_met_past(group, words) &&
         !has_met_pending(group, words);
}

// Returns whether a task would still find what it has found, apart from device memory.
bool RunAhead::is_unchanged(const Group& group, std::uint32_t task, const HostState& host) const {
  if (group.is_launch(task)) {
    const vgpu::Launch& then = group.tasks[task].launch;
    const vgpu::Launch now = dependencies_.kernels.launch_for(group.operation(task), host);
    return now.peers == then.peers && now.stack_bytes == then.stack_bytes &&
           now.host_runs == then.host_runs;
  }
  const auto* const copy = std::get_if<CopyWork>(&group.operation(task).work);
  const bool is_from_host = copy != nullptr && copy->source_in == Where::host && !copy->staged;
  const bool is_to_host = copy != nullptr && copy->target_in == Where::host;
  if (host.is_gone && (is_from_host || is_to_host)) return false;
  return !is_from_host || dependencies_.copies.brought_by(*copy) == group.kept[task];
}

// Returns whether a launch outside the group has run that is unordered with one of the launches.
bool RunAhead::has_met_launches(const Group& group) const {
  std::set<std::pair<std::uint32_t, std::uint32_t>> members;
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    const Stamp& stamp = group.operation(i).stamp;
    members.emplace(stamp.chain, stamp.position);
  }
  std::vector<Stamp> outside;
  dependencies_.transfers.visit_launched([&](const Stamp& stamp) {
    if (!members.contains({stamp.chain, stamp.position})) outside.push_back(stamp);
  });
  for (std::uint32_t i = group.begin; i < group.end; ++i) {
    const OperationSet& clock = group.operation(i).clock;
    const bool is_met = group.is_launch(i) && std::ranges::any_of(outside, [&](const Stamp& one) {
                          return !clock.covers(one);
                        });
    if (is_met) return true;
  }
  return false;
}

// Returns whether the host may change what a late launch finds.
bool RunAhead::has_late_sharing(Group& group, const WordsOfGroup& words) {
  return words.find_sharing([&](std::uint32_t task) {
    const bool is = task >= group.covered && group.is_launch(task);
    if (is) group.met = {task};
    return is;
  });
}

// ---- members ----

bool RunAhead::is_possible(const HostState& host) const {
  const TrialSettings& settings = dependencies_.trial.settings();
  const bool is_plain = settings.jobs >= 2 && settings.strategy == nullptr &&
                        !settings.want_feedback && !dependencies_.kernels.is_watched();
  if (!is_plain || !dependencies_.trial.in_ambient() || host.concurrent_work != nullptr)
    return false;
  if (dependencies_.recording.log() != nullptr || dependencies_.host_blocks.has_registered_copies())
    return false;
  return std::ranges::none_of(dependencies_.devices,
                              [](const DeviceState& device) { return device.errors.has_sticky(); });
}

// Returns false if the operation cannot be part of the group.
bool RunAhead::add_member(Group& group, const Operation& operation, bool is_late,
                          const HostState& host) const {
  if (operation.next_begins_early) return false;
  ParallelTask task;
  std::vector<std::byte> kept;
  if (operation.is_kernel) {
    if (!add_launch(task, operation, is_late, host)) return false;
  } else if (const auto* const copy = std::get_if<CopyWork>(&operation.work)) {
    if (!add_copy(group, task, kept, *copy, is_late, host)) return false;
  } else if (const auto* const fill = std::get_if<FillWork>(&operation.work)) {
    auto moves = dependencies_.copies.moves_of(*fill, kept);
    if (!moves) return false;
    task.moves = std::move(*moves);
  } else if (!operation.is_empty()) {
    return false;
  }
  if (is_late && std::ranges::any_of(task.moves, &touches_shared_memory)) return false;
  group.tasks.push_back(std::move(task));
  group.kept.push_back(std::move(kept));
  return true;
}

bool RunAhead::add_launch(ParallelTask& task, const Operation& operation, bool is_late,
                          const HostState& host) const {
  if (std::get<KernelWork>(operation.work).early_after.position != 0) return false;
  task.launch = dependencies_.kernels.launch_for(operation, host);
  const vgpu::Program& program = *task.launch.program;
  const bool may_be_late = program.texture_instrs.empty() &&
                           !dependencies_.memory.is_shared_by_processes() &&
                           dependencies_.kernels.machines().may_be_later(program);
  if (is_late && !may_be_late) return false;
  return dependencies_.kernels.machines().may_run_beside(
             task.launch, dependencies_.kernels.parallel_settings()) &&
         dependencies_.transfers.unordered_launches(operation).empty();
}

// A copy brings its bytes to the host at its turn, so no copy may have taken them from there
// before.
bool RunAhead::add_copy(Group& group, ParallelTask& task, std::vector<std::byte>& kept,
                        const CopyWork& work, bool is_late, const HostState& host) const {
  const bool is_from_host = work.source_in == Where::host && !work.staged;
  if (host.is_gone && (is_from_host || work.target_in == Where::host)) return false;
  const auto bytes_of = [&](const Place& place, bool write) {
    const std::optional<CopySide> side = dependencies_.copies.host_side(place, work.box, write);
    if (!side) return Group::HostBytes{};
    return Group::HostBytes{side->data,
                            side->row(work.box.depth - 1, work.box.height - 1) + work.box.width};
  };
  if (is_from_host) {
    const Group::HostBytes from = bytes_of(work.source, false);
    for (const Group::HostBytes& written : group.to_host) {
      if (from.begin < written.end && written.begin < from.end) return false;
    }
  }
  auto moves = dependencies_.copies.moves_of(work, kept);
  if (!moves) return false;
  task.moves = std::move(*moves);
  if (is_late && is_from_host && !take_source(group, task, kept, work)) return false;
  if (work.target_in == Where::host) group.to_host.push_back(bytes_of(work.target, true));
  return true;
}

// The copy takes what memory of the host contains now; its turn checks that this is still so.
bool RunAhead::take_source(Group& group, ParallelTask& task, std::vector<std::byte>& kept,
                           const CopyWork& work) const {
  constexpr std::size_t kSourcesMax = std::size_t{64} << 20;
  group.kept_sources += work.box.bytes();
  if (group.kept_sources > kSourcesMax) return false;
  std::optional<std::vector<std::byte>> bytes = dependencies_.copies.brought_by(work);
  if (!bytes) return false;
  kept = std::move(*bytes);
  std::byte* from = kept.data();
  for (ParallelMove& move : task.moves) move.source.data = std::exchange(from, from + move.bytes);
  return true;
}

// Ends the group before the first launch that all machines together can run: a large one that is
// ordered with all others.
void RunAhead::leave_whole_machines(Group& group) const {
  OperationSet earlier;
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    const Operation& one = group.operation(i);
    const bool comes_after = one.clock.includes(earlier);
    earlier.join(one.clock);
    if (!comes_after || !group.is_launch(i)) continue;
    if (!dependencies_.kernels.machines().is_for_all(group.tasks[i].launch,
                                                     dependencies_.kernels.parallel_settings()))
      continue;
    const bool comes_before = std::ranges::none_of(
        std::span(group.pending).subspan(i + 1),
        [&](const OperationPtr& later) { return Group::are_unordered(one, *later); });
    if (comes_before) return group.tasks.resize(i);
  }
}

// Returns whether there are unordered launches, and enough work for several threads.
bool RunAhead::is_worth_it(const Group& group) const {
  const Operation* before = nullptr;
  bool has_unordered = false;
  double steps = 0;
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    if (!group.is_launch(i)) continue;
    const Operation& one = group.operation(i);
    has_unordered |= before != nullptr && Group::are_unordered(*before, one);
    before = &one;
    steps += dependencies_.kernels.machines().steps_of(group.tasks[i].launch);
  }
  return has_unordered && steps >= dependencies_.kernels.parallel_settings().steps_min;
}

// Sets which tasks wait for which.  False: one waits for an operation outside the group.
bool RunAhead::add_order(Group& group) {
  std::map<const Operation*, std::uint32_t> number_of;
  for (std::uint32_t i = 0; i < group.size(); ++i) number_of[group.pending[i].get()] = i;
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    for (const OperationPtr& later : group.operation(i).waited_for_by) {
      const auto found = number_of.find(later.get());
      if (found == number_of.end()) continue;
      group.tasks[i].later.push_back(found->second);
      ++group.tasks[found->second].waits_for;
    }
  }
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    if (group.tasks[i].waits_for != group.operation(i).waits_for) return false;
  }
  return true;
}

// Returns whether all that is pending beside the group comes after its launches, or touches known
// bytes.
bool RunAhead::others_are_known(const Group& group) const {
  OperationSet all;
  for (std::uint32_t i = group.begin; i < group.end; ++i) {
    if (group.is_launch(i)) all.join(group.operation(i).clock);
  }
  const bool has_other_threads =
      std::ranges::any_of(group.others(),
                          [](const OperationPtr& one) { return frees_the_lock(one->work); }) &&
      other_threads_may_run();
  return !has_other_threads && std::ranges::all_of(group.others(), [&](const OperationPtr& one) {
    return one->clock.includes(all) || is_known(one->work);
  });
}

bool RunAhead::has_met_nothing(Group& group) const {
  std::vector<WordsOfGroup::Member> members;
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    members.push_back({&group.tasks[i].words, group.operation(i).stamp.chain});
  }
  group.words = std::make_unique<const WordsOfGroup>(std::move(members));
  const WordsOfGroup& words = *group.words;
  return !has_late_sharing(group, words) && !has_met_each_other(group, words) &&
         !has_met_past(group, words) && !has_met_pending(group, words) &&
         !has_met_late_copy(group, words);
}

bool RunAhead::has_met_each_other(Group& group, const WordsOfGroup& words) {
  return words.find_met([&](const WordsOfGroup::Pair& pair) {
    const auto [first, second] = std::minmax(pair[0], pair[1]);
    if (!Group::are_unordered(group.operation(first), group.operation(second))) return false;
    group.met = {first, second};
    return true;
  });
}

// Returns whether an access to the bytes meets a task with which it is unordered.
bool RunAhead::meets(const Group& group, const WordsOfGroup& words, const Bytes& bytes,
                     const std::function<bool(std::uint32_t)>& is_unordered) {
  if (bytes.write && bytes.allocation->space == ptx::Space::constant) {
    // reads of constant memory leave no footprint
    for (std::uint32_t i = 0; i < group.size(); ++i) {
      const vgpu::Program* const program = group.tasks[i].launch.program;
      const bool reads = program != nullptr && program->has_constant_accesses;
      if (reads && is_unordered(i)) return true;
    }
  }
  return words.find_touching(*bytes.allocation, bytes.offset,
                             std::uint64_t{bytes.offset} + bytes.bytes, bytes.write, is_unordered);
}

// Bytes that operations have accessed which the host has not waited for.
bool RunAhead::has_met_past(Group& group, const WordsOfGroup& words) const {
  return dependencies_.transfers.find_touched(
      [&](const Stamp& stamp, const vgpu::Allocation& allocation, std::uint32_t offset,
          std::uint32_t bytes, bool write) {
        const auto is_unordered = [&](std::uint32_t task) {
          if (!group.takes_turn(task) || group.operation(task).clock.covers(stamp)) return false;
          group.met = {task};
          return true;
        };
        return meets(group, words, {&allocation, offset, bytes, write}, is_unordered);
      });
}

// Bytes that pending operations beside the group will access.
bool RunAhead::has_met_pending(Group& group, const WordsOfGroup& words) const {
  return std::ranges::any_of(group.others(), [&](const OperationPtr& other) {
    const auto is_unordered = [&](std::uint32_t task) {
      const bool is = group.takes_turn(task) && group.is_launch(task) &&
                      Group::are_unordered(group.operation(task), *other);
      if (is) group.met = {task};
      return is;
    };
    const auto meets_bytes = [&](bool write) {
      return [&, write](const vgpu::Allocation& part, std::uint32_t offset, std::uint32_t bytes) {
        return meets(group, words, {&part, offset, bytes, write}, is_unordered);
      };
    };
    const Work& work = other->work;
    if (const auto* const copy = std::get_if<CopyWork>(&work)) {
      return find_bytes(dependencies_.memory, copy->target, copy->box, meets_bytes(true)) ||
             (!copy->staged &&
              find_bytes(dependencies_.memory, copy->source, copy->box, meets_bytes(false)));
    }
    if (const auto* const fill = std::get_if<FillWork>(&work)) {
      return find_bytes(dependencies_.memory, fill->target, fill->box, meets_bytes(true));
    }
    if (const auto* const free = std::get_if<FreeWork>(&work)) {
      return find_bytes(*free->allocation, meets_bytes(true));
    }
    if (const auto* const allocate = std::get_if<AllocateWork>(&work)) {
      return find_bytes(*allocate->allocation, meets_bytes(true));
    }
    return std::holds_alternative<HostWork>(work) && words.find_sharing(is_unordered);
  });
}

// Memory that host and device share, which a copy of the group will write at its turn.
bool RunAhead::has_met_late_copy(Group& group, const WordsOfGroup& words) const {
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    const auto* const copy = std::get_if<CopyWork>(&group.operation(i).work);
    if (copy == nullptr || copy->target_in != Where::host) continue;
    const auto may_come_later = [&](std::uint32_t task) {
      if (group.operation(i).clock.covers(group.operation(task).stamp)) return false;
      group.met = {task};
      return true;
    };
    const auto meets_bytes = [&](const vgpu::Allocation& part, std::uint32_t offset,
                                 std::uint32_t bytes) {
      return meets(group, words, {&part, offset, bytes, true}, may_come_later);
    };
    if (find_bytes(dependencies_.memory, copy->target, copy->box, meets_bytes)) return true;
  }
  return false;
}

// Each operation that takes its turn has run, up to its turn.
void RunAhead::keep(Group& group) const {
  vgpu::Checkers& whole = *dependencies_.kernels.parallel_settings().whole;
  for (std::uint32_t i = group.begin; i < group.end; ++i) {
    ParallelTask& task = group.tasks[i];
    if (group.has_late()) std::exchange(task.written, {}).write(task.words, whole);
    auto ahead = std::make_shared<RanAhead>();
    ahead->outcome = std::move(task.outcome);
    ahead->to_host = std::move(group.kept[i]);
    ahead->states_are_left = std::ranges::none_of(task.moves, [&](const ParallelMove& move) {
      const ParallelMove::Side& to = move.target;
      return to.allocation != nullptr &&
             group.words->find_touching(*to.allocation, to.offset,
                                        std::uint64_t{to.offset} + move.bytes, false,
                                        [&](std::uint32_t other) { return other != i; });
    });
    if (task.is_launch() || !task.moves.empty()) group.operation(i).ahead = std::move(ahead);
  }
}

// Launches that meet other operations mostly do so again.
void RunAhead::blame(const Group& group) const {
  std::vector<std::uint32_t> tasks = group.met;
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    if (group.tasks[i].is_bad) tasks.push_back(i);
  }
  std::erase_if(tasks, [&](std::uint32_t task) { return !group.is_launch(task); });
  const bool is_late_only = tasks.empty() || std::ranges::any_of(tasks, [&](std::uint32_t task) {
                              return task >= group.covered;
                            });
  const bool blames_late = group.has_late() && is_late_only;
  ParallelMachines& machines = dependencies_.kernels.machines();
  // Otherwise copies have met, no memory was left, or a launch does not end.
  const bool is_any = tasks.empty();
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    const bool is_blamed = is_any || std::ranges::find(tasks, i) != tasks.end();
    if (!is_blamed || !group.is_launch(i) || (blames_late && i < group.covered)) continue;
    const vgpu::Program& program = *group.tasks[i].launch.program;
    blames_late ? machines.never_later(program) : machines.never_beside(program);
  }
}

}  // namespace warpcheck::cudart
