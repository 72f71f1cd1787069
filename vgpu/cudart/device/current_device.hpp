// Which device the calls of the calling thread are for (cudaSetDevice).  Beside the runtime, as its
// streams, allocations and errors ask for it.
#pragma once

namespace warpcheck::cudart {

// 0 until the thread has chosen.
inline unsigned& current_device() {
  thread_local unsigned number = 0;
  return number;
}

}  // namespace warpcheck::cudart
