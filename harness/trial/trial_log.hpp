// The steps of a trial, and the steps that are the sides of its findings.
//
// TrialLog observes a trial that runs again to explain its findings (interleaving.hpp), so a search
// does not pay for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck {

struct LogStep {
  enum class Kind : std::uint8_t { access, fault, event, barrier, decision };
  Kind kind = Kind::access;
  vgpu::AccessKind access = vgpu::AccessKind::read;  // access, fault
  std::uint32_t launch = 0;
  vgpu::WarpId warp;                       // barrier: only its block
  std::uint32_t lanes = 0;                 // that take part; decision: that are held back
  const vgpu::Program* program = nullptr;  // null: barrier, decision
  std::uint32_t pc = 0;
  std::uint32_t decision = 0;  // index into TrialLog::decisions()
};

// The place of a side of a finding in the log.
struct LogPoint {
  std::size_t step = 0;
  unsigned lane = 0;
  friend bool operator==(const LogPoint&, const LogPoint&) = default;
};

class TrialLog final : public vgpu::Observer {
 public:
  // findings: those whose sides are searched for; they must outlive the log.
  TrialLog(const std::vector<vgpu::Finding>& findings, std::size_t steps_max);
  ~TrialLog() override;

  [[nodiscard]] const std::vector<LogStep>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<vgpu::Decision>& decisions() const { return decisions_; }
  // A block's last warp may have fewer than 32 lanes.
  [[nodiscard]] std::uint32_t lanes_of(std::uint32_t launch, std::uint32_t warp) const;
  // For each side of finding number `finding`; empty for sides on the host, or if it did not occur.
  [[nodiscard]] std::vector<std::optional<LogPoint>> sides_of(std::size_t finding) const;

  void add_decision(const vgpu::Decision& decision);

  void on_sync(const vgpu::Sync& sync) override;
  void on_access(const vgpu::Access& access) override;
  void on_fault(const vgpu::Fault& fault) override;
  void on_undefined_use(const vgpu::UndefinedUse& use) override;
  void on_barrier_divergence(const vgpu::BarrierDivergence& divergence) override;
  void on_deadlock(const vgpu::Deadlock& deadlock) override;
  void on_step_limit(const vgpu::StepLimit& limit) override;
  void on_trap(const vgpu::Trap& trap) override;
  void on_heap_free(const vgpu::HeapFree& free) override;
  void on_allocate(const vgpu::Allocation& allocation) override;

 private:
  struct Target;  // a finding whose sides are searched for

  // Adds a step (or the lane of a fault to that of the same instruction) unless the log is full.
  std::optional<std::size_t> add(LogStep step);
  void add_event(const vgpu::Program& program, const vgpu::WarpPlace& place, std::uint32_t pc,
                 std::uint32_t lanes);

  std::size_t steps_max_;
  std::vector<LogStep> steps_;
  std::vector<vgpu::Decision> decisions_;
  std::vector<std::uint32_t> threads_of_launch_;  // of a block
  Dim3 grid_, block_;                             // of the running launch
  std::vector<Target> targets_;
};

}  // namespace warpcheck
