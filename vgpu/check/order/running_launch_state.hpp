// What a checker keeps of the running launch, as long as others may be suspended in the middle: a
// State with clear().
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "vgpu/machine/events.hpp"

namespace warpcheck::vgpu {

template <typename State>
class RunningLaunchState {
 public:
  // Begins a trial.  The state keeps its host memory.
  void reset() {
    if (!suspended_.empty()) suspended_.clear();
    present_.clear();
    is_running_ = false;
    current_ = launches_ = 0;
  }
  // Follows launches.  Returns whether one begins: the state is that of the launch before if that
  // has ended, or empty.
  [[nodiscard]] bool begins_at(const Sync& sync) {
    if (sync.kind == Sync::Kind::kernel_end) is_running_ = false;
    if (sync.kind != Sync::Kind::kernel_start) return false;
    leave();
    current_ = launches_++;
    is_running_ = true;
    return true;
  }
  // The launch of that number in the trial goes on.
  void resume(std::uint32_t launch) {
    if (launch == current_) return;
    leave();
    current_ = launch;
    is_running_ = true;
    if (auto found = suspended_.extract(launch)) present_ = std::move(found.mapped());
  }

  [[nodiscard]] std::uint32_t current() const { return current_; }
  State& operator*() { return present_; }
  State* operator->() { return &present_; }
  const State* operator->() const { return &present_; }
  // Calls visit(state) for each launch in progress.
  template <typename Visit>
  void for_each(Visit visit) {
    visit(present_);
    for (auto& [launch, state] : suspended_) visit(state);
  }

 private:
  void leave() {
    if (is_running_) suspended_.insert_or_assign(current_, std::exchange(present_, {}));
  }

  State present_;
  bool is_running_ = false;
  std::uint32_t current_ = 0, launches_ = 0;
  std::map<std::uint32_t, State> suspended_;  // by number
};

}  // namespace warpcheck::vgpu
