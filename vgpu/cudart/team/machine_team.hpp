// A team: several machines that run one launch together on the same global memory, each on its own
// thread and with its own checkers.
//
// A launch whose blocks do not communicate behaves as on one machine: no word is touched by two
// machines of which one writes it (footprint.hpp), and no checker has a finding.  Otherwise, memory
// is restored, and the caller runs the launch on one machine, as if there had been no attempt.
// Both ways give the same result: as long as no machine has read what another one wrote, each block
// does what it would have done alone.
//
// The team leaves the same state as one machine would: bytes, their shadows, and counters.  It does
// not record which threads have accessed what, so nothing later may be unordered with the launch
// (Execution says for which launches that holds).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/cudart/team/footprint.hpp"
#include "vgpu/cudart/team/saved_pages.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::cudart {

class MachineTeam final : public vgpu::Observer {
 public:
  explicit MachineTeam(vgpu::DeviceMemory& memory);
  ~MachineTeam() override;

  // Throughout a trial, `whole` receives all events outside the team.
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

  // Called between launches: machines free what they hold for an allocation.
  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  void on_free(const vgpu::Allocation& allocation) override;

 private:
  class Member;
  // What is known about a program that was launched.
  struct Known {
    // identifies the program; no other program has it
    std::shared_ptr<const vgpu::NativeTier> tier;
    bool may_run_apart = false;
    std::shared_ptr<const Reductions> reductions{};  // set if it may run on a team
    bool is_given_up = false;
    double steps_of_block = 0;  // in warp instructions; 0: not known
  };

  Known& known_of(const vgpu::Program& program);
  [[nodiscard]] static double steps_of(const vgpu::Launch& launch, const Known& known);
  std::uint64_t memory_left();
  void make_members(unsigned count);
  bool run_members(const vgpu::Launch& launch, const Settings& settings,
                   const Reductions& reductions, std::vector<vgpu::Outcome>& outcomes);

  vgpu::DeviceMemory& memory_;
  SavedPages saved_;
  std::vector<std::unique_ptr<Member>> members_;
  std::uint32_t ids_end_ = 0;  // the first id of the members' own allocations
  std::map<const vgpu::Program*, Known> known_;
  // the last time the host's free memory was queried
  std::chrono::steady_clock::time_point asked_at_{};
  std::uint64_t memory_left_ = 0;  // the result of that query
};

}  // namespace warpcheck::cudart
