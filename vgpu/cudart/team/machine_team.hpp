// Several machines that run one launch together, each on a thread of its own, with checkers of its
// own, over the same global memory.
//
// A launch whose blocks do not communicate is as if one machine had run it: no word is touched by
// two machines, one of which writes (footprint.hpp), and no checker has anything to say.  Wherever
// that is not so, memory is put back, and the caller runs the launch on one machine, as if nobody
// had tried.  Both give the same, so that nobody sees which of the two it was: as long as no
// machine has found what another one wrote, each block does what it would have done by itself.
//
// What the team leaves behind is what one machine would have left: bytes, what is known of them,
// and counts.  It does not leave which threads have accessed what, so nothing may come later that
// is unordered with the launch (Execution says which launches those are).
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

  // Throughout a trial, `whole` sees all that is done outside of the team.
  struct Settings {
    unsigned machines = 1;
    // Warp instructions of a launch that take as long as threads take to begin and to end.
    double steps_min = 50'000;
    vgpu::CheckerSet checkers{};
    vgpu::WarpModel warp_model = vgpu::WarpModel::independent;
    vgpu::Limits limits{};
    vgpu::Checkers* whole = nullptr;
    // Called now and then while the launch runs, with how many blocks have ended.
    std::function<void(std::uint32_t)> on_progress{};
  };
  // Nothing: the launch has to be run by one machine, and memory is as it was.
  std::optional<vgpu::Outcome> run(const vgpu::Launch& launch, const Settings& settings);
  // One machine has run it.
  void learn(const vgpu::Launch& launch, const vgpu::Outcome& outcome);

  // Between launches: machines give back what they hold for an allocation.
  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  void on_free(const vgpu::Allocation& allocation) override;

 private:
  class Member;
  // What is known of a program that was launched.
  struct Known {
    std::shared_ptr<const vgpu::NativeTier> tier;  // which no other program has
    bool may_run_apart = false;
    std::shared_ptr<const Reductions> reductions{};  // where it may
    bool is_given_up = false;
    double steps_of_block = 0;  // warp instructions; 0: not known
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
  std::uint32_t ids_end_ = 0;  // from which on the members' own allocations are numbered
  std::map<const vgpu::Program*, Known> known_;
  std::chrono::steady_clock::time_point asked_at_{};  // the host
  std::uint64_t memory_left_ = 0;                     // what it said
};

}  // namespace warpcheck::cudart
