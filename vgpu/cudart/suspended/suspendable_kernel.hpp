// A kernel that can be suspended while it waits for the host or for other streams
// (vgpu/machine/progress/concurrent_work.hpp).
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/suspended/fiber.hpp"
#include "vgpu/machine/progress/concurrent_work.hpp"

namespace warpcheck::cudart {

class SuspendableKernel final : public vgpu::ConcurrentWork {
 public:
  // must_suspend: returns whether other work has to run although the kernel could continue
  using MustSuspend = std::function<bool(const SuspendableKernel&)>;
  explicit SuspendableKernel(MustSuspend must_suspend) : must_suspend_(std::move(must_suspend)) {}

  // Sets what the next resume() starts.
  void begin(OperationPtr operation, std::function<void()> run);
  [[nodiscard]] const OperationPtr& operation() const { return operation_; }
  // Runs it until it ends or is suspended.  True: it has ended; its exceptions are rethrown.
  bool resume();
  // No other work will change the memory that the kernel polls: a deadlock is reported when it is
  // resumed.
  void give_up() { is_given_up_ = true; }
  [[nodiscard]] bool is_given_up() const { return is_given_up_; }
  // Whether the host call that resumes the kernel waits for its end.
  void set_waited_for(bool is) { is_waited_for_ = is; }
  [[nodiscard]] bool is_waited_for() const { return is_waited_for_; }

  // Returns whether it is suspended and waits for nothing.
  [[nodiscard]] bool can_resume() const { return !waits_; }
  // Returns whether what it waits for has changed, or may have changed.
  [[nodiscard]] bool has_changed() const;
  // Returns whether the host, or another process, may change that without a call.
  [[nodiscard]] bool waits_for_host() const { return waits_ && of_host_; }

  bool wait_for_change(const std::vector<vgpu::PolledBytes>& polled, bool of_host) override;
  void let_others_run() override;

 private:
  MustSuspend must_suspend_;
  Fiber fiber_;
  OperationPtr operation_;
  bool waits_ = false, of_host_ = false, is_given_up_ = false, is_waited_for_ = false;
  std::vector<vgpu::PolledBytes> polled_;
};

}  // namespace warpcheck::cudart
