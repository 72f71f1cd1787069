// Runs a command in two processes, so that its findings survive it.
//
// The process that the user started waits, and passes signals on.  Its child, the supervisor, does
// the work in a process group of its own, so that neither Ctrl-C nor a signal to the user's group
// (`timeout -s KILL`) ends it.  When the user's process is gone, also by SIGKILL, the supervisor
// ends every process that it has started, and their descendants (which become its children when
// their parents end: PR_SET_CHILD_SUBREAPER), and then reports the findings.  When the supervisor
// itself is killed, the user's process ends those processes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace warpcheck {

class Supervisor {
 public:
  // Runs `work` in a supervisor, and returns its status; 128 + n if signal n has killed it. Call it
  // while there are no other threads.
  static int run(const std::function<int(Supervisor&)>& work);

  // The user's process is gone, or a signal has asked it to end: nothing more should begin.
  [[nodiscard]] bool is_stopped() const { return stopped_; }
  [[nodiscard]] bool is_abandoned() const { return abandoned_; }

  // Readable if handle_signals() has something to do.
  [[nodiscard]] int signals() const { return signals_; }
  // Passes signals on to `program`, ends all processes if the user's is gone, and records which
  // children have ended.
  void handle_signals(pid_t program);

  // Restores the settings of a started program, in its own process before its execve(): signal
  // dispositions, the user's process group, and its end when the supervisor ends.
  void give_back() const;

  // The children of this process.
  static std::vector<pid_t> children();
  // Ends all descendants of this process, by SIGKILL.
  static void end_all();

 private:
  Supervisor() = default;
  void begin(pid_t user);

  pid_t user_ = 0, user_group_ = 0, self_ = 0;
  int signals_ = -1;
  bool stopped_ = false, abandoned_ = false;
};

}  // namespace warpcheck
