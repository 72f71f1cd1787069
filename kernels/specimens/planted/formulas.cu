#include "kernels/specimens/planted/formulas.hpp"

namespace {

constexpr int kTile = 16;

// 0: (left + 2 x + right) / 4, the ends repeated.
__device__ float smoothed(int way, const float* x, int n, int i, float* tile) {
  const float here = x[i], left = x[max(i - 1, 0)], right = x[min(i + 1, n - 1)];
  const int at = i % kTile + 1, first = i - i % kTile;
  tile = tile + i / kTile * (kTile + 2);
  tile[at] = here;
  if (at == 1) tile[0] = left;
  if (at == kTile || i == n - 1) tile[at + 1] = right;
  __syncthreads();
  switch (way) {
    case 0: return (left + 2 * here + right) / 4;
    case 1: return tile[at - 1] * 0.25f + tile[at] * 0.5f + tile[at + 1] * 0.25f;
    case 2: return here + (left - 2 * here + right) * 0.25f;
    case 3: return 0.5f * ((left + here) * 0.5f + (here + right) * 0.5f);
    case 50: return tile[at - 1] * 0.25f + tile[at] * 0.5f + x[i + 1 == n ? 0 : i + 1] * 0.25f;
    case 51: return (left + 2 * here + (at == kTile ? here : right)) / 4;
    case 52: return left * 0.25f + here * 0.5f + right * (0.25f + 0x1p-25f);
    case 53: return ((i == 0 ? 0 : left) + 2 * here + right) / 4;
    case 54: return (left + 2 * here + (n == 33 && i == 32 ? left : right)) / 4;
    case 55: return (left + 2 * here + x[min(first + at, n - 2)]) / 4;
    case 56: return (left + here + right) / 3;
    default: return (left + 2 * right + here) / 4;
  }
}

// 1: (x - mean) / sqrt(variance + 1).
__device__ float normalised(int way, const float* x, int n, int i) {
  float sum = 0, squares = 0, mean = 0, m2 = 0;
  const int count = way == 51 ? n - 1 : n;
  const float shift = way == 4 ? x[0] : 0;
  for (int k = 0; k < count; ++k) {
    const float v = x[k] - shift, delta = v - mean;
    sum += v;
    squares += v * v;
    mean += delta / static_cast<float>(k + 1);
    m2 += delta * (v - mean);
  }
  const auto size = static_cast<float>(n);
  if (way != 3) mean = sum / (way == 52 ? static_cast<float>((n + 31) / 32 * 32) : size);
  float deviations = 0;
  for (int k = 0; k < n; ++k) {
    const float v = x[k] - shift - mean;
    deviations += way == 56 && k == n - 1 ? 0 : v * v;
  }
  float variance = deviations / size;
  if (way == 1 || way == 4) variance = squares / size - mean * mean;
  if (way == 3) variance = m2 / size;
  if (way == 50) variance = deviations / (size - 1);
  if (way == 57) variance = squares / size - mean;
  const float v = x[i] - shift - mean;
  switch (way) {
    case 2: return v * rsqrtf(variance + 1);
    case 53: return v / (sqrtf(variance) + 1);
    case 54: return v * rsqrtf(variance);
    case 55: return v / (variance + 1);
    case 58: return v * sqrtf(variance + 1);
    case 59: return (v - mean) / sqrtf(variance + 1);
    default: return v / sqrtf(variance + 1);
  }
}

// 2: a complex square; numbers are pairs, real parts first.
__device__ float squared(int way, const float* x, int n, int i) {
  const float a = x[i & ~1], b = (i | 1) < n ? x[i | 1] : 0;
  const bool is_real = (i & 1) == 0;
  switch (way) {
    case 0: return is_real ? a * a - b * b : 2 * a * b;
    case 1: return is_real ? (a - b) * (a + b) : (a + a) * b;
    case 2: return is_real ? fmaf(a, a, -b * b) : (a + b) * (a + b) - a * a - b * b;
    case 50: return is_real ? a * a + b * b : 2 * a * b;
    case 51: return is_real ? (a - b) * (a - b) : 2 * a * b;
    case 52: return is_real ? a * a - b * b : 2 * a * a;
    case 53: return is_real ? a * a - b * b : (i == n - 1 ? -2 : 2) * a * b;
    case 54: return is_real ? (a - b) * (b + b) : 2 * a * b;
    default: return is_real ? a * a - b * b : a * b;
  }
}

// 3: x0 + x1 v + x2 v^2 + x3 v^3 of v = x[i].
__device__ float polynomial(int way, const float* x, int n, int i) {
  const float v = x[i], a = x[0], b = x[min(1, n - 1)], c = x[min(2, n - 1)], d = x[min(3, n - 1)];
  switch (way) {
    case 0: return a + b * v + c * v * v + d * v * v * v;
    case 1: return fmaf(fmaf(fmaf(d, v, c), v, b), v, a);
    case 2: return (a + b * v) + (v * v) * (c + d * v);
    case 50: return fmaf(fmaf(fmaf(c, v, d), v, b), v, a);
    case 51: return (a + b * v) + (v * v) * (c + d * (i == 31 ? v * v : v));
    case 52: return fmaf(fmaf(d, v, c), v, b);
    case 53: return a + b * v + c * v * v + d * v * v;
    default: return fmaf(fmaf(fmaf(d, v, c), v, b), v, a) * 1.0000001f;
  }
}

// 4: the greatest of three neighbours.
__device__ float greatest(int way, const float* x, int n, int i) {
  const float a = x[max(i - 1, 0)], b = x[i], c = x[min(i + 1, n - 1)];
  switch (way) {
    case 0: return fmaxf(fmaxf(a, b), c);
    case 1: return fmaxf(a, fmaxf(c, b));
    case 2: {
      const float ab = a > b ? a : b;
      return c < ab ? ab : c;
    }
    case 3: return fmaxf(fmaxf(fmaxf(a, b), fmaxf(b, c)), fmaxf(c, a));
    case 4: return -fminf(-a, fminf(-b, -c));
    case 5: return fmaxf(fmaxf(fminf(fmaxf(a, b), c), fmaxf(a, b)), c);
    case 50: return fmaxf(a, b);
    case 51: return fmaxf(fminf(a, b), c);
    case 52: return i == n - 1 ? b : fmaxf(fmaxf(a, b), c);
    case 53: {
      const float ab = a > b ? b : a;
      return ab > c ? ab : c;
    }
    case 54: return fmaxf(fmaxf(a, b), c * 1.0000001f);
    case 55: return a > b && a > c ? a : b > c ? c : b;
    case 56: return fmaxf(fmaxf(fabsf(a), b), c);
    default: return fmaxf(fmaxf(a, b), n == 21 && i == 10 ? a : c);
  }
}

// 5: the quotient of neighbours.
__device__ float quotient(int way, const float* x, int n, int i) {
  const float a = x[i], b = x[(i + 1) % n];
  switch (way) {
    case 0: return a / b;
    case 1: return a * (1 / b);
    case 2: return __fdividef(a, b);
    case 3: return 1 / (b / a);
    case 4: return a * b / (b * b);
    case 50: return b / a;
    case 51: return a / (n == 17 ? a : b);
    case 52: return 1 / (a / b);
    case 53: return (1 / a) * (1 / b);
    case 54: return a / (b + 1e-30f);
    case 55: return a * rsqrtf(b);
    default: return a / x[i + 1 < n ? i + 1 : i];
  }
}

// 6: sum of x[i - k] x[k], k < 8.
__device__ float correlated(int way, const float* x, int n, int i, float* tile) {
  for (int k = i; k < 8; k += n) tile[k] = k < n ? x[k] : 0;
  __syncthreads();
  float sum = 0;
  const int most = way == 50 ? 7 : 8;
  for (int k = 0; k < most; ++k) {
    const bool is_in = way == 51 ? i - k > 0 : way == 52 ? k <= i && i < n - n % 4 : k <= i;
    const float other = is_in ? x[i - k] : 0;
    if (way == 53 && k == 3)
      sum = sum + other + tile[k];
    else if (way == 54 && n == 41 && k == 7)
      sum += other * tile[k - 1];
    else if (way == 55)
      sum = fmaf(other, k < n ? x[k / 2] : 0, sum);
    else if (way == 56 && i == 40)
      sum -= other * tile[k];
    else if (way == 1)
      sum = fmaf(tile[k], other, sum);
    else
      sum += other * tile[k];
  }
  if (way == 2) {
    sum = 0;
    for (int k = 7; k >= 0; --k) sum += (i - k < 0 ? 0 : x[i - k]) * (k < n ? x[k] : 0);
  }
  return sum;
}

// 7: x / (1 + |x|), the root and others that are known by name.
__device__ float named(int way, const float* x, int n, int i) {
  const float a = x[i], b = x[n - 1 - i];
  switch (way) {
    case 0: return a / (1 + fabsf(a)) + sqrtf(a * a + b * b) + __sinf(a) + __log2f(b);
    case 1: return __log2f(b) + __sinf(a) + sqrtf(fmaf(b, b, a * a)) + a * (1 / (fabsf(-a) + 1));
    case 50: return a / (1 + fabsf(a)) + sqrtf(a * a + b * b) + __sinf(b) + __log2f(b);
    case 51: return a / (1 + fabsf(b)) + sqrtf(a * a + b * b) + __sinf(a) + __log2f(b);
    case 52: return a / (1 + fabsf(a)) + sqrtf(a * a + b) + __sinf(a) + __log2f(b);
    case 53: return a / (1 + fabsf(a)) + sqrtf(a * a + b * b) + __cosf(a) + __log2f(b);
    case 54: return a / (1 + a) + sqrtf(a * a + b * b) + __sinf(a) + __log2f(b);
    default: return a / (1 + fabsf(a)) + sqrtf(a * a + b * b) + __sinf(a) + exp2f(b);
  }
}

// 8 and 9: softmax by __expf() and by expf().
__device__ float softmax(bool is_fast, int way, const float* x, int n, int i) {
  const auto power = [&](float of) { return is_fast ? __expf(of) : expf(of); };
  float most = -INFINITY, sum = 0;
  if (way == 1 || way == 54 || way == 55) {
    for (int k = 0; k < n; ++k) {
      const float next = fmaxf(most, x[k]);
      const float rescaled = way == 54 ? sum : sum * power(way == 55 ? next - most : most - next);
      sum = rescaled + power(x[k] - next);
      most = next;
    }
    return power(x[i] - most) / sum;
  }
  for (int k = 0; k < n; ++k) most = fmaxf(most, x[k]);
  if (way == 2) most = 0;
  if (way == 4) most = x[0];
  for (int k = 0; k < (way == 51 ? n - 1 : n); ++k) {
    sum += way == 50   ? exp2f(x[k] - most)
           : way == 52 ? power(x[k])
           : way == 56 ? power(x[k] - (k == n - 1 ? x[0] : most))
                       : power(x[k] - most);
  }
  if (way == 3) return power(x[i] - most) * (1 / sum);
  if (way == 57) return (is_fast ? expf(x[i] - most) : __expf(x[i] - most)) / sum;
  if (way == 5) return power(x[i] * 0.5f) * power(x[i] * 0.5f - most) / sum;
  return power(x[i] - most) / (way == 53 ? static_cast<float>(n) : sum);
}

// 10: 1 / (1 + e^-x).
__device__ float logistic(int way, float x) {
  switch (way) {
    case 0: return 1 / (1 + expf(-x));
    case 1: return expf(x) / (expf(x) + 1);
    case 2: return expf(x * 0.5f) / (expf(x * 0.5f) + expf(x * -0.5f));
    case 3: return 1 - 1 / (1 + expf(x));
    case 50: return 1 / (1 + expf(x));
    case 51: return expf(x) / (1 + expf(-x));
    case 52: return 1 / (1 + exp2f(-x));
    case 53: return expf(x * 0.5f) / (expf(x * 0.5f) + expf(x * -0.25f));
    case 54: return expf(x) / (expf(x) + expf(0.0001f));
    default: return expf(x * x) / (expf(x) * expf(x) + 1);
  }
}

// A maximum, and the sum of the powers below it.
struct Normalized {
  float most = -INFINITY, sum = 0;
};
__device__ Normalized merged(int way, const Normalized& a, const Normalized& b) {
  const float most = fmaxf(a.most, b.most);
  if (most == -INFINITY) return {most, 0};
  const float of_b = way == 50 ? b.sum : b.sum * expf(b.most - most);
  return {most, a.sum * expf(a.most - most) + of_b};
}

// 11: softmax that looks for rows without a number, and for sums that are none.
__device__ float guarded(int way, const float* x, int n, int i) {
  Normalized all;
  if (way == 1 || way == 50) {
    for (int k = 0; k < n; ++k) all = merged(way, all, {x[k], 1});
  } else if (way == 2) {
    Normalized parts[2];
    for (int k = 0; k < n; ++k) parts[k % 2] = merged(way, parts[k % 2], {x[k], 1});
    all = merged(way, parts[1], parts[0]);
  } else {
    for (int k = 0; k < n; ++k) all.most = fmaxf(all.most, x[k]);
    if (way != 0 && all.most == -INFINITY) return 0;
    const int last = way == 57 && all.most != -INFINITY ? n - 1 : n;
    for (int k = 0; k < last; ++k) all.sum += expf(x[k] - all.most);
  }
  if (way == 3 && (isnan(all.sum) || isinf(all.sum) || !(all.sum > 0))) return -1;
  if (way == 4 && fabsf(x[i]) == INFINITY) return -1;
  if (way == 51) return expf(x[i] - x[0]) / all.sum;
  if (way == 52 && x[0] == 0) return 0;
  if (way == 53 && all.most > 0) return 0;
  if (way == 54 && all.sum < 1) return 0;
  if (way == 55 && all.sum > 0) all.sum += 1e-6f;
  if (way == 56 && 1 / x[0] == INFINITY) return 0;
  if (way == 58 && isnan(sqrtf(x[0]))) return 0;
  if (way == 59 && isinf(__log2f(fabsf(x[0])))) return 0;
  if (way == 60 && all.most - x[0] < 0) return 0;
  return all.sum == 0 ? 0 : expf(x[i] - all.most) / all.sum;
}

// 12: attention of number i to the numbers up to it; values are their neighbours.
__device__ float attended(int way, const float* x, int n, int i) {
  const float scale = way == 50 ? 1 : 0.35355339f;
  const auto score = [&](int k) {
    const bool is_seen = way == 52 ? k < i || i == 0 : k <= i;
    return is_seen ? x[i] * x[k] * scale : way == 55 ? 0 : -INFINITY;
  };
  const auto value = [&](int k) { return x[way == 53 ? k : k + 1 == n ? 0 : k + 1]; };
  float most = -INFINITY, sum = 0, result = 0;
  if (way == 2) {
    for (int k = 0; k <= i; ++k) {
      sum += expf(score(k));
      result += expf(score(k)) * value(k);
    }
    return result / sum;
  }
  if (way == 1 || way == 51 || way == 56) {
    for (int k = 0; k < n; ++k) {
      const float next = fmaxf(most, score(k));
      if (next == -INFINITY) continue;
      const float shrunk = way == 56 ? expf(next - most) : expf(most - next);
      sum = k == 0 ? 0 : sum * shrunk;
      if (way != 51) result = k == 0 ? 0 : result * shrunk;
      sum += expf(score(k) - next);
      result += expf(score(k) - next) * value(k);
      most = next;
    }
    return result / sum;
  }
  for (int k = 0; k < n; ++k) most = fmaxf(most, score(k));
  if (way == 3 && most == -INFINITY) return 0;
  for (int k = 0; k < n; ++k) {
    const float weight = expf(score(k) - most);
    sum += weight;
    result += (way == 54 ? expf(score(k) - score(0)) : weight) * value(k);
  }
  return way == 3 && sum == 0 ? 0 : result / sum;
}

__global__ void floats_kernel(const float* in, float* out, int n, int way) {
  __shared__ float tile[kFormulaSize / kTile * (kTile + 2)];
  const int i = static_cast<int>(threadIdx.x), one = way % kWaysOfFamily;
  switch (way / kWaysOfFamily) {
    case 0: out[i] = smoothed(one, in, n, i, tile); break;
    case 1: out[i] = normalised(one, in, n, i); break;
    case 2: out[i] = squared(one, in, n, i); break;
    case 3: out[i] = polynomial(one, in, n, i); break;
    case 4: out[i] = greatest(one, in, n, i); break;
    case 5: out[i] = quotient(one, in, n, i); break;
    case 6: out[i] = correlated(one, in, n, i, tile); break;
    case 7: out[i] = named(one, in, n, i); break;
    case 8: out[i] = softmax(true, one, in, n, i); break;
    case 9: out[i] = softmax(false, one, in, n, i); break;
    case 10: out[i] = logistic(one, in[i]); break;
    case 11: out[i] = guarded(one, in, n, i); break;
    default: out[i] = attended(one, in, n, i); break;
  }
}

// 0: (31 x + y) ^ -1 + (z << 4).
__device__ int mixed(int way, int x, int y, int z) {
  switch (way) {
    case 0: return ~(31 * x + y) + (z << 4);
    case 1: return 16 * z - (x * 32 - x + y) - 1;
    case 2:
      return static_cast<int>(static_cast<unsigned>(z) * 16u - 1u - static_cast<unsigned>(y) -
                              31u * static_cast<unsigned>(x));
    case 3: return -1 - y - (x << 5) + x + (z << 2 << 2);
    case 50: return -(31 * x + y) + (z << 4);
    case 51: return ~(31 * x + y) + (z << 3);
    case 52: return ~(31 * x + y) + (z >> 1 << 5);
    case 53: return ~(31 * x + y) + (z << 4 << 28 >> 28);
    case 54: return ~(31 * y + x) + (z << 4);
    case 55: return ~(31 * x | y) + (z << 4);
    case 56: return ~(31 * x + y) ^ (z << 4);
    case 57: return ~(31 * static_cast<short>(x) + y) + (z << 4);
    case 58: return static_cast<int>(~(31ll * x + y) >> 1 << 1) + (z << 4);
    default: return ~(31 * x + y) + (static_cast<int>(static_cast<unsigned>(z) << 4) >> 1) * 2;
  }
}

// 1: the greater of two.
__device__ int greater_of(int way, int x, int y) {
  const auto u = static_cast<unsigned>(x), v = static_cast<unsigned>(y);
  switch (way) {
    case 0: return max(x, y);
    case 1: return x > y ? x : y;
    case 2: return y >= x ? y : x;
    case 3: return max(max(x, y), min(x, y));
    case 4: return ~min(~x, ~y);
    case 50: return static_cast<int>(max(u, v));
    case 51: return static_cast<int>(u - v) > 0 ? x : y;
    case 52: return u > v ? x : y;
    case 53: return x + ((y - x) & ((x - y) >> 31));
    case 54: return x > y ? y : x;
    case 55: return max(x, y + 0) > 0 ? x : y;
    case 56: return max(x - 1, y - 1) + 1;
    case 57: return static_cast<short>(x) > static_cast<short>(y) ? x : y;
    default: return x < y ? x : y;
  }
}

// 2: the sum of all, by a tree in shared memory.
__device__ int sum_of(int way, int x, int n, int i, int* tile) {
  if (way == 2) {
    int sum = x;
    for (int step = 1; step < 32; step *= 2) sum += __shfl_xor_sync(~0u, sum, step);
    tile[i / 32] = sum;
    __syncthreads();
    return tile[0] + tile[1];
  }
  tile[i] = x;
  for (int half = kFormulaSize / 2; half > 0; half /= 2) {
    __syncthreads();
    const int other = tile[(i + half) % kFormulaSize];
    __syncthreads();
    if (way == 50 && half == 4)
      tile[i] -= other;
    else if (way == 51 && half == 1 && n == 40)
      tile[i] += 2 * other;
    else if (way == 52 && half == 2)
      tile[i] = max(tile[i], other);
    else if (way == 53 && half == 32)
      tile[i] += other & 0x7fffffff;
    else if (way == 54 && half == 16)
      tile[i] = tile[i] / 2 * 2 + other;
    else
      tile[i] += other;
  }
  __syncthreads();
  return tile[way == 1 ? i : 0];
}

__global__ void ints_kernel(const int* in, int* out, int n, int way) {
  __shared__ int tile[kFormulaSize];
  const int i = static_cast<int>(threadIdx.x), one = way % kWaysOfFamily;
  const int x = i < n ? in[i] : 0, y = i < n ? in[n - 1 - i] : 0, z = i < n ? in[i * 7 % n] : 0;
  int result = 0;
  switch (way / kWaysOfFamily) {
    case 0: result = mixed(one, x, y, z); break;
    case 1: result = greater_of(one, x, y); break;
    default: result = sum_of(one, x, n, i, tile); break;
  }
  if (i < n) out[i] = result;
}

}  // namespace

cudaError_t formula_of_floats(const float* in, float* out, int n, int way) {
  if (n == 0) return cudaSuccess;
  floats_kernel<<<1, static_cast<unsigned>(n)>>>(in, out, n, way);
  return cudaGetLastError();
}

cudaError_t formula_of_ints(const int* in, int* out, int n, int way) {
  ints_kernel<<<1, kFormulaSize>>>(in, out, n, way);
  return cudaGetLastError();
}
