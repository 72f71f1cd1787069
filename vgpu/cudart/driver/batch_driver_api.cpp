// Several copies, and operations on several ranges of managed memory, in one call of the driver
// API.
#include <cuda.h>

#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation));
static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes));

cudaMemLocation* locations_of(CUmemLocation* locations) {
  return reinterpret_cast<cudaMemLocation*>(locations);
}

void** pointers_of(CUdeviceptr* addresses) { return reinterpret_cast<void**>(addresses); }

}  // namespace

extern "C" {

CUresult cuMemcpyBatchAsync(CUdeviceptr* targets, CUdeviceptr* sources, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attributes, size_t* first_of,
                            size_t attributes_count, CUstream stream) {
  return in_context([&] {
    return cudaMemcpyBatchAsync(pointers_of(targets), pointers_of(sources), sizes, count,
                                reinterpret_cast<cudaMemcpyAttributes*>(attributes), first_of,
                                attributes_count, stream);
  });
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                 CUmemLocation* locations, size_t* first_of, size_t locations_count,
                                 unsigned long long flags, CUstream stream) {
  return in_context([&] {
    return cudaMemPrefetchBatchAsync(pointers_of(addresses), sizes, count, locations_of(locations),
                                     first_of, locations_count, flags, stream);
  });
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                unsigned long long flags, CUstream stream) {
  return in_context([&] {
    return cudaMemDiscardBatchAsync(pointers_of(addresses), sizes, count, flags, stream);
  });
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                           CUmemLocation* locations, size_t* first_of,
                                           size_t locations_count, unsigned long long flags,
                                           CUstream stream) {
  return in_context([&] {
    return cudaMemDiscardAndPrefetchBatchAsync(pointers_of(addresses), sizes, count,
                                               locations_of(locations), first_of, locations_count,
                                               flags, stream);
  });
}

}  // extern "C"
