// What goes wrong with numbers in learning: masks, scales, norms, losses, small types, each with a
// twin that is guarded or means it.  All of a kind run in one process.
//
// build: -arch=compute_80 -std=c++17
// also unoptimized: -G
//
// case planted: | --check numerics | planted
// expect planted: error not-a-number masked_scores
// expect planted: error not-a-number padded_value
// expect planted: error not-a-number scale_of_zeros
// expect planted: error infinity cross_entropy
// expect planted: error infinity entropy
// expect planted: error not-a-number variance_of_squares
// expect planted: error infinity norm_without_epsilon
// expect planted: error not-a-number adam_at_zero
// expect planted: error not-a-number bias_of_step_zero
// expect planted: error not-a-number cosine_of_zeros
// expect planted: error infinity tanh_of_powers
// expect planted: error infinity logistic_of_large
// expect planted: error infinity softplus_of_large
// expect planted: error infinity dot_in_half
// expect planted: error infinity dot_in_pairs
// expect planted: error infinity loss_scaled
// expect planted: note underflow gradient_in_half
// expect planted: error not-a-number constant_row
// expect planted: error infinity dropout_of_all
// expect planted: error not-a-number mean_of_masked
// expect planted: error infinity clipped_by_norm
// expect planted: error infinity divergence
// expect planted: error infinity temperature_zero
// expect planted: error lossy-conversion level_beyond_bytes
// expect planted: error infinity logit_of_one
// expect planted: error infinity scan_in_half
// expect planted: error not-a-number merged_of_none
// expect planted: error not-a-number potentials
//
// case meant: | --check numerics | meant
// expect meant: clean
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

constexpr int kCount = 32;

std::vector<float> flat(float value) { return std::vector<float>(kCount, value); }
std::vector<float> steps(float first, float step) {
  std::vector<float> list(kCount);
  for (int i = 0; i < kCount; ++i) list[i] = first + step * static_cast<float>(i);
  return list;
}

using Kernel = void (*)(const float*, const float*, float*, int);

void run(Kernel kernel, const std::vector<float>& left, const std::vector<float>& right) {
  constexpr std::size_t kBytes = sizeof(float) * kCount;
  float *device_left, *device_right, *out;
  cudaMalloc(&device_left, kBytes);
  cudaMalloc(&device_right, kBytes);
  cudaMalloc(&out, kBytes);
  cudaMemset(out, 0, kBytes);
  cudaMemcpy(device_left, left.data(), kBytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_right, right.data(), kBytes, cudaMemcpyHostToDevice);
  kernel<<<1, kCount>>>(device_left, device_right, out, kCount);
  std::vector<float> host(kCount);
  cudaMemcpy(host.data(), out, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(device_left);
  cudaFree(device_right);
  cudaFree(out);
}

#define KERNEL(name) \
  __global__ void name(const float* left, const float* right, float* out, int count)
#define GIVEN                               \
  const int i = threadIdx.x;                \
  [[maybe_unused]] const float x = left[i]; \
  [[maybe_unused]] const float y = right[i]

__device__ float sum_of_warp(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}
__device__ float greatest_of_warp(float v) {
  for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
  return v;
}

KERNEL(masked_scores) {
  GIVEN;
  const float most = greatest_of_warp(x);
  const float weight = expf(x - most);    //~ masked_scores
  out[i] = weight / sum_of_warp(weight);  //~ masked_scores
}

KERNEL(masked_scores_meant) {
  GIVEN;
  const float most = greatest_of_warp(x);
  const float weight = most == -INFINITY ? 0 : expf(x - most);
  const float sum = sum_of_warp(weight);
  out[i] = sum == 0 ? 0 : weight / sum;
}

KERNEL(padded_value) {
  GIVEN;
  out[i] = x * y;  //~ padded_value
}

KERNEL(padded_value_meant) {
  GIVEN;
  out[i] = x == 0 ? 0 : x * y;
}

KERNEL(scale_of_zeros) {
  GIVEN;
  const float scale = greatest_of_warp(fabsf(x)) / 127;
  const float level = rintf(x / scale);                                      //~ scale_of_zeros
  reinterpret_cast<signed char*>(out)[i] = static_cast<signed char>(level);  //~ scale_of_zeros
}

KERNEL(scale_of_zeros_meant) {
  GIVEN;
  const float scale = greatest_of_warp(fabsf(x)) / 127;
  const float level = scale == 0 ? 0 : rintf(x / scale);
  reinterpret_cast<signed char*>(out)[i] = static_cast<signed char>(level);
}

KERNEL(cross_entropy) {
  GIVEN;
  out[i] = -y * logf(x);  //~ cross_entropy
}

KERNEL(cross_entropy_meant) {
  GIVEN;
  out[i] = y == 0 ? 0 : -y * logf(x);
}

KERNEL(entropy) {
  GIVEN;
  const float term = x * log2f(x);  //~ entropy
  out[i] = -sum_of_warp(term);      //~ entropy
}

KERNEL(entropy_meant) {
  GIVEN;
  const float term = x > 0 ? x * log2f(x) : 0;
  out[i] = -sum_of_warp(term);
}

KERNEL(variance_of_squares) {
  GIVEN;
  const float n = static_cast<float>(count);
  const float mean = sum_of_warp(x) / n;
  const float variance = sum_of_warp(x * x) / n - mean * mean;
  out[i] = sqrtf(variance - 0.125f);  //~ variance_of_squares
}

KERNEL(variance_of_squares_meant) {
  GIVEN;
  const float n = static_cast<float>(count);
  const float mean = sum_of_warp(x) / n;
  const float variance = sum_of_warp(x * x) / n - mean * mean;
  out[i] = sqrtf(fmaxf(variance - 0.125f, 0));
}

KERNEL(norm_without_epsilon) {
  GIVEN;
  const float scale =
      rsqrtf(sum_of_warp(x * x) / static_cast<float>(count));  //~ norm_without_epsilon
  out[i] = x * scale;                                          //~ norm_without_epsilon
}

KERNEL(norm_without_epsilon_meant) {
  GIVEN;
  out[i] = x * rsqrtf(sum_of_warp(x * x) / static_cast<float>(count) + 1e-6f);
}

KERNEL(adam_at_zero) {
  GIVEN;
  const float first = 0.9f * x, second = 0.99f * y * y;
  out[i] = first / sqrtf(second);  //~ adam_at_zero
}

KERNEL(adam_at_zero_meant) {
  GIVEN;
  const float first = 0.9f * x, second = 0.99f * y * y;
  out[i] = first / (sqrtf(second) + 1e-8f);
}

KERNEL(bias_of_step_zero) {
  GIVEN;
  const float correction = 1 - powf(0.9f, y);
  out[i] = x / correction;  //~ bias_of_step_zero
}

KERNEL(bias_of_step_zero_meant) {
  GIVEN;
  const float correction = 1 - powf(0.9f, y + 1);
  out[i] = x / correction;
}

KERNEL(cosine_of_zeros) {
  GIVEN;
  const float dot = sum_of_warp(x * y);
  const float lengths = sqrtf(sum_of_warp(x * x)) * sqrtf(sum_of_warp(y * y));
  out[i] = dot / lengths;  //~ cosine_of_zeros
}

KERNEL(cosine_of_zeros_meant) {
  GIVEN;
  const float dot = sum_of_warp(x * y);
  const float lengths = sqrtf(sum_of_warp(x * x)) * sqrtf(sum_of_warp(y * y));
  out[i] = dot / fmaxf(lengths, 1e-8f);
}

KERNEL(tanh_of_powers) {
  GIVEN;
  out[i] = (expf(2 * x) - 1) / (expf(2 * x) + 1);  //~ tanh_of_powers
}

KERNEL(tanh_of_powers_meant) {
  GIVEN;
  out[i] = 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

KERNEL(logistic_of_large) {
  GIVEN;
  const float power = expf(x);   //~ logistic_of_large
  out[i] = power / (1 + power);  //~ logistic_of_large
}

KERNEL(logistic_of_large_meant) {
  GIVEN;
  out[i] = x / (1 + expf(x));
}

KERNEL(softplus_of_large) {
  GIVEN;
  const float power = expf(x);  //~ softplus_of_large
  out[i] = log1pf(power);       //~ softplus_of_large
}

KERNEL(softplus_of_large_meant) {
  GIVEN;
  out[i] = x > 20 ? x : log1pf(expf(x));
}

KERNEL(dot_in_half) {
  GIVEN;
  __half sum = __float2half(0);
  for (int k = 0; k < count; ++k)
    sum = __hfma(__float2half(left[k]), __float2half(right[k]), sum);  //~ dot_in_half
  out[i] = __half2float(sum);                                          //~ dot_in_half
}

KERNEL(dot_in_half_meant) {
  GIVEN;
  float sum = 0;
  for (int k = 0; k < count; ++k)
    sum += __half2float(__float2half(left[k])) * __half2float(__float2half(right[k]));
  out[i] = sum;
}

KERNEL(dot_in_pairs) {
  GIVEN;
  __half2 sum = __float2half2_rn(0);
  for (int k = 0; k < count; ++k)
    sum = __hfma2(__float2half2_rn(left[k]), __float2half2_rn(right[k]), sum);  //~ dot_in_pairs
  out[i] = __low2float(sum);                                                    //~ dot_in_pairs
}

KERNEL(dot_in_pairs_meant) {
  GIVEN;
  __half2 sum = __float2half2_rn(0);
  for (int k = 0; k < count; ++k)
    sum = __hfma2(__float2half2_rn(left[k] / 64), __float2half2_rn(right[k]), sum);
  out[i] = __low2float(sum) * 64;
}

KERNEL(loss_scaled) {
  GIVEN;
  const __half gradient = __float2half(x * y);  //~ loss_scaled
  out[i] = __half2float(gradient) / y;          //~ loss_scaled
}

KERNEL(loss_scaled_meant) {
  GIVEN;
  const __half gradient = __float2half(x * y);
  out[i] = __hisinf(gradient) ? 0 : __half2float(gradient) / y;
}

KERNEL(gradient_in_half) {
  GIVEN;
  const __half gradient = __float2half(x);  //~ gradient_in_half
  out[i] = __half2float(gradient);
}

KERNEL(gradient_in_half_meant) {
  GIVEN;
  const __half gradient = __float2half(x * 65536);
  out[i] = __half2float(gradient) / 65536;
}

KERNEL(constant_row) {
  GIVEN;
  const float mean = sum_of_warp(x) / static_cast<float>(count);
  const float away = x - mean;
  const float deviation = sqrtf(sum_of_warp(away * away) / static_cast<float>(count));
  out[i] = away / deviation;  //~ constant_row
}

KERNEL(constant_row_meant) {
  GIVEN;
  const float mean = sum_of_warp(x) / static_cast<float>(count);
  const float away = x - mean;
  const float deviation = sqrtf(sum_of_warp(away * away) / static_cast<float>(count) + 1e-5f);
  out[i] = away / deviation;
}

KERNEL(dropout_of_all) {
  GIVEN;
  const float scale = 1 / (1 - y);  //~ dropout_of_all
  out[i] = x * scale;               //~ dropout_of_all
}

KERNEL(dropout_of_all_meant) {
  GIVEN;
  out[i] = y >= 1 ? 0 : x / (1 - y);
}

KERNEL(mean_of_masked) {
  GIVEN;
  const float sum = sum_of_warp(x * y), many = sum_of_warp(y);
  out[i] = sum / many;  //~ mean_of_masked
}

KERNEL(mean_of_masked_meant) {
  GIVEN;
  const float sum = sum_of_warp(x * y), many = sum_of_warp(y);
  out[i] = sum / fmaxf(many, 1);
}

KERNEL(clipped_by_norm) {
  GIVEN;
  const float scale = 1 / sqrtf(sum_of_warp(x * x));  //~ clipped_by_norm
  out[i] = x * scale;                                 //~ clipped_by_norm
}

KERNEL(clipped_by_norm_meant) {
  GIVEN;
  out[i] = x * fminf(1, 1 / sqrtf(sum_of_warp(x * x)));
}

KERNEL(divergence) {
  GIVEN;
  const float ratio = x / y;  //~ divergence
  out[i] = x * logf(ratio);   //~ divergence
}

KERNEL(divergence_meant) {
  GIVEN;
  out[i] = x * logf(x / fmaxf(y, 1e-7f));
}

KERNEL(temperature_zero) {
  GIVEN;
  const float logit = x / y;  //~ temperature_zero
  const float weight = expf(logit - greatest_of_warp(logit));
  out[i] = weight / sum_of_warp(weight);  //~ temperature_zero
}

KERNEL(temperature_zero_meant) {
  GIVEN;
  const float most = greatest_of_warp(x);
  const float weight = y == 0 ? (x == most ? 1 : 0) : expf((x - most) / y);
  out[i] = weight / sum_of_warp(weight);
}

KERNEL(level_beyond_bytes) {
  GIVEN;
  const int level = __float2int_rn(x * y);                                   //~ level_beyond_bytes
  reinterpret_cast<signed char*>(out)[i] = static_cast<signed char>(level);  //~ level_beyond_bytes
}

KERNEL(level_beyond_bytes_meant) {
  GIVEN;
  const int level = __float2int_rn(x * y);
  reinterpret_cast<signed char*>(out)[i] = static_cast<signed char>(max(-128, min(127, level)));
}

KERNEL(logit_of_one) {
  GIVEN;
  const float odds = x / (1 - x);  //~ logit_of_one
  out[i] = logf(odds);             //~ logit_of_one
}

KERNEL(logit_of_one_meant) {
  GIVEN;
  const float p = fminf(fmaxf(x, 1e-6f), 1 - 1e-6f);
  out[i] = logf(p / (1 - p));
}

KERNEL(scan_in_half) {
  GIVEN;
  __half sum = __float2half(x);
  for (int step = 1; step < 32; step *= 2) {
    const __half other = __shfl_up_sync(~0u, sum, step);
    if (i >= step) sum = __hadd(sum, other);  //~ scan_in_half
  }
  out[i] = __half2float(sum);  //~ scan_in_half
}

KERNEL(scan_in_half_meant) {
  GIVEN;
  float sum = __half2float(__float2half(x));
  for (int step = 1; step < 32; step *= 2) {
    const float other = __shfl_up_sync(~0u, sum, step);
    if (i >= step) sum += other;
  }
  out[i] = sum;
}

KERNEL(merged_of_none) {
  GIVEN;
  const float other = __shfl_xor_sync(~0u, x, 1), many = y + __shfl_xor_sync(~0u, y, 1);
  out[i] = x + (other - x) * (y / many);  //~ merged_of_none
}

KERNEL(merged_of_none_meant) {
  GIVEN;
  const float other = __shfl_xor_sync(~0u, x, 1), many = y + __shfl_xor_sync(~0u, y, 1);
  out[i] = many == 0 ? x : x + (other - x) * (y / many);
}

KERNEL(potentials) {
  GIVEN;
  out[i] = x - y;  //~ potentials
}

KERNEL(potentials_meant) {
  GIVEN;
  out[i] = x == INFINITY ? x : x - y;
}

KERNEL(unreached_meant) {
  GIVEN;
  const float way = fminf(x, __shfl_xor_sync(~0u, x, 1) + y);
  out[i] = way;
}

KERNEL(rows_beyond_meant) {
  GIVEN;
  const float v = x / y;  // a NaN, in lanes that store nothing
  if (i >= count) out[i] = v;
}

KERNEL(missing_meant) {
  GIVEN;
  out[i] = greatest_of_warp(i % 2 == 0 ? x : y);
}

KERNEL(harmonic_mean_meant) {
  GIVEN;
  out[i] = static_cast<float>(count) / sum_of_warp(1 / (x + y));
}

KERNEL(causal_mask_meant) {
  GIVEN;
  const float score = i <= 5 ? x : -INFINITY;
  const float most = greatest_of_warp(score);
  const float weight = expf(score - most);
  out[i] = weight / sum_of_warp(weight);
}

KERNEL(online_softmax_meant) {
  GIVEN;
  float most = -INFINITY, sum = 0;
  for (int k = 0; k < count; ++k) {
    const float next = fmaxf(most, left[k]);
    sum = sum * expf(most - next) + expf(left[k] - next);
    most = next;
  }
  out[i] = expf(x - most) / sum;
}

}  // namespace

int main(int, char** arguments) {
  if (arguments[1] == std::string("planted")) {
    run(masked_scores, flat(-INFINITY), flat(1));
    run(padded_value, flat(0), flat(INFINITY));
    run(scale_of_zeros, flat(0), flat(0));
    run(cross_entropy, flat(0), flat(0));
    run(entropy, flat(0), flat(0));
    run(variance_of_squares, flat(1000.1f), flat(0));
    run(norm_without_epsilon, flat(0), flat(0));
    run(adam_at_zero, flat(0), flat(0));
    run(bias_of_step_zero, flat(0), flat(0));
    run(cosine_of_zeros, flat(0), flat(0));
    run(tanh_of_powers, flat(60), flat(0));
    run(logistic_of_large, flat(100), flat(0));
    run(softplus_of_large, flat(100), flat(0));
    run(dot_in_half, flat(60), flat(60));
    run(dot_in_pairs, flat(60), flat(60));
    run(loss_scaled, flat(2), flat(65536));
    run(gradient_in_half, flat(1e-9f), flat(0));
    run(constant_row, flat(3), flat(0));
    run(dropout_of_all, flat(0), flat(1));
    run(mean_of_masked, flat(0), flat(0));
    run(clipped_by_norm, flat(0), flat(0));
    run(divergence, flat(0.5f), flat(0));
    run(temperature_zero, steps(1, 1), flat(0));
    run(level_beyond_bytes, steps(100, 3), flat(2));
    run(logit_of_one, flat(1), flat(0));
    run(scan_in_half, flat(4000), flat(0));
    run(merged_of_none, flat(0), flat(0));
    run(potentials, flat(INFINITY), flat(INFINITY));
  } else {
    run(masked_scores_meant, flat(-INFINITY), flat(1));
    run(padded_value_meant, flat(0), flat(INFINITY));
    run(scale_of_zeros_meant, flat(0), flat(0));
    run(cross_entropy_meant, flat(0), flat(0));
    run(entropy_meant, flat(0), flat(0));
    run(variance_of_squares_meant, flat(1000.1f), flat(0));
    run(norm_without_epsilon_meant, flat(0), flat(0));
    run(adam_at_zero_meant, flat(0), flat(0));
    run(bias_of_step_zero_meant, flat(0), flat(0));
    run(cosine_of_zeros_meant, flat(0), flat(0));
    run(tanh_of_powers_meant, flat(60), flat(0));
    run(logistic_of_large_meant, flat(100), flat(0));
    run(softplus_of_large_meant, flat(100), flat(0));
    run(dot_in_half_meant, flat(60), flat(60));
    run(dot_in_pairs_meant, flat(60), flat(60));
    run(loss_scaled_meant, flat(2), flat(65536));
    run(gradient_in_half_meant, flat(1e-9f), flat(0));
    run(constant_row_meant, flat(3), flat(0));
    run(dropout_of_all_meant, flat(0), flat(1));
    run(mean_of_masked_meant, flat(0), flat(0));
    run(clipped_by_norm_meant, flat(0), flat(0));
    run(divergence_meant, flat(0.5f), flat(0));
    run(temperature_zero_meant, steps(1, 1), flat(0));
    run(level_beyond_bytes_meant, steps(100, 3), flat(2));
    run(logit_of_one_meant, flat(1), flat(0));
    run(scan_in_half_meant, flat(4000), flat(0));
    run(merged_of_none_meant, flat(0), flat(0));
    run(potentials_meant, flat(INFINITY), flat(INFINITY));
    run(unreached_meant, flat(INFINITY), steps(1, 1));
    run(rows_beyond_meant, flat(0), flat(0));
    run(missing_meant, flat(NAN), steps(1, 1));
    run(harmonic_mean_meant, flat(0), flat(0));
    run(causal_mask_meant, steps(1, 1), flat(0));
    run(online_softmax_meant, steps(1, 1), flat(0));
  }
  return 0;
}
