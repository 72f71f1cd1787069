// Standard input for several runs of a program: each run gets all of it.
//
// A file is read again from the same place.  The content of a pipe or a socket is passed on when a
// run reads it, and stored in a file for later runs, so that a program that reads nothing waits for
// nothing.  Every run gets a terminal, and any other kind of input, directly.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace warpcheck {

class ProgramInput {
 public:
  // spool: the file for the content that has been read; created when it is needed.
  explicit ProgramInput(std::filesystem::path spool);
  ~ProgramInput();
  ProgramInput(const ProgramInput&) = delete;
  ProgramInput& operator=(const ProgramInput&) = delete;

  // Whether each run can get the same content.
  [[nodiscard]] bool is_repeatable() const { return kind_ != Kind::other; }

  // Call before a run; returns its standard input (STDIN_FILENO, or the end of a pipe).
  int begin_run();
  // The run has been started.
  void started();
  // Adds descriptors to poll; serve() then does what is possible.
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
  int spool_ = -1;           // stream: all content that has been read
  off_t spooled_ = 0;        // its bytes
  bool ended_ = false;       // the stream has ended
  int to_ = -1, from_ = -1;  // the pipe of a run
  off_t given_ = 0;          // bytes of the spool that the run has got
};

}  // namespace warpcheck
