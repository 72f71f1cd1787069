// Standard input for several runs of a program: each gets all of it.
//
// A file is read from the same place again.  What comes through a pipe or a socket is handed on as
// a run reads it, and kept in a file for the next ones, so that a program that reads nothing waits
// for nothing.  A terminal, and what else there is, every run has as it is.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace warpcheck {

class ProgramInput {
 public:
  // spool: where to keep what has been read; made when it is needed.
  explicit ProgramInput(std::filesystem::path spool);
  ~ProgramInput();
  ProgramInput(const ProgramInput&) = delete;
  ProgramInput& operator=(const ProgramInput&) = delete;

  // Whether each run can have the same.
  [[nodiscard]] bool is_repeatable() const { return kind_ != Kind::other; }

  // Before a run; returns what its standard input is to be (STDIN_FILENO, or the end of a pipe).
  int begin_run();
  // The run has been started.
  void started();
  // What to poll for; serve() does what can be done then.
  void add_to(std::vector<pollfd>& wanted) const;
  void serve();
  void end_run();

 private:
  enum class Kind : std::uint8_t { file, stream, other };
  void fill();
  bool write_from_spool();

  Kind kind_ = Kind::other;
  std::filesystem::path path_;
  off_t start_ = 0;          // file
  int spool_ = -1;           // stream: all that has been read
  off_t spooled_ = 0;        // its bytes
  bool ended_ = false;       // nothing more will come
  int to_ = -1, from_ = -1;  // the pipe of a run
  off_t given_ = 0;          // bytes of the spool that the run has
};

}  // namespace warpcheck
