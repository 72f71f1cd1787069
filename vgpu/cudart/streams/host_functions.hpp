// Functions of the program that run in streams: cudaLaunchHostFunc, cudaStreamAddCallback.
#pragma once

#include <mutex>

#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

// Calls one, without the lock: it may wait for another thread of the program.
//   lock: held by the caller, before and after
void call_host_function(const HostWork& work, std::mutex& lock);

// Whether this thread is in one, which must not call the API.
bool in_host_function();

}  // namespace warpcheck::cudart
