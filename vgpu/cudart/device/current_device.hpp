// The current device of the calling thread (cudaSetDevice).  It is apart from the runtime because
// streams, allocations and errors depend on it.
#pragma once

namespace warpcheck::cudart {

// 0 until the thread has chosen a device.
inline unsigned& current_device() {
  thread_local unsigned number = 0;
  return number;
}

}  // namespace warpcheck::cudart
