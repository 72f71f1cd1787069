// A thread of the host answers what a kernel asks, while another one waits for the kernel; the
// memory is the program's own, registered.
//
// The mutant's kernel asks once more than is answered.
// expect: deadlock
#include <thread>

#include "check.hpp"

constexpr int kCalls = 10;

struct Call {
  volatile int state;  // 1: asked, 2: answered
  int argument, result;
};

__global__ void ask(Call* call, int calls, int* sum) {
  int total = 0;
  for (int i = 0; i < calls; ++i) {
    call->argument = i;
    __threadfence_system();
    call->state = 1;            //~
    while (call->state != 2) {  //~
    }
    __threadfence_system();
    total += call->result;
  }
  *sum = total;
}

int main() {
#ifdef MUTANT
  constexpr int kAsked = kCalls + 1;
#else
  constexpr int kAsked = kCalls;
#endif
  static Call call{};
  require(cudaHostRegister(&call, sizeof call, cudaHostRegisterMapped));
  Call* of_device;
  require(cudaHostGetDevicePointer(reinterpret_cast<void**>(&of_device), &call, 0));
  int* sum;
  require(cudaMalloc(&sum, sizeof(int)));
  std::thread server([&] {
    for (int i = 0; i < kCalls; ++i) {
      while (call.state != 1) std::this_thread::yield();
      __sync_synchronize();
      call.result = call.argument * call.argument;
      __sync_synchronize();
      call.state = 2;
    }
  });
  ask<<<1, 1>>>(of_device, kAsked, sum);
  const cudaError_t error = cudaDeviceSynchronize();
  server.join();
  require(error);
  int result;
  require(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
  require(cudaFree(sum));
  require(cudaHostUnregister(&call));
  return verdict(result == 285);
}
