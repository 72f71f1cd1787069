#include "vgpu/cudart/device/runtime_use.hpp"

#include <pthread.h>

#include <atomic>

namespace warpcheck::cudart {
namespace {

std::atomic<bool> used_anywhere{false};
thread_local constinit bool used_here = false;
std::atomic<bool> device_used{false};
std::atomic<bool> used_before_fork{false};

}  // namespace

void note_runtime_use() {
  if (used_here) return;
  used_here = true;
  used_anywhere = true;
}

bool runtime_was_used() { return used_anywhere; }
bool runtime_was_used_by_this_thread() { return used_here; }

void note_device_use() {
  if (device_used.load(std::memory_order_relaxed) || device_used.exchange(true)) return;
  ::pthread_atfork(nullptr, nullptr, [] { used_before_fork = true; });
}

bool device_was_used_before_fork() { return used_before_fork; }
void forget_fork() { used_before_fork = false; }

}  // namespace warpcheck::cudart
