// The functions that programs call if they are compiled with --default-stream per-thread: the same
// functions, in which a null stream means the stream of the calling thread.
#include <cuda_runtime_api.h>

#include "vgpu/cudart/streams/queues.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // old and new functions are forwarded

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

// Defines a function `name` with the type of `of`, which the API's header declares.  It jumps
// through data, because the functions have different types and C names.
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
