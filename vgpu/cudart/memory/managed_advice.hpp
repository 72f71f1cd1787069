// What a program has said about its managed memory (cudaMemAdvise, cudaMemPrefetchAsync), kept for
// programs that ask for it: it changes nothing else.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <optional>
#include <set>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

// Of one allocation.  Places are numbers as the API has them: a device's, or cudaCpuDeviceId.
struct ManagedAdvice {
  bool read_mostly = false;
  int preferred = cudaInvalidDeviceId, prefetched = cudaInvalidDeviceId;
  std::set<int> accessed_by;

  // kind: the number of a cudaMemoryAdvise, or of none.  place: nothing where what was given is no
  // place.
  cudaError_t advise(int kind, std::optional<int> place);
  // attribute: the number of a cudaMemRangeAttribute, or of none; its value goes to *data.
  cudaError_t tell(int attribute, void* data, std::size_t bytes) const;
};

using AdviceOfAllocations = std::map<const vgpu::Allocation*, ManagedAdvice>;

}  // namespace warpcheck::cudart
