// The directory of a command's temporary files: records of `exec`, logs, kept bytes, what nvcc
// reads and writes.  Both processes of `exec` (supervisor.hpp) delete it, so it is gone whichever
// of them is killed.  What a killed command has left, the next command that uses the same directory
// for temporary files deletes.
#pragma once

#include <filesystem>
#include <string_view>

namespace warpcheck {

class RunDirectory {
 public:
  //   command: for the directory's name
  // Throws ProgramError if the directory cannot be made.
  explicit RunDirectory(std::string_view command = "exec");
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
