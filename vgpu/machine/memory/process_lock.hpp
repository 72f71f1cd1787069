// A lock for memory that several processes map.  The lock lies in that memory itself.  A machine
// holds it while it changes a value there atomically, because the machines of different processes
// do not know each other.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace warpcheck::vgpu {

class ProcessLock {
 public:
  void lock() {
    constexpr std::uint32_t kPatience = 1 << 12;
    const std::int32_t self = ::getpid();
    for (std::uint32_t tries = 1;; ++tries) {
      std::int32_t owner = 0;
      if (owner_.compare_exchange_weak(owner, self, std::memory_order_acquire)) return;
      if (tries % kPatience != 0) continue;
      // The owner may have been killed.
      const bool is_gone = owner != 0 && ::kill(owner, 0) != 0 && errno == ESRCH;
      if (is_gone && owner_.compare_exchange_strong(owner, self)) return;
      ::sched_yield();
    }
  }
  void unlock() { owner_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::int32_t> owner_{0};  // a process id; 0: free
};

}  // namespace warpcheck::vgpu
