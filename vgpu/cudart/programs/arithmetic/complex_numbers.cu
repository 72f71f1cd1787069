// Mandelbrot's set with cuComplex and thrust::complex; a Fourier transform by hand in shared
// memory.
// MUTANT: the butterflies of a step are not separated from those of the next.
// expect: data-race
#include <cuComplex.h>
#include <thrust/complex.h>
#include <cmath>
#include <complex>

#include "check.hpp"

__global__ void mandelbrot(int* steps, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const thrust::complex<double> c(-2.0 + 3.0 * x / width, -1.0 + 2.0 * y / height);
  thrust::complex<double> z = 0;
  cuDoubleComplex w = make_cuDoubleComplex(0, 0);
  const cuDoubleComplex d = make_cuDoubleComplex(c.real(), c.imag());
  int step = 0;
  for (; step < 50 && thrust::norm(z) < 4; ++step) {
    z = z * z + c;
    w = cuCadd(cuCmul(w, w), d);
  }
  const bool is_same = fabs(z.real() - cuCreal(w)) <= 1e-6 * (1 + thrust::abs(z));
  steps[y * width + x] = is_same ? step : -1;
}

template <int kSize>
__global__ void transform(cuFloatComplex* data) {
  __shared__ cuFloatComplex values[kSize];
  const int t = threadIdx.x;
  values[__brev(t) >> (__clz(kSize) + 1)] = data[t];
  for (int half = 1; half < kSize; half *= 2) {
#ifndef MUTANT
    __syncthreads();
#endif
    if (t < kSize / 2) {
      const int low = t / half * 2 * half + t % half;
      float s, c;
      sincospif(-static_cast<float>(t % half) / half, &s, &c);
      const cuFloatComplex a = values[low];                                             //~
      const cuFloatComplex b = cuCmulf(values[low + half], make_cuFloatComplex(c, s));  //~
      values[low] = cuCaddf(a, b);                                                      //~
      values[low + half] = cuCsubf(a, b);                                               //~
    }
  }
  __syncthreads();
  data[t] = values[t];
}

int main() {
  const int width = 30, height = 20, n = 128;
  Buffer<int> steps(width * height);
  Buffer<cuFloatComplex> data(n);
  for (int i = 0; i < n; ++i) data[i] = make_cuFloatComplex(i % 7, i % 3);
  mandelbrot<<<dim3(4, 3), dim3(8, 8)>>>(steps, width, height);
  transform<n><<<1, n>>>(data);
  finish();
  bool is_right = true;
  for (int i = 0; i < width * height; ++i) {
    const std::complex<double> c(-2.0 + 3.0 * (i % width) / width,
                                 -1.0 + 2.0 * (i / width) / height);
    std::complex<double> z = 0;
    int step = 0;
    for (; step < 50 && std::norm(z) < 4; ++step) z = z * z + c;
    is_right &= std::abs(steps[i] - step) <= 1;
  }
  for (int k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += std::complex<double>(i % 7, i % 3) * std::polar(1.0, -2 * M_PI * i * k / n);
    }
    is_right &= std::abs(sum.real() - data[k].x) + std::abs(sum.imag() - data[k].y) < 1e-3;
  }
  return verdict(is_right);
}
