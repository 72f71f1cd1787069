// Runs a number of tasks in forked processes (worker_pool.hpp) and collects their messages.
#pragma once

#include <csignal>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/process/worker_pool.hpp"

namespace warpcheck {

struct TaskResult {
  std::vector<Message> messages;        // emitted by the task, in order
  std::vector<std::string> unreadable;  // lines that are no messages, as errors
  bool finished = false;                // the task returned
  bool interrupted = false;             // ended because *stop became non-zero
  std::string failure;                  // why it did not return (WorkerEnd); empty: not started
  bool threw = false;                   // an exception left it
};

// Runs tasks 0 .. count-1, at most `jobs` at a time; results in order of task.  An exception that
// leaves `work` ends its task with internal_error() of its text.  When *stop becomes non-zero,
// running tasks are ended, no further task is started, and the messages so far are returned. In the
// parent, `on_finished(task)` is called when each ends, and `on_wait()` at least every 200 ms.
std::vector<TaskResult> run_tasks(std::size_t count, unsigned jobs,
                                  const std::function<void(std::size_t, const Emit&)>& work,
                                  const volatile std::sig_atomic_t* stop,
                                  const std::function<void(std::size_t)>& on_finished = {},
                                  const std::function<void()>& on_wait = {});

}  // namespace warpcheck
