#include "vgpu/cudart/parallel/parallel_machines.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>

#include "vgpu/cudart/host_watch/host_watch.hpp"
#include "vgpu/cudart/memory/host_memory.hpp"
#include "vgpu/machine/block_share.hpp"
#include "vgpu/program/flow/lone_blocks.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::cudart {
namespace {

using namespace std::chrono_literals;

// The assumed number of warp instructions per warp for blocks that have never run.  It is high,
// because starting threads in vain has a cost, and a kernel may be launched only once.
constexpr double kStepsGuessed = 2'000;

// The members' own allocations get ids so far above the existing ones.
constexpr std::uint32_t kIdsAhead = 1024;

constexpr auto kProgressEvery = 50ms;

// The tasks of a group, for the threads that run them.
class TaskQueue {
 public:
  TaskQueue(std::vector<ParallelTask>& tasks, const vgpu::SharedGrid& group)
      : tasks_(tasks), group_(group), waits_for_(tasks.size()), left_(tasks.size()) {
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      waits_for_[i] = tasks[i].waits_for;
      if (waits_for_[i] == 0) ready_.insert(i);
    }
  }

  // Waits for a task, and takes the first one; nullptr: there is none any more.
  ParallelTask* take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || left_ == 0 || group_.is_given_up(); });
    if (ready_.empty() || group_.is_given_up()) return nullptr;
    return &tasks_[ready_.extract(ready_.begin()).value()];
  }
  void end(const ParallelTask& task) {
    const std::lock_guard lock(mutex_);
    --left_;
    for (const std::uint32_t later : task.later) {
      if (--waits_for_[later] != 0) continue;
      ready_.insert(later);
      changed_.notify_one();
    }
    if (left_ == 0 || group_.is_given_up()) changed_.notify_all();
  }
  // Wakes the threads that wait, when the group has been given up.
  void wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  [[nodiscard]] bool is_empty() const { return left_ == 0; }

 private:
  std::vector<ParallelTask>& tasks_;
  const vgpu::SharedGrid& group_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint32_t> waits_for_;
  std::set<std::uint32_t> ready_;
  std::size_t left_;
};

}  // namespace

// A machine with everything that belongs to it alone.
class ParallelMachines::Member {
 public:
  Member(const vgpu::DeviceMemory& memory, std::uint32_t first_id, SavedPages& saved)
      : memory_(memory, first_id),
        machine_(memory_),
        checkers_(vgpu::CheckerSet{}, vgpu::WarpModel::independent),
        footprint_(saved) {}

  [[nodiscard]] Footprint& footprint() { return footprint_; }
  vgpu::Outcome run(vgpu::Launch launch, const Settings& settings, vgpu::SharedGrid& grid,
                    unsigned number, const Reductions& reductions) {
    vgpu::BlockShare share(grid, number, footprint_.reduced());
    // Only the race checker detects races between blocks of one machine.
    vgpu::CheckerSet checked = settings.checkers;
    checked.race = true;
    checkers_.reset(checked, settings.warp_model);
    checkers_.join(*settings.whole, grid);
    footprint_.begin(grid, number, reductions);
    std::vector<vgpu::Observer*> observers{&footprint_};
    const auto checkers = checkers_.observers();
    observers.insert(observers.end(), checkers.begin(), checkers.end());
    launch.share = &share;
    return machine_.run(launch, settings.warp_model, policy_, observers, settings.limits);
  }
  // Runs a launch of a group.
  vgpu::Outcome run_whole(vgpu::Launch launch, const Settings& settings,
                          vgpu::SharedGrid& attempt) {
    begin_task(settings, attempt);
    launch.beside = &attempt;
    std::vector<vgpu::Observer*> observers{&footprint_};
    const auto checkers = checkers_.observers();
    observers.insert(observers.end(), checkers.begin(), checkers.end());
    return machine_.run(launch, settings.warp_model, policy_, observers, settings.limits);
  }
  // Runs a copy of a group.
  void move(const std::vector<ParallelMove>& moves, const Settings& settings,
            vgpu::SharedGrid& attempt) {
    begin_task(settings, attempt);
    for (const ParallelMove& move : moves) {
      const auto touch = [&](const ParallelMove::Side& side, bool write) {
        if (side.allocation == nullptr) return;
        footprint_.touch_bytes(*side.allocation, side.offset, move.bytes, write);
      };
      touch(move.source, false);
      touch(move.target, true);
      notify(move);
      std::memcpy(move.target.data, move.source.data, move.bytes);
      if (attempt.is_given_up()) return;
    }
  }
  [[nodiscard]] bool has_findings() const { return !checkers_.findings().empty(); }
  void forget(const vgpu::Allocation& allocation) {
    footprint_.forget(allocation);
    for (vgpu::Observer* const checker : checkers_.observers()) checker->on_free(allocation);
  }

 private:
  void begin_task(const Settings& settings, vgpu::SharedGrid& attempt) {
    checkers_.reset(settings.checkers, settings.warp_model);
    checkers_.join(*settings.whole, attempt);
    footprint_.begin_whole(attempt);
  }
  void notify(const ParallelMove& move) {
    const ParallelMove::Side &to = move.target, &from = move.source;
    for (vgpu::Observer* const checker : checkers_.observers()) {
      if (to.on_device && from.on_device) {
        checker->on_device_copy({.target = to.allocation,
                                 .source = from.allocation,
                                 .target_offset = to.offset,
                                 .source_offset = from.offset,
                                 .bytes = move.bytes});
        continue;
      }
      const ParallelMove::Side& side = to.on_device ? to : from;
      vgpu::HostAccess access;
      access.allocation = side.allocation;
      access.offset = side.offset;
      access.bytes = move.bytes;
      access.write = to.on_device;
      access.row_bytes = move.bytes;
      checker->on_host_access(access);
    }
  }

  vgpu::DeviceMemory memory_;
  vgpu::Machine machine_;
  vgpu::Checkers checkers_;
  Footprint footprint_;
  vgpu::DefaultPolicy policy_;
};

ParallelMachines::ParallelMachines(vgpu::DeviceMemory& memory) : memory_(memory) {}
ParallelMachines::~ParallelMachines() = default;

void ParallelMachines::on_free(const vgpu::Allocation& allocation) {
  if (allocation.on_heap()) return;  // launches that free heap memory never run in parallel
  for (const std::unique_ptr<Member>& member : members_) member->forget(allocation);
  if (watches_frees_) freed_.insert(allocation.id);
}

ParallelMachines::Known& ParallelMachines::known_of(const vgpu::Program& program) {
  Known& known = known_[&program];
  if (known.tier == program.native) return known;
  known = {.tier = program.native, .may_run_apart = vgpu::blocks_may_run_apart(program)};
  if (known.may_run_apart) known.reductions = std::make_shared<const Reductions>(program);
  return known;
}

double ParallelMachines::steps_of(const vgpu::Launch& launch, const Known& known) {
  const double blocks = launch.grid.count();
  const auto warps = (launch.block.count() + vgpu::kWarpLanes - 1) / vgpu::kWarpLanes;
  const double of_block =
      known.steps_of_block != 0 ? known.steps_of_block : static_cast<double>(warps) * kStepsGuessed;
  return blocks * of_block;
}

// Querying the host takes as long as a small launch.
std::uint64_t ParallelMachines::memory_left() {
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_at_ > 1s) {
    memory_left_ = host_memory_available();
    asked_at_ = now;
  }
  return memory_left_;
}

void ParallelMachines::make_members(unsigned count) {
  if (memory_.ids_end() > ids_end_) {
    members_.clear();
    ids_end_ = 2 * memory_.ids_end() + kIdsAhead;
  }
  while (members_.size() < count) {
    members_.push_back(std::make_unique<Member>(memory_, ids_end_, saved_));
  }
}

bool ParallelMachines::is_plain(const vgpu::Launch& launch, const Settings& settings) {
  return !launch.cooperative && launch.cluster.count() == 1 && !launch.host_runs &&
         launch.launched_as == 0 && launch.weak_memory == nullptr &&
         launch.unordered_launches.empty() && settings.limits.steps_max == vgpu::kNoLimit &&
         settings.machines >= 2 && settings.whole->may_be_split();
}

bool ParallelMachines::is_for_all(const vgpu::Launch& launch, const Settings& settings) {
  const Known& known = known_of(*launch.program);
  return is_plain(launch, settings) && launch.grid.count() >= 2 && known.may_run_apart &&
         !known.is_given_up && steps_of(launch, known) >= settings.steps_min;
}

bool ParallelMachines::may_run_beside(const vgpu::Launch& launch, const Settings& settings) {
  const Known& known = known_of(*launch.program);
  return is_plain(launch, settings) && known.may_run_apart && !known.is_met;
}

std::optional<vgpu::Outcome> ParallelMachines::run(const vgpu::Launch& launch,
                                                   const Settings& settings) {
  if (!is_for_all(launch, settings)) return std::nullopt;
  Known& known = known_of(*launch.program);
  const unsigned machines = std::min(settings.machines, PageUsers::kMachinesMax);
  const auto count = static_cast<unsigned>(std::min<std::uint64_t>(machines, launch.grid.count()));
  make_members(count);
  saved_.begin(*settings.whole, memory_left() / 2);
  settings.whole->begin_parts();
  std::vector<vgpu::Outcome> outcomes(count);
  bool holds = run_members(launch, settings, *known.reductions, outcomes);
  std::vector<Footprint*> footprints;
  for (unsigned i = 0; i < count; ++i) footprints.push_back(&members_[i]->footprint());
  holds = holds && !Footprint::have_met(footprints);
  if (holds) {
    for (Footprint* const one : footprints) one->reduced().combine();
  } else {
    for (const Footprint* const one : footprints) one->put_back();
    known.is_given_up = true;
  }
  settings.whole->end_parts(holds ? vgpu::PartsEnd::kept : vgpu::PartsEnd::undone);
  for (Footprint* const one : footprints) one->clear();
  if (!holds) return std::nullopt;
  vgpu::Outcome outcome;
  for (const vgpu::Outcome& one : outcomes) {
    outcome.steps += one.steps;
    outcome.lane_steps += one.lane_steps;
  }
  learn(launch, outcome);
  return outcome;
}

void ParallelMachines::learn(const vgpu::Launch& launch, const vgpu::Outcome& outcome) {
  known_of(*launch.program).steps_of_block =
      static_cast<double>(outcome.steps) / static_cast<double>(launch.grid.count());
}

// Returns false if one machine must run the launch.
bool ParallelMachines::run_members(const vgpu::Launch& launch, const Settings& settings,
                                   const Reductions& reductions,
                                   std::vector<vgpu::Outcome>& outcomes) {
  const auto count = static_cast<unsigned>(outcomes.size());
  vgpu::SharedGrid grid(static_cast<std::uint32_t>(launch.grid.count()), count);
  const auto run_one = [&](unsigned number) {
    outcomes[number] = members_[number]->run(launch, settings, grid, number, reductions);
    const bool is_well =
        outcomes[number].end == vgpu::Outcome::End::completed && !members_[number]->has_findings();
    if (!is_well) grid.give_up();
  };
  if (run_threads(count, grid, settings.on_progress, run_one) == 0) return false;
  return !grid.is_given_up() && grid.ended() == launch.grid.count();
}

// Runs run_one(number) on `count` threads, or on as many as the system has, and returns their
// number.
//   on_progress: may be empty
unsigned ParallelMachines::run_threads(unsigned count, vgpu::SharedGrid& attempt,
                                       const std::function<void(std::uint32_t)>& on_progress,
                                       const std::function<void(unsigned)>& run_one) {
  // A machine whose block waits for another one ends the attempt itself (progress.hpp).
  const unsigned begun = threads_.begin(count, [&](unsigned number) {
    const InEngine in_engine;
    try {
      run_one(number);
    } catch (...) {  // no memory, or an error that one machine will report again
      attempt.give_up();
    }
  });
  while (!threads_.wait_for(kProgressEvery)) {
    if (on_progress) on_progress(attempt.ended());
  }
  return begun;
}

bool ParallelMachines::run_together(std::vector<ParallelTask>& tasks, const Settings& settings,
                                    Effect effect, const std::function<bool()>& holds) {
  const auto count = static_cast<unsigned>(std::min<std::size_t>(settings.machines, tasks.size()));
  make_members(count);
  saved_.begin(*settings.whole, memory_left() / 2);
  settings.whole->begin_parts();
  const bool keeps = run_tasks(tasks, settings, effect, count) && holds();
  const bool is_later = effect == Effect::later;
  for (unsigned i = 0; i < count; ++i) {
    if (!keeps || is_later) members_[i]->footprint().put_back();
  }
  using End = vgpu::PartsEnd;
  settings.whole->end_parts(!keeps ? End::undone : is_later ? End::postponed : End::kept);
  freed_.clear();
  watches_frees_ = is_later && keeps;
  for (unsigned i = 0; i < count; ++i) members_[i]->footprint().clear();
  for (const ParallelTask& task : tasks) {
    if (task.is_launch() && keeps) learn(task.launch, task.outcome);
  }
  return keeps;
}

// Returns whether it has completed without a finding.
bool ParallelMachines::run_task(ParallelTask& task, Member& member, const Settings& settings,
                                Effect effect, vgpu::SharedGrid& group) {
  if (!task.is_launch() && task.moves.empty()) return true;
  vgpu::SharedGrid attempt(group);
  task.is_bad = true;  // if it throws
  if (task.is_launch()) task.outcome = member.run_whole(task.launch, settings, attempt);
  if (!task.moves.empty()) member.move(task.moves, settings, attempt);
  task.words = member.footprint().take_words();
  if (effect == Effect::later) task.written.keep(task.words, *settings.whole);
  const std::size_t kept = task.words.bytes() + task.written.bytes();
  const bool is_known = saved_.count_bytes(static_cast<std::int64_t>(kept));
  using End = vgpu::Outcome::End;
  const bool is_stopped = task.outcome.end == End::given_up && !attempt.has_given_up();
  task.is_bad = !is_stopped && (task.outcome.end != End::completed || attempt.has_given_up() ||
                                member.has_findings());
  return is_known && !is_stopped && !task.is_bad;
}

// Returns whether all have completed without a finding.
bool ParallelMachines::run_tasks(std::vector<ParallelTask>& tasks, const Settings& settings,
                                 Effect effect, unsigned count) {
  vgpu::SharedGrid group(0, 1);
  TaskQueue queue(tasks, group);
  const auto run_one = [&](unsigned number) {
    Member& member = *members_[number];
    try {
      while (ParallelTask* const task = queue.take()) {
        if (!run_task(*task, member, settings, effect, group)) group.give_up();
        queue.end(*task);
      }
    } catch (...) {
      group.give_up();
      queue.wake();
      throw;
    }
  };
  const unsigned threads = run_threads(count, group, {}, run_one);
  return threads != 0 && !group.is_given_up() && queue.is_empty();
}

}  // namespace warpcheck::cudart
