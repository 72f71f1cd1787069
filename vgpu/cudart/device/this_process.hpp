// The number of this process, for what is asked at each launch and each block: a child of fork()
// has its own number, but getpid() is a system call, and a slow one where system calls are
// filtered.
#pragma once

#include <sys/types.h>

namespace warpcheck::cudart {

// Returns what getpid() returns.
pid_t this_process();

}  // namespace warpcheck::cudart
