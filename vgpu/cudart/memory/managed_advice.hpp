// The advice that a program has given about its managed memory (cudaMemAdvise,
// cudaMemPrefetchAsync).  It is only kept for programs that query it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <optional>
#include <set>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

// The advice for one allocation.  Locations are numbers as in the API: a device number, or
// cudaCpuDeviceId.
struct ManagedAdvice {
  bool read_mostly = false;
  int preferred = cudaInvalidDeviceId, prefetched = cudaInvalidDeviceId;
  std::set<int> accessed_by;

  // kind: the number of a cudaMemoryAdvise, or an invalid number. place: nothing if the location is
  // invalid.
  cudaError_t advise(int kind, std::optional<int> place);
  // attribute: the number of a cudaMemRangeAttribute, or an invalid number; its value goes to
  // *data.
  cudaError_t answer(int attribute, void* data, std::size_t bytes) const;
};

using AdviceOfAllocations = std::map<const vgpu::Allocation*, ManagedAdvice>;

}  // namespace warpcheck::cudart
