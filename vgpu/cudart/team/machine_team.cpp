#include "vgpu/cudart/team/machine_team.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>

#include "vgpu/cudart/host/host_watch.hpp"
#include "vgpu/cudart/host/signal_mask.hpp"
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
// If no block has ended for this time, a block may wait for another one, which a single machine
// would detect.
constexpr auto kPatience = 10s;

// The program's own threads handle its signals.  A thread that blocked the signals of faults would
// be killed by them.
sigset_t all_but_faults() {
  sigset_t most;
  ::sigfillset(&most);
  for (const int fault : {SIGSEGV, SIGBUS, SIGTRAP, SIGFPE, SIGILL}) ::sigdelset(&most, fault);
  return most;
}

}  // namespace

// A machine with everything that belongs to it alone.
class MachineTeam::Member {
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
    footprint_.begin(grid, reductions);
    std::vector<vgpu::Observer*> observers{&footprint_};
    const auto checkers = checkers_.observers();
    observers.insert(observers.end(), checkers.begin(), checkers.end());
    launch.share = &share;
    return machine_.run(launch, settings.warp_model, policy_, observers, settings.limits);
  }
  [[nodiscard]] bool has_findings() const { return !checkers_.findings().empty(); }
  void forget(const vgpu::Allocation& allocation) {
    footprint_.forget(allocation);
    for (vgpu::Observer* const checker : checkers_.observers()) checker->on_free(allocation);
  }

 private:
  vgpu::DeviceMemory memory_;
  vgpu::Machine machine_;
  vgpu::Checkers checkers_;
  Footprint footprint_;
  vgpu::DefaultPolicy policy_;
};

MachineTeam::MachineTeam(vgpu::DeviceMemory& memory) : memory_(memory) {}
MachineTeam::~MachineTeam() = default;

void MachineTeam::on_free(const vgpu::Allocation& allocation) {
  if (allocation.on_heap()) return;  // launches that free heap memory never run on a team
  for (const std::unique_ptr<Member>& member : members_) member->forget(allocation);
}

MachineTeam::Known& MachineTeam::known_of(const vgpu::Program& program) {
  Known& known = known_[&program];
  if (known.tier == program.native) return known;
  known = {.tier = program.native, .may_run_apart = vgpu::blocks_may_run_apart(program)};
  if (known.may_run_apart) known.reductions = std::make_shared<const Reductions>(program);
  return known;
}

double MachineTeam::steps_of(const vgpu::Launch& launch, const Known& known) {
  const double blocks = launch.grid.count();
  const auto warps = (launch.block.count() + vgpu::kWarpLanes - 1) / vgpu::kWarpLanes;
  const double of_block =
      known.steps_of_block != 0 ? known.steps_of_block : static_cast<double>(warps) * kStepsGuessed;
  return blocks * of_block;
}

// Querying the host takes as long as a small launch.
std::uint64_t MachineTeam::memory_left() {
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_at_ > 1s) {
    memory_left_ = host_memory_available();
    asked_at_ = now;
  }
  return memory_left_;
}

void MachineTeam::make_members(unsigned count) {
  if (memory_.ids_end() > ids_end_) {
    members_.clear();
    ids_end_ = 2 * memory_.ids_end() + kIdsAhead;
  }
  while (members_.size() < count) {
    members_.push_back(std::make_unique<Member>(memory_, ids_end_, saved_));
  }
}

std::optional<vgpu::Outcome> MachineTeam::run(const vgpu::Launch& launch,
                                              const Settings& settings) {
  const vgpu::Program& program = *launch.program;
  const bool is_plain = !launch.cooperative && launch.cluster.count() == 1 && !launch.host_runs &&
                        launch.launched_as == 0 && launch.weak_memory == nullptr &&
                        launch.unordered_launches.empty() &&
                        settings.limits.steps_max == vgpu::kNoLimit;
  if (!is_plain || settings.machines < 2 || launch.grid.count() < 2) return std::nullopt;
  Known& known = known_of(program);
  if (!known.may_run_apart || known.is_given_up) return std::nullopt;
  if (steps_of(launch, known) < settings.steps_min) return std::nullopt;
  const auto count =
      static_cast<unsigned>(std::min<std::uint64_t>(settings.machines, launch.grid.count()));
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
  settings.whole->end_parts(holds);
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

void MachineTeam::learn(const vgpu::Launch& launch, const vgpu::Outcome& outcome) {
  known_of(*launch.program).steps_of_block =
      static_cast<double>(outcome.steps) / static_cast<double>(launch.grid.count());
}

// Returns false if one machine must run the launch.
bool MachineTeam::run_members(const vgpu::Launch& launch, const Settings& settings,
                              const Reductions& reductions, std::vector<vgpu::Outcome>& outcomes) {
  const auto count = static_cast<unsigned>(outcomes.size());
  vgpu::SharedGrid grid(static_cast<std::uint32_t>(launch.grid.count()), count);
  std::mutex mutex;
  std::condition_variable has_ended;
  unsigned running = 0;
  const auto run_one = [&](unsigned number) {
    const InEngine in_engine;
    try {
      outcomes[number] = members_[number]->run(launch, settings, grid, number, reductions);
      const bool is_well = outcomes[number].end == vgpu::Outcome::End::completed &&
                           !members_[number]->has_findings();
      if (!is_well) grid.give_up();
    } catch (...) {  // no memory, or an error that one machine will report again
      grid.give_up();
    }
    const std::lock_guard lock(mutex);
    --running;
    has_ended.notify_one();
  };
  std::vector<std::thread> threads;
  {
    const SignalMask blocked(SIG_BLOCK, all_but_faults());
    for (unsigned i = 0; i < count; ++i) {
      const std::lock_guard lock(mutex);
      try {
        threads.emplace_back(run_one, i);
        ++running;
      } catch (const std::system_error&) {  // continue with the threads that exist
        break;
      }
    }
  }
  if (threads.empty()) return false;
  auto ended = grid.ended();
  auto ended_at = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  while (!has_ended.wait_for(lock, kProgressEvery, [&] { return running == 0; })) {
    const auto now = std::chrono::steady_clock::now();
    if (grid.ended() != ended) ended_at = now;
    ended = grid.ended();
    if (now - ended_at > kPatience) grid.give_up();
    if (settings.on_progress) settings.on_progress(ended);
  }
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  return !grid.is_given_up() && grid.ended() == launch.grid.count();
}

}  // namespace warpcheck::cudart
