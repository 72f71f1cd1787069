// System calls of the program on memory that may be protected (pages.hpp): the kernel would return
// EFAULT, although the program is correct.
//
// A seccomp filter (seccomp(2), SECCOMP_RET_USER_NOTIF) makes the kernel notify a thread of this
// process before it begins such a call; the thread answers when the pages are accessible.  Only
// calls with an argument in the memory's range of addresses cause a notification, and calls that
// name memory by lists (readv(), recvmsg()), which a filter cannot inspect.  All other calls cost
// only the filter's few instructions.
//
// Child processes inherit the filter, and no thread answers them once this process has ended.  So
// calls with lists cause a notification only at the addresses of this process's own C library;
// programs that a child executes have theirs at other addresses.
#pragma once

namespace warpcheck::cudart {

// Called by that thread.
struct SystemCallHandlers {
  void (*names_memory)() = nullptr;  // a call is about to begin that names shared memory
  // The program requests an interface that will read addresses from memory later.
  void (*leads_elsewhere)(const char* interface) = nullptr;
};

// Installs the filter for all present and future threads.  False: the system does not allow it.
bool watch_system_calls(const SystemCallHandlers& handlers);

}  // namespace warpcheck::cudart
