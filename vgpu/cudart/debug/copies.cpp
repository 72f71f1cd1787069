#include "vgpu/cudart/debug/copies.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace warpcheck::cudart {

// The copy is a child of a child that exits at once.  The program must not see a signal of that
// child.
pid_t fork_copy() {
  sigset_t of_child, before;
  sigemptyset(&of_child);
  sigaddset(&of_child, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &of_child, &before);
  const pid_t between = ::fork();
  if (between == 0) {
    const pid_t copy = ::fork();
    if (copy != 0) ::_exit(copy < 0 ? 1 : 0);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return 0;
  }
  int status = 1;
  if (between > 0) {
    ::waitpid(between, &status, 0);
    sigset_t pending;
    ::sigpending(&pending);
    const timespec at_once{};
    if (sigismember(&pending, SIGCHLD) == 1) ::sigtimedwait(&of_child, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return between > 0 && status == 0 ? between : -1;
}

FilePlaces FilePlaces::now() {
  FilePlaces now;
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return now;
  const int own = ::dirfd(directory);
  while (const dirent* const entry = ::readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    const int descriptor = std::atoi(entry->d_name);
    struct stat about {};
    const int flags = ::fcntl(descriptor, F_GETFL);
    if (descriptor == own || flags < 0 || ::fstat(descriptor, &about) != 0) continue;
    const bool is_regular = S_ISREG(about.st_mode);
    if (!is_regular && !S_ISFIFO(about.st_mode) && !S_ISCHR(about.st_mode)) continue;
    const bool is_read = (flags & O_ACCMODE) == O_RDONLY ||
                         (is_regular && (flags & O_ACCMODE) == O_RDWR && descriptor > 2);
    now.places_.push_back(
        {descriptor, is_regular ? ::lseek(descriptor, 0, SEEK_CUR) : 0, is_read, is_regular});
  }
  ::closedir(directory);
  return now;
}

void FilePlaces::open_again(int spared) const {
  for (const Place& place : places_) {
    if (place.descriptor == spared) continue;
    if (place.is_read && !place.is_regular) continue;
    const std::string path = place.is_read ? "/proc/self/fd/" + std::to_string(place.descriptor)
                                           : std::string("/dev/null");
    const int again = ::open(path.c_str(), (place.is_read ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
    if (again < 0) continue;
    if (place.is_read) ::lseek(again, place.offset, SEEK_SET);
    const int flags = ::fcntl(place.descriptor, F_GETFD);
    ::dup3(again, place.descriptor, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
    ::close(again);
  }
}

}  // namespace warpcheck::cudart
