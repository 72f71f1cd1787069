#include "vgpu/cudart/device/runtime_use.hpp"

#include <atomic>

namespace warpcheck::cudart {
namespace {

std::atomic<bool> used{false};
thread_local constinit bool used_here = false;

}  // namespace

void note_runtime_use() {
  if (used_here) return;
  used_here = true;
  used = true;
}

bool runtime_was_used() { return used; }
bool runtime_was_used_by_this_thread() { return used_here; }

}  // namespace warpcheck::cudart
