// The driver API's contexts.  A device has one memory and one set of streams here, whichever
// context they were made in; what a context of the program's own has allocated goes with it.  The
// primary context is the runtime's (CUDA Runtime API, "Interactions with the CUDA Driver API").
#pragma once

#include <cuda.h>

#include <cstdint>
#include <set>

namespace warpcheck::cudart {

struct Context {
  int device = 0;
  unsigned flags = 0;
  bool is_primary = false;
  unsigned long long id = 0;
  unsigned retained = 0;           // the primary one: by cuDevicePrimaryCtxRetain
  std::set<CUdeviceptr> memory{};  // of one that is not primary
};

inline CUcontext handle_of(Context* context) { return reinterpret_cast<CUcontext>(context); }
// nullptr: it is none, or has been destroyed.
Context* find_context(CUcontext handle);

// By cuInit(), or the runtime's first call.
bool driver_is_initialized();
void initialize_driver();
// This thread has called the runtime, which makes the primary context current where there is none.
void note_runtime_call();

Context& primary_context(int device);
// Whether the primary context is there: somebody has retained it, or used the runtime.
bool primary_is_active(int device);
Context& create_context(int device, unsigned flags);
// Of all threads' stacks.
void forget_context(Context& context);

// Of this thread; nullptr: none.
Context* current_context();
void push_context(Context& context);
Context* pop_context();
void set_current_context(Context* context);

// What the current context owns.
void own_memory(CUdeviceptr address);
void disown_memory(CUdeviceptr address);

}  // namespace warpcheck::cudart
