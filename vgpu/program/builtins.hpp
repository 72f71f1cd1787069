// Runtime functions that nvcc calls by name where its optimiser does not expand them: under -G,
// atomicAdd() on an int is a call of `__iAtomicAdd`, which has a prototype but no body.
#pragma once

#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

// Their bodies, as PTX: `__{i,u,ll,ull,ill,f,d}Atomic{Add,Exch,Min,Max,Inc,Dec,CAS,And,Or,Xor}`
// with no suffix, `_block` or `_system` (crt/device_functions.h and sm_*_atomic_functions.h).
const ptx::Module& builtin_library();

}  // namespace warpcheck::vgpu
