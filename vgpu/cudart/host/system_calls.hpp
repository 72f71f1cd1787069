// System calls of the program that name memory which may have been taken from it (pages.hpp): the
// kernel would answer EFAULT, where the program has done nothing wrong.
//
// A seccomp filter (seccomp(2), SECCOMP_RET_USER_NOTIF) lets the kernel ask before it begins such a
// call, and a thread of this process answers when the pages are there.  Only calls with an argument
// in the memory's range of addresses are asked about, and those that name memory by lists (readv(),
// recvmsg()), which a filter cannot look into; all others cost what the filter's few instructions
// do.
//
// A filter stays with a process's children, where nobody answers once this process has ended.  So
// lists are asked about where this process's own C library calls: programs that a child executes
// have theirs elsewhere.
#pragma once

#include <cstdint>

namespace warpcheck::cudart {

// Called by that thread.
struct SystemCallHandlers {
  void (*names_memory)() = nullptr;  // a call is about to begin that names shared memory
  // The program asks for an interface that takes its addresses from memory later.
  void (*leads_elsewhere)(const char* interface) = nullptr;
};

// From now on, for all threads and those to come.  False: the system does not allow it.
bool watch_system_calls(const SystemCallHandlers& handlers);

}  // namespace warpcheck::cudart
