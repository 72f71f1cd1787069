// A kernel that runs, so that it can be left while it waits for what is beside it: the host, other
// streams (vgpu/machine/progress/beside.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "vgpu/cudart/beside/fiber.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/machine/progress/beside.hpp"

namespace warpcheck::cudart {

class KernelCall final : public vgpu::Beside {
 public:
  // must_leave: whether somebody has something to do as long as the kernel goes on
  using MustLeave = std::function<bool(const KernelCall&)>;
  explicit KernelCall(MustLeave must_leave) : must_leave_(std::move(must_leave)) {}

  // What the next go_on() begins with.
  void begin(OperationPtr operation, std::function<void()> run);
  [[nodiscard]] const OperationPtr& operation() const { return operation_; }
  // Runs it until it ends or is left.  True: it has ended; throws what it has thrown.
  bool go_on();
  // Nobody will change what it waits for: it is told as a deadlock when it goes on.
  void give_up() { is_given_up_ = true; }
  [[nodiscard]] bool is_given_up() const { return is_given_up_; }
  // Whether the call of the host that lets it go on waits for it.
  void set_waited_for(bool is) { is_waited_for_ = is; }
  [[nodiscard]] bool is_waited_for() const { return is_waited_for_; }

  // Left while it could go on.
  [[nodiscard]] bool can_go_on() const { return !waits_; }
  // What it waits for has changed, or may have.
  [[nodiscard]] bool has_changed() const;
  // The host, or another process, may change that without a call.
  [[nodiscard]] bool waits_for_host() const { return waits_ && of_host_; }

  bool wait_for_change(const std::vector<vgpu::PolledBytes>& polled, bool of_host) override;
  void let_others_run() override;

 private:
  MustLeave must_leave_;
  Fiber fiber_;
  OperationPtr operation_;
  bool waits_ = false, of_host_ = false, is_given_up_ = false, is_waited_for_ = false;
  std::vector<vgpu::PolledBytes> polled_;
};

}  // namespace warpcheck::cudart
