// An engine whose trials have one more observer, after the checkers.
//
// Without an observer there is no cost: a command without coverage or pictures passes the plain
// engine to its TrialRunner.
#pragma once

#include "harness/trial/engine.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck {

class WatchedEngine final : public Engine {
 public:
  // edges: whether the observer needs on_edge() at every control transfer.
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
