// Level 1 functions whose element types are arguments (cublas...Ex).
//
// Sums are computed in double if any type is double, otherwise in single precision, because the
// execution type in the documentation's tables is never narrower.
#pragma once

#include "vgpu/libraries/cublas/batch.hpp"
#include "vgpu/libraries/cublas/level1.hpp"
#include "vgpu/libraries/cublas/types.hpp"

namespace warpcheck::libraries::cublas {

inline void require_types(std::initializer_list<cudaDataType> types) {
  for (const cudaDataType type : types) {
    if (bytes_of(type) != 0) continue;
    throw Rejected{CUBLAS_STATUS_NOT_SUPPORTED,
                   fmt::format("elements of type {} are not supported", static_cast<int>(type))};
  }
}

// A vector whose element type is an argument.
class TypedVector {
 public:
  TypedVector(std::size_t region, cudaDataType type, std::int64_t count, std::int64_t increment)
      : region_(region), type_(type), count_(count), increment_(increment) {}
  [[nodiscard]] std::int64_t count() const { return count_; }
  template <typename T>
  [[nodiscard]] T get(const Views& views, std::int64_t i) const {
    return number_at<T>(type_, views[region_].data, index(views, i));
  }
  template <typename T>
  void put(const Views& views, std::int64_t i, const T& value) const {
    put_number(type_, views[region_].data, index(views, i), value);
  }

 private:
  [[nodiscard]] std::int64_t index(const Views& views, std::int64_t i) const {
    const bool is_dense = increment_ == 1 || increment_ == -1;
    const std::int64_t step = is_dense ? 1 : stride_of(views[region_], type_);
    return (increment_ < 0 ? count_ - 1 - i : i) * step;
  }
  std::size_t region_;
  cudaDataType type_;
  std::int64_t count_, increment_;
};

inline TypedVector typed_vector(Operation& operation, Use use, const char* name, const void* x,
                                cudaDataType type, std::int64_t n, std::int64_t increment) {
  Region region = vector(name, x, bytes_of(type), n, increment);
  const std::size_t number = use == Use::read    ? operation.read(std::move(region))
                             : use == Use::write ? operation.write(std::move(region))
                                                 : operation.update(std::move(region));
  return {number, type, n, increment};
}

// Runs `run(a value of the computing type)`.
template <typename Run>
void with_computing_type(std::initializer_list<cudaDataType> types, Run&& run) {
  bool is_double = false, complex = false;
  for (const cudaDataType type : types) {
    is_double = is_double || type == CUDA_R_64F || type == CUDA_C_64F;
    complex = complex || is_complex(type);
  }
  if (complex) return is_double ? run(cuDoubleComplex{}) : run(cuComplex{});
  return is_double ? run(double{}) : run(float{});
}

inline void axpy_ex(BlasCall& call, std::int64_t n, const void* alpha, cudaDataType alpha_type,
                    const void* x, cudaDataType x_type, std::int64_t incx, void* y,
                    cudaDataType y_type, std::int64_t incy, cudaDataType execution) {
  require_types({alpha_type, x_type, y_type, execution});
  if (n <= 0) return;
  Operation operation(call);
  const TypedScalar a(call, operation, "alpha", alpha, alpha_type);
  if (a.is_zero()) return;
  const TypedVector from = typed_vector(operation, Use::read, "x", x, x_type, n, incx);
  const TypedVector to = typed_vector(operation, Use::update, "y", y, y_type, n, incy);
  operation.computes([=](const Views& views) {
    with_computing_type({x_type, y_type, execution}, [&](auto type) {
      using T = decltype(type);
      const auto factor = value_of(a.in<T>(views));
      for (std::int64_t i = 0; i < n; ++i) {
        T sum;
        assign(sum, factor * value_of(from.get<T>(views, i)) + value_of(to.get<T>(views, i)));
        to.put(views, i, sum);
      }
    });
  });
  call.finish(operation);
}

inline void copy_ex(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type,
                    std::int64_t incx, void* y, cudaDataType y_type, std::int64_t incy) {
  require_types({x_type, y_type});
  require(x_type == y_type, "the types of x and y differ");
  if (n <= 0) return;
  Operation operation(call);
  const TypedVector from = typed_vector(operation, Use::read, "x", x, x_type, n, incx);
  const TypedVector to = typed_vector(operation, Use::write, "y", y, y_type, n, incy);
  operation.computes([=](const Views& views) {
    for (std::int64_t i = 0; i < n; ++i) to.put(views, i, from.get<cuDoubleComplex>(views, i));
  });
  call.finish(operation);
}

inline void swap_ex(BlasCall& call, std::int64_t n, void* x, cudaDataType x_type, std::int64_t incx,
                    void* y, cudaDataType y_type, std::int64_t incy) {
  require_types({x_type, y_type});
  require(x_type == y_type, "the types of x and y differ");
  if (n <= 0) return;
  Operation operation(call);
  const TypedVector one = typed_vector(operation, Use::update, "x", x, x_type, n, incx);
  const TypedVector other = typed_vector(operation, Use::update, "y", y, y_type, n, incy);
  operation.computes([=](const Views& views) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto value = one.get<cuDoubleComplex>(views, i);
      one.put(views, i, other.get<cuDoubleComplex>(views, i));
      other.put(views, i, value);
    }
  });
  call.finish(operation);
}

inline void dot_typed(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type,
                      std::int64_t incx, const void* y, cudaDataType y_type, std::int64_t incy,
                      void* result, cudaDataType result_type, cudaDataType execution,
                      bool conjugates) {
  require_types({x_type, y_type, result_type, execution});
  Operation operation(call);
  const std::int64_t count = std::max<std::int64_t>(n, 0);
  const TypedVector one = typed_vector(operation, Use::read, "x", x, x_type, count, incx);
  const TypedVector other = typed_vector(operation, Use::read, "y", y, y_type, count, incy);
  const std::size_t to =
      operation.write(result_region(call, operation, "result", result, bytes_of(result_type)));
  operation.computes([=](const Views& views) {
    with_computing_type({x_type, y_type, execution}, [&](auto type) {
      using T = decltype(type);
      auto sum = value_of(T{});
      for (std::int64_t i = 0; i < count; ++i) {
        const auto value = value_of(one.get<T>(views, i));
        const decltype(value) factor = conjugates ? conjugate(value) : value;
        sum += factor * value_of(other.get<T>(views, i));
      }
      T total;
      assign(total, sum);
      put_number(result_type, views[to].data, 0, total);
    });
  });
  call.finish(operation);
}
inline void dot_ex(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type,
                   std::int64_t incx, const void* y, cudaDataType y_type, std::int64_t incy,
                   void* result, cudaDataType result_type, cudaDataType execution) {
  dot_typed(call, n, x, x_type, incx, y, y_type, incy, result, result_type, execution, false);
}
inline void dotc_ex(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type,
                    std::int64_t incx, const void* y, cudaDataType y_type, std::int64_t incy,
                    void* result, cudaDataType result_type, cudaDataType execution) {
  dot_typed(call, n, x, x_type, incx, y, y_type, incy, result, result_type, execution, true);
}

// compute(views, vector): returns a number.
template <typename Compute>
void reduce_ex(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type,
               std::int64_t incx, void* result, cudaDataType result_type, Compute compute) {
  require_types({x_type, result_type});
  Operation operation(call);
  const std::int64_t count = incx <= 0 ? 0 : std::max<std::int64_t>(n, 0);
  const TypedVector vector = typed_vector(operation, Use::read, "x", x, x_type, count, incx);
  const std::size_t to =
      operation.write(result_region(call, operation, "result", result, bytes_of(result_type)));
  operation.computes(
      [=](const Views& views) { put_at(result_type, views[to].data, 0, compute(views, vector)); });
  call.finish(operation);
}
inline void nrm2_ex(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type,
                    std::int64_t incx, void* result, cudaDataType result_type,
                    cudaDataType /*execution*/) {
  reduce_ex(call, n, x, x_type, incx, result, result_type,
            [](const Views& views, const TypedVector& vector) {
              double largest = 0, sum = 0;
              for (std::int64_t i = 0; i < vector.count(); ++i) {
                const auto value = vector.get<cuDoubleComplex>(views, i);
                for (const double part : {std::abs(value.x), std::abs(value.y)}) {
                  if (std::isnan(part)) return part;
                  largest = std::max(largest, part);
                }
              }
              if (largest == 0 || std::isinf(largest)) return largest;
              for (std::int64_t i = 0; i < vector.count(); ++i) {
                const auto value = vector.get<cuDoubleComplex>(views, i);
                const double real = value.x / largest, imaginary = value.y / largest;
                sum += real * real + imaginary * imaginary;
              }
              return largest * std::sqrt(sum);
            });
}
inline void asum_ex(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type,
                    std::int64_t incx, void* result, cudaDataType result_type,
                    cudaDataType execution) {
  // Not documented: an H200 does not support other types.
  const bool is_real = x_type == CUDA_R_32F || x_type == CUDA_R_64F;
  if (!is_real || result_type != x_type || execution != x_type) {
    throw Rejected{CUBLAS_STATUS_NOT_SUPPORTED,
                   fmt::format("there is no sum of sizes of type {} in type {} by type {}",
                               static_cast<int>(x_type), static_cast<int>(result_type),
                               static_cast<int>(execution))};
  }
  reduce_ex(call, n, x, x_type, incx, result, result_type,
            [](const Views& views, const TypedVector& vector) {
              double sum = 0;
              for (std::int64_t i = 0; i < vector.count(); ++i) {
                sum += size_of(vector.get<cuDoubleComplex>(views, i));
              }
              return sum;
            });
}

template <typename Index, typename Better>
void find_best_ex(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type,
                  std::int64_t incx, Index* result, Better better) {
  require_types({x_type});
  Operation operation(call);
  const std::int64_t count = incx <= 0 ? 0 : std::max<std::int64_t>(n, 0);
  const TypedVector vector = typed_vector(operation, Use::read, "x", x, x_type, count, incx);
  const std::size_t to =
      operation.write(result_region(call, operation, "result", result, sizeof(Index)));
  operation.computes([=](const Views& views) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < count; ++i) {
      const double size = size_of(vector.get<cuDoubleComplex>(views, i));
      if (better(size, size_of(vector.get<cuDoubleComplex>(views, best)))) best = i;
    }
    *views.data<Index>(to) = static_cast<Index>(count == 0 ? 0 : best + 1);
  });
  call.finish(operation);
}
template <typename Index>
void iamax_ex(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type, std::int64_t incx,
              Index* result) {
  find_best_ex(call, n, x, x_type, incx, result, std::greater<>());
}
template <typename Index>
void iamin_ex(BlasCall& call, std::int64_t n, const void* x, cudaDataType x_type, std::int64_t incx,
              Index* result) {
  find_best_ex(call, n, x, x_type, incx, result, std::less<>());
}

inline void scal_ex(BlasCall& call, std::int64_t n, const void* alpha, cudaDataType alpha_type,
                    void* x, cudaDataType x_type, std::int64_t incx, cudaDataType execution) {
  require_types({alpha_type, x_type, execution});
  if (n <= 0 || incx <= 0) return;
  Operation operation(call);
  const TypedScalar a(call, operation, "alpha", alpha, alpha_type);
  const TypedVector vector = typed_vector(operation, Use::update, "x", x, x_type, n, incx);
  operation.computes([=](const Views& views) {
    with_computing_type({x_type, execution}, [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < n; ++i) {
        T value;
        assign(value, value_of(a.in<T>(views)) * value_of(vector.get<T>(views, i)));
        vector.put(views, i, value);
      }
    });
  });
  call.finish(operation);
}

inline void rot_ex(BlasCall& call, std::int64_t n, void* x, cudaDataType x_type, std::int64_t incx,
                   void* y, cudaDataType y_type, std::int64_t incy, const void* c, const void* s,
                   cudaDataType cs_type, cudaDataType execution) {
  require_types({x_type, y_type, cs_type, execution});
  if (n <= 0) return;
  Operation operation(call);
  const TypedScalar cosine(call, operation, "c", c, cs_type),
      sine(call, operation, "s", s, cs_type);
  const TypedVector one = typed_vector(operation, Use::update, "x", x, x_type, n, incx);
  const TypedVector other = typed_vector(operation, Use::update, "y", y, y_type, n, incy);
  operation.computes([=](const Views& views) {
    with_computing_type({x_type, y_type, execution}, [&](auto type) {
      using T = decltype(type);
      const auto by_cosine = value_of(cosine.in<T>(views)), by_sine = value_of(sine.in<T>(views));
      for (std::int64_t i = 0; i < n; ++i) {
        const auto a = value_of(one.get<T>(views, i)), b = value_of(other.get<T>(views, i));
        T first, second;
        assign(first, by_cosine * a + by_sine * b);
        assign(second, by_cosine * b - conjugate(by_sine) * a);
        one.put(views, i, first);
        other.put(views, i, second);
      }
    });
  });
  call.finish(operation);
}

// Requires one real type for all arguments.
template <typename Run>
void with_rotation_type(std::initializer_list<cudaDataType> types, Run&& run) {
  const bool is_double = *types.begin() == CUDA_R_64F;
  for (const cudaDataType type : types) {
    if (type == (is_double ? CUDA_R_64F : CUDA_R_32F)) continue;
    throw Refused{fmt::format("rotations of elements of type {}", static_cast<int>(type))};
  }
  return is_double ? run(double{}) : run(float{});
}
inline void rotg_ex(BlasCall& call, void* a, void* b, cudaDataType type, void* c, void* s,
                    cudaDataType cs_type, cudaDataType execution) {
  with_rotation_type({type, cs_type, execution}, [&](auto of_type) {
    using T = decltype(of_type);
    rotg(call, static_cast<T*>(a), static_cast<T*>(b), static_cast<T*>(c), static_cast<T*>(s));
  });
}
inline void rotm_ex(BlasCall& call, std::int64_t n, void* x, cudaDataType x_type, std::int64_t incx,
                    void* y, cudaDataType y_type, std::int64_t incy, const void* param,
                    cudaDataType param_type, cudaDataType execution) {
  with_rotation_type({x_type, y_type, param_type, execution}, [&](auto of_type) {
    using T = decltype(of_type);
    rotm(call, n, static_cast<T*>(x), incx, static_cast<T*>(y), incy, static_cast<const T*>(param));
  });
}
inline void rotmg_ex(BlasCall& call, void* d1, cudaDataType d1_type, void* d2, cudaDataType d2_type,
                     void* x1, cudaDataType x1_type, const void* y1, cudaDataType y1_type,
                     void* param, cudaDataType param_type, cudaDataType execution) {
  with_rotation_type({d1_type, d2_type, x1_type, y1_type, param_type, execution},
                     [&](auto of_type) {
                       using T = decltype(of_type);
                       rotmg(call, static_cast<T*>(d1), static_cast<T*>(d2), static_cast<T*>(x1),
                             static_cast<const T*>(y1), static_cast<T*>(param));
                     });
}

}  // namespace warpcheck::libraries::cublas
