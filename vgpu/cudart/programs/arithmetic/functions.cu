// The functions of <cmath> on the device against the host's, over ordinary and special values.
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"

#define CIRCULAR(X) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan)
#define HYPERBOLIC(X) X(sinh) X(cosh) X(tanh) X(asinh) X(atanh)
#define POWERS(X) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(cbrt)
#define SPECIAL(X) X(erf) X(erfc) X(tgamma)
#define ROUNDING(X) X(floor) X(ceil) X(trunc) X(round) X(rint) X(fabs)
#define UNARY(X) CIRCULAR(X) HYPERBOLIC(X) POWERS(X) SPECIAL(X) ROUNDING(X)
#define PLANE(X) X(pow) X(atan2) X(hypot)
#define REMAINDERS(X) X(fmod) X(remainder) X(fmax) X(fmin) X(fdim) X(copysign)
#define BINARY(X) PLANE(X) REMAINDERS(X)

template <typename T>
__global__ void evaluate(const T* in, T* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  int k = 0;
#define X(function) out[k++ * n + i] = function(in[i]);
  UNARY(X)
#undef X
#define X(function) out[k++ * n + i] = function(in[i], in[(i + 5) % n]);
  BINARY(X)
#undef X
}

template <typename T>
bool agrees(const char* name, T x, T y, T got, T expected, T tolerance) {
  if (std::isnan(got) && std::isnan(expected)) return true;
  if (got == expected) return std::signbit(got) == std::signbit(expected);
  if (std::abs(got - expected) <= tolerance * std::abs(expected)) return true;
  printf("%s of %g, %g: %.17g, not %.17g\n", name, double(x), double(y), double(got),
         double(expected));
  return false;
}

template <typename T>
bool check(T tolerance) {
  const std::vector<T> values = {
      0,    T(-0.0),  1,         -1,  T(0.5),        T(1e-30), T(1e30), -7,    2.5,
      -2.5, INFINITY, -INFINITY, NAN, T(3.14159265), 100,      0.999,   1e-10, T(12345.678)};
  const int n = values.size();
  Buffer<T> in(n), out(40 * n);
  std::copy(values.begin(), values.end(), in.begin());
  evaluate<<<1, 32>>>(static_cast<T*>(in), static_cast<T*>(out), n);
  finish();
  bool is_right = true;
  int k = 0;
#define X(function)                                                                              \
  for (int i = 0; i < n; ++i) {                                                                  \
    is_right &= agrees<T>(#function, in[i], 0, out[k * n + i], std::function(in[i]), tolerance); \
  }                                                                                              \
  ++k;
  UNARY(X)
#undef X
#define X(function)                                                                         \
  for (int i = 0; i < n; ++i) {                                                             \
    const T y = in[(i + 5) % n];                                                            \
    is_right &=                                                                             \
        agrees<T>(#function, in[i], y, out[k * n + i], std::function(in[i], y), tolerance); \
  }                                                                                         \
  ++k;
  BINARY(X)
#undef X
  return is_right;
}

int main() { return verdict(check<float>(2e-6f) & check<double>(1e-14)); }
