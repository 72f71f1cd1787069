#include "kernels/specimens/planted/rounded_formulas.hpp"

namespace {

__device__ float sum_by_shuffles(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

__device__ float scanned(float x, int i, int steps_end) {
  for (int step = 1; step < steps_end; step *= 2) {
    const float other = __shfl_up_sync(~0u, x, step);
    if (i >= step) x += other;
  }
  return x;
}

__device__ float variance_of(const float* in, int n, bool is_wrong) {
  float mean = 0, squares = 0;
  for (int k = 0; k < n; ++k) {
    const float away = in[k] - mean;
    mean += away / static_cast<float>(k + 1);
    squares += away * (in[k] - (is_wrong ? mean * 1.001F : mean));
  }
  return squares / static_cast<float>(n);
}

__device__ float compensated_sum(const float* in, int n, bool is_wrong) {
  float sum = 0, lost = 0;
  for (int k = 0; k < n; ++k) {
    const float term = in[k] - lost, next = sum + term;
    lost = next - sum - term;
    sum = next;
    if (is_wrong && k == 7) sum += 1e-2F * in[k];
  }
  return sum;
}

__device__ float power_sum(const float* in, int n, float most, int from) {
  float sum = 0;
  for (int k = from; k < n; ++k) sum += expf(in[k] - most);
  return sum;
}

__device__ float greatest_of(const float* in, int n) {
  float most = in[0];
  for (int k = 1; k < n; ++k) most = fmaxf(most, in[k]);
  return most;
}

// For n = 32.
__device__ float of_list(int way, bool is_wrong, const float* in, int n, int i) {
  const float x = in[i], count = static_cast<float>(n);
  switch (way) {
    case 10: return x * rsqrtf(sum_by_shuffles(x * x) / count + (is_wrong ? 1e-3F : 1e-5F));
    case 11: {
      const float dot = sum_by_shuffles(is_wrong && i == 31 ? 0 : x * in[n - 1 - i]);
      return dot / sum_by_shuffles(x * x);
    }
    case 12: {
      const float weight = static_cast<float>(is_wrong ? i : i + 1);
      return sum_by_shuffles(weight * x) / sum_by_shuffles(weight);
    }
    case 13: {
      float mean = 0;
      for (int k = 0; k < n; ++k) mean = 0.875F * mean + (is_wrong ? 0.126F : 0.125F) * in[k];
      return mean;
    }
    case 14:
      return 0.25F * in[max(i - 1, 0)] + 0.5F * x +
             (is_wrong ? 0.2501F : 0.25F) * in[min(i + 1, n - 1)];
    case 15: return scanned(x, i, is_wrong ? 16 : 32);
    case 16: return variance_of(in, n, is_wrong);
    case 17: {
      const float most = greatest_of(in, n);
      return (is_wrong ? most * 0.999F : most) + logf(power_sum(in, n, most, 0));
    }
    case 18: {
      const float most = greatest_of(in, n);
      return expf(x - most) / power_sum(in, n, most, is_wrong ? 1 : 0);
    }
    case 19: return compensated_sum(in, n, is_wrong);
    default: {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += (in[k] - x) * (in[is_wrong ? k / 2 * 2 : k] - x);
      return sqrtf(sum);
    }
  }
}

__device__ float of_number(int way, bool is_wrong, float x) {
  switch (way) {
    case 0:
      return 0.5F * x * (1 + tanhf(0.75F * (x + (is_wrong ? 0.047F : 0.046875F) * x * x * x)));
    case 1: return x / (1 + expf(is_wrong ? -1.001F * x : -x));
    case 2: return log1pf((is_wrong ? 1.001F : 1) * expf(x));
    case 3: return ((2 * x - 3) * x + (is_wrong ? 0.501F : 0.5F)) * x - 7;
    case 4: return (x - 2) * (x + (is_wrong ? 2.001F : 2));
    case 5: return 3 + x * ((is_wrong ? 5.001F : 5.0F) - 3);
    case 6: return fmaxf(x, 0) - x * 0.25F + log1pf(expf(is_wrong ? -fabsf(x) * 1.01F : -fabsf(x)));
    case 7: {
      const float root = rsqrtf(x);
      return root * ((is_wrong ? 1.501F : 1.5F) - 0.5F * x * root * root);
    }
    case 8: return expf(0.25F * (logf(x) + logf(is_wrong ? x : x + 1)));
    default: return static_cast<float>(sqrt(static_cast<double>(x) * x + (is_wrong ? 1.01 : 1.0)));
  }
}

}  // namespace

__global__ void rounded_formula_kernel(const float* in, float* out, int n, int way) {
  const int i = static_cast<int>(threadIdx.x), one = way % kRoundedWrongFormula;
  const bool is_wrong = way >= kRoundedWrongFormula;
  out[i] = one < 10 ? of_number(one, is_wrong, in[i]) : of_list(one, is_wrong, in, n, i);
}

cudaError_t rounded_formula(const float* in, float* out, int n, int way) {
  if (n != 0) rounded_formula_kernel<<<1, n>>>(in, out, n, way);
  return cudaGetLastError();
}
