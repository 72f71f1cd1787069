// System calls of the program that name memory which may have been taken from it (pages.hpp): the
// kernel would answer EFAULT, where the program has done nothing wrong.
//
// A seccomp filter (seccomp(2), SECCOMP_RET_USER_NOTIF) lets the kernel ask before it begins such a
// call, and a thread of this process answers when the pages are there.  Only calls with an argument
// in the memory's range of addresses are asked about; all others cost what the filter's few
// instructions do.
#pragma once

#include <cstdint>

namespace warpcheck::cudart {

// Called by that thread, with an address that a system call names.
using BeforeSystemCall = void (*)(std::uint64_t address);

// From now on, for all threads and those to come.  False: the system does not allow it.
bool watch_system_calls(BeforeSystemCall before);

}  // namespace warpcheck::cudart
