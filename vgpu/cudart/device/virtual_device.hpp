// The virtual device's interface for the harness: trials.
//
// A trial is everything between begin_trial() and end_trial(): ordinary CUDA host code runs, this
// library answers its runtime calls, and its launches run on the virtual GPU.  A trial starts with
// a fresh device (no allocations, no streams, no error; module variables have their initial bytes
// at the same addresses every time), so the same calls give the same result bytes on any machine.
//
// virtual_gpu.hpp describes the device.  Operations of streams run when the host waits for them, in
// an order that CUDA allows.  Operations that the host never waits for run when the trial ends,
// except those that access host memory.  One thing differs from hardware: a launch continues after
// a bad access (which is a finding), so only a trap or the step limit ends it with a fatal error
// that later calls return, as in CUDA.
//
// Memory that is still allocated when a trial ends is a finding, unless a launch has failed fatally
// in it.
//
// Calls also work outside a trial, with all checkers on and the default schedule; the findings are
// printed to stderr when the process exits.  Memory that is left then is released by the operating
// system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/check/checker_set.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/cudart/device/build.hpp"
#include "vgpu/cudart/device/suppositions.hpp"
#include "vgpu/machine/limits.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {
class Observer;
}
namespace warpcheck::ptx {
struct ProgramEdit;
}

namespace warpcheck::cudart {

struct TrialSettings {
  Build build = Build::optimized;
  vgpu::WarpModel warp_model = vgpu::WarpModel::independent;
  vgpu::CheckerSet checkers{};
  vgpu::Limits limits{};
  unsigned devices = 1;                             // number of devices, up to kDevicesMax
  std::uint64_t memory_bytes = vgpu::kMemoryBytes;  // of each device
  // Limits the device's memory to what the host can currently provide for it and for the checkers,
  // so that a program that uses all of it is not killed.
  bool bounded_by_host = false;
  // The content of fresh managed and page-locked memory.  The pattern exposes programs that rely on
  // zeros, which CUDA does not guarantee; outside trials the memory is zero, as programs mostly
  // find it.
  vgpu::Fresh fresh_mapped = vgpu::Fresh::pattern;
  vgpu::Strategy* strategy = nullptr;  // not owned; null: the default policy
  // Changes of the device code, for an experiment (ptx/edit/program_edit.hpp); null: none.
  std::shared_ptr<const std::vector<ptx::ProgramEdit>> edits{};
  Suppositions supposed{};  // of the host code, for an experiment
  unsigned jobs = 1;        // threads for a launch, under the default policy
  // Runs only those blocks of huge launches at which indices may be wrong (sparse_blocks.hpp).
  bool sparse = false;
  // Not 0: samples all launches so, and runs further blocks while the launches have executed fewer
  // warp instructions.
  std::uint64_t steps_budget = 0;
  bool want_feedback = false;                // call extra_observer's on_edge
  vgpu::Observer* extra_observer = nullptr;  // not owned; called after the checkers
  // In a trial: is called with each finding when it is made.  Empty: it is not called.
  std::function<void(const vgpu::Finding&)> on_finding{};
};

struct TrialResult {
  std::vector<vgpu::Finding> findings;
  vgpu::Schedule schedule;              // the decisions that differed from the default
  std::uint64_t launches = 0;           // kernels that ran
  std::uint64_t steps = 0;              // warp instructions
  std::uint64_t lane_steps = 0;         // thread instructions
  std::uint64_t decisions_ignored = 0;  // decisions of a replay strategy that did not fit
  std::uint64_t ptx_hash = 0;           // over the PTX texts of the kernels launched
  std::vector<std::string> refusals;    // why launches could not run, each once
  std::string output;                   // what printf() and assert() of device code wrote
  // The reason why another schedule may behave differently although no race was found: "reads a
  // clock: sum.cu:12".  Empty: threads are ordered by barriers and the order of kernels alone.
  std::string order_source;
  // How many places of the launched kernels' modules the edits of the trial have changed.
  std::uint64_t edited_places = 0;
  std::uint64_t prints_lost = 0;  // printf() calls whose text the buffer could not hold
};

// Starts a trial on a fresh device.  Throws std::logic_error when a trial is already running.
void begin_trial(const TrialSettings& settings);

// Ends the trial and returns its result.  Throws std::logic_error when no trial is running.
TrialResult end_trial();

// Observes all launches of this process while it exists: in trials, and of the plain program.  The
// observer is called after those of the trial.
class Watch {
 public:
  explicit Watch(vgpu::Observer& observer);  // not owned
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  vgpu::Observer& observer_;
};

// While it exists, launches of the running trial have the default schedule, whatever the trial's
// strategy is.  For what is no property of a schedule: what accesses cost, for example, follows
// from the lanes that are together, and a strategy may hold some of them back.
class DefaultSchedule {
 public:
  DefaultSchedule();
  ~DefaultSchedule();
  DefaultSchedule(const DefaultSchedule&) = delete;
  DefaultSchedule& operator=(const DefaultSchedule&) = delete;
};

// Returns the mangled names of the kernels that the running or the last trial, or the plain
// program, has launched, each once, in order.
std::vector<std::string> launched_kernels();

}  // namespace warpcheck::cudart

// Registers the text of an unoptimised build (`nvcc -ptx -G`) of one translation unit.  Static
// constructors that the build generates call it; the text must live as long as the process.
extern "C" void warpcheck_register_unoptimized(const char* text, std::size_t bytes);
