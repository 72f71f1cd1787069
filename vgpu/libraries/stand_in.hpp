// The base of all libraries that replace one of the vendor's: calls, their regions of memory, and
// the operations that they request (vgpu/cudart/libraries/library_interface.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/cudart/libraries/library_interface.hpp"

namespace warpcheck::libraries {

using cudart::LibraryMemory;
using cudart::LibraryView;

inline const cudart::LibraryServices& services() { return *::warpcheck_library_services(); }

// A call of a library function.
struct Call {
  const char* function = "";             // "cublasSgemm"
  const void* return_address = nullptr;  // in the program
  cudaStream_t stream = nullptr;
};

// Thrown for an unsupported operation: the library's functions refuse it by name.
struct Refused {
  std::string why;
};

// A region with its own copy of its name.
struct Region {
  std::string name;  // "A", followed by "64 x 64, lda 60"
  void* pointer = nullptr;
  std::uint32_t element_bytes = 1;
  std::int64_t width = 0, height = 1, depth = 1;  // as in LibraryRegion
  std::int64_t pitch = 0, slice = 0;
  cudart::RowShape shape;
  bool on_host = false;
  bool addresses = false;
  bool leaves_undefined = false;

  // Makes it a batch of `count` regions, `stride` elements apart.
  Region batch(std::int64_t count, std::int64_t stride) &&;
};

// A matrix in BLAS order: the `rows` elements of each column are adjacent.
Region matrix(std::string_view name, const void* pointer, std::size_t element_bytes,
              std::int64_t rows, std::int64_t columns, std::int64_t leading);
// The lower or upper triangle of a matrix, including the diagonal.
Region triangle(std::string_view name, const void* pointer, std::size_t element_bytes,
                bool is_lower, std::int64_t order, std::int64_t leading);
// A band matrix: the elements inside the matrix of the diagonals that BLAS stores as rows, with
// adjacent elements of each column.
Region band(std::string_view name, const void* pointer, std::size_t element_bytes,
            std::int64_t rows, std::int64_t columns, std::int64_t below, std::int64_t above,
            std::int64_t leading);
// `count` elements, `increment` apart; if that is negative, in reverse order from the same address
// on.
Region vector(std::string_view name, const void* pointer, std::size_t element_bytes,
              std::int64_t count, std::int64_t increment);
// `count` adjacent elements.
Region array(std::string_view name, const void* pointer, std::size_t element_bytes,
             std::int64_t count);

// The bytes of the regions, by number, while the function computes.
class Views {
 public:
  explicit Views(const LibraryView* views) : views_(views) {}

  template <typename T>
  [[nodiscard]] T* data(std::size_t region, std::int64_t slice = 0) const {
    const LibraryView& view = views_[region];
    return reinterpret_cast<T*>(view.data + slice * view.slice);
  }
  // The distance in elements between columns of a matrix, or between elements of a vector.
  template <typename T>
  [[nodiscard]] std::int64_t pitch(std::size_t region) const {
    return views_[region].pitch / static_cast<std::int64_t>(sizeof(T));
  }
  [[nodiscard]] const LibraryView& operator[](std::size_t region) const { return views_[region]; }

 private:
  const LibraryView* views_;
};

class Operation {
 public:
  explicit Operation(const Call& call) : call_(call), state_(std::make_unique<State>()) {}

  // Each function returns the region's number.
  std::size_t read(Region region) { return add(std::move(region), true, false); }
  std::size_t write(Region region) { return add(std::move(region), false, true); }
  std::size_t update(Region region) { return add(std::move(region), true, true); }
  // The operation reads the region and leaves undefined values in it.
  std::size_t consume(Region region) {
    region.leaves_undefined = true;
    return add(std::move(region), true, true);
  }
  // Sets the function that computes the written regions from the read regions and nothing else; it
  // may be called several times.
  void computes(std::function<void(const Views&)> compute) { state_->compute = std::move(compute); }

  // Further regions whose addresses are in the first ones; they get the next numbers.
  class More {
   public:
    More(const More&) = delete;
    More& operator=(const Operation::More&) = delete;
    void read(Region region) { add(std::move(region), true, false); }
    void write(Region region) { add(std::move(region), false, true); }
    void update(Region region) { add(std::move(region), true, true); }

   private:
    friend class Operation;
    using Add = void (*)(void*, const cudart::LibraryRegion*);
    More(const char* function, void* sink, Add add_to)
        : function_(function), sink_(sink), add_(add_to) {}
    void add(Region region, bool reads, bool writes);
    const char* function_;
    void* sink_;
    Add add_;
  };
  void expands(std::function<void(const Views&, More&)> expand) {
    state_->expand = std::move(expand);
  }
  // Makes the call return after the operation has run.
  void waits() { waits_ = true; }
  // Returns the number of regions so far.
  [[nodiscard]] std::size_t regions() const { return regions_.size(); }

  // Must be called once.
  cudaError_t enqueue();

 private:
  struct State {
    const char* function = "";
    std::function<void(const Views&)> compute;
    std::function<void(const Views&, More&)> expand;
  };
  std::size_t add(Region region, bool reads, bool writes);

  Call call_;
  std::unique_ptr<State> state_;
  std::vector<std::pair<Region, cudart::LibraryRegion>> regions_;
  bool waits_ = false;
};

// A copy as by cudaMemcpy2D: `rows` rows of `width` bytes.
struct Copy {
  void* target = nullptr;
  std::size_t target_pitch = 0;
  const void* source = nullptr;
  std::size_t source_pitch = 0;
  std::size_t width = 0, rows = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  bool asynchronous = false;
};
cudaError_t copy(const Call& call, const Copy& copy);

// Reports a failed call; arguments: "m 4, n 4, lda 3", or empty.
void report_failure(const Call& call, std::string_view arguments, const char* answer,
                    const std::string& why);
void refuse(const char* function, std::string_view why);

}  // namespace warpcheck::libraries
