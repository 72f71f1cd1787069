// The entry points of the runtime API: each is a jump through a slot to the virtual device, or to
// the real runtime library (real_runtime.hpp).
//
// A jump preserves arguments, stack and result, so it forwards a function without knowing its type,
// including functions that the virtual device does not implement.  On the way to the virtual
// device, the entry point records the call (api_call.hpp).
#pragma once

#include <span>

namespace warpcheck::cudart {

struct EntryPoint {
  const char* name;        // "cudaMalloc"
  void** slot;             // the function that is called
  void* virtual_function;  // the initial value of the slot
};

std::span<const EntryPoint> entry_points();

}  // namespace warpcheck::cudart
