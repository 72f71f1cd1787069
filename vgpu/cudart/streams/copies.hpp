// Copies and fills of memory: linear, pitched, and of three dimensions, with every range checked
// when they are asked for and again when they run (copy_runner.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

// How a call copies.
enum class Waiting : std::uint8_t { until_done, asynchronous };

// Asks for a copy in a stream, for the API function `call`; kind: the number of a cudaMemcpyKind,
// or of none.  Errors as measured on CUDA 13.0: cudaErrorInvalidValue for a side that is not what
// `kind` says, a null pointer, or a range outside one allocation (the last is a finding too);
// cudaErrorInvalidMemcpyDirection for a kind that is none; cudaErrorInvalidPitchValue for a pitch
// below the width.
//
// CUDA Runtime API, "API synchronization behavior": a copy between device memory and device memory
// never waits; an asynchronous one waits if it takes bytes to pageable memory or from host to host,
// and takes bytes of pageable memory at once, into a buffer of its own.
cudaError_t copy(Device& device, std::string_view call, const Place& target, const Place& source,
                 const Box& box, int kind, Stream& stream, Waiting waiting);

// Takes the bytes of the source now.
void stage(CopyWork& work);

// Checks a copy and makes its work, for a graph.  cudaSuccess with a box of no bytes does nothing.
cudaError_t prepare(Device& device, CopyWork& work);
cudaError_t prepare(Device& device, FillWork& work);

// The places and the box of a copy of three dimensions, in *work.
cudaError_t describe_copy(Device& device, const cudaMemcpy3DParms* parameters, CopyWork& work);

// Asks for a fill.  It never waits, unless the memory is the host's as well.
cudaError_t fill(Device& device, std::string_view call, const Place& target, std::uint32_t value,
                 const Box& box, Stream& stream, Waiting waiting, unsigned element_bytes = 1);

}  // namespace warpcheck::cudart
