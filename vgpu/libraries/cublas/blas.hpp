// OpenBLAS functions selected by the types of their arguments, and its enumerations.
#pragma once

#include <cblas.h>
#include <cuComplex.h>
#include <cublas_api.h>

#include <complex>
#include <type_traits>

#include "vgpu/libraries/cublas/call.hpp"

namespace warpcheck::libraries::cublas {

template <typename T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>;
// The real type: float for cuComplex.
template <typename T>
struct RealOf {
  using Type = T;
};
template <>
struct RealOf<cuComplex> {
  using Type = float;
};
template <>
struct RealOf<cuDoubleComplex> {
  using Type = double;
};
template <typename T>
using Real = typename RealOf<T>::Type;

// Passes a scalar as CBLAS expects it: a complex one by its address.
inline float by(const float& value) { return value; }
inline double by(const double& value) { return value; }
inline const void* by(const cuComplex& value) { return &value; }
inline const void* by(const cuDoubleComplex& value) { return &value; }

template <typename T>
struct Blas;

#define WARPCHECK_BLAS_ALL(p)                     \
  static constexpr auto axpy = cblas_##p##axpy;   \
  static constexpr auto copy = cblas_##p##copy;   \
  static constexpr auto swap = cblas_##p##swap;   \
  static constexpr auto scal = cblas_##p##scal;   \
  static constexpr auto gemv = cblas_##p##gemv;   \
  static constexpr auto gbmv = cblas_##p##gbmv;   \
  static constexpr auto trmv = cblas_##p##trmv;   \
  static constexpr auto trsv = cblas_##p##trsv;   \
  static constexpr auto tbmv = cblas_##p##tbmv;   \
  static constexpr auto tbsv = cblas_##p##tbsv;   \
  static constexpr auto tpmv = cblas_##p##tpmv;   \
  static constexpr auto tpsv = cblas_##p##tpsv;   \
  static constexpr auto gemm = cblas_##p##gemm;   \
  static constexpr auto symm = cblas_##p##symm;   \
  static constexpr auto syrk = cblas_##p##syrk;   \
  static constexpr auto syr2k = cblas_##p##syr2k; \
  static constexpr auto trmm = cblas_##p##trmm;   \
  static constexpr auto trsm = cblas_##p##trsm;
#define WARPCHECK_BLAS_REAL(T, p)                   \
  template <>                                       \
  struct Blas<T> {                                  \
    WARPCHECK_BLAS_ALL(p)                           \
    static constexpr auto nrm2 = cblas_##p##nrm2;   \
    static constexpr auto asum = cblas_##p##asum;   \
    static constexpr auto rot = cblas_##p##rot;     \
    static constexpr auto rotg = cblas_##p##rotg;   \
    static constexpr auto rotm = cblas_##p##rotm;   \
    static constexpr auto rotmg = cblas_##p##rotmg; \
    static constexpr auto dot = cblas_##p##dot;     \
    static constexpr auto ger = cblas_##p##ger;     \
    static constexpr auto symv = cblas_##p##symv;   \
    static constexpr auto sbmv = cblas_##p##sbmv;   \
    static constexpr auto spmv = cblas_##p##spmv;   \
    static constexpr auto syr = cblas_##p##syr;     \
    static constexpr auto spr = cblas_##p##spr;     \
    static constexpr auto syr2 = cblas_##p##syr2;   \
    static constexpr auto spr2 = cblas_##p##spr2;   \
    /* A real symmetric matrix is Hermitian. */     \
    static constexpr auto hemv = cblas_##p##symv;   \
    static constexpr auto hbmv = cblas_##p##sbmv;   \
    static constexpr auto hpmv = cblas_##p##spmv;   \
    static constexpr auto hpr = cblas_##p##spr;     \
    static constexpr auto her2 = cblas_##p##syr2;   \
    static constexpr auto hpr2 = cblas_##p##spr2;   \
  };
#define WARPCHECK_BLAS_COMPLEX(T, p, r)                   \
  template <>                                             \
  struct Blas<T> {                                        \
    WARPCHECK_BLAS_ALL(p)                                 \
    static constexpr auto nrm2 = cblas_##r##p##nrm2;      \
    static constexpr auto asum = cblas_##r##p##asum;      \
    static constexpr auto scal_real = cblas_##p##r##scal; \
    static constexpr auto dotu = cblas_##p##dotu_sub;     \
    static constexpr auto dotc = cblas_##p##dotc_sub;     \
    static constexpr auto geru = cblas_##p##geru;         \
    static constexpr auto gerc = cblas_##p##gerc;         \
    static constexpr auto hemv = cblas_##p##hemv;         \
    static constexpr auto hbmv = cblas_##p##hbmv;         \
    static constexpr auto hpmv = cblas_##p##hpmv;         \
    static constexpr auto her = cblas_##p##her;           \
    static constexpr auto hpr = cblas_##p##hpr;           \
    static constexpr auto her2 = cblas_##p##her2;         \
    static constexpr auto hpr2 = cblas_##p##hpr2;         \
    static constexpr auto hemm = cblas_##p##hemm;         \
    static constexpr auto herk = cblas_##p##herk;         \
    static constexpr auto her2k = cblas_##p##her2k;       \
  };
WARPCHECK_BLAS_REAL(float, s)
WARPCHECK_BLAS_REAL(double, d)
WARPCHECK_BLAS_COMPLEX(cuComplex, c, s)
WARPCHECK_BLAS_COMPLEX(cuDoubleComplex, z, d)
#undef WARPCHECK_BLAS_ALL
#undef WARPCHECK_BLAS_REAL
#undef WARPCHECK_BLAS_COMPLEX

// cuComplex has the layout of std::complex, which has arithmetic.
inline float value_of(float value) { return value; }
inline double value_of(double value) { return value; }
inline std::complex<float> value_of(cuComplex value) { return {value.x, value.y}; }
inline std::complex<double> value_of(cuDoubleComplex value) { return {value.x, value.y}; }
inline void assign(float& to, float value) { to = value; }
inline void assign(double& to, double value) { to = value; }
inline void assign(cuComplex& to, std::complex<float> value) { to = {value.real(), value.imag()}; }
inline void assign(cuDoubleComplex& to, std::complex<double> value) {
  to = {value.real(), value.imag()};
}
template <typename T>
auto conjugate(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    return std::conj(value);
  }
}

inline CBLAS_TRANSPOSE operation_of(const char* name, cublasOperation_t operation) {
  switch (static_cast<int>(operation)) {
    case CUBLAS_OP_N: return CblasNoTrans;
    case CUBLAS_OP_T: return CblasTrans;
    case CUBLAS_OP_C: return CblasConjTrans;
    default:
      throw Rejected{CUBLAS_STATUS_INVALID_VALUE,
                     fmt::format("{} is {}, none of CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C", name,
                                 static_cast<int>(operation))};
  }
}
inline CBLAS_UPLO part_of(cublasFillMode_t fill) {
  require(fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER,
          "uplo is {}, neither CUBLAS_FILL_MODE_LOWER nor CUBLAS_FILL_MODE_UPPER",
          static_cast<int>(fill));
  return fill == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}
inline CBLAS_DIAG diagonal_of(cublasDiagType_t diagonal) {
  require(diagonal == CUBLAS_DIAG_NON_UNIT || diagonal == CUBLAS_DIAG_UNIT,
          "diag is {}, neither CUBLAS_DIAG_NON_UNIT nor CUBLAS_DIAG_UNIT",
          static_cast<int>(diagonal));
  return diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}
inline CBLAS_SIDE side_of(cublasSideMode_t side) {
  require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT,
          "side is {}, neither CUBLAS_SIDE_LEFT nor CUBLAS_SIDE_RIGHT", static_cast<int>(side));
  return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}

template <typename T>
Region triangle_of(const char* name, const T* pointer, cublasFillMode_t fill, std::int64_t order,
                   std::int64_t leading) {
  return triangle(name, pointer, sizeof(T), fill == CUBLAS_FILL_MODE_LOWER, order, leading);
}

}  // namespace warpcheck::libraries::cublas
