// Copies and fills of memory: linear, pitched, and three-dimensional.  Every range is checked when
// they are requested, and again when they run (copy_runner.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

// Whether a call waits for its copy.
enum class Waiting : std::uint8_t { until_done, asynchronous };

// Requests a copy in a stream, for the API function `call`; kind: the number of a cudaMemcpyKind,
// or an invalid number.  Errors as measured on CUDA 13.0: cudaErrorInvalidValue for a side that
// does not fit `kind`, a null pointer, or a range outside one allocation (which is a finding too);
// cudaErrorInvalidMemcpyDirection for an invalid kind; cudaErrorInvalidPitchValue for a pitch below
// the width.
//
// CUDA Runtime API, "API synchronization behavior": a copy between device memory and device memory
// never waits.  An asynchronous copy waits if it copies to pageable memory or from host to host; it
// copies bytes of pageable source memory at once to a buffer of its own.
cudaError_t copy(Device& device, std::string_view call, const Place& target, const Place& source,
                 const Box& box, int kind, Stream& stream, Waiting waiting);

// Copies the bytes of the source now.
void stage(CopyWork& work);

// Checks a copy and prepares its work, for a graph. cudaSuccess with an empty box: the copy does
// nothing.
cudaError_t prepare(Device& device, CopyWork& work);
cudaError_t prepare(Device& device, FillWork& work);

// Sets *work to the places and the box of a three-dimensional copy.
cudaError_t describe_copy(Device& device, const cudaMemcpy3DParms* parameters, CopyWork& work);

// Requests a fill.  It never waits, unless the host can also access the memory.
cudaError_t fill(Device& device, std::string_view call, const Place& target, std::uint32_t value,
                 const Box& box, Stream& stream, Waiting waiting, unsigned element_bytes = 1);

}  // namespace warpcheck::cudart
