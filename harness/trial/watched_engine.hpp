// An engine whose trials have one more observer, after the checkers.
//
// Without an observer there is no cost: a command without coverage or pictures passes the plain
// engine to its TrialRunner.
#pragma once

#include <functional>
#include <utility>

#include "harness/trial/engine.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck {

class WatchedEngine final : public Engine {
 public:
  // edges: whether the observer needs on_edge() at every control transfer.
  WatchedEngine(Engine& engine, vgpu::Observer& observer, bool edges)
      : engine_(engine), observer_(observer), edges_(edges) {}

  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    // A run that has an observer of its own judges an output, and is no trial.
    if (settings.extra_observer != nullptr) return engine_.run(settings, body);
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

// Only the first trial has the observer: a TrialRunner may run others to judge it.
class FirstTrialWatched final : public Engine {
 public:
  // on_finding: is called with each finding of that trial when it is made; empty: is not called
  FirstTrialWatched(Engine& engine, vgpu::Observer& observer,
                    std::function<void(const vgpu::Finding&)> on_finding = {})
      : engine_(engine), watched_(engine, observer, false), on_finding_(std::move(on_finding)) {}

  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    if (std::exchange(has_run_, true)) return engine_.run(settings, body);
    TrialSettings first = settings;
    first.on_finding = on_finding_;
    return watched_.run(first, body);
  }

 private:
  Engine& engine_;
  WatchedEngine watched_;
  std::function<void(const vgpu::Finding&)> on_finding_;
  bool has_run_ = false;
};

}  // namespace warpcheck
