// A call of a cuSPARSE function: its handle, its status, its scalars and its buffer.
#pragma once

#include <cusparse.h>
#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <string>
#include <utility>

#include "vgpu/libraries/elements.hpp"
#include "vgpu/libraries/stand_in.hpp"

// The object behind a handle.
struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;
};

namespace warpcheck::libraries::sparse {

// Sums of all types, including real ones, are computed in double precision and rounded once.
using Number = std::complex<double>;

inline Number number_at(cudaDataType type, const std::byte* from, std::int64_t index) {
  return {real_at(type, from, index), imaginary_at(type, from, index)};
}
inline void put_number(cudaDataType type, std::byte* to, std::int64_t index, Number value) {
  put_at(type, to, index, value.real(), value.imag());
}

struct SparseCall : Call {
  cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;

  // Must be the last step of a call.
  static void finish(Operation& operation);
};

// A call that the documentation forbids, or that the virtual GPU could not execute.
struct Rejected {
  cusparseStatus_t status = CUSPARSE_STATUS_INVALID_VALUE;
  std::string why;
};

template <typename... Values>
void require(bool condition, fmt::format_string<Values...> why, Values&&... values) {
  if (condition) return;
  throw Rejected{CUSPARSE_STATUS_INVALID_VALUE, fmt::format(why, std::forward<Values>(values)...)};
}

// Returns nullptr for a handle that was not created, or was destroyed.
cusparseContext* find_handle(cusparseHandle_t handle);
const char* name_of(cusparseStatus_t status);

// Returns the status for the current exception; must be called in its handler.
cusparseStatus_t rejected(const Call& call);

// Runs body(call), which throws if it cannot be executed.
template <typename Body>
cusparseStatus_t answer(const Call& made, cusparseHandle_t handle, Body&& body) {
  try {
    const cusparseContext* const context = find_handle(handle);
    if (context == nullptr) {
      throw Rejected{CUSPARSE_STATUS_NOT_INITIALIZED,
                     "the handle is none that cusparseCreate() gave, or has been destroyed"};
    }
    SparseCall call{made, context->pointer_mode};
    call.stream = context->stream;
    body(call);
    return CUSPARSE_STATUS_SUCCESS;
  } catch (...) {
    return rejected(made);
  }
}
// Implements a function without a handle.
template <typename Body>
cusparseStatus_t answer(const Call& made, Body&& body) {
  try {
    body();
    return CUSPARSE_STATUS_SUCCESS;
  } catch (...) {
    return rejected(made);
  }
}
#define CALL() (warpcheck::libraries::Call{__func__, __builtin_return_address(0)})

template <typename T>
void give(T* to, const T& value) {
  require(to != nullptr, "the place of an answer is a null pointer");
  *to = value;
}

inline std::uint32_t element_bytes(cudaDataType type) {
  const std::uint32_t bytes = bytes_of(type);
  if (bytes == 0) throw Refused{fmt::format("elements of type {}", static_cast<int>(type))};
  return bytes;
}

// A scalar argument: read at the call if it is in host memory, or when the function runs if it is
// in device memory.
class Scalar {
 public:
  Scalar(const SparseCall& call, Operation& operation, const char* name, const void* pointer,
         cudaDataType type);
  // Returns whether it is known to be zero before the function runs.
  [[nodiscard]] bool is_zero() const { return is_known_ && value_ == Number{}; }
  [[nodiscard]] Number in(const Views& views) const;

 private:
  cudaDataType type_;
  bool is_known_ = false;
  Number value_;
  std::size_t region_ = 0;
};

// All functions that need a buffer request this size, and leave undefined values in it.
constexpr std::size_t kBufferBytes = 256;
void use_buffer(Operation& operation, void* buffer);

inline bool is_transposed(cusparseOperation_t operation) {
  require(operation >= CUSPARSE_OPERATION_NON_TRANSPOSE &&
              operation <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
          "operation {} is none", static_cast<int>(operation));
  return operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
}
inline Number applied(cusparseOperation_t operation, Number value) {
  return operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(value) : value;
}

}  // namespace warpcheck::libraries::sparse
