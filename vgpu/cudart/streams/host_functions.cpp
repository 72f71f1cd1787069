#include "vgpu/cudart/streams/host_functions.hpp"

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/host_watch/host_watch.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"

namespace warpcheck::cudart {

bool in_host_function() { return InHostFunction::number_of_this_thread() != 0; }

void call_host_function(const HostWork& work, std::mutex& lock, std::uint32_t number) {
  const HostWork call = work;
  lock.unlock();
  const ApiCall outer = current_call();
  {
    const SignalMask signals = signals_of_program();
    const InHostFunction in_function(number);
    if (call.function != nullptr) {
      call.function(call.argument);
    } else {
      call.callback(call.stream, cudaSuccess, call.argument);
    }
  }
  current_call() = outer;
  lock.lock();
}

}  // namespace warpcheck::cudart
