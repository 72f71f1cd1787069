// The interface of the virtual GPU for libraries that replace the vendor's (vgpu/libraries): their
// functions are computed by the host when it is their turn in the stream, and checked like kernels.
//
// Such a library is a separate shared library with its own C++ runtime, so only plain data and C
// functions pass between the two.  Both are built together; the interface is not stable.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "vgpu/cudart/copies/row_shape.hpp"

namespace warpcheck::cudart {

// The place of an operand in memory: slices of rows of elements.  A matrix in BLAS order is a slice
// whose rows are the matrix's columns; a strided vector is a slice whose rows have one element; a
// batch has several slices.
struct LibraryRegion {
  const char* name = "";    // "A of cublasSgemm, 64 x 64, lda 60"
  void* pointer = nullptr;  // to element 0 of row 0
  std::uint32_t element_bytes = 1;
  std::int64_t width = 0, height = 1, depth = 1;  // elements of a row, rows, slices
  // bytes from one row to the next, and from one slice to the next
  std::int64_t pitch = 0, slice = 0;
  RowShape shape{};  // in elements
  bool reads = false, writes = false;
  bool leaves_undefined = false;  // it is overwritten with undefined values
  bool on_host = false;           // the function accesses host memory here
  // its values are addresses or indices: undefined ones are reported at once
  bool addresses = false;
};

// The bytes of a region for the computing function: at the region's own place, or elsewhere if the
// region is not entirely in memory.  Pitch and slice may differ from those of the region.
struct LibraryView {
  std::byte* data = nullptr;
  std::int64_t pitch = 0, slice = 0;
};

// An operation to be executed in a stream.
struct LibraryRequest {
  const char* function = "";             // "cublasSgemm"; lives as long as the process
  const void* return_address = nullptr;  // of the call in the program
  cudaStream_t stream = nullptr;
  const LibraryRegion* regions = nullptr;  // copied with their names
  std::size_t region_count = 0;
  // State of the library; a graph may compute it repeatedly.
  void* state = nullptr;
  // Adds regions that the contents of the first ones lead to; may be null.
  void (*expand)(void* state, const LibraryView* views, void* sink,
                 void (*add)(void* sink, const LibraryRegion*)) = nullptr;
  // Computes the written regions from the read regions and from nothing else: if bytes are
  // undefined, it is called several times to find what depends on them.
  void (*compute)(void* state, const LibraryView* views) = nullptr;
  void (*release)(void* state) = nullptr;
  bool waits = false;  // the call returns after the operation has run
};

// A copy between host and device as by cudaMemcpy2D, made by a library function.
struct LibraryCopy {
  const char* function = "";
  const void* return_address = nullptr;
  cudaStream_t stream = nullptr;
  void* target = nullptr;
  const void* source = nullptr;
  std::size_t target_pitch = 0, source_pitch = 0;
  std::size_t width = 0, height = 1;  // bytes, rows
  cudaMemcpyKind kind = cudaMemcpyDefault;
  bool asynchronous = false;
};

// A failed call: a note of kind api-error.
struct LibraryFailure {
  const char* function = "";
  const void* return_address = nullptr;
  const char* call = "";    // "cublasSgemm(CUBLAS_OP_N, ...)", or the function's name
  const char* answer = "";  // "CUBLAS_STATUS_INVALID_VALUE"
  const char* why = "";     // "lda is 3, less than the 4 rows of A"
};

enum class LibraryMemory : std::uint8_t {
  host,    // or no memory
  device,  // the host cannot access it
  shared,  // managed, or page-locked
};

struct LibraryServices {
  cudaError_t (*enqueue)(const LibraryRequest*);
  cudaError_t (*copy)(const LibraryCopy*);
  void (*report_failure)(const LibraryFailure*);
  // Refuses an unsupported operation: `exec` reports it, and ends with the status of an unsupported
  // program.
  void (*refuse)(const char* function, const char* why);
  LibraryMemory (*memory_at)(const void* pointer);
  // Reports something that is not checked here: `exec` shows it once, as "not checked: WHAT".
  void (*note_gap)(const char* what);
};

}  // namespace warpcheck::cudart

// The only function that the virtual GPU exports for libraries in addition to the runtime's
// functions.
extern "C" const warpcheck::cudart::LibraryServices* warpcheck_library_services();
