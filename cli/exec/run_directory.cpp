#include "cli/exec/run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "cli/exec/program_file.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "warpcheck-";
// Locked as long as a process of the command runs.  Nothing else has a file of this name: a
// campaign's directory, which a user may well call /tmp/warpcheck-campaign, has a `lock`.
constexpr const char* kLock = "warpcheck-run.lock";
constexpr off_t kRoomBytes = off_t{128} << 10;

// An empty variable counts as none, as in shells; std::filesystem::temp_directory_path() would take
// it for a name.
fs::path temporary_directory() {
  for (const char* const name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::error_code error;
    if (fs::is_directory(value, error)) return value;
    throw ProgramError(fmt::format("{}={}: {}; name a directory for temporary files", name, value,
                                   error ? error.message() : "not a directory"));
  }
  return "/tmp";
}

// A file that another command has locked, deleted and unlocked since it was opened can be locked,
// but protects nothing any more.
bool lock(int file) {
  struct stat found {};
  return ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &found) == 0 && found.st_nlink != 0;
}

// A directory without this file is not ours, or is only just being made.
void delete_if_left(const fs::path& directory) {
  const int file = ::open((directory / kLock).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  std::error_code ignored;
  if (lock(file)) fs::remove_all(directory, ignored);
  ::close(file);
}

void delete_left(const fs::path& temporary) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary, ignored)) {
    if (entry.path().filename().string().starts_with(kPrefix)) delete_if_left(entry.path());
  }
}

}  // namespace

RunDirectory::RunDirectory(std::string_view command) {
  const fs::path temporary = temporary_directory();
  delete_left(temporary);
  // Another command may take the lock of a directory that this one is just making, and delete it.
  while (lock_ < 0 || !lock(lock_)) {
    if (lock_ >= 0) ::close(lock_);
    std::string name = fmt::format("{}{}-XXXXXX", (temporary / kPrefix).string(), command);
    if (::mkdtemp(name.data()) == nullptr) {
      throw ProgramError(fmt::format("{}: {}", name, std::strerror(errno)));
    }
    path_ = name;
    lock_ = ::open((path_ / kLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock_ < 0) {
      const int error = errno;
      std::error_code ignored;
      fs::remove(path_, ignored);
      throw ProgramError(fmt::format("{}: {}", name, std::strerror(error)));
    }
  }
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

// Not every file system can reserve.
void reserve_room(const fs::path& records) {
  const int file = ::open(records.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const bool has_room = file >= 0 && (::fallocate(file, FALLOC_FL_KEEP_SIZE, 0, kRoomBytes) == 0 ||
                                      errno == EOPNOTSUPP || errno == ENOSYS);
  const int error = errno;
  if (file >= 0) ::close(file);
  if (has_room) return;
  throw ProgramError(fmt::format(
      "{}: {}; free some space there, or set TMPDIR to another directory for temporary files",
      records.parent_path().string(), std::strerror(error)));
}

}  // namespace warpcheck
