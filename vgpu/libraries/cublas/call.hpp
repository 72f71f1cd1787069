// A call of a cuBLAS function: its handle, its status, and its arguments as regions of memory.
//
// Arguments that the documentation calls invalid are rejected with the documented status, and
// reported as a failed call.  Sizes of zero are no errors.
#pragma once

#include <cublas_api.h>
#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "vgpu/libraries/stand_in.hpp"

// The object behind a handle.
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  int multiprocessors = 0;
};

namespace warpcheck::libraries::cublas {

inline bool operator==(const cuComplex& a, const cuComplex& b) { return a.x == b.x && a.y == b.y; }
inline bool operator==(const cuDoubleComplex& a, const cuDoubleComplex& b) {
  return a.x == b.x && a.y == b.y;
}

struct BlasCall : Call {
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;

  // Must be the last step of a call.
  void finish(Operation& operation);
};

// A call that the documentation forbids, or that the virtual GPU could not execute.
struct Rejected {
  cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE;
  std::string why;
};

template <typename... Values>
void require(bool condition, fmt::format_string<Values...> why, Values&&... values) {
  if (condition) return;
  throw Rejected{CUBLAS_STATUS_INVALID_VALUE, fmt::format(why, std::forward<Values>(values)...)};
}

// Returns nullptr for a handle that was not created, or was destroyed.
cublasContext* find_handle(cublasHandle_t handle);
const char* name_of(cublasStatus_t status);
const char* text_of(cublasStatus_t status);

struct Count {
  const char* name;
  std::int64_t value;
};

// Returns the status for the current exception; must be called in its handler.
cublasStatus_t rejected(const Call& call, std::initializer_list<Count> counts);

// The body of a function, as a reference to a callable that outlives it.  Otherwise each of
// hundreds of functions would have its own instance of answer(), which took half of their compile
// time.
class Body {
 public:
  template <typename Callable>
  Body(const Callable& callable)  // NOLINT(google-explicit-constructor)
      : callable_(&callable), call_([](const void* function, BlasCall& call) {
          (*static_cast<const Callable*>(function))(call);
        }) {}
  void operator()(BlasCall& call) const { call_(callable_, call); }

 private:
  const void* callable_;
  void (*call_)(const void* function, BlasCall& call);
};

// Runs `body(call)`, which throws if it cannot be executed.
cublasStatus_t answer(const Call& made, cublasHandle_t handle, Body body,
                      std::initializer_list<Count> counts);

// Refuses a function that is not supported here.
cublasStatus_t refused(const char* function);

// ---- common checks of arguments ----

inline void require_size(const char* name, std::int64_t size) {
  require(size >= 0, "{} is {}, less than 0", name, size);
}
inline void require_increment(const char* name, std::int64_t increment) {
  require(increment != 0, "{} is 0", name);
}
inline void require_leading(const char* name, std::int64_t leading, std::int64_t rows) {
  require(leading >= std::max<std::int64_t>(1, rows), "{} is {}, less than {}", name, leading,
          std::max<std::int64_t>(1, rows));
}

// A scalar argument: read at the call if it is in host memory, or when the function runs if it is
// in device memory.
template <typename T>
class Scalar {
 public:
  Scalar(const BlasCall& call, Operation& operation, const char* name, const T* pointer) {
    require(pointer != nullptr, "{} is a null pointer", name);
    Region region = array(name, pointer, sizeof(T), 1);
    region.on_host = call.pointer_mode == CUBLAS_POINTER_MODE_HOST;
    // The host cannot read device memory; the operation reports that.
    is_known_ = region.on_host && services().memory_at(pointer) != LibraryMemory::device;
    if (is_known_) {
      value_ = *pointer;
    } else {
      region_ = operation.read(std::move(region));
    }
  }
  // Returns whether it is known to be zero before the function runs.
  [[nodiscard]] bool is_zero() const { return is_known_ && value_ == T{}; }
  [[nodiscard]] T in(const Views& views) const {
    return is_known_ ? value_ : *views.data<T>(region_);
  }

 private:
  bool is_known_ = false;
  T value_{};
  std::size_t region_ = 0;
};

// Returns the region of a result in host memory, for which the call waits, or in device memory.
inline Region result_region(const BlasCall& call, Operation& operation, const char* name,
                            const void* pointer, std::size_t bytes, std::int64_t count = 1) {
  require(pointer != nullptr, "{} is a null pointer", name);
  Region region = array(name, pointer, bytes, count);
  region.on_host = call.pointer_mode == CUBLAS_POINTER_MODE_HOST;
  if (region.on_host) operation.waits();
  return region;
}

// A vector argument.
template <typename T>
class Vector {
 public:
  Vector(std::size_t region, std::int64_t count, std::int64_t increment)
      : region_(region), count_(static_cast<int>(count)), increment_(increment) {}
  [[nodiscard]] T* in(const Views& views, std::int64_t slice = 0) const {
    return views.data<T>(region_, slice);
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int increment(const Views& views) const {
    if (increment_ == 1 || increment_ == -1) return static_cast<int>(increment_);
    const auto pitch = static_cast<int>(views.pitch<T>(region_));
    return increment_ < 0 ? -pitch : pitch;
  }
  // Returns element i.
  [[nodiscard]] T& at(const Views& views, std::int64_t i, std::int64_t slice = 0) const {
    const std::int64_t step = increment(views);
    return in(views, slice)[step < 0 ? (i - count_ + 1) * step : i * step];
  }

 private:
  std::size_t region_;
  int count_;
  std::int64_t increment_;
};

template <typename T>
Region vector_of(const char* name, const T* pointer, std::int64_t count, std::int64_t increment) {
  return vector(name, pointer, sizeof(T), count, increment);
}

// A matrix argument.
template <typename T>
class Matrix {
 public:
  Matrix() = default;
  explicit Matrix(std::size_t region) : region_(region) {}
  [[nodiscard]] T* in(const Views& views, std::int64_t slice = 0) const {
    return views.data<T>(region_, slice);
  }
  [[nodiscard]] int leading(const Views& views) const {
    return static_cast<int>(std::max<std::int64_t>(views.pitch<T>(region_), 1));
  }

 private:
  std::size_t region_ = 0;
};

template <typename T>
Region matrix_of(const char* name, const T* pointer, std::int64_t rows, std::int64_t columns,
                 std::int64_t leading) {
  return matrix(name, pointer, sizeof(T), rows, columns, leading);
}

}  // namespace warpcheck::libraries::cublas
