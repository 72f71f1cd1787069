// Stream memory operations of the driver API (vgpu/cudart/streams/stream_values.hpp).
#include <cuda.h>

#include <optional>
#include <span>
#include <vector>

#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/cudart/streams/stream_values.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// The flush flag has no effect, because there are no pending writes of other devices.
ValueWork wait_for(CUdeviceptr address, std::uint64_t value, unsigned bytes, unsigned flags) {
  ValueWork work;
  work.pointer = to_pointer(address);
  work.bytes = bytes;
  work.value = value;
  work.is_wait = true;
  work.condition = flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);
  return work;
}

ValueWork write(CUdeviceptr address, std::uint64_t value, unsigned bytes, unsigned flags) {
  ValueWork work;
  work.pointer = to_pointer(address);
  work.bytes = bytes;
  work.value = value;
  work.condition = flags;
  work.releases = (flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) == 0;
  return work;
}

bool has_known_flags(const ValueWork& work) {
  const int last = work.is_wait ? number_of(CU_STREAM_WAIT_VALUE_NOR)
                                : number_of(CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
  return work.condition <= static_cast<unsigned>(last);
}

// Requests the operations in the given order.
CUresult in_stream(CUstream handle, std::vector<ValueWork> works) {
  return in_context([&] {
    return on_stream("cuStreamBatchMemOp", handle, [&](Device& device, Stream& stream) {
      if (stream.capture != nullptr) {
        throw warpcheck::vgpu::Refusal("waits and writes of values in a captured stream");
      }
      for (ValueWork& work : works) {
        work.call = reported_name();
        const bool is_good = has_known_flags(work) && device.stream_values().place_of(work);
        if (!is_good) return cudaErrorInvalidValue;
      }
      for (const ValueWork& work : works) {
        if (const cudaError_t error = device.execution().submit(stream, work, false)) return error;
      }
      return cudaSuccess;
    });
  });
}

// Returns nothing for an operation without effect here. has_failed: the operation is not known.
std::optional<ValueWork> work_of(const CUstreamBatchMemOpParams& operation, bool& has_failed) {
  switch (number_of(operation.operation)) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_for(operation.waitValue.address, operation.waitValue.value, 4,
                      operation.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_for(operation.waitValue.address, operation.waitValue.value64, 8,
                      operation.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write(operation.writeValue.address, operation.writeValue.value, 4,
                   operation.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write(operation.writeValue.address, operation.writeValue.value64, 8,
                   operation.writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return {};
    default: has_failed = true; return {};
  }
}

}  // namespace

extern "C" {

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return in_stream(stream, {wait_for(address, value, 4, flags)});
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return in_stream(stream, {wait_for(address, value, 8, flags)});
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return in_stream(stream, {write(address, value, 4, flags)});
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return in_stream(stream, {write(address, value, 8, flags)});
}

// After a memory barrier, a write without its own barrier also releases what comes before it.
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* all,
                               unsigned flags) {
  constexpr unsigned kCountMax = 255;
  if (all == nullptr || count > kCountMax || flags != 0) return fail(CUDA_ERROR_INVALID_VALUE);
  std::vector<ValueWork> works;
  bool has_failed = false, is_behind_barrier = false;
  for (const CUstreamBatchMemOpParams& operation : std::span(all, count)) {
    is_behind_barrier |= number_of(operation.operation) == CU_STREAM_MEM_OP_BARRIER;
    std::optional<ValueWork> work = work_of(operation, has_failed);
    if (!work) continue;
    work->releases |= is_behind_barrier;
    works.push_back(*work);
  }
  return has_failed ? fail(CUDA_ERROR_INVALID_VALUE) : in_stream(stream, std::move(works));
}

CUresult virtual_cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned flags) {
  return cuStreamWaitValue32_v2(stream, address, value, flags);
}
CUresult virtual_cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                     unsigned flags) {
  return cuStreamWaitValue64_v2(stream, address, value, flags);
}
CUresult virtual_cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                      unsigned flags) {
  return cuStreamWriteValue32_v2(stream, address, value, flags);
}
CUresult virtual_cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                      unsigned flags) {
  return cuStreamWriteValue64_v2(stream, address, value, flags);
}
CUresult virtual_cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* all,
                                    unsigned flags) {
  return cuStreamBatchMemOp_v2(stream, count, all, flags);
}

}  // extern "C"
