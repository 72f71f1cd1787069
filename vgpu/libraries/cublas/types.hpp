// Matrices and scalars whose element type is an argument, converted to the computing type.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "vgpu/libraries/cublas/blas.hpp"
#include "vgpu/libraries/elements.hpp"

namespace warpcheck::libraries::cublas {

template <typename T>
T number_at(cudaDataType type, const void* from, std::int64_t index) {
  T value{};
  if constexpr (kIsComplex<T>) {
    value.x = static_cast<Real<T>>(real_at(type, from, index));
    value.y = static_cast<Real<T>>(imaginary_at(type, from, index));
  } else {
    value = static_cast<T>(real_at(type, from, index));
  }
  return value;
}
template <typename T>
void put_number(cudaDataType type, void* to, std::int64_t index, const T& value) {
  if constexpr (kIsComplex<T>) {
    put_at(type, to, index, value.x, value.y);
  } else {
    put_at(type, to, index, value);
  }
}

// A matrix as numbers of type T, which may be stored in another type.
template <typename T>
class Numbers {
 public:
  // reads: the elements are needed
  Numbers(cudaDataType type, void* data, std::int64_t rows, std::int64_t columns,
          std::int64_t leading, bool reads = true)
      : type_(type), stored_(data), rows_(rows), columns_(columns), stored_leading_(leading) {
    if (type == kTypeOf<T>) {
      data_ = static_cast<T*>(data);
      return;
    }
    copy_.resize(static_cast<std::size_t>(rows * columns));
    data_ = copy_.data();
    for (std::int64_t i = 0; reads && i < rows * columns; ++i) {
      data_[i] = number_at<T>(type, data, i % rows + i / rows * leading);
    }
  }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] int leading() const {
    const std::int64_t leading = copy_.empty() ? stored_leading_ : rows_;
    return static_cast<int>(std::max<std::int64_t>(leading, 1));
  }
  void store() const {
    for (std::int64_t i = 0; i < std::ssize(copy_); ++i) {
      put_number(type_, stored_, i % rows_ + i / rows_ * stored_leading_, data_[i]);
    }
  }

 private:
  cudaDataType type_;
  void* stored_;
  std::int64_t rows_, columns_, stored_leading_;
  std::vector<T> copy_;
  T* data_ = nullptr;
};

// Returns the distance in elements from one column of a matrix, or one element of a vector, to the
// next.  The type must be supported; others are refused before a view exists.
inline std::int64_t stride_of(const LibraryView& view, cudaDataType type) {
  return view.pitch / std::max<std::int64_t>(bytes_of(type), 1);
}

// A scalar whose type is an argument.
class TypedScalar {
 public:
  TypedScalar(const BlasCall& call, Operation& operation, const char* name, const void* pointer,
              cudaDataType type)
      : type_(type) {
    require(pointer != nullptr, "{} is a null pointer", name);
    Region region = array(name, pointer, bytes_of(type), 1);
    region.on_host = call.pointer_mode == CUBLAS_POINTER_MODE_HOST;
    is_known_ = region.on_host && services().memory_at(pointer) != LibraryMemory::device;
    if (is_known_) {
      std::memcpy(value_, pointer, bytes_of(type));
    } else {
      region_ = operation.read(std::move(region));
    }
  }
  [[nodiscard]] bool is_zero() const {
    return is_known_ && real_at(type_, value_, 0) == 0 && imaginary_at(type_, value_, 0) == 0;
  }
  template <typename T>
  [[nodiscard]] T in(const Views& views) const {
    return number_at<T>(type_, is_known_ ? value_ : views.data<std::byte>(region_), 0);
  }

 private:
  cudaDataType type_;
  bool is_known_ = false;
  std::byte value_[16]{};
  std::size_t region_ = 0;
};

}  // namespace warpcheck::libraries::cublas
