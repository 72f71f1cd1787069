// Elements whose type is an argument (cudaDataType): their sizes, and what they are as numbers.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <library_types.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "vgpu/libraries/cublas/blas.hpp"

namespace warpcheck::libraries::cublas {

// 0: a type that is not supported.
inline std::uint32_t bytes_of(cudaDataType type) {
  switch (static_cast<int>(type)) {
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2: return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_64F:
    case CUDA_C_32F: return 8;
    case CUDA_C_64F: return 16;
    default: return 0;
  }
}
inline bool is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

template <typename T>
T load_as(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Element `index` as a number; of a complex one, its real part.
inline double real_at(cudaDataType type, const void* from, std::int64_t index) {
  const auto* const at =
      static_cast<const std::byte*>(from) + index * static_cast<std::int64_t>(bytes_of(type));
  switch (static_cast<int>(type)) {
    case CUDA_R_8I: return load_as<std::int8_t>(at);
    case CUDA_R_8U: return load_as<std::uint8_t>(at);
    case CUDA_R_8F_E4M3: return static_cast<float>(load_as<__nv_fp8_e4m3>(at));
    case CUDA_R_8F_E5M2: return static_cast<float>(load_as<__nv_fp8_e5m2>(at));
    case CUDA_R_16F: return __half2float(load_as<__half>(at));
    case CUDA_R_16BF: return __bfloat162float(load_as<__nv_bfloat16>(at));
    case CUDA_R_32I: return load_as<std::int32_t>(at);
    case CUDA_R_32F:
    case CUDA_C_32F: return load_as<float>(at);
    default: return load_as<double>(at);
  }
}
inline double imaginary_at(cudaDataType type, const void* from, std::int64_t index) {
  if (type == CUDA_C_32F) return static_cast<const float*>(from)[2 * index + 1];
  return type == CUDA_C_64F ? static_cast<const double*>(from)[2 * index + 1] : 0;
}

template <typename Integer>
Integer rounded(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kMin = std::numeric_limits<Integer>::min();
  constexpr double kMax = std::numeric_limits<Integer>::max();
  return static_cast<Integer>(std::clamp(std::nearbyint(value), kMin, kMax));
}

inline void put_at(cudaDataType type, void* to, std::int64_t index, double real,
                   double imaginary = 0) {
  auto* const at = static_cast<std::byte*>(to) + index * static_cast<std::int64_t>(bytes_of(type));
  const auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (static_cast<int>(type)) {
    case CUDA_R_8I: return put(rounded<std::int8_t>(real));
    case CUDA_R_8U: return put(rounded<std::uint8_t>(real));
    case CUDA_R_8F_E4M3: return put(__nv_fp8_e4m3(static_cast<float>(real)));
    case CUDA_R_8F_E5M2: return put(__nv_fp8_e5m2(static_cast<float>(real)));
    case CUDA_R_16F: return put(__float2half(static_cast<float>(real)));
    case CUDA_R_16BF: return put(__float2bfloat16(static_cast<float>(real)));
    case CUDA_R_32I: return put(rounded<std::int32_t>(real));
    case CUDA_R_32F: return put(static_cast<float>(real));
    case CUDA_R_64F: return put(real);
    case CUDA_C_32F: return put(cuComplex{static_cast<float>(real), static_cast<float>(imaginary)});
    default: return put(cuDoubleComplex{real, imaginary});
  }
}

// T as a cudaDataType.
template <typename T>
inline constexpr cudaDataType kTypeOf = CUDA_R_32F;
template <>
inline constexpr cudaDataType kTypeOf<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kTypeOf<cuComplex> = CUDA_C_32F;
template <>
inline constexpr cudaDataType kTypeOf<cuDoubleComplex> = CUDA_C_64F;
template <>
inline constexpr cudaDataType kTypeOf<__half> = CUDA_R_16F;
template <>
inline constexpr cudaDataType kTypeOf<__nv_bfloat16> = CUDA_R_16BF;

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

// A matrix whose elements are numbers of type T, where they are stored as another.
template <typename T>
class Numbers {
 public:
  // reads: the elements matter
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
