// Batches: many copies, or ranges of managed memory, in one call.  The copies of a batch are not
// ordered among themselves.
#include <cuda_runtime_api.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/copies/copies.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

bool is_order(int order) {
  return order >= cudaMemcpySrcAccessOrderStream && order <= cudaMemcpySrcAccessOrderAny;
}

// Returns the read of a source that comes after what the host knows of, and not after the stream;
// nothing: it is memory of the program's own, which is compared (late_host_sides.hpp).
std::optional<EarlyReadWork> early_read_of(Device& device, const CopyWork& work) {
  if (device.copy_sides().is_pageable(work.source_in, work.source.pointer)) return std::nullopt;
  // kEarlyRead and the call
  const std::string_view name = work.call == "cudaMemcpyBatchAsync"
                                    ? "the early read of cudaMemcpyBatchAsync"
                                    : "the early read of cudaMemcpy3DBatchAsync";
  return EarlyReadWork{name, work.source, work.source_in, work.box};
}

//   flags: a wish to overlap with kernels, which has no effect here
cudaError_t add(Device& device, CopyWork work, int order, unsigned flags,
                std::vector<Execution::TogetherWork>& works) {
  if (!is_order(order) || flags > cudaMemcpyFlagPreferOverlapWithCompute) {
    return cudaErrorInvalidValue;
  }
  if (const cudaError_t error = prepare(device, work)) return error;
  const bool takes_now = order == cudaMemcpySrcAccessOrderDuringApiCall;
  Execution::TogetherWork one;
  if (order != cudaMemcpySrcAccessOrderStream) one.early = early_read_of(device, work);
  one.is_read_in_call = takes_now;
  if (takes_now && work.source_in == Where::host) stage(work);
  one.work = std::move(work);
  works.push_back(std::move(one));
  return cudaSuccess;
}

// Returns whether each of `list` has a first element, in ascending order, of `count` elements.
template <class Given>
bool is_list(const Given* list, const size_t* first_of, size_t list_count, size_t count) {
  if (list == nullptr || first_of == nullptr || list_count == 0 || list_count > count) return false;
  for (std::size_t i = 0; i < list_count; ++i) {
    if (first_of[i] >= count || (i == 0 ? first_of[i] != 0 : first_of[i] <= first_of[i - 1])) {
      return false;
    }
  }
  return true;
}

// Sets one side of a three-dimensional copy.
cudaError_t set_side(const cudaMemcpy3DOperand& given, const cudaExtent& extent, cudaArray_t& array,
                     cudaPos& at, cudaPitchedPtr& pointer) {
  switch (number_of(given.type)) {
    case cudaMemcpyOperandTypeArray:
      array = given.op.array.array;
      at = {given.op.array.offset.x, given.op.array.offset.y, given.op.array.offset.z};
      return cudaSuccess;
    case cudaMemcpyOperandTypePointer: {
      const auto& one = given.op.ptr;
      const std::size_t row = one.rowLength != 0 ? one.rowLength : extent.width;
      const std::size_t rows = one.layerHeight != 0 ? one.layerHeight : extent.height;
      if (row < extent.width || rows < extent.height) return cudaErrorInvalidValue;
      pointer = {one.ptr, row, row, rows};
      return cudaSuccess;
    }
    default: return cudaErrorInvalidValue;
  }
}

// Requires each of the ranges to be managed memory.
cudaError_t on_managed(std::string_view call, void** pointers, const size_t* sizes, size_t count,
                       unsigned long long flags, cudaStream_t stream) {
  return on_stream(call, stream, [&](Device& device, Stream& found) {
    if (count == 0 || pointers == nullptr || sizes == nullptr || flags != 0) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const warpcheck::vgpu::Allocation* const one = device.allocations().find(pointers[i]);
      const auto address = reinterpret_cast<std::uint64_t>(pointers[i]);
      if (one == nullptr || !one->managed || sizes[i] == 0 || !one->contains(address, sizes[i])) {
        return cudaErrorInvalidValue;
      }
    }
    return device.execution().submit(found, EmptyWork{}, false);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyBatchAsync(void* const* targets, const void* const* sources,
                                 const size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* attributes, size_t* first_of,
                                 size_t attributes_count, cudaStream_t stream) {
  return on_stream("cudaMemcpyBatchAsync", stream, [&](Device& device, Stream& found) {
    if (targets == nullptr || sources == nullptr || sizes == nullptr || found.is_legacy ||
        !is_list(attributes, first_of, attributes_count, count)) {
      return cudaErrorInvalidValue;
    }
    std::vector<Execution::TogetherWork> works;
    for (std::size_t i = 0, attribute = 0; i < count; ++i) {
      while (attribute + 1 < attributes_count && first_of[attribute + 1] <= i) ++attribute;
      CopyWork work;
      work.call = "cudaMemcpyBatchAsync";
      work.target = {targets[i]};
      work.source = {const_cast<void*>(sources[i])};
      work.box = {sizes[i]};
      if (sizes[i] == 0) return cudaErrorInvalidValue;
      const cudaMemcpyAttributes& how = attributes[attribute];
      const cudaError_t error =
          add(device, std::move(work), number_of(how.srcAccessOrder), how.flags, works);
      if (error != cudaSuccess) return error;
    }
    return device.execution().submit_together(found, std::move(works));
  });
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* list,
                                   unsigned long long flags, cudaStream_t stream) {
  return on_stream("cudaMemcpy3DBatchAsync", stream, [&](Device& device, Stream& found) {
    if (count == 0 || list == nullptr || flags != 0 || found.is_legacy) {
      return cudaErrorInvalidValue;
    }
    std::vector<Execution::TogetherWork> works;
    for (std::size_t i = 0; i < count; ++i) {
      cudaMemcpy3DParms parameters{};
      parameters.extent = list[i].extent;
      parameters.kind = cudaMemcpyDefault;
      cudaError_t error = set_side(list[i].src, list[i].extent, parameters.srcArray,
                                   parameters.srcPos, parameters.srcPtr);
      if (error == cudaSuccess) {
        error = set_side(list[i].dst, list[i].extent, parameters.dstArray, parameters.dstPos,
                         parameters.dstPtr);
      }
      CopyWork work;
      work.call = "cudaMemcpy3DBatchAsync";
      if (error == cudaSuccess) error = describe_copy(device, &parameters, work);
      if (error == cudaSuccess) {
        error =
            add(device, std::move(work), number_of(list[i].srcAccessOrder), list[i].flags, works);
      }
      if (error != cudaSuccess) return error;
    }
    return device.execution().submit_together(found, std::move(works));
  });
}

// Has no effect, because the virtual devices do not model where memory is located.
cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                      cudaMemLocation* places, size_t* first_of,
                                      size_t places_count, unsigned long long flags,
                                      cudaStream_t stream) {
  if (!is_list(places, first_of, places_count, count)) return fail(cudaErrorInvalidValue);
  return on_managed("cudaMemPrefetchBatchAsync", pointers, sizes, count, flags, stream);
}

// Discarded memory stays unchanged, which is one of the values that it may have.
cudaError_t cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  return on_managed("cudaMemDiscardBatchAsync", pointers, sizes, count, flags, stream);
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                cudaMemLocation* places, size_t* first_of,
                                                size_t places_count, unsigned long long flags,
                                                cudaStream_t stream) {
  if (!is_list(places, first_of, places_count, count)) return fail(cudaErrorInvalidValue);
  return on_managed("cudaMemDiscardAndPrefetchBatchAsync", pointers, sizes, count, flags, stream);
}

}  // extern "C"
