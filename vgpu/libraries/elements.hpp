// Elements whose type is an argument (cudaDataType): their sizes and numeric values.
#pragma once

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <library_types.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace warpcheck::libraries {

// The cudaDataType of T.
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

// Returns 0 for an unsupported type.
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

// Returns element `index` as a number; for a complex element, its real part.
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

}  // namespace warpcheck::libraries
