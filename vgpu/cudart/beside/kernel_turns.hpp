// Launches that are in progress at once: one runs, and those that wait have been left in the middle
// (kernel_call.hpp).  Each has a machine of its own; what knows of one running launch is told when
// another goes on.
//
// Which launch comes before which other, the race checkers know by the order of their begins, and
// they follow one at a time: a launch that begins while another is left is not told to them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/progress/beside.hpp"

namespace warpcheck::cudart {

class HostBlocks;
struct HostState;

class KernelTurns {
 public:
  explicit KernelTurns(vgpu::DeviceMemory& memory) : memory_(memory) {}

  // Of one launch, from its begin to its end.
  class Turn final : public vgpu::Beside {
   public:
    // Nothing is owned.
    struct Needs {
      HostBlocks& host_blocks;
      const HostState& host;
    };
    //   goes_on: called when it goes on after another launch has run
    Turn(KernelTurns& turns, const Needs& needs, std::function<void()> goes_on);
    ~Turn() override;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    [[nodiscard]] vgpu::Machine& machine() const { return *machine_; }
    // Whether it has begun while another launch was left.
    [[nodiscard]] bool is_beside_others() const { return is_beside_others_; }

    bool wait_for_change(const std::vector<vgpu::PolledBytes>& polled, bool of_host) override;
    void let_others_run() override;

   private:
    void take() const;
    void leave_to_host() const;

    KernelTurns& turns_;
    Needs needs_;
    vgpu::Beside* beside_;
    std::function<void()> goes_on_;
    bool is_beside_others_;
    std::unique_ptr<vgpu::Machine> machine_;
  };

  // Those that see a launch beside others; the rest is told that there is one.
  static std::vector<vgpu::Observer*> of_launch_beside(std::span<vgpu::Observer* const> all,
                                                       const vgpu::Sync& kernel_start);
  // Findings are told with places in the grid of the launch that goes on.
  static void tell_reporter(std::span<vgpu::Observer* const> all, const vgpu::Sync& kernel_start);

 private:
  vgpu::DeviceMemory& memory_;
  std::vector<std::unique_ptr<vgpu::Machine>> idle_;
  std::size_t in_progress_ = 0;
  const Turn* last_ = nullptr;  // that has run
};

}  // namespace warpcheck::cudart
