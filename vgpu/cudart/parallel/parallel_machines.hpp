// Parallel machines: several machines that work on the same global memory, each on its own thread
// and with its own checkers.  They run one launch together, or several launches at the same time.
//
// A launch whose blocks do not communicate behaves as on one machine: no word is touched by two
// machines of which one writes it (footprint.hpp), and no checker has a finding.  Otherwise, memory
// is restored, and the caller runs the launch on one machine, as if there had been no attempt.
// Both ways give the same result: as long as no machine has read what another one wrote, each block
// does what it would have done alone.
//
// They leave the same state as one machine would: bytes, their shadows, and counters.  They do
// not record which threads have accessed what, so nothing later may be unordered with the launch
// (Execution says for which launches that holds).
//
// Launches of streams that nothing orders are a group (run_together).  Each runs whole, on one
// machine, when those that come before it have ended.  The group counts if none of them has a
// finding, and no two unordered ones have touched a word that one of them writes
// (touched_words.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/cudart/parallel/footprint.hpp"
#include "vgpu/cudart/parallel/parallel_threads.hpp"
#include "vgpu/cudart/parallel/saved_pages.hpp"
#include "vgpu/cudart/parallel/touched_words.hpp"
#include "vgpu/cudart/parallel/written_words.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {
class NativeTier;
}

namespace warpcheck::cudart {

// Bytes that a copy of a group moves.
struct ParallelMove {
  // A side in memory of the host that the device does not share has no allocation.
  struct Side {
    const vgpu::Allocation* allocation = nullptr;
    std::uint32_t offset = 0;
    bool on_device = false;  // the checkers follow these bytes
    std::byte* data = nullptr;
  };
  Side target, source;
  std::uint32_t bytes = 0;
};

// One operation of a group: a launch, a copy, or nothing.
struct ParallelTask {
  vgpu::Launch launch{};  // without a program: no launch
  std::vector<ParallelMove> moves{};
  std::vector<std::uint32_t> later{};  // the tasks that wait for it
  std::uint32_t waits_for = 0;         // number of tasks
  vgpu::Outcome outcome{};
  TouchedWords words{};
  WrittenWords written{};  // ParallelMachines::Effect::later
  [[nodiscard]] bool is_launch() const { return launch.program != nullptr; }
  bool is_bad = false;  // it has ended in a way that only one machine can report
};

class ParallelMachines final : public vgpu::Observer {
 public:
  explicit ParallelMachines(vgpu::DeviceMemory& memory);
  ~ParallelMachines() override;

  // Throughout a trial, `whole` receives all events outside the machines.
  struct Settings {
    unsigned machines = 1;
    // The number of warp instructions of a launch that take as long as starting and joining the
    // threads.
    double steps_min = 50'000;
    vgpu::CheckerSet checkers{};
    vgpu::WarpModel warp_model = vgpu::WarpModel::independent;
    vgpu::Limits limits{};
    vgpu::Checkers* whole = nullptr;
    // Called at intervals while the launch runs, with the number of ended blocks.
    std::function<void(std::uint32_t)> on_progress{};
  };
  // Returns nothing if one machine must run the launch; memory is then restored.
  std::optional<vgpu::Outcome> run(const vgpu::Launch& launch, const Settings& settings);
  // Called after one machine has run the launch.
  void learn(const vgpu::Launch& launch, const vgpu::Outcome& outcome);

  // Returns whether a launch may be part of a group.
  [[nodiscard]] bool may_run_beside(const vgpu::Launch& launch, const Settings& settings);
  // Returns the estimated number of warp instructions.
  [[nodiscard]] double steps_of(const vgpu::Launch& launch) {
    return steps_of(launch, known_of(*launch.program));
  }
  // Returns whether parallel machines would run the launch if nothing is unordered with it.
  [[nodiscard]] bool is_for_all(const vgpu::Launch& launch, const Settings& settings);
  enum class Effect : std::uint8_t {
    at_once,
    later,  // memory remains as it was, and ParallelTask::written is what a task will write
  };
  // Runs the tasks at the same time, as far as their order allows.  False: nothing has happened,
  // and one machine must run them in their order.
  //   holds: asked when all have run, whether they have met neither each other nor anything else
  bool run_together(std::vector<ParallelTask>& tasks, const Settings& settings, Effect effect,
                    const std::function<bool()>& holds);
  // A launch of the program was the reason why a group did not count: it will be in no other group.
  void never_beside(const vgpu::Program& program) { known_of(program).is_met = true; }
  // The effect of a launch of the program could not be used later.
  void never_later(const vgpu::Program& program) { known_of(program).is_needed_at_once = true; }
  [[nodiscard]] bool may_be_later(const vgpu::Program& program) {
    return !known_of(program).is_needed_at_once;
  }
  // Returns the ids of allocations that were freed after the latest group with Effect::later, until
  // forget_freed().
  [[nodiscard]] const std::set<std::uint32_t>& freed() const { return freed_; }
  void forget_freed() {
    watches_frees_ = false;
    freed_.clear();
  }

  // Called between launches: machines free what they hold for an allocation.
  [[nodiscard]] vgpu::Watched watches() const override {
    return {.accesses = false, .blocks = false};
  }
  void on_free(const vgpu::Allocation& allocation) override;

 private:
  class Member;
  // What is known about a program that was launched.
  struct Known {
    // identifies the program; no other program has it
    std::shared_ptr<const vgpu::NativeTier> tier;
    bool may_run_apart = false;
    std::shared_ptr<const Reductions> reductions{};  // set if it may run in parallel
    bool is_given_up = false;
    bool is_met = false;  // in a group
    bool is_needed_at_once = false;
    double steps_of_block = 0;  // in warp instructions; 0: not known
  };

  Known& known_of(const vgpu::Program& program);
  [[nodiscard]] static bool is_plain(const vgpu::Launch& launch, const Settings& settings);
  [[nodiscard]] static double steps_of(const vgpu::Launch& launch, const Known& known);
  std::uint64_t memory_left();
  void make_members(unsigned count);
  bool run_members(const vgpu::Launch& launch, const Settings& settings,
                   const Reductions& reductions, std::vector<vgpu::Outcome>& outcomes);
  bool run_task(ParallelTask& task, Member& member, const Settings& settings, Effect effect,
                vgpu::SharedGrid& group);
  bool run_tasks(std::vector<ParallelTask>& tasks, const Settings& settings, Effect effect,
                 unsigned count);
  unsigned run_threads(unsigned count, vgpu::SharedGrid& attempt,
                       const std::function<void(std::uint32_t)>& on_progress,
                       const std::function<void(unsigned)>& run_one);

  vgpu::DeviceMemory& memory_;
  SavedPages saved_;
  std::vector<std::unique_ptr<Member>> members_;
  ParallelThreads threads_;
  std::uint32_t ids_end_ = 0;  // the first id of the members' own allocations
  std::map<const vgpu::Program*, Known> known_;
  std::set<std::uint32_t> freed_;
  bool watches_frees_ = false;
  // the last time the host's free memory was queried
  std::chrono::steady_clock::time_point asked_at_{};
  std::uint64_t memory_left_ = 0;  // the result of that query
};

}  // namespace warpcheck::cudart
