// What the virtual GPU offers to libraries that stand for the vendor's (vgpu/libraries): functions
// that the host computes when their stream comes to them, checked as kernels are.
//
// Such a library is a shared library of its own, with a C++ runtime of its own, so that only plain
// data and functions of C pass between the two.  Both are built together: nothing here is stable.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "vgpu/cudart/streams/row_shape.hpp"

namespace warpcheck::cudart {

// Where in memory an operand lies: slices of rows of elements.  A matrix in the order of BLAS is a
// slice whose rows are the matrix's columns; a strided vector one whose rows have one element; a
// batch has several slices.
struct LibraryRegion {
  const char* name = "";    // "A of cublasSgemm, 64 x 64, lda 60"
  void* pointer = nullptr;  // to element 0 of row 0
  std::uint32_t element_bytes = 1;
  std::int64_t width = 0, height = 1, depth = 1;  // elements of a row, rows, slices
  std::int64_t pitch = 0, slice = 0;              // bytes from a row to the next; of slices
  RowShape shape{};                               // in elements
  bool reads = false, writes = false;
  bool leaves_undefined = false;  // it is overwritten, with what nobody may rely on
  bool on_host = false;           // memory that the function itself uses, not the device
  bool addresses = false;  // its values are addresses or indices: undefined ones are told at once
};

// The bytes of a region for the function that computes: at the region's own place, or elsewhere
// where that is not all memory.  Pitch and slice may be others than the region's.
struct LibraryView {
  std::byte* data = nullptr;
  std::int64_t pitch = 0, slice = 0;
};

// An operation to be done in a stream.
struct LibraryRequest {
  const char* function = "";             // "cublasSgemm"; lives as long as the process
  const void* return_address = nullptr;  // of the call in the program
  cudaStream_t stream = nullptr;
  const LibraryRegion* regions = nullptr;  // with their names they are copied
  std::size_t region_count = 0;
  // Of the library; a graph may compute it often.
  void* state = nullptr;
  // Names further regions, which the contents of the first ones lead to; may be null.
  void (*expand)(void* state, const LibraryView* views, void* sink,
                 void (*add)(void* sink, const LibraryRegion*)) = nullptr;
  // Computes what is written from what is read, and from nothing else: where bytes are undefined it
  // is called several times, to see what depends on them.
  void (*compute)(void* state, const LibraryView* views) = nullptr;
  void (*release)(void* state) = nullptr;
  bool waits = false;  // the call returns when it has been done
};

// A copy between host and device as cudaMemcpy2D makes it, by a function of a library.
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

// A call that has failed: a note of kind api-error.
struct LibraryFailure {
  const char* function = "";
  const void* return_address = nullptr;
  const char* call = "";    // "cublasSgemm(CUBLAS_OP_N, ...)", or the function's name
  const char* answer = "";  // "CUBLAS_STATUS_INVALID_VALUE"
  const char* why = "";     // "lda is 3, less than the 4 rows of A"
};

enum class LibraryMemory : std::uint8_t {
  host,    // or nothing
  device,  // the host cannot use it
  shared,  // managed, or page-locked
};

struct LibraryServices {
  cudaError_t (*enqueue)(const LibraryRequest*);
  cudaError_t (*copy)(const LibraryCopy*);
  void (*tell_failure)(const LibraryFailure*);
  // What cannot be done: `exec` reports it, and ends with the status of an unsupported program.
  void (*refuse)(const char* function, const char* why);
  LibraryMemory (*memory_at)(const void* pointer);
  // What a finding cannot be made of here: `exec` says it once, as "not checked: WHAT".
  void (*tell_gap)(const char* what);
};

}  // namespace warpcheck::cudart

// The one function that the libraries of the virtual GPU export beyond the runtime's.
extern "C" const warpcheck::cudart::LibraryServices* warpcheck_library_services();
