// Runs a case's kernel for what an observer sees of it: without checkers, in the default order or
// in that of a strategy.
#pragma once

#include <string>

#include "harness/case/case.hpp"
#include "harness/trial/engine.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck {

struct WatchedRun {
  AnyOutput output;   // null if the host code has failed
  std::string error;  // that ended the host code; empty: none
};

//   enough: becomes true when nothing more need be executed; null: never
//   strategy: null: the default order
WatchedRun run_watched(const Case& a_case, Engine& engine, vgpu::Observer& observer,
                       const bool* enough = nullptr, vgpu::Strategy* strategy = nullptr);

// Runs the kernel that is the reference of a case's pair, under the default schedule and with all
// checkers; what these find is an error of the run.
WatchedRun run_reference_kernel(const Case& a_case, Engine& engine);

}  // namespace warpcheck
