// Host functions that run in streams: cudaLaunchHostFunc, cudaStreamAddCallback.
#pragma once

#include <cstdint>
#include <mutex>

#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

// Calls the function without the lock, because it may wait for another thread of the program.
//   lock: held by the caller, before and after
//   number: of the function, as in InHostFunction
void call_host_function(const HostWork& work, std::mutex& lock, std::uint32_t number);

// Returns whether this thread executes such a function, which must not call the API.
bool in_host_function();

}  // namespace warpcheck::cudart
