// What goes wrong with numbers in geometry, statistics and images: zero lengths, empty ranges,
// roots, levels, each with a twin that is guarded or means it.  All of a kind run in one process.
//
// build: -arch=compute_80 -std=c++17
// also unoptimized: -G
//
// case planted: | --check numerics | planted
// expect planted: error infinity slab
// expect planted: error infinity quaternion_of_zero
// expect planted: error not-a-number complex_quotient
// expect planted: error not-a-number place_between
// expect planted: error infinity area_of_zero
// expect planted: error not-a-number newton
// expect planted: error not-a-number geometric_mean
// expect planted: error not-a-number score_in_double
// expect planted: error not-a-number weights_of_zero
// expect planted: error not-a-number gamma_of_colour
// expect planted: error not-a-number option_at_expiry
// expect planted: error infinity normal_of_zero
// expect planted: error not-a-number sinc
// expect planted: error not-a-number saturation
// expect planted: error infinity perspective
// expect planted: error not-a-number refraction
// expect planted: error not-a-number sphere
// expect planted: error not-a-number heron
// expect planted: error not-a-number bin_of_empty_range
// expect planted: error lossy-conversion cell_of_far
// expect planted: error lossy-conversion pixel_below_zero
// expect planted: error lossy-conversion time_as_integer
// expect planted: error not-a-number resistors
// expect planted: error infinity inverse_square
// expect planted: error infinity forces_of_itself
// expect planted: error infinity determinant
// expect planted: error infinity rate_of_no_time
//
// case meant: | --check numerics | meant
// expect meant: clean
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

KERNEL(slab) {
  GIVEN;
  const float inverse = 1 / y;  //~ slab
  out[i] = (0 - x) * inverse;   //~ slab
}

KERNEL(slab_meant) {
  GIVEN;
  // Infinities say that the ray never leaves the slab.
  const float inverse = 1 / y, near = (-1 - x) * inverse, far = (1 - x) * inverse;
  const float enters = fmaxf(0, fminf(near, far)), leaves = fminf(1e30f, fmaxf(near, far));
  out[i] = enters <= leaves ? enters : -1;
}

KERNEL(quaternion_of_zero) {
  GIVEN;
  const float scale = rsqrtf(x * x + y * y);  //~ quaternion_of_zero
  out[i] = x * scale;                         //~ quaternion_of_zero
}

KERNEL(quaternion_of_zero_meant) {
  GIVEN;
  const float square = x * x + y * y;
  out[i] = square > 0 ? x * rsqrtf(square) : 1;
}

KERNEL(complex_quotient) {
  GIVEN;
  const float square = y * y;
  out[i] = x * y / square;  //~ complex_quotient
}

KERNEL(complex_quotient_meant) {
  GIVEN;
  const float square = y * y;
  out[i] = square == 0 ? 0 : x * y / square;
}

KERNEL(complex_of_large_meant) {
  GIVEN;
  const float ratio = y / x;
  out[i] = 1 / (x + y * ratio);
}

KERNEL(place_between) {
  GIVEN;
  out[i] = (x - 2) / (y - x);  //~ place_between
}

KERNEL(place_between_meant) {
  GIVEN;
  out[i] = y == x ? 0 : (x - 2) / (y - x);
}

KERNEL(area_of_zero) {
  GIVEN;
  const float area = x * y - y * x;
  const float inverse = 1 / area;  //~ area_of_zero
  out[i] = inverse * x;            //~ area_of_zero
}

KERNEL(area_of_zero_meant) {
  GIVEN;
  const float area = x * y - y * x;
  if (fabsf(area) > 1e-9f) out[i] = 1 / area;
}

KERNEL(newton) {
  GIVEN;
  out[i] = x - (x * x * x) / (3 * x * x);  //~ newton
}

KERNEL(newton_meant) {
  GIVEN;
  const float slope = 3 * x * x;
  out[i] = slope == 0 ? x : x - (x * x * x) / slope;
}

KERNEL(geometric_mean) {
  GIVEN;
  const float logarithm = logf(x - 0.5f);                             //~ geometric_mean
  out[i] = expf(sum_of_warp(logarithm) / static_cast<float>(count));  //~ geometric_mean
}

KERNEL(geometric_mean_meant) {
  GIVEN;
  const float logarithm = logf(fabsf(x - 0.5f));
  out[i] = expf(sum_of_warp(logarithm) / static_cast<float>(count));
}

KERNEL(score_in_double) {
  GIVEN;
  const double deviation = sqrt(static_cast<double>(y));
  const double score = x / deviation;  //~ score_in_double
  out[i] = static_cast<float>(score);  //~ score_in_double
}

KERNEL(score_in_double_meant) {
  GIVEN;
  const double deviation = sqrt(static_cast<double>(y));
  out[i] = deviation > 0 ? static_cast<float>(x / deviation) : 0;
}

KERNEL(weights_of_zero) {
  GIVEN;
  __shared__ float sums[2];
  if (i < 2) sums[i] = 0;
  __syncthreads();
  atomicAdd(&sums[0], x * y);
  atomicAdd(&sums[1], y);
  __syncthreads();
  out[i] = sums[0] / sums[1];  //~ weights_of_zero
}

KERNEL(weights_of_zero_meant) {
  GIVEN;
  __shared__ float sums[2];
  if (i < 2) sums[i] = 0;
  __syncthreads();
  atomicAdd(&sums[0], x * y);
  atomicAdd(&sums[1], y);
  __syncthreads();
  out[i] = sums[1] == 0 ? 0 : sums[0] / sums[1];
}

KERNEL(gamma_of_colour) {
  GIVEN;
  out[i] = powf(x, 1 / 2.2f);  //~ gamma_of_colour
}

KERNEL(gamma_of_colour_meant) {
  GIVEN;
  out[i] = powf(fmaxf(x, 0), 1 / 2.2f);
}

KERNEL(option_at_expiry) {
  GIVEN;
  const float d = logf(x / 100) / (0.2f * sqrtf(y));  //~ option_at_expiry
  out[i] = x / (1 + expf(-1.6f * d));                 //~ option_at_expiry
}

KERNEL(option_at_expiry_meant) {
  GIVEN;
  const float spread = 0.2f * sqrtf(y);
  out[i] = spread == 0 ? fmaxf(x - 100, 0) : x * normcdff(logf(x / 100) / spread);
}

KERNEL(normal_of_zero) {
  GIVEN;
  out[i] = sqrtf(-2 * logf(x));  //~ normal_of_zero
}

KERNEL(normal_of_zero_meant) {
  GIVEN;
  out[i] = sqrtf(-2 * logf(x + 1e-7f)) * cospif(2 * y) + atan2f(x, y);
}

KERNEL(sinc) {
  GIVEN;
  out[i] = sinf(x) / x;  //~ sinc
}

KERNEL(sinc_meant) {
  GIVEN;
  out[i] = x == 0 ? 1 : sinf(x) / x;
}

KERNEL(saturation) {
  GIVEN;
  const float most = fmaxf(x, y), least = fminf(x, y);
  out[i] = (most - least) / most;  //~ saturation
}

KERNEL(saturation_meant) {
  GIVEN;
  const float most = fmaxf(x, y), least = fminf(x, y);
  out[i] = most > 0 ? (most - least) / most : 0;
}

KERNEL(perspective) {
  GIVEN;
  out[i] = x / y;  //~ perspective
}

KERNEL(perspective_meant) {
  GIVEN;
  if (y > 1e-6f) out[i] = x / y;
}

KERNEL(refraction) {
  GIVEN;
  out[i] = sqrtf(1 - y * y * x * x);  //~ refraction
}

KERNEL(refraction_meant) {
  GIVEN;
  const float k = 1 - y * y * x * x;
  out[i] = k < 0 ? 0 : sqrtf(k);
}

KERNEL(sphere) {
  GIVEN;
  const float root = sqrtf(y * y - x * x);  //~ sphere
  out[i] = x - root;                        //~ sphere
}

KERNEL(sphere_meant) {
  GIVEN;
  const float square = y * y - x * x;
  if (square < 0) {
    out[i] = -1;
    return;
  }
  out[i] = x - sqrtf(square);
}

KERNEL(heron) {
  GIVEN;
  const float s = (x + x + y) / 2;
  out[i] = sqrtf(s * (s - x) * (s - x) * (s - y));  //~ heron
}

KERNEL(heron_meant) {
  GIVEN;
  const float s = (x + x + y) / 2;
  out[i] = sqrtf(fmaxf(s * (s - x) * (s - x) * (s - y), 0));
}

KERNEL(bin_of_empty_range) {
  GIVEN;
  const float place = (x - 2) / (y - 2) * 8;               //~ bin_of_empty_range
  atomicAdd(out + min(static_cast<int>(place), 7), 1.0f);  //~ bin_of_empty_range
}

KERNEL(bin_of_empty_range_meant) {
  GIVEN;
  const float place = y > 2 ? (x - 2) / (y - 2) * 8 : 0;
  atomicAdd(out + min(static_cast<int>(place), 7), 1.0f);
}

KERNEL(cell_of_far) {
  GIVEN;
  const int cell = static_cast<int>(floorf(x / 0.5f));  //~ cell_of_far
  out[cell & 31] = 1;                                   //~ cell_of_far
}

KERNEL(cell_of_far_meant) {
  GIVEN;
  const int cell = static_cast<int>(fmodf(floorf(x / 0.5f), 32));
  out[cell & 31] = 1;
}

KERNEL(pixel_below_zero) {
  GIVEN;
  const auto level = static_cast<unsigned char>(x);  //~ pixel_below_zero
  reinterpret_cast<unsigned char*>(out)[i] = level;  //~ pixel_below_zero
}

KERNEL(pixel_below_zero_meant) {
  GIVEN;
  const auto level = static_cast<unsigned char>(fminf(fmaxf(x, 0), 255));
  reinterpret_cast<unsigned char*>(out)[i] = level;
}

KERNEL(time_as_integer) {
  GIVEN;
  const int ticks = static_cast<int>(x);  //~ time_as_integer
  out[i] = static_cast<float>(ticks);     //~ time_as_integer
}

KERNEL(time_as_integer_meant) {
  GIVEN;
  const auto ticks = static_cast<long long>(x);
  out[i] = static_cast<float>(ticks);
}

KERNEL(resistors) {
  GIVEN;
  out[i] = x * y / (x + y);  //~ resistors
}

KERNEL(resistors_meant) {
  GIVEN;
  out[i] = 1 / (1 / (x + 1e-20f) + 1 / (y + 1e-20f));
}

KERNEL(inverse_square) {
  GIVEN;
  const float force = y / (x * x);  //~ inverse_square
  out[i] = sum_of_warp(force);      //~ inverse_square
}

KERNEL(inverse_square_meant) {
  GIVEN;
  const float force = y / (x * x + 1e-4f);
  out[i] = sum_of_warp(force);
}

KERNEL(forces_of_itself) {
  GIVEN;
  float sum = 0;
  for (int k = 0; k < count; ++k) {
    const float away = left[k] - x;
    const float inverse = rsqrtf(away * away);  //~ forces_of_itself
    sum += away * inverse;
  }
  out[i] = sum;  //~ forces_of_itself
}

KERNEL(forces_of_itself_meant) {
  GIVEN;
  float sum = 0;
  for (int k = 0; k < count; ++k) {
    const float away = left[k] - x;
    if (k != i && away != 0) sum += away * rsqrtf(away * away);
  }
  out[i] = sum;
}

KERNEL(determinant) {
  GIVEN;
  const float product = x * y;   //~ determinant
  out[i] = product - y * x + 1;  //~ determinant
}

KERNEL(determinant_meant) {
  GIVEN;
  const double product = static_cast<double>(x) * y;
  out[i] = static_cast<float>(product - static_cast<double>(y) * x + 1);
}

KERNEL(rate_of_no_time) {
  GIVEN;
  const float rate = 1e9f / (y - 7);  //~ rate_of_no_time
  out[i] = rate * x;                  //~ rate_of_no_time
}

KERNEL(rate_of_no_time_meant) {
  GIVEN;
  const float time = y - 7;
  out[i] = time > 0 ? 1e9f / time * x : 0;
}

KERNEL(nearest_meant) {
  GIVEN;
  float least = INFINITY;
  for (int k = 0; k < count; ++k) {
    if (k != i) least = fminf(least, fabsf(left[k] - x));
  }
  out[i] = least;
}

KERNEL(clamped_far_meant) {
  GIVEN;
  out[i] = fminf(x * x, 1e30f);
}

KERNEL(both_ends_meant) {
  GIVEN;
  out[i] = atanf(1 / x) + tanhf(1 / x) + 1 / (1 + 1 / x);
}

KERNEL(comparison_of_far_meant) {
  GIVEN;
  out[i] = x * x > y ? 1 : 2;
}

}  // namespace

int main(int, char** arguments) {
  if (arguments[1] == std::string("planted")) {
    run(slab, flat(0), flat(0));
    run(quaternion_of_zero, flat(0), flat(0));
    run(complex_quotient, flat(0), flat(0));
    run(place_between, flat(2), flat(2));
    run(area_of_zero, flat(1), flat(1));
    run(newton, flat(0), flat(0));
    run(geometric_mean, steps(-3, 1), flat(0));
    run(score_in_double, flat(0), flat(0));
    run(weights_of_zero, flat(0), flat(0));
    run(gamma_of_colour, flat(-0.25f), flat(0));
    run(option_at_expiry, flat(100), flat(0));
    run(normal_of_zero, flat(0), flat(0));
    run(sinc, flat(0), flat(0));
    run(saturation, flat(0), flat(0));
    run(perspective, flat(1), flat(0));
    run(refraction, flat(0.9f), flat(1.5f));
    run(sphere, flat(3), flat(1));
    run(heron, flat(1), flat(3));
    run(bin_of_empty_range, flat(2), flat(2));
    run(cell_of_far, flat(1e12f), flat(0));
    run(pixel_below_zero, flat(-3.5f), flat(0));
    run(time_as_integer, flat(3e9f), flat(0));
    run(resistors, flat(0), flat(0));
    run(inverse_square, flat(0), flat(1));
    run(forces_of_itself, flat(0), flat(0));
    run(determinant, flat(1e20f), flat(1e20f));
    run(rate_of_no_time, flat(5), flat(7));
  } else {
    run(slab_meant, flat(0), flat(0));
    run(quaternion_of_zero_meant, flat(0), flat(0));
    run(complex_quotient_meant, flat(0), flat(0));
    run(complex_of_large_meant, flat(1e25f), flat(1e25f));
    run(place_between_meant, flat(2), flat(2));
    run(area_of_zero_meant, flat(1), flat(1));
    run(newton_meant, flat(0), flat(0));
    run(geometric_mean_meant, steps(-3, 1), flat(0));
    run(score_in_double_meant, flat(0), flat(0));
    run(weights_of_zero_meant, flat(0), flat(0));
    run(gamma_of_colour_meant, flat(-0.25f), flat(0));
    run(option_at_expiry_meant, flat(100), flat(0));
    run(normal_of_zero_meant, flat(0), flat(0));
    run(sinc_meant, flat(0), flat(0));
    run(saturation_meant, flat(0), flat(0));
    run(perspective_meant, flat(1), flat(0));
    run(refraction_meant, flat(0.9f), flat(1.5f));
    run(sphere_meant, flat(3), flat(1));
    run(heron_meant, flat(1), flat(3));
    run(bin_of_empty_range_meant, flat(2), flat(2));
    run(cell_of_far_meant, flat(1e12f), flat(0));
    run(pixel_below_zero_meant, flat(-3.5f), flat(0));
    run(time_as_integer_meant, flat(3e9f), flat(0));
    run(resistors_meant, flat(0), flat(0));
    run(inverse_square_meant, flat(0), flat(1));
    run(forces_of_itself_meant, flat(0), flat(0));
    run(determinant_meant, flat(1e20f), flat(1e20f));
    run(rate_of_no_time_meant, flat(5), flat(7));
    run(nearest_meant, steps(1, 1), flat(0));
    run(clamped_far_meant, flat(1e30f), flat(0));
    run(both_ends_meant, flat(0), flat(0));
    run(comparison_of_far_meant, flat(1e30f), flat(1));
  }
  return 0;
}
