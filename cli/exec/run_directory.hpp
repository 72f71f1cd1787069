// The directory of the files of `exec`: records, logs, kept bytes.  Both processes of the command
// (supervisor.hpp) delete it, so it is gone whichever of them is killed.  If both are killed at the
// same time, the next command that uses the same directory for temporary files deletes it.
#pragma once

#include <filesystem>

namespace warpcheck {

class RunDirectory {
 public:
  // Throws ProgramError if the directory cannot be made.
  RunDirectory();
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

// Reserves room for the first records of a run, so that a full disk is known before the program
// starts.  Throws ProgramError if there is none.
void reserve_room(const std::filesystem::path& records);

}  // namespace warpcheck
