// The driver API's contexts.  A device has one memory and one set of streams here, whatever context
// they were created in; memory allocated in a non-primary context is freed with it.  The primary
// context is that of the runtime (CUDA Runtime API, "Interactions with the CUDA Driver API").
#pragma once

#include <cuda.h>

#include <set>

namespace warpcheck::cudart {

struct Context {
  int device = 0;
  unsigned flags = 0;
  bool is_primary = false;
  unsigned long long id = 0;
  unsigned retained = 0;           // of the primary context: by cuDevicePrimaryCtxRetain
  std::set<CUdeviceptr> memory{};  // of a context that is neither primary nor green
  // Of a green context: its part of the device, and the streams that were made for it.
  unsigned multiprocessors = 0;
  std::set<CUstream> streams{};
  [[nodiscard]] bool is_green() const { return multiprocessors != 0; }
};

inline CUcontext handle_of(Context* context) { return reinterpret_cast<CUcontext>(context); }
// Returns nullptr if the handle is not that of an existing context.
Context* find_context(CUcontext handle);

// cuInit() or the first call of the runtime initialises the driver.
bool driver_is_initialized();
void initialize_driver();

Context& primary_context(int device);
// Returns whether the primary context is active: it was retained, or the runtime was used.
bool primary_is_active(int device);
Context& create_context(int device, unsigned flags);
// Returns the green context for which the stream was made; of a null stream, the current one;
// nullptr: there is none.
Context* green_context_of(CUstream stream);
// Removes it from the stacks of all threads.
void forget_context(Context& context);

// Returns the current context of this thread; nullptr: none.
Context* current_context();
void push_context(Context& context);
Context* pop_context();
void set_current_context(Context* context);

// The memory that the current context owns.
void own_memory(CUdeviceptr address);
void disown_memory(CUdeviceptr address);

}  // namespace warpcheck::cudart
