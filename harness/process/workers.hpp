// A number of tasks in forked processes (worker_pool.hpp), and what each said.
#pragma once

#include <csignal>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/process/worker_pool.hpp"

namespace warpcheck {

struct TaskResult {
  std::vector<Message> messages;        // what the task emitted, in order
  std::vector<std::string> unreadable;  // lines that are no messages, as errors
  bool finished = false;                // it returned
  std::string failure;                  // why not, when it was started (WorkerEnd)
  bool threw = false;                   // an exception left it
};

// Runs tasks 0 .. count-1, at most `jobs` at a time; results in order of task.  An exception that
// leaves `work` ends its task with internal_error() of what it says.  When *stop becomes non-zero,
// running tasks are ended, no further one is started, and what was emitted so far is returned. In
// the parent, `on_finished(task)` is called as each ends, and `on_wait()` every 200 ms at least.
std::vector<TaskResult> run_tasks(std::size_t count, unsigned jobs,
                                  const std::function<void(std::size_t, const Emit&)>& work,
                                  const volatile std::sig_atomic_t* stop,
                                  const std::function<void(std::size_t)>& on_finished = {},
                                  const std::function<void()>& on_wait = {});

}  // namespace warpcheck
