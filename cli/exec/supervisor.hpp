// A command in two processes, so that what it has found outlives it.
//
// The process that the user started waits, and passes signals on.  Its child, the supervisor, does
// the work: in a process group of its own, so that neither Ctrl-C nor a signal to the user's group
// (`timeout -s KILL`) ends it.  When the user's process is gone, by SIGKILL too, the supervisor
// ends every process that it has started, and what these have started (they become its children
// when their parents end: PR_SET_CHILD_SUBREAPER), and then tells what was found.  When the
// supervisor itself is killed, the user's process does the former.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace warpcheck {

class Supervisor {
 public:
  // Runs `work` in a supervisor, and returns its status; 128 + n when signal n has killed it.
  // Call it while there are no other threads.
  static int run(const std::function<int(Supervisor&)>& work);

  // The user's process is gone, or a signal has asked it to end: nothing more is to be begun.
  [[nodiscard]] bool is_stopped() const { return stopped_; }
  [[nodiscard]] bool is_abandoned() const { return abandoned_; }

  // Readable when there is something for handle_signals() to do.
  [[nodiscard]] int signals() const { return signals_; }
  // Passes signals on to `program`, ends all processes if the user's is gone, and remembers which
  // children have ended.
  void handle_signals(pid_t program);

  // What a program that is started has to be given back, in its own process before its execve():
  // signals as they were, the user's process group, and an end when the supervisor's comes.
  void give_back() const;

  // The processes whose parent this one is.
  static std::vector<pid_t> children();
  // Ends all processes below this one, by SIGKILL.
  static void end_all();

 private:
  Supervisor() = default;
  void begin(pid_t user);

  pid_t user_ = 0, user_group_ = 0, self_ = 0;
  int signals_ = -1;
  bool stopped_ = false, abandoned_ = false;
};

}  // namespace warpcheck
