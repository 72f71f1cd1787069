// Trials on a real GPU, in separate processes.
//
// A CUDA context survives neither fork() nor an illegal access.  So this process makes no CUDA
// call: a worker (this program's hidden command `gpu-worker`, started afresh) runs the jobs one
// after the other and announces each trial.  If it dies, hangs or loses the device, only that trial
// is lost, and another worker continues with the next job.
#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/search/check.hpp"
#include "harness/search/search.hpp"

namespace warpcheck {

// No device, no runtime library, or no compute-sanitizer.  what() is one line.
class GpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Either trials first .. first + count - 1 of a claim's check, or runs of one case.
struct GpuJob {
  const AnyPair* pair = nullptr;
  std::string property;
  std::string case_path;  // not empty: `count` runs of this case
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct GpuOptions {
  CheckOptions check;     // seed, trials, sizes: the parameters for drawing a claim's cases
  std::string runtime;    // library; empty: the usual place
  std::string sanitizer;  // a tool of compute-sanitizer; empty: none
  double seconds_per_trial = 30;
  double seconds_to_start = 120;  // until the first trial: opening the device, compiling PTX
  const volatile std::sig_atomic_t* stop = nullptr;
};

struct GpuOutcome {
  std::uint64_t trials = 0;
  std::optional<Failure> failure;  // the first failure, which ended the job
  std::string refusal;             // why the case cannot be run
};

struct GpuRun {
  std::string device;  // "NVIDIA H200 (CUDA driver 13.0, runtime 13.0, /.../libcudart.so.13)"
  std::vector<GpuOutcome> outcomes;  // of the jobs, in order; fewer if stopped
};

// Calls on_device(text) once, before the first outcome, and on_outcome when each job ends. Throws
// GpuError.
GpuRun run_on_gpu(const std::vector<GpuJob>& jobs, const GpuOptions& options,
                  const std::function<void(const std::string&)>& on_device = {},
                  const std::function<void(std::size_t, const GpuOutcome&)>& on_outcome = {});

// --- between the two processes (gpu_worker.cpp) -------------------------------------------------

// The file of a worker's task, as messages (harness/process/protocol.hpp), and the named pipe for
// its answers.
struct GpuTask {
  std::filesystem::path file;
  [[nodiscard]] std::filesystem::path messages() const { return file.string() + ".messages"; }
};

void write_task(const GpuTask& task, const std::vector<GpuJob>& jobs, const GpuOptions& options);
// The case of a job's trial.
[[nodiscard]] Case case_of(const GpuJob& job, std::uint64_t trial, const CheckOptions& options);

// Runs a task in this process; returns the exit status of the worker.
int run_gpu_worker(const std::filesystem::path& task_file);

}  // namespace warpcheck
