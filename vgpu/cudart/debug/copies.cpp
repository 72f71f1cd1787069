#include "vgpu/cudart/debug/copies.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace warpcheck::cudart {

// The copy is a child of a child that exits at once.  The program must not see a signal of that
// child.  A byte says that there is a copy, because the child has no status if the program ignores
// the signal.
pid_t fork_copy() {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return -1;
  sigset_t of_child, before;
  sigemptyset(&of_child);
  sigaddset(&of_child, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &of_child, &before);
  const pid_t between = ::fork();
  if (between == 0) {
    const pid_t copy = ::fork();
    if (copy != 0) ::_exit(copy > 0 && ::write(pipe[1], "", 1) == 1 ? 0 : 1);
    for (const int end : pipe) ::close(end);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return 0;
  }
  bool is_forked = false;
  ::close(pipe[1]);
  if (between > 0) {
    char byte = 0;
    ssize_t count = -1;
    while ((count = ::read(pipe[0], &byte, 1)) < 0 && errno == EINTR) {
    }
    is_forked = count == 1;
    while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
    }
    sigset_t pending;
    ::sigpending(&pending);
    const timespec at_once{};
    if (sigismember(&pending, SIGCHLD) == 1) ::sigtimedwait(&of_child, nullptr, &at_once);
  }
  ::close(pipe[0]);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_forked ? between : -1;
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
