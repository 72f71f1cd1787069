// Whether the host itself may read or write some of its memory: a copy whose host side is not
// mapped, or may only be read, becomes a finding instead of a crash.
//
// A byte of each page is touched; a fault ends that.  So an ordinary copy makes no system call. For
// a write, the touch is an atomic operation that changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpcheck::cudart {

inline constexpr std::size_t kHostPageBytes = 4096;

// What is behind the first bytes that can be accessed.
enum class HostGap : std::uint8_t {
  none,      // nothing: all bytes can be accessed
  unmapped,  // nothing is mapped there
  barred,    // a mapping that may not be read, or, for a write, neither read nor written
  read_only  // for a write: a mapping that may only be read
};

struct HostAccessible {
  std::size_t bytes = 0;  // from the beginning
  HostGap behind = HostGap::none;
};

// Returns how many of the bytes the host may read, or write; all of them if nothing catches faults.
HostAccessible accessible_on_host(const void* pointer, std::size_t bytes, bool write);

// install: makes sure that faults (SIGSEGV, SIGBUS) are caught by handlers that call
// end_touch_after_fault(), although the program may have set its own.
void catch_faults_by(void (*install)());
// Ends the touch that this thread was at, and does not return then.
void end_touch_after_fault();

}  // namespace warpcheck::cudart
