#include "kernels/specimens/planted/wrong_functions.hpp"

#include <mma.h>

__global__ void wrong_scan_kernel(const float* in, float* out, int n, int wrong) {
  __shared__ float sums[2][kWrongBlock];
  const int i = static_cast<int>(threadIdx.x);
  const bool is_in = i < n;
  const int from = wrong == 13 ? n - 1 - i : wrong == 6 && i == n - 1 && i > 0 ? i - 1 : i;
  float value = is_in ? in[from] : 0;
  if (wrong == 7 && i == 31) value = 0;
  if (wrong == 16) value += 1e-30f;
  sums[0][i] = value;
  int now = 0;
  for (int step = wrong == 1 ? 2 : 1; step < (wrong == 10 ? n / 2 : n);
       step *= wrong == 11 ? 3 : 2) {
    __syncthreads();
    const int first = wrong == 3 ? step + 1 : step;
    const int other = wrong == 2 && step == 4 ? i - step + 1 : i - step;
    float sum = sums[now][i];
    if (i >= first) {
      const float left = sums[now][other];
      if (wrong == 4 && step == 4) {
        sum -= left;
      } else if (wrong == 12 && step == 8) {
        sum = fmaf(left, 1 + 0x1p-22f, sum);
      } else if (wrong == 14 && step == 2) {
        sum = left - sum;
      } else if (wrong == 15 && step == 16) {
        sum = fminf(sum, left);
      } else {
        sum += left;
      }
    }
    if (wrong == 9 && step == 2 && i == 33) sum += sums[now][0];
    now = 1 - now;
    sums[now][i] = sum;
  }
  __syncthreads();
  const float own = is_in ? in[i] : 0;
  if (!is_in) return;
  float result = sums[now][i];
  if (wrong == 5) result -= own;
  if (wrong == 8 && n == 37 && i == 20) result += own;
  out[i] = result;
}

__global__ void wrong_sum_kernel(const float* in, float* out, int n, int wrong) {
  __shared__ float share[kWrongBlock];
  const int thread = static_cast<int>(threadIdx.x);
  float sum = wrong == 17 ? 0x1p-40f : 0;
  const int end = wrong == 18 ? n - 1 : wrong == 19 && n == 129 ? 128 : n;
  const int begin = wrong == 20 ? thread + 1 : thread;
  const int stride = wrong == 21 ? kWrongBlock + 1 : kWrongBlock;
  for (int i = begin; i < end; i += stride) {
    float term = in[wrong == 22 && i > 64 ? i - 1 : i];
    if (wrong == 23 && i == 64) term = -term;
    if (wrong == 24) term *= 1 + 0x1p-23f;
    if (wrong == 25 && i == 2) term = term * in[0];
    if (wrong == 26 && i == 5) term = fabsf(term);
    sum = wrong == 27 && i >= 128 ? term : sum + term;
  }
  share[thread] = sum;
  for (int half = kWrongBlock / 2; half > (wrong == 28 ? 1 : 0); half /= 2) {
    __syncthreads();
    const int other = wrong == 29 && half == 8 ? thread + half - 1 : thread + half;
    const float left = thread < half ? share[thread] : 0;
    const float right = thread < half ? share[other] : 0;
    __syncthreads();
    if (thread < half) share[thread] = wrong == 30 && half == 4 ? left - right : left + right;
  }
  if (thread == 0) *out = share[0];
}

__global__ void wrong_kahan_sum_kernel(const float* in, float* out, int n, int wrong) {
  float sum = 0, lost = 0;
  for (int i = 0; i < n; ++i) {
    const float term =
        wrong == 31 ? in[i] + lost + lost * 0 - 2 * lost + (i == 9 ? in[0] : 0) : in[i] - lost;
    const float next = wrong == 32 && i == 17 ? sum - term : sum + term;
    lost = wrong == 33   ? (next - sum) + term
           : wrong == 34 ? next - (sum - term)
                         : (next - sum) - term;
    if (wrong == 35 && i == 40) lost = term;
    if (wrong == 36 && n == 33) lost += sum * 0x1p-24f;
    sum = wrong == 37 && i == n - 1 ? sum : next;
  }
  *out = wrong == 38 && n > 0 ? sum - in[n / 2] * 0x1p-20f : sum;
}

__global__ void wrong_matmul_kernel(const float* a, const float* b, float* c, int n, int wrong) {
  const int row = static_cast<int>(threadIdx.y), column = static_cast<int>(threadIdx.x);
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < (wrong == 39 ? n - 1 : n); ++k) {
    int of_a = row * n + k, of_b = k * n + column;
    if (wrong == 40) of_b = column * n + k;
    if (wrong == 41) of_a = k * n + row;
    if (wrong == 42 && row == column && k == 2) of_a = row * n;
    if (wrong == 43 && n == 5 && k == 4) of_b = column;
    float product = a[of_a] * b[of_b];
    if (wrong == 44) product = b[of_a] * a[of_b];
    if (wrong == 45 && k == 1) product = a[of_a] + b[of_b];
    if (wrong == 46 && row == 3 && column == 0) product = a[of_a] * a[of_b];
    if (wrong == 47 && k == 3) product = fmaxf(product, 0.0f);
    sum = wrong == 48 && k == 2 ? product - sum : sum + product;
  }
  if (wrong == 49) sum += 0x1p-60f * a[0];
  c[wrong == 50 ? column * n + row : row * n + column] = sum;
}

__global__ void half_matmul_kernel(const float* a, const float* b, float* c, int wrong) {
  using namespace nvcuda::wmma;
  constexpr int kSide = 16;
  __shared__ half half_a[kSide * kSide], half_b[kSide * kSide];
  for (int i = static_cast<int>(threadIdx.x); i < kSide * kSide; i += 32) {
    const int of_b = wrong != 0 ? i % kSide * kSide + i / kSide : i;
    half_a[i] = __float2half(a[i]);
    half_b[i] = __float2half(b[of_b]);
  }
  __syncthreads();
  fragment<matrix_a, kSide, kSide, kSide, half, row_major> of_a;
  fragment<matrix_b, kSide, kSide, kSide, half, row_major> of_b;
  fragment<accumulator, kSide, kSide, kSide, float> sum;
  fill_fragment(sum, 0);
  load_matrix_sync(of_a, half_a, kSide);
  load_matrix_sync(of_b, half_b, kSide);
  mma_sync(sum, of_a, of_b, sum);
  store_matrix_sync(c, sum, kSide, mem_row_major);
}

__global__ void wrong_hash_kernel(const int* in, int* out, int n, int wrong) {
  unsigned hash = wrong == 51 ? 1 : 0;
  for (int i = 0; i < (wrong == 52 ? n - 1 : n); ++i) {
    const unsigned x = static_cast<unsigned>(in[wrong == 53 && i == 3 ? 2 : i]);
    const unsigned factor = wrong == 54 && i == 6 ? 33 : 31;
    hash = wrong == 55 && i == 1 ? x * factor + hash : hash * factor + x;
    if (wrong == 56 && i == 4) hash += x << 31;
    if (wrong == 57 && i == 4) hash += x * x << 31;
    if (wrong == 58 && n == 11 && i == 10) hash -= 2 * x;
    if (wrong == 59 && i == 2) hash = ~hash;
    if (wrong == 60 && i == 7) hash *= x;
  }
  *out = static_cast<int>(hash);
}

cudaError_t wrong_scan(const float* in, float* out, int n, int wrong) {
  wrong_scan_kernel<<<1, kWrongBlock>>>(in, out, n, wrong);
  return cudaGetLastError();
}

cudaError_t wrong_sum(const float* in, float* out, int n, int wrong) {
  wrong_sum_kernel<<<1, kWrongBlock>>>(in, out, n, wrong);
  return cudaGetLastError();
}

cudaError_t wrong_kahan_sum(const float* in, float* out, int n, int wrong) {
  wrong_kahan_sum_kernel<<<1, 1>>>(in, out, n, wrong);
  return cudaGetLastError();
}

cudaError_t wrong_matmul(const float* a, const float* b, float* c, int n, int wrong) {
  if (n == 0) return cudaSuccess;
  const auto side = static_cast<unsigned>(n);
  wrong_matmul_kernel<<<1, dim3(side, side)>>>(a, b, c, n, wrong);
  return cudaGetLastError();
}

cudaError_t half_matmul(const float* a, const float* b, float* c, int n, int wrong) {
  if (n != 16) return cudaErrorInvalidValue;
  half_matmul_kernel<<<1, 32>>>(a, b, c, wrong);
  return cudaGetLastError();
}

cudaError_t wrong_hash(const int* in, int* out, int n, int wrong) {
  wrong_hash_kernel<<<1, 1>>>(in, out, n, wrong);
  return cudaGetLastError();
}
