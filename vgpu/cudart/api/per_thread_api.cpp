// The functions that programs call when they are compiled with --default-stream per-thread: the
// same ones, where a null stream means the stream of the calling thread.
#include <cuda_runtime_api.h>

#include "vgpu/cudart/streams/queues.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // all are forwarded, old and new

namespace warpcheck::cudart {
namespace {

template <typename Function>
struct PerThread;

template <typename Result, typename... Arguments>
struct PerThread<Result (*)(Arguments...)> {
  template <Result (*kFunction)(Arguments...)>
  static Result call(Arguments... arguments) {
    const PerThreadDefaultStream scope;
    return kFunction(arguments...);
  }
};

}  // namespace
}  // namespace warpcheck::cudart

extern "C" {
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t dynamic_shared_bytes, cudaStream_t stream);
}

// A function `name` with the type of `of`, which this unit knows from the API's header.  A jump
// through data, as the types of all are different and their names are C's.
#define PER_THREAD(name, of)                                                                \
  extern "C" {                                                                              \
  [[gnu::used, gnu::visibility("hidden")]] void* warpcheck_per_thread_##name =              \
      reinterpret_cast<void*>(&warpcheck::cudart::PerThread<decltype(&(of))>::call<&(of)>); \
  }                                                                                         \
  asm(".pushsection .text\n"                                                                \
      ".globl virtual_" #name                                                               \
      "\n"                                                                                  \
      ".type virtual_" #name                                                                \
      ", @function\n"                                                                       \
      "virtual_" #name                                                                      \
      ":\n"                                                                                 \
      "endbr64\n"                                                                           \
      "jmp *warpcheck_per_thread_" #name                                                    \
      "(%rip)\n"                                                                            \
      ".size virtual_" #name ", . - virtual_" #name                                         \
      "\n"                                                                                  \
      ".popsection\n");
#include "vgpu/cudart/api/per_thread.def"
#undef PER_THREAD
