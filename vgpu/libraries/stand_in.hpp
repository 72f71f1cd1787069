// What every library that stands for one of the vendor's is written with: a call, the regions of
// memory that it is about, and the operation that it asks for
// (vgpu/cudart/libraries/library_interface.hpp).
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

// A call of a function of the library.
struct Call {
  const char* function = "";             // "cublasSgemm"
  const void* return_address = nullptr;  // in the program
  cudaStream_t stream = nullptr;
};

// What cannot be done, thrown by what a call leads to: the library's functions refuse it by name.
struct Refused {
  std::string why;
};

// A region with a name of its own.
struct Region {
  std::string name;  // "A", with "64 x 64, lda 60" behind it
  void* pointer = nullptr;
  std::uint32_t element_bytes = 1;
  std::int64_t width = 0, height = 1, depth = 1;  // as of LibraryRegion
  std::int64_t pitch = 0, slice = 0;
  cudart::RowShape shape;
  bool on_host = false;
  bool addresses = false;
  bool leaves_undefined = false;

  // So many of them, `stride` elements from each other.
  Region batch(std::int64_t count, std::int64_t stride) &&;
};

// A matrix in the order of BLAS: `rows` elements of each column lie side by side.
Region matrix(std::string_view name, const void* pointer, std::size_t element_bytes,
              std::int64_t rows, std::int64_t columns, std::int64_t leading);
// Its lower or upper triangle, with the diagonal.
Region triangle(std::string_view name, const void* pointer, std::size_t element_bytes,
                bool is_lower, std::int64_t order, std::int64_t leading);
// What is inside a matrix of the diagonals that BLAS stores as rows, each column's side by side.
Region band(std::string_view name, const void* pointer, std::size_t element_bytes,
            std::int64_t rows, std::int64_t columns, std::int64_t below, std::int64_t above,
            std::int64_t leading);
// `count` elements, `increment` apart; backwards where that is negative, from the same address on.
Region vector(std::string_view name, const void* pointer, std::size_t element_bytes,
              std::int64_t count, std::int64_t increment);
// `count` elements side by side.
Region array(std::string_view name, const void* pointer, std::size_t element_bytes,
             std::int64_t count);

// The bytes of the regions, by their numbers, while the function computes.
class Views {
 public:
  explicit Views(const LibraryView* views) : views_(views) {}

  template <typename T>
  [[nodiscard]] T* data(std::size_t region, std::int64_t slice = 0) const {
    const LibraryView& view = views_[region];
    return reinterpret_cast<T*>(view.data + slice * view.slice);
  }
  // In elements: between columns of a matrix, or elements of a vector.
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

  // Each answers the region's number.
  std::size_t read(Region region) { return add(std::move(region), true, false); }
  std::size_t write(Region region) { return add(std::move(region), false, true); }
  std::size_t update(Region region) { return add(std::move(region), true, true); }
  // Reads it, and leaves nothing there that anybody may rely on.
  std::size_t consume(Region region) {
    region.leaves_undefined = true;
    return add(std::move(region), true, true);
  }
  // Computes what is written from what is read and nothing else, as often as it is called.
  void computes(std::function<void(const Views&)> compute) { state_->compute = std::move(compute); }

  // Regions that others hold the addresses of; they are numbered on.
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
  // The call returns when it has been done.
  void waits() { waits_ = true; }
  // So many so far.
  [[nodiscard]] std::size_t regions() const { return regions_.size(); }

  // To be called once.
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

// A copy as cudaMemcpy2D makes it, `rows` rows of `width` bytes.
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

// Tells a call that has failed; arguments: "m 4, n 4, lda 3", or nothing.
void tell_failure(const Call& call, std::string_view arguments, const char* answer,
                  const std::string& why);
void refuse(const char* function, std::string_view why);

}  // namespace warpcheck::libraries
