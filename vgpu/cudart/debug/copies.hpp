// Copies of this process for a debugger: fork() without a child that the program could notice, and
// a copy whose side effects are kept from the user.
#pragma once

#include <sys/types.h>

#include <vector>

namespace warpcheck::cudart {

// Forks a copy that is no child of this process.  Returns its number; 0: this is the copy; -1:
// there is no room for one.
pid_t fork_copy();

// The places in the files that this process reads.
class FilePlaces {
 public:
  FilePlaces() = default;
  // Notes them: of all regular files.
  static FilePlaces now();
  // Opens the files anew, at these places, so that a copy reads what the process read; what it
  // writes to files and pipes that are open is lost.
  //   spared: a descriptor to leave alone
  void open_again(int spared) const;

 private:
  struct Place {
    int descriptor = -1;
    off_t offset = 0;
    bool is_read = false;     // else only written
    bool is_regular = false;  // else a pipe, or a terminal
  };
  std::vector<Place> places_;
};

}  // namespace warpcheck::cudart
