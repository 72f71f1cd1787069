// BLAS level 1: vectors.
#pragma once

#include <cmath>

#include "vgpu/libraries/cublas/blas.hpp"

namespace warpcheck::libraries::cublas {

template <typename T>
Vector<T> read_vector(Operation& operation, const char* name, const T* x, std::int64_t n,
                      std::int64_t increment) {
  return {operation.read(vector_of(name, x, n, increment)), n, increment};
}
template <typename T>
Vector<T> write_vector(Operation& operation, const char* name, T* x, std::int64_t n,
                       std::int64_t increment) {
  return {operation.write(vector_of(name, x, n, increment)), n, increment};
}
template <typename T>
Vector<T> update_vector(Operation& operation, const char* name, T* x, std::int64_t n,
                        std::int64_t increment) {
  return {operation.update(vector_of(name, x, n, increment)), n, increment};
}

template <typename T>
void axpy(BlasCall& call, std::int64_t n, const T* alpha, const T* x, std::int64_t incx, T* y,
          std::int64_t incy) {
  if (n <= 0) return;
  Operation operation(call);
  const Scalar<T> a(call, operation, "alpha", alpha);
  if (a.is_zero()) return;
  const auto from = read_vector(operation, "x", x, n, incx);
  const auto to = update_vector(operation, "y", y, n, incy);
  operation.computes([=](const Views& views) {
    const T value = a.in(views);
    Blas<T>::axpy(from.count(), by(value), from.in(views), from.increment(views), to.in(views),
                  to.increment(views));
  });
  call.finish(operation);
}

template <typename T>
void copy(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, T* y, std::int64_t incy) {
  if (n <= 0) return;
  Operation operation(call);
  const auto from = read_vector(operation, "x", x, n, incx);
  const auto to = write_vector(operation, "y", y, n, incy);
  operation.computes([=](const Views& views) {
    Blas<T>::copy(from.count(), from.in(views), from.increment(views), to.in(views),
                  to.increment(views));
  });
  call.finish(operation);
}

template <typename T>
void swap(BlasCall& call, std::int64_t n, T* x, std::int64_t incx, T* y, std::int64_t incy) {
  if (n <= 0) return;
  Operation operation(call);
  const auto one = update_vector(operation, "x", x, n, incx);
  const auto other = update_vector(operation, "y", y, n, incy);
  operation.computes([=](const Views& views) {
    Blas<T>::swap(one.count(), one.in(views), one.increment(views), other.in(views),
                  other.increment(views));
  });
  call.finish(operation);
}

// S: T, or its real type.
template <typename T, typename S>
void scal(BlasCall& call, std::int64_t n, const S* alpha, T* x, std::int64_t incx) {
  if (n <= 0 || incx <= 0) return;
  Operation operation(call);
  const Scalar<S> a(call, operation, "alpha", alpha);
  const auto vector = update_vector(operation, "x", x, n, incx);
  operation.computes([=](const Views& views) {
    const S value = a.in(views);
    if constexpr (std::is_same_v<T, S>) {
      Blas<T>::scal(vector.count(), by(value), vector.in(views), vector.increment(views));
    } else {
      Blas<T>::scal_real(vector.count(), value, vector.in(views), vector.increment(views));
    }
  });
  call.finish(operation);
}

// compute(views, x, y, result)
template <typename T, typename Compute>
void dot_by(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, const T* y,
            std::int64_t incy, T* result, Compute compute) {
  // Not documented: the status of an H200.
  if (result == nullptr) throw Rejected{CUBLAS_STATUS_MAPPING_ERROR, "result is a null pointer"};
  Operation operation(call);
  const auto one = read_vector(operation, "x", x, std::max<std::int64_t>(n, 0), incx);
  const auto other = read_vector(operation, "y", y, std::max<std::int64_t>(n, 0), incy);
  const std::size_t to =
      operation.write(result_region(call, operation, "result", result, sizeof(T)));
  operation.computes([=](const Views& views) {
    *views.data<T>(to) = T{};
    if (one.count() != 0) compute(views, one, other, views.data<T>(to));
  });
  call.finish(operation);
}

template <typename T>
void dot(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, const T* y,
         std::int64_t incy, T* result) {
  dot_by(call, n, x, incx, y, incy, result,
         [](const Views& views, const auto& one, const auto& other, T* to) {
           *to = Blas<T>::dot(one.count(), one.in(views), one.increment(views), other.in(views),
                              other.increment(views));
         });
}
template <typename T>
void dotu(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, const T* y,
          std::int64_t incy, T* result) {
  dot_by(call, n, x, incx, y, incy, result,
         [](const Views& views, const auto& one, const auto& other, T* to) {
           Blas<T>::dotu(one.count(), one.in(views), one.increment(views), other.in(views),
                         other.increment(views), to);
         });
}
template <typename T>
void dotc(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, const T* y,
          std::int64_t incy, T* result) {
  dot_by(call, n, x, incx, y, incy, result,
         [](const Views& views, const auto& one, const auto& other, T* to) {
           Blas<T>::dotc(one.count(), one.in(views), one.increment(views), other.in(views),
                         other.increment(views), to);
         });
}

// Computes one value of a vector; 0 if the vector is empty or its increment is not positive.
template <typename T, typename R, typename Compute>
void reduce(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, R* result,
            Compute compute) {
  Operation operation(call);
  const auto vector =
      read_vector(operation, "x", x, incx <= 0 ? 0 : std::max<std::int64_t>(n, 0), incx);
  const std::size_t to =
      operation.write(result_region(call, operation, "result", result, sizeof(R)));
  operation.computes([=](const Views& views) {
    *views.data<R>(to) = vector.count() == 0 ? R{} : compute(views, vector);
  });
  call.finish(operation);
}

template <typename T>
void nrm2(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, Real<T>* result) {
  reduce(call, n, x, incx, result, [](const Views& views, const Vector<T>& vector) {
    return Blas<T>::nrm2(vector.count(), vector.in(views), vector.increment(views));
  });
}
template <typename T>
void asum(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, Real<T>* result) {
  reduce(call, n, x, incx, result, [](const Views& views, const Vector<T>& vector) {
    return Blas<T>::asum(vector.count(), vector.in(views), vector.increment(views));
  });
}

template <typename T>
auto size_of(const T& value) {
  if constexpr (kIsComplex<T>) {
    return std::abs(value.x) + std::abs(value.y);
  } else {
    return std::abs(value);
  }
}

// Finds the first index, from 1, of an element that no other element is better than.
template <typename T, typename Index, typename Better>
void find_best(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, Index* result,
               Better better) {
  reduce(call, n, x, incx, result, [=](const Views& views, const Vector<T>& vector) {
    Index best = 0;
    for (int i = 1; i < vector.count(); ++i) {
      const auto size = size_of(vector.at(views, i)), known = size_of(vector.at(views, best));
      if (better(size, known)) best = static_cast<Index>(i);
    }
    return static_cast<Index>(best + 1);
  });
}
template <typename T, typename Index>
void amax(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, Index* result) {
  find_best(call, n, x, incx, result, std::greater<>());
}
template <typename T, typename Index>
void amin(BlasCall& call, std::int64_t n, const T* x, std::int64_t incx, Index* result) {
  find_best(call, n, x, incx, result, std::less<>());
}

// S: the type of the sine: T, or its real type.
template <typename T, typename S>
void rot(BlasCall& call, std::int64_t n, T* x, std::int64_t incx, T* y, std::int64_t incy,
         const Real<T>* c, const S* s) {
  if (n <= 0) return;
  Operation operation(call);
  const Scalar<Real<T>> cosine(call, operation, "c", c);
  const Scalar<S> sine(call, operation, "s", s);
  const auto one = update_vector(operation, "x", x, n, incx);
  const auto other = update_vector(operation, "y", y, n, incy);
  operation.computes([=](const Views& views) {
    const auto by_cosine = cosine.in(views);
    const auto by_sine = value_of(sine.in(views));
    for (int i = 0; i < one.count(); ++i) {
      T& a = one.at(views, i);
      T& b = other.at(views, i);
      const auto from = value_of(a), to = value_of(b);
      assign(a, by_cosine * from + by_sine * to);
      assign(b, by_cosine * to - conjugate(by_sine) * from);
    }
  });
  call.finish(operation);
}

// The parameters that rotg and rotmg read and write, in host or device memory.
template <typename T>
std::size_t parameter_region(BlasCall& call, Operation& operation, const char* name, T* pointer,
                             std::int64_t count, bool reads, bool writes) {
  Region region = result_region(call, operation, name, pointer, sizeof(T), count);
  if (!writes) return operation.read(std::move(region));
  return reads ? operation.update(std::move(region)) : operation.write(std::move(region));
}

// The plane rotation of BLAS for complex numbers, as in its reference implementation.
template <typename R>
void complex_rotg(std::complex<R>& a, std::complex<R> b, R& c, std::complex<R>& s) {
  if (std::abs(a) == 0) {
    c = 0;
    s = 1;
    a = b;
    return;
  }
  const R scale = std::abs(a) + std::abs(b);
  const R norm = scale * std::sqrt(std::norm(a / scale) + std::norm(b / scale));
  const std::complex<R> phase = a / std::abs(a);
  c = std::abs(a) / norm;
  s = phase * std::conj(b) / norm;
  a = phase * norm;
}

template <typename T>
void rotg(BlasCall& call, T* a, T* b, Real<T>* c, T* s) {
  Operation operation(call);
  const std::size_t as = parameter_region(call, operation, "a", a, 1, true, true);
  const std::size_t bs = parameter_region(call, operation, "b", b, 1, true, !kIsComplex<T>);
  const std::size_t cs = parameter_region(call, operation, "c", c, 1, false, true);
  const std::size_t ss = parameter_region(call, operation, "s", s, 1, false, true);
  operation.computes([=](const Views& views) {
    T* const first = views.data<T>(as);
    auto* const cosine = views.data<Real<T>>(cs);
    if constexpr (kIsComplex<T>) {
      auto changed = value_of(*first);
      auto sine = changed;
      complex_rotg(changed, value_of(*views.data<T>(bs)), *cosine, sine);
      assign(*first, changed);
      assign(*views.data<T>(ss), sine);
    } else {
      Blas<T>::rotg(first, views.data<T>(bs), cosine, views.data<T>(ss));
    }
  });
  call.finish(operation);
}

template <typename T>
void rotm(BlasCall& call, std::int64_t n, T* x, std::int64_t incx, T* y, std::int64_t incy,
          const T* param) {
  if (n <= 0) return;
  Operation operation(call);
  const std::size_t params =
      parameter_region(call, operation, "param", const_cast<T*>(param), 5, true, false);
  const auto one = update_vector(operation, "x", x, n, incx);
  const auto other = update_vector(operation, "y", y, n, incy);
  operation.computes([=](const Views& views) {
    Blas<T>::rotm(one.count(), one.in(views), one.increment(views), other.in(views),
                  other.increment(views), views.data<T>(params));
  });
  call.finish(operation);
}

template <typename T>
void rotmg(BlasCall& call, T* d1, T* d2, T* x1, const T* y1, T* param) {
  Operation operation(call);
  const std::size_t d1s = parameter_region(call, operation, "d1", d1, 1, true, true);
  const std::size_t d2s = parameter_region(call, operation, "d2", d2, 1, true, true);
  const std::size_t x1s = parameter_region(call, operation, "x1", x1, 1, true, true);
  const std::size_t y1s =
      parameter_region(call, operation, "y1", const_cast<T*>(y1), 1, true, false);
  const std::size_t params = parameter_region(call, operation, "param", param, 5, false, true);
  operation.computes([=](const Views& views) {
    // Only the elements that the flag names are set; the others stay as they are.
    Blas<T>::rotmg(views.data<T>(d1s), views.data<T>(d2s), views.data<T>(x1s), *views.data<T>(y1s),
                   views.data<T>(params));
  });
  call.finish(operation);
}

}  // namespace warpcheck::libraries::cublas
