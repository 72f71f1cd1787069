// Results that lose their digits in plain programs, each with a twin that keeps them.  All of a
// kind run in one process.
//
// build: -arch=compute_80 -std=c++17
//
// case lost: | --check precision | lost
// expect lost: note rounding-error sums
// expect lost: note rounding-error sums_many
// expect lost: note rounding-error sums_in_a_block
// expect lost: note rounding-error sums_by_atomics
// expect lost: note rounding-error sums_halves
// expect lost: note rounding-error sums_in_shared_memory
// expect lost: note rounding-error sums_into_a_variable
// expect lost: note rounding-error subtracts_squares
// expect lost: note rounding-error root_of_quadratic
// expect lost: note rounding-error exponential_less_one
// expect lost: note rounding-error cosine_from_one
// expect lost: note rounding-error difference_of_roots
// expect lost: note rounding-error small_differences
// expect lost: note rounding-error cancels_in_double
// expect lost: note rounding-error exponential_of_lost
// expect lost: note rounding-error logarithm_of_lost
// expect lost: note rounding-error exponential_in_double
// expect lost: note rounding-error products_of_halves
// expect lost: note rounding-error updates_in_bfloat
// expect lost: note rounding-error prints_a_sum
// expect lost: note rounding-error decides
//
// case kept: | --check precision | kept
// expect kept: clean
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int kCount = 4'096, kThreads = 32;

__device__ float total;

__global__ void sums(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += in[i];  //~ sums
  *out = sum;
}
__global__ void sums_compensated(const float* in, float* out) {
  float sum = 0, lost = 0;
  for (int i = 0; i < kCount; ++i) {
    const float term = in[i] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  *out = sum;
}

__global__ void sums_many(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum = sum + in[i];  //~ sums_many
  *out = sum;
}
__global__ void sums_in_double(const float* in, float* out) {
  double sum = 0;
  for (int i = 0; i < kCount; ++i) sum += in[i];
  *out = static_cast<float>(sum);
}

__global__ void sums_in_a_block(const float* in, float* out) {
  __shared__ float part[kThreads];
  float sum = 0;
  for (int i = threadIdx.x; i < kCount; i += kThreads) sum += in[i];  //~ sums_in_a_block
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float all = 0;
  for (int i = 0; i < kThreads; ++i) all += part[i];
  *out = all;
}
__global__ void sums_as_a_tree(const float* in, float* out) {
  __shared__ float part[kThreads];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = t; i < kCount; i += kThreads) sum += in[i];
  part[t] = sum;
  for (int d = kThreads / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) part[t] += part[t + d];
  }
  if (t == 0) *out = part[0];
}

__global__ void sums_by_atomics(const float* in, float* out) {
  for (int i = threadIdx.x; i < kCount; i += kThreads) atomicAdd(out, in[i]);  //~ sums_by_atomics
}
__global__ void counts_by_atomics(const float*, float* out) { atomicAdd(out, 1.0f); }

__global__ void sums_halves(const float* in, float* out) {
  __half sum = __float2half(0);
  for (int i = 0; i < kCount; ++i) sum = __hadd(sum, __float2half(in[i]));  //~ sums_halves
  *out = __half2float(sum);
}
__global__ void sums_halves_in_float(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += __half2float(__float2half(in[i]));
  *out = sum;
}

__global__ void sums_in_shared_memory(const float* in, float* shared_with_host) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += in[i];  //~ sums_in_shared_memory
  *shared_with_host = sum;
}

__global__ void sums_into_a_variable(const float* in, float*) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += in[i];  //~ sums_into_a_variable
  total = sum;
}

__global__ void subtracts_squares(const float* in, float* out) {
  float sum = 0, squares = 0;
  for (int i = 0; i < 64; ++i) {
    sum += in[i];              //~ subtracts_squares
    squares += in[i] * in[i];  //~ subtracts_squares
  }
  const float mean = sum / 64;
  *out = squares / 64 - mean * mean;  //~ subtracts_squares
}
__global__ void squares_of_distances(const float* in, float* out) {
  float sum = 0, squares = 0;
  for (int i = 0; i < 64; ++i) sum += in[i];
  const float mean = sum / 64;
  for (int i = 0; i < 64; ++i) squares += (in[i] - mean) * (in[i] - mean);
  *out = squares / 64;
}

__global__ void root_of_quadratic(const float* in, float* out) {
  const float b = in[threadIdx.x];
  const float root = sqrtf(b * b - 4);    //~ root_of_quadratic
  out[threadIdx.x] = (-b + root) * 0.5f;  //~ root_of_quadratic
}
__global__ void root_by_the_other(const float* in, float* out) {
  const float b = in[threadIdx.x];
  out[threadIdx.x] = -2 / (b + sqrtf(b * b - 4));
}

__global__ void exponential_less_one(const float* in, float* out) {
  out[threadIdx.x] = expf(in[threadIdx.x]) - 1;  //~ exponential_less_one
}
__global__ void exponential_by_expm1(const float* in, float* out) {
  out[threadIdx.x] = expm1f(in[threadIdx.x]);
}

__global__ void cosine_from_one(const float* in, float* out) {
  out[threadIdx.x] = 1 - cosf(in[threadIdx.x]);  //~ cosine_from_one
}
__global__ void cosine_by_half(const float* in, float* out) {
  const float s = sinf(in[threadIdx.x] * 0.5f);
  out[threadIdx.x] = 2 * s * s;
}

__global__ void difference_of_roots(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = sqrtf(x + 1) - sqrtf(x);  //~ difference_of_roots
}
__global__ void quotient_by_roots(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = 1 / (sqrtf(x + 1) + sqrtf(x));
}

__global__ void small_differences(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = (x + 1e8f) - 1e8f;  //~ small_differences
}
__global__ void small_values(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = (1e8f - 1e8f) + x;
}

__global__ void cancels_in_double(const float* in, float* out) {
  const double x = in[threadIdx.x] * 1e-9;
  const double square = (x + 1) * (x + 1);                    //~ cancels_in_double
  out[threadIdx.x] = static_cast<float>(square - 1 - 2 * x);  //~ cancels_in_double
}
__global__ void multiplies_in_double(const float* in, float* out) {
  const double x = in[threadIdx.x] * 1e-9;
  out[threadIdx.x] = static_cast<float>(x * x);
}

__global__ void exponential_of_lost(const float* in, float* out) {
  const double x = in[threadIdx.x] * 1.1;
  const double same = (x + 1e12) - 1e12;  //~ exponential_of_lost
  out[threadIdx.x] = static_cast<float>(exp(same));
}
__global__ void exponential_of_kept(const float* in, float* out) {
  out[threadIdx.x] = static_cast<float>(exp(in[threadIdx.x] * 1.1));
}

__global__ void logarithm_of_lost(const float* in, float* out) {
  const double x = in[threadIdx.x] * 1.1;
  const double same = (x + 1e12) - 1e12;  //~ logarithm_of_lost
  out[threadIdx.x] = static_cast<float>(log(same));
}
__global__ void logarithm_of_kept(const float* in, float* out) {
  out[threadIdx.x] = static_cast<float>(log(in[threadIdx.x] * 1.1));
}

__global__ void exponential_in_double(const float* in, float* out) {
  const double less = exp(in[threadIdx.x] * 1e-12) - 1;  //~ exponential_in_double
  out[threadIdx.x] = static_cast<float>(less);
}
__global__ void exponential_in_double_by_expm1(const float* in, float* out) {
  out[threadIdx.x] = static_cast<float>(expm1(in[threadIdx.x] * 1e-12));
}

// What a float has of it are the digits of a half.
__global__ void products_of_halves(const float* in, float* out) {
  __half sum = __float2half(0);
  for (int i = 0; i < kCount; ++i) {
    const __half one = __float2half(in[i]);
    sum = __hfma(one, one, sum);  //~ products_of_halves
  }
  *out = __half2float(sum);
}
__global__ void product_of_two_halves(const float* in, float* out) {
  const __half one = __float2half(in[threadIdx.x]);
  out[threadIdx.x] = __half2float(__hmul(one, one));
}

// A bfloat16 is calculated with as a float, and rounded again.
__global__ void updates_in_bfloat(const float* in, float* out) {
  __nv_bfloat16 weight = __float2bfloat16(1);
  for (int i = 0; i < 200; ++i)
    weight = __float2bfloat16(__bfloat162float(weight) - in[i] * 1e-3f);  //~ updates_in_bfloat
  *out = __bfloat162float(weight);
}
__global__ void updates_in_float(const float* in, float* out) {
  float weight = 1;
  for (int i = 0; i < 200; ++i) weight -= in[i] * 1e-3f;
  *out = __bfloat162float(__float2bfloat16(weight));
}

// The zeros of a cosine are no floats.
__global__ void cosines_of_turns(const float*, float* out) {
  const float turn = static_cast<float>(threadIdx.x) / kThreads;
  out[threadIdx.x] = cosf(6.2831853f * turn);
}

__global__ void prints_a_sum(const float* in, float*) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += in[i];  //~ prints_a_sum
  printf("%d numbers: %f\n", kCount, sum);
}
__global__ void prints_a_third(const float* in, float*) { printf("%f\n", in[1] / 3); }

__global__ void decides(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum += in[i] / 10;
  if (sum == 1) *out = 2;  //~ decides
}
__global__ void decides_with_room(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum += in[i] / 10;
  if (fabsf(sum - 1) < 1e-5f) *out = 2;
}

// Of products of both signs, some sums are near 0: their digits are those that the data have.
__global__ void product(const float* in, float* out) {
  float sum = 0;
  for (int k = 0; k < 64; ++k) sum += in[threadIdx.x * 64 + k] * in[(k * 29 + blockIdx.x) % 2'048];
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}
__global__ void layer_norm(const float* in, float* out) {
  float sum = 0, squares = 0;
  for (int k = 0; k < 64; ++k) sum += in[k];
  const float mean = sum / 64;
  for (int k = 0; k < 64; ++k) squares += (in[k] - mean) * (in[k] - mean);
  out[threadIdx.x] = (in[threadIdx.x] - mean) * rsqrtf(squares / 64 + 1e-5f);
}
__global__ void softmax(const float* in, float* out) {
  float most = -INFINITY, sum = 0;
  for (int k = 0; k < kCount; ++k) most = fmaxf(most, in[k]);
  for (int k = 0; k < kCount; ++k) sum += expf((in[k] - most) * 50);
  out[threadIdx.x] = expf((in[threadIdx.x] - most) * 50) / sum;
}

std::vector<float> first_and(float first, float rest) {
  std::vector<float> list(kCount, rest);
  list[0] = first;
  return list;
}
std::vector<float> first_row_and(float first, float rest) {
  std::vector<float> list(kCount, rest);
  for (int i = 0; i < kThreads; ++i) list[i] = first;
  return list;
}
std::vector<float> spread(float first, float step) {
  std::vector<float> list(kCount);
  for (int i = 0; i < kCount; ++i) list[i] = first + step * static_cast<float>(i);
  return list;
}
std::vector<float> scattered() {
  std::vector<float> list(kCount);
  unsigned state = 1;
  for (float& one : list) {
    state = state * 1'664'525u + 1'013'904'223u;
    one = static_cast<float>(static_cast<int>(state)) * 0x1p-31f;
  }
  return list;
}

using Kernel = void (*)(const float*, float*);

void run(Kernel kernel, const std::vector<float>& given, int threads = kThreads, int blocks = 1) {
  float *in, *out;
  cudaMalloc(&in, sizeof(float) * kCount);
  cudaMalloc(&out, sizeof(float) * kCount);
  cudaMemset(out, 0, sizeof(float) * kCount);
  cudaMemcpy(in, given.data(), sizeof(float) * kCount, cudaMemcpyHostToDevice);
  kernel<<<blocks, threads>>>(in, out);
  std::vector<float> host(kCount);
  cudaMemcpy(host.data(), out, sizeof(float) * kCount, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}

void run_managed(Kernel kernel, const std::vector<float>& given) {
  float *in, *out;
  cudaMallocManaged(&in, sizeof(float) * kCount);
  cudaMallocManaged(&out, sizeof(float));
  for (int i = 0; i < kCount; ++i) in[i] = given[i];
  kernel<<<1, 1>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s", *out > 0 ? "" : "none");
  cudaFree(in);
  cudaFree(out);
}

// What the host has written over a result is no result.
void run_managed_again(Kernel kernel, const std::vector<float>& given) {
  float *in, *out;
  cudaMallocManaged(&in, sizeof(float) * kCount);
  cudaMallocManaged(&out, sizeof(float));
  for (int i = 0; i < kCount; ++i) in[i] = given[i];
  kernel<<<1, 1>>>(in, out);
  cudaDeviceSynchronize();
  *out = 1;
  cudaFree(in);
  cudaFree(out);
}

void lose() {
  run(sums, first_and(1e8f, 1), 1);
  run(sums_many, first_and(0.1f, 0.1f), 1);
  run(sums_in_a_block, first_row_and(1e8f, 1));
  run(sums_by_atomics, first_and(3e8f, 1));
  run(sums_halves, first_and(1, 1), 1);
  run_managed(sums_in_shared_memory, first_and(1e8f, 1));
  run(sums_into_a_variable, first_and(1e8f, 1), 1);
  float value = 0;
  cudaMemcpyFromSymbol(&value, total, sizeof value);
  run(subtracts_squares, spread(10'000.1f, 0.01f), 1);
  run(root_of_quadratic, spread(2'000.3f, 1));
  run(exponential_less_one, spread(1.1e-5f, 1.3e-6f));
  run(cosine_from_one, spread(1.1e-3f, 1.3e-5f));
  run(difference_of_roots, spread(1'000'003, 1'777));
  run(small_differences, spread(1.1f, 0.3f));
  run(cancels_in_double, spread(1.1f, 0.3f));
  run(exponential_of_lost, spread(1.1f, 0.03f));
  run(logarithm_of_lost, spread(1.5f, 0.3f));
  run(exponential_in_double, spread(1.1f, 0.3f));
  run(products_of_halves, scattered(), 1);
  run(updates_in_bfloat, spread(0.51f, 0.001f), 1);
  run(prints_a_sum, first_and(1e8f, 1), 1);
  run(decides, first_and(1, 1), 1);
}

void keep() {
  run(sums_compensated, first_and(1e8f, 1), 1);
  run(sums_in_double, first_and(0.1f, 0.1f), 1);
  run(sums_as_a_tree, first_and(1, 1));
  run(sums_as_a_tree, scattered());
  run(counts_by_atomics, first_and(1, 1), kThreads, 8);
  run(sums_halves_in_float, first_and(1, 1), 1);
  run_managed(sums_compensated, first_and(1e8f, 1));
  run_managed_again(sums, first_and(1e8f, 1));
  run(squares_of_distances, spread(10'000.1f, 0.01f), 1);
  run(root_by_the_other, spread(2'000.3f, 1));
  run(exponential_by_expm1, spread(1.1e-5f, 1.3e-6f));
  run(cosine_by_half, spread(1.1e-3f, 1.3e-5f));
  run(quotient_by_roots, spread(1'000'003, 1'777));
  run(small_values, spread(1.1f, 0.3f));
  run(multiplies_in_double, spread(1.1f, 0.3f));
  run(exponential_of_kept, spread(1.1f, 0.03f));
  run(logarithm_of_kept, spread(1.5f, 0.3f));
  run(exponential_in_double_by_expm1, spread(1.1f, 0.3f));
  run(product_of_two_halves, scattered());
  run(updates_in_float, spread(0.51f, 0.001f), 1);
  run(cosines_of_turns, scattered());
  run(prints_a_third, first_and(1, 1), 1);
  run(decides_with_room, first_and(1, 1), 1);
  run(product, scattered(), kThreads, 32);
  run(layer_norm, scattered());
  run(softmax, scattered(), 2);
}

}  // namespace

int main(int, char** arguments) {
  arguments[1] == std::string("lost") ? lose() : keep();
  return 0;
}
