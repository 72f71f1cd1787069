// Green contexts: contexts with a part of the multiprocessors of a device.
//
// Here a part is a number of multiprocessors that programs can ask for, and kernels run as in any
// other stream.  A green context has the memory of the primary context, and is current as a context
// with a handle of its own (cuCtxFromGreenCtx).
#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>

#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

// What cuDevResourceGenerateDesc makes.  CUDA has no function that destroys it.
struct CUdevResourceDesc_st {
  int device = 0;
  unsigned multiprocessors = 0;
};

namespace {

// The smallest part, and what each part is a multiple of (cuda.h, "Green Contexts").
struct Granularity {
  unsigned least = 2, unit = 2;
};

Granularity granularity_of(Device& device) {
  const int major = device.trial().capability().major;
  if (major >= 9) return {8, 8};
  return major == 8 ? Granularity{4, 2} : Granularity{};
}

// What a resource remembers: where it comes from.
struct Origin {
  int device = -1;
  unsigned split = 0;  // number of the call that has made it; 0: it is of a device or a context
};
static_assert(sizeof(Origin) <= sizeof(CUdevResource::_internal_padding));

Origin origin_of(const CUdevResource& resource) {
  Origin origin;
  std::memcpy(&origin, resource._internal_padding, sizeof origin);
  return origin;
}

CUdevResource resource_of(unsigned multiprocessors, const Granularity& granularity,
                          const Origin& origin) {
  CUdevResource resource{};
  if (multiprocessors == 0) return resource;  // CU_DEV_RESOURCE_TYPE_INVALID
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  std::memcpy(resource._internal_padding, &origin, sizeof origin);
  resource.sm.smCount = multiprocessors;
  resource.sm.minSmPartitionSize = granularity.least;
  resource.sm.smCoscheduledAlignment = granularity.unit;
  return resource;
}

// multiprocessors: 0: all of the device
cudaError_t get_resource(int number, unsigned multiprocessors, CUdevResource* resource,
                         CUdevResourceType type) {
  if (resource == nullptr) return fail(cudaErrorInvalidValue);
  if (type != CU_DEV_RESOURCE_TYPE_SM) return fail(cudaErrorInvalidResourceType);
  with_device([&](Device& device) {
    const auto all = static_cast<unsigned>(device.trial().capability().multiprocessors());
    *resource = resource_of(multiprocessors == 0 ? all : multiprocessors, granularity_of(device),
                            {number, 0});
  });
  return cudaSuccess;
}

Context* find_green(CUgreenCtx handle) {
  Context* const context = find_context(reinterpret_cast<CUcontext>(handle));
  return context != nullptr && context->is_green() ? context : nullptr;
}

// Runs `body(context)` for a green context that exists.
template <typename Body>
CUresult of_green(CUgreenCtx handle, Body&& body) {
  return after_init([&] {
    Context* const context = find_green(handle);
    return context == nullptr ? fail(cudaErrorDeviceUninitialized) : body(*context);
  });
}

cudaError_t split(std::span<CUdevResource> results, unsigned& count, const CUdevResource& input,
                  CUdevResource* remaining, unsigned flags, unsigned least) {
  static std::atomic<unsigned> splits = 0;
  const Origin origin = origin_of(input);
  if (origin.split != 0) return cudaErrorInvalidResourceConfiguration;
  Granularity granularity{input.sm.minSmPartitionSize, input.sm.smCoscheduledAlignment};
  if ((flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0) granularity = {};
  const unsigned unit = granularity.unit;
  const unsigned part = std::max((least + unit - 1) / unit * unit, granularity.least);
  const unsigned parts = input.sm.smCount / part;
  if (parts == 0) return cudaErrorInvalidResourceConfiguration;
  count = results.data() == nullptr ? parts : std::min(count, parts);
  const Origin made{origin.device, ++splits};
  for (unsigned i = 0; i < count && results.data() != nullptr; ++i) {
    results[i] = resource_of(part, granularity, made);
  }
  if (remaining != nullptr) {
    *remaining = resource_of(input.sm.smCount - count * part, granularity, made);
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  return of_device(device, [&] { return get_resource(device, 0, resource, type); });
}

CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource* resource, CUdevResourceType type) {
  return after_init([&] {
    const Context* const context = find_context(handle);
    if (context == nullptr) return fail(cudaErrorDeviceUninitialized);
    return get_resource(context->device, context->multiprocessors, resource, type);
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource,
                                  CUdevResourceType type) {
  return of_green(handle, [&](const Context& context) {
    return get_resource(context.device, context.multiprocessors, resource, type);
  });
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* results, unsigned* count,
                                     const CUdevResource* input, CUdevResource* remaining,
                                     unsigned flags, unsigned least) {
  return after_init([&] {
    constexpr unsigned kFlags = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                                CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
    if (count == nullptr || input == nullptr || (flags & ~kFlags) != 0) {
      return fail(cudaErrorInvalidValue);
    }
    if (input->type != CU_DEV_RESOURCE_TYPE_SM) {
      return fail(cudaErrorInvalidResourceType);
    }
    if (least > input->sm.smCount) return fail(cudaErrorInvalidValue);
    const cudaError_t error =
        split({results, results == nullptr ? 0 : *count}, *count, *input, remaining, flags, least);
    return error == cudaSuccess ? error : fail(error);
  });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* description, CUdevResource* resources,
                                   unsigned count) {
  return after_init([&] {
    if (description == nullptr || resources == nullptr || count == 0) {
      return fail(cudaErrorInvalidValue);
    }
    const std::span<const CUdevResource> all(resources, count);
    const Origin first = origin_of(all.front());
    CUdevResourceDesc_st made{first.device, 0};
    for (const CUdevResource& resource : all) {
      if (resource.type != CU_DEV_RESOURCE_TYPE_SM) {
        return fail(cudaErrorInvalidResourceType);
      }
      const Origin origin = origin_of(resource);
      const bool is_of_one = origin.device == first.device && origin.split == first.split;
      if (!is_of_one || (count > 1 && first.split == 0)) {
        return fail(cudaErrorInvalidResourceConfiguration);
      }
      made.multiprocessors += resource.sm.smCount;
    }
    *description = new CUdevResourceDesc_st(made);
    return cudaSuccess;
  });
}

CUresult cuGreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc description, CUdevice device,
                          unsigned flags) {
  return of_device(device, [&] {
    const bool is_right = handle != nullptr && description != nullptr &&
                          description->device == device && flags == CU_GREEN_CTX_DEFAULT_STREAM;
    if (!is_right) return fail(cudaErrorInvalidValue);
    ++primary_context(device).retained;
    Context& context = create_context(device, 0);
    context.multiprocessors = description->multiprocessors;
    *handle = reinterpret_cast<CUgreenCtx>(&context);
    return cudaSuccess;
  });
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  return of_green(handle, [](Context& context) {
    static_cast<void>(cudaDeviceSynchronize());
    Context& primary = primary_context(context.device);
    forget_context(context);
    if (primary.retained != 0) --primary.retained;
    return primary_is_active(primary.device) ? cudaSuccess : cudaDeviceReset();
  });
}

CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx handle) {
  return of_green(handle,
                  [&](Context& green) { return write_driver_result(context, handle_of(&green)); });
}

CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long* id) {
  return of_green(handle,
                  [&](const Context& context) { return write_driver_result(id, context.id); });
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx handle, unsigned flags, int priority) {
  return of_green(handle, [&](Context& context) {
    if (stream == nullptr || flags != CU_STREAM_NON_BLOCKING) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaStreamCreateWithPriority(stream, flags, priority);
    if (error == cudaSuccess) context.streams.insert(*stream);
    return error;
  });
}

CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx* handle) {
  return in_context([&] {
    return write_driver_result(handle, reinterpret_cast<CUgreenCtx>(green_context_of(stream)));
  });
}

}  // extern "C"
