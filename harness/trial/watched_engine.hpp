// An engine whose trials are watched by one more observer, after the checkers.
//
// What nobody watches costs nothing: a command that is not asked for coverage or pictures hands
// the plain engine to its TrialRunner.
#pragma once

#include "harness/trial/engine.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck {

class WatchedEngine final : public Engine {
 public:
  // edges: whether the observer wants on_edge() at every control transfer.
  WatchedEngine(Engine& engine, vgpu::Observer& observer, bool edges)
      : engine_(engine), observer_(observer), edges_(edges) {}

  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    TrialSettings watched = settings;
    watched.extra_observer = &observer_;
    watched.want_feedback = edges_;
    return engine_.run(watched, body);
  }

 private:
  Engine& engine_;
  vgpu::Observer& observer_;
  bool edges_;
};

}  // namespace warpcheck
