// The virtual device as the harness sees it: trials.
//
// A trial is everything between begin_trial() and end_trial(): ordinary CUDA host code runs, its
// runtime calls are answered by this library, and its launches run on the virtual GPU.  A trial
// starts from a fresh device (no allocations, no streams, no error; module variables hold their
// initial bytes at the same addresses every time), so the same calls give the same result bytes
// on any machine.
//
// The device is described in virtual_gpu.hpp.  Operations of streams run when the host waits for
// them, in an order that CUDA allows; those that nobody waited for run when the trial ends, but for
// what touches host memory.  One thing differs from hardware: a launch goes on after a bad access
// (which is a finding), so only a trap or the step limit kills it and makes later calls fail as
// CUDA's do.
//
// Memory that is still allocated when a trial ends is a finding, unless a launch has died in it.
//
// Outside a trial every call works too, with all checkers on and the default schedule; findings
// are printed to stderr when the process exits.  What is left then is the operating system's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::cudart {

// Which device code a launch runs.
enum class Build : std::uint8_t {
  optimized,    // the PTX in the object's fatbinary: what is shipped
  unoptimized,  // the text of `nvcc -ptx -G`, given to warpcheck_register_unoptimized()
};

struct TrialSettings {
  Build build = Build::optimized;
  vgpu::WarpModel warp_model = vgpu::WarpModel::independent;
  vgpu::CheckerSet checkers{};
  vgpu::Limits limits{};
  unsigned devices = 1;                             // how many there are, up to kDevicesMax
  std::uint64_t memory_bytes = vgpu::kMemoryBytes;  // of each device
  // It has no more than what the host could give to it and to the checkers at present, so that a
  // program that uses all of it is not killed.
  bool bounded_by_host = false;
  // What fresh managed and page-locked memory holds.  The pattern shows programs that rely on
  // zeros, which CUDA does not promise; outside of trials it is zeros, as programs mostly find
  // there.
  vgpu::Fresh fresh_mapped = vgpu::Fresh::pattern;
  vgpu::Strategy* strategy = nullptr;        // not owned; null: the default policy
  unsigned jobs = 1;                         // threads for a launch, under the default policy
  bool want_feedback = false;                // call extra_observer's on_edge
  vgpu::Observer* extra_observer = nullptr;  // not owned; called after the checkers
};

struct TrialResult {
  std::vector<vgpu::Finding> findings;
  vgpu::Schedule schedule;              // the decisions that differed from the default
  std::uint64_t launches = 0;           // kernels that ran
  std::uint64_t steps = 0;              // warp instructions
  std::uint64_t lane_steps = 0;         // thread instructions
  std::uint64_t decisions_ignored = 0;  // of a replay strategy: decisions that did not fit
  std::uint64_t ptx_hash = 0;           // over the PTX texts of the kernels launched
  std::vector<std::string> refusals;    // why a launch could not be run, each once
  std::vector<std::string> kernels;     // mangled names launched, each once, in order
  std::string output;                   // what printf() and assert() of device code wrote
  // Why another schedule may show something else although no race was found: "reads a clock:
  // sum.cu:12".  Empty: threads are ordered by barriers and the order of kernels alone.
  std::string order_source;
  std::uint64_t prints_lost = 0;  // printf() calls whose text the buffer could not hold
};

// Starts a trial on a fresh device.  Throws std::logic_error when a trial is already running.
void begin_trial(const TrialSettings& settings);

// Ends it and hands over what it saw.  Throws std::logic_error when no trial is running.
TrialResult end_trial();

}  // namespace warpcheck::cudart

// Adds the text of an unoptimised build (`nvcc -ptx -G`) of one translation unit.  Called by
// static constructors that the build generates; the text must live as long as the process.
extern "C" void warpcheck_register_unoptimized(const char* text, std::size_t bytes);
