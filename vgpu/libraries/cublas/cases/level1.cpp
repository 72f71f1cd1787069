// Level 1: operations on vectors.
#include "cases.hpp"

namespace {

struct Steps {
  int x, y;
};
constexpr Steps kSteps[] = {{1, 1}, {2, 3}, {-1, 2}, {-2, -3}};
constexpr int n = 7;

template <class T>
struct Api;
#define API(T, p, real_p, i_p)                               \
  template <>                                                \
  struct Api<T> {                                            \
    static constexpr auto axpy = BOTH(cublas##p##axpy);      \
    static constexpr auto copy = BOTH(cublas##p##copy);      \
    static constexpr auto swap = BOTH(cublas##p##swap);      \
    static constexpr auto scal = BOTH(cublas##p##scal);      \
    static constexpr auto nrm2 = BOTH(cublas##real_p##nrm2); \
    static constexpr auto asum = BOTH(cublas##real_p##asum); \
    static constexpr auto amax = BOTH(cublasI##i_p##amax);   \
    static constexpr auto amin = BOTH(cublasI##i_p##amin);   \
    static constexpr auto rot = BOTH(cublas##p##rot);        \
    static constexpr auto rotg = ONLY(cublas##p##rotg);      \
  };
API(float, S, S, s)
API(double, D, D, d)
API(cuComplex, C, Sc, c)
API(cuDoubleComplex, Z, Dz, z)

Dense conjugate_if(bool conjugates, const Dense& a) { return conjugates ? conjugated(a) : a; }

template <class T>
void try_updates() {
  using A = Api<T>;
  const Number alpha = scalar<T>();
  const T by = from<T>(alpha);
  for (const Steps steps : kSteps) {
    const Dense x = drawn<T>(n), y = drawn<T>(n);
    const OnDevice<T> on_x(x, spaced(n, steps.x)), on_y(y, spaced(n, steps.y)),
        fresh(y, spaced(n, steps.y), true);
    run(A::axpy, handle, n, &by, on_x.device, steps.x, on_y.device, steps.y);
    expect_matrix(on_y, alpha * x + y);
    run(A::copy, handle, n, on_x.device, steps.x, fresh.device, steps.y);
    expect_matrix(fresh, x);
    const Dense before = on_y.get();
    run(A::swap, handle, n, on_x.device, steps.x, on_y.device, steps.y);
    expect_matrix(on_x, before);
    expect_matrix(on_y, x);
    if (steps.x < 0) continue;
    run(A::scal, handle, n, &by, on_x.device, steps.x);
    expect_matrix(on_x, alpha * before);
  }
}

template <class T, class F>
void try_dot(const F& dot, bool conjugates) {
  for (const Steps steps : kSteps) {
    const Dense x = drawn<T>(n), y = drawn<T>(n);
    const OnDevice<T> on_x(x, spaced(n, steps.x)), on_y(y, spaced(n, steps.y));
    T result{};
    run(dot, handle, n, on_x.device, steps.x, on_y.device, steps.y, &result);
    expect_value(result, (transposed(conjugate_if(conjugates, x)) * y)(0));
    run(dot, handle, 0, on_x.device, steps.x, on_y.device, steps.y, &result);
    expect_value(result, Number(0));
  }
}

Bounded size_of(const Bounded& a) {
  return Bounded(std::abs(a.value.real())) + Bounded(std::abs(a.value.imag()));
}

template <class F, class Pointer>
std::int64_t index_by(const F& function, int count, Pointer x, int step) {
  int index = -1;
  std::int64_t wide_index = -1;
  void* const result = is_wide ? static_cast<void*>(&wide_index) : &index;
  run(function, handle, count, x, step, result);
  return is_wide ? wide_index : index;
}

template <class T>
void try_values() {
  using A = Api<T>;
  for (const int step : {1, 3}) {
    Dense x = drawn<T>(n);
    x(5) = x(2);  // of equal elements, the function finds the first
    const OnDevice<T> on_x(x, spaced(n, step));
    Bounded sum, squares;
    int largest = 0, smallest = 0;
    for (int i = 0; i < n; ++i) {
      sum = sum + size_of(x(i));
      squares = squares + real_part(x(i) * conj(x(i)));
      if (size_of(x(i)).size > size_of(x(largest)).size) largest = i;
      if (size_of(x(i)).size < size_of(x(smallest)).size) smallest = i;
    }
    Real<T> result = 7;
    run(A::nrm2, handle, n, on_x.device, step, &result);
    expect_value(result, square_root(squares));
    run(A::asum, handle, n, on_x.device, step, &result);
    expect_value(result, sum);
    expect_value(index_by(A::amax, n, on_x.device, step), Number(largest + 1), 0);
    expect_value(index_by(A::amin, n, on_x.device, step), Number(smallest + 1), 0);
    expect_value(index_by(A::amax, 0, on_x.device, step), Number(0), 0);
    run(A::asum, handle, 0, on_x.device, step, &result);
    expect_value(result, Number(0));
  }
}

// S: type of the sine
template <class T, class S, class F>
void try_rotation(const F& rot) {
  for (const Steps steps : kSteps) {
    const Dense x = drawn<T>(n), y = drawn<T>(n);
    const OnDevice<T> on_x(x, spaced(n, steps.x)), on_y(y, spaced(n, steps.y));
    const Real<T> c = 0.5;
    const S s = from<S>(kIsComplex<S> ? Number(0.25, -0.75) : Number(0.25));
    const Bounded cosine = Number(c), sine = number(s);
    run(rot, handle, n, on_x.device, steps.x, on_y.device, steps.y, &c, &s);
    expect_matrix(on_x, cosine * x + sine * y);
    expect_matrix(on_y, cosine * y + -conj(sine) * x);
  }
}

// Checks that a rotation takes (a, b) to (r, 0).
template <class T>
void try_rotation_made() {
  const Dense start = drawn<T>(2);
  T a = from<T>(start(0).value), b = from<T>(start(1).value), s{};
  Real<T> c = 0;
  run(Api<T>::rotg, handle, &a, &b, &c, &s);
  const Bounded r = Number(std::hypot(std::abs(start(0).value), std::abs(start(1).value)));
  const Bounded cosine = number(c), sine = number(s);
  // Rounding errors leave a matrix that is nearly a rotation.
  const auto expect_near = [](const Bounded& found, const Bounded& wanted) {
    expect_numbers({found.value}, {{wanted.value, wanted.size, 20 * wanted.size}}, kRoundoff<T>,
                   kRoundoff<T>);
  };
  expect_near(cosine * start(0) + sine * start(1), {number(a), r.size, 0});
  expect_near(cosine * start(1) + -conj(sine) * start(0), {0, r.size, 0});
  expect_near(Number(std::abs(number(a))), r);
}

template <class T, class Rotm, class Rotmg>
void try_modified_rotation(const Rotm& rotm, const Rotmg& rotmg) {
  for (const T flag : {T(-2), T(-1), T(0), T(1)}) {
    const T parameters[] = {flag, 2, -3, T(0.5), 4};
    const bool is_unit = flag == -2;
    const Bounded h11 = Number(is_unit || flag == 0 ? 1 : 2),
                  h12 = Number(is_unit     ? 0
                               : flag == 1 ? 1
                                           : 0.5),
                  h21 = Number(is_unit     ? 0
                               : flag == 1 ? -1
                                           : -3),
                  h22 = Number(is_unit || flag == 0 ? 1 : 4);
    for (const Steps steps : kSteps) {
      const Dense x = drawn<T>(n), y = drawn<T>(n);
      const OnDevice<T> on_x(x, spaced(n, steps.x)), on_y(y, spaced(n, steps.y));
      run(rotm, handle, n, on_x.device, steps.x, on_y.device, steps.y, &parameters[0]);
      expect_matrix(on_x, h11 * x + h12 * y);
      expect_matrix(on_y, h21 * x + h22 * y);
    }
  }
  // Checks that H takes (x1, y1) to (r, 0), in the scaled sense: H11 * x1 + H12 * y1 = r.
  T d1 = 2, d2 = 3, x1 = 4, parameters[5] = {};
  const T y1 = 1;
  run(rotmg, handle, &d1, &d2, &x1, &y1, &parameters[0]);
  expect("the flag of rotmg", parameters[0] == 0);
  const Bounded h21 = Number(parameters[2]), h12 = Number(parameters[3]);
  expect_value(x1, Bounded(4.0) + h12 * Bounded(1.0));
  expect_value(T(0), h21 * Bounded(4.0) + Bounded(1.0));
}

#ifndef LEGACY
// Tests results and scalars that stay on the device.
void try_device_scalars() {
  const Dense x = drawn<float>(n), y = drawn<float>(n);
  const OnDevice<float> on_x(x, spaced(n, 1)), on_y(y, spaced(n, 1)),
      dot(Dense(1, 1), full(1), true);
  CALL(cublasSetPointerMode, handle, CUBLAS_POINTER_MODE_DEVICE);
  run(BOTH(cublasSdot), handle, n, on_x.device, 1, on_y.device, 1, dot.device);
  run(BOTH(cublasSscal), handle, n, dot.device, on_x.device, 1);
  CALL(cublasSetPointerMode, handle, CUBLAS_POINTER_MODE_HOST);
  expect_matrix(on_x, (transposed(x) * y)(0) * x);
}
#endif

template <class T>
void try_type() {
  try_updates<T>();
  try_values<T>();
  try_rotation<T, T>(Api<T>::rot);
  try_rotation_made<T>();
}

template <class T, class F>
void try_real_factor(const F& scal) {
  const Dense x = drawn<T>(n);
  const OnDevice<T> on_x(x, spaced(n, 2));
  const Real<T> by = -0.75;
  run(scal, handle, n, &by, on_x.device, 2);
  expect_matrix(on_x, Bounded(-0.75) * x);
}

}  // namespace

void OF_LEVEL(level_1)() {
  try_type<float>();
  try_type<double>();
  try_type<cuComplex>();
  try_type<cuDoubleComplex>();
  try_dot<float>(BOTH(cublasSdot), false);
  try_dot<double>(BOTH(cublasDdot), false);
  try_dot<cuComplex>(BOTH(cublasCdotu), false);
  try_dot<cuComplex>(BOTH(cublasCdotc), true);
  try_dot<cuDoubleComplex>(BOTH(cublasZdotu), false);
  try_dot<cuDoubleComplex>(BOTH(cublasZdotc), true);
  try_real_factor<cuComplex>(BOTH(cublasCsscal));
  try_real_factor<cuDoubleComplex>(BOTH(cublasZdscal));
  try_rotation<cuComplex, float>(BOTH(cublasCsrot));
  try_rotation<cuDoubleComplex, double>(BOTH(cublasZdrot));
  try_modified_rotation<float>(BOTH(cublasSrotm), ONLY(cublasSrotmg));
  try_modified_rotation<double>(BOTH(cublasDrotm), ONLY(cublasDrotmg));
  NOT_LEGACY(try_device_scalars();)
}
