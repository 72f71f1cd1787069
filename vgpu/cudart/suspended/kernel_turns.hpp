// Launches that are in progress at the same time: one runs, and the others are suspended in the
// middle (suspendable_kernel.hpp).  Each has its own machine.  Components that follow one running
// launch are informed when another one is resumed.
//
// The race checkers know the order of launches by the order in which they begin, and they follow
// one launch at a time: a launch that begins while another is suspended is not reported to them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/progress/concurrent_work.hpp"

namespace warpcheck::cudart {

class HostBlocks;
struct HostState;

class KernelTurns {
 public:
  explicit KernelTurns(vgpu::DeviceMemory& memory) : memory_(memory) {}

  // The turn of one launch, from its begin to its end.
  class Turn final : public vgpu::ConcurrentWork {
   public:
    // Nothing is owned.
    struct Needs {
      HostBlocks& host_blocks;
      const HostState& host;
    };
    //   on_resume: called when it is resumed after another launch has run
    Turn(KernelTurns& turns, const Needs& needs, std::function<void()> on_resume);
    ~Turn() override;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    [[nodiscard]] vgpu::Machine& machine() const { return *machine_; }
    // Returns whether it has begun while another launch was suspended.
    [[nodiscard]] bool is_concurrent() const { return is_concurrent_; }

    bool wait_for_change(const std::vector<vgpu::PolledBytes>& polled, bool of_host) override;
    void let_others_run() override;

   private:
    void read_host() const;
    void show_host() const;

    KernelTurns& turns_;
    Needs needs_;
    vgpu::ConcurrentWork* concurrent_work_;
    std::function<void()> on_resume_;
    bool is_concurrent_;
    std::unique_ptr<vgpu::Machine> machine_;
  };

  // Returns the observers that receive a launch which is concurrent with others; the other
  // observers are told that such a launch exists.
  static std::vector<vgpu::Observer*> of_concurrent_launch(std::span<vgpu::Observer* const> all,
                                                           const vgpu::Sync& kernel_start);
  // Makes findings show places in the grid of the launch that is resumed.
  static void tell_reporter(std::span<vgpu::Observer* const> all, const vgpu::Sync& kernel_start);

 private:
  vgpu::DeviceMemory& memory_;
  std::vector<std::unique_ptr<vgpu::Machine>> idle_;
  std::size_t in_progress_ = 0;
  const Turn* last_ = nullptr;  // the latest one that ran
};

}  // namespace warpcheck::cudart
