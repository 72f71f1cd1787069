// The functions of the runtime API as programs call them, each a jump through a slot: to the
// virtual device, or to the real runtime library (real_runtime.hpp).
//
// A jump leaves arguments, stack and result alone, so that it forwards a function without knowing
// its type: also those that the virtual device does not implement.  The way to the virtual device
// notes who calls (api_call.hpp).
#pragma once

#include <span>

namespace warpcheck::cudart {

struct EntryPoint {
  const char* name;        // "cudaMalloc"
  void** slot;             // what is called
  void* virtual_function;  // what is called until it is set otherwise
};

std::span<const EntryPoint> entry_points();

}  // namespace warpcheck::cudart
