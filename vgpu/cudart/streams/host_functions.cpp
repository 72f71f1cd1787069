#include "vgpu/cudart/streams/host_functions.hpp"

#include "vgpu/cudart/api/api_call.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"

namespace warpcheck::cudart {
namespace {

thread_local bool host_function_runs = false;

}  // namespace

bool in_host_function() { return host_function_runs; }

void call_host_function(const HostWork& work, std::mutex& lock) {
  const HostWork call = work;
  lock.unlock();
  const ApiCall outer = current_call();
  host_function_runs = true;
  {
    const SignalMask signals = signals_of_program();
    if (call.function != nullptr) {
      call.function(call.argument);
    } else {
      call.callback(call.stream, cudaSuccess, call.argument);
    }
  }
  host_function_runs = false;
  current_call() = outer;
  lock.lock();
}

}  // namespace warpcheck::cudart
