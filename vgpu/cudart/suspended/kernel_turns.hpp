// Launches that are in progress at the same time: one runs, and the others are suspended in the
// middle (suspendable_kernel.hpp).  Each has its own machine.  Components that follow the running
// launch are informed when another one begins or is resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/progress/concurrent_work.hpp"

namespace warpcheck::cudart {

class HostBlocks;
class Transfers;
struct HostState;

class KernelTurns {
 public:
  explicit KernelTurns(vgpu::DeviceMemory& memory) : memory_(memory) {}

  // The turn of one launch, from its begin to its end.
  class Turn final : public vgpu::ConcurrentWork {
   public:
    // Nothing is owned.
    struct Dependencies {
      HostBlocks& host_blocks;
      const HostState& host;
    };
    using OnResume = std::function<void(bool others_have_run)>;
    //   launch: its number in the trial
    //   on_resume: called when it is resumed
    Turn(KernelTurns& turns, const Dependencies& dependencies, std::uint32_t launch,
         const Operation& operation, OnResume on_resume);
    ~Turn() override;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    [[nodiscard]] vgpu::Machine& machine() const { return *machine_; }
    // Returns whether it has begun while another launch was suspended.
    [[nodiscard]] bool is_concurrent() const { return is_concurrent_; }
    [[nodiscard]] std::uint32_t launch() const { return launch_; }
    [[nodiscard]] const Operation& operation() const { return operation_; }
    // A signal has reached the launch: these operations come before what it does from now on.
    void learn(const OperationSet& operations) {
      known_.join(operations);
      has_learned_ = true;
    }
    // Returns the launches that come before what it does from now on, as far as signals have told
    // it of them since the last call.
    [[nodiscard]] std::vector<std::uint32_t> take_news(const Transfers& transfers);

    bool wait_for_change(const std::vector<vgpu::PolledBytes>& polled, bool of_host) override;
    void let_others_run() override;

   private:
    void read_host() const;
    void show_host() const;

    KernelTurns& turns_;
    Dependencies dependencies_;
    vgpu::ConcurrentWork* concurrent_work_;
    std::uint32_t launch_;
    const Operation& operation_;
    OperationSet known_;     // by signals, and what comes before the launch
    OperationSet reported_;  // the part of it that take_news() has returned
    bool has_learned_ = false;
    // Launches that take_news() has returned, although they were in progress.
    std::set<std::uint32_t> reported_in_part_;
    OnResume on_resume_;
    bool is_concurrent_;
    std::unique_ptr<vgpu::Machine> machine_;
  };

  // Returns the launches that are in progress, by their numbers; ascending.
  [[nodiscard]] const std::vector<Turn*>& in_progress() const { return in_progress_; }
  // Returns the launch of an operation that is in progress; null: there is none.
  [[nodiscard]] Turn* find(const Operation& operation) const;
  // Makes findings show places in the grid of the launch that is resumed.
  static void notify_reporter(std::span<vgpu::Observer* const> all, const vgpu::Sync& kernel_start);

 private:
  vgpu::DeviceMemory& memory_;
  std::vector<std::unique_ptr<vgpu::Machine>> idle_;
  std::vector<Turn*> in_progress_;
  const Turn* last_ = nullptr;  // the latest one that ran
};

}  // namespace warpcheck::cudart
