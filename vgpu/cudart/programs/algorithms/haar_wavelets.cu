// The Haar wavelets of a signal, level by level, each on the averages of the level before, in two
// buffers that change places.
// MUTANT: a level leaves out the last average.
// expect: uninitialized-read
#include <utility>

#include "check.hpp"

constexpr int kCount = 512;

__global__ void level(const float* averages, float* next, float* details, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const float a = averages[2 * i], b = averages[2 * i + 1];
  details[pairs + i] = (a - b) / 2;
#ifdef MUTANT
  if (i == 127) return;
#endif
  next[i] = (a + b) / 2;
}

int main() {
  float host[kCount], details[kCount];
  for (int i = 0; i < kCount; ++i) host[i] = i * 7 % 64;
  float *averages, *next, *device_details;
  for (float** each : {&averages, &next, &device_details}) {
    require(cudaMalloc(each, kCount * sizeof(float)));
  }
  require(cudaMemcpy(averages, host, sizeof host, cudaMemcpyHostToDevice));
  for (int pairs = kCount / 2; pairs > 0; pairs /= 2) {
    level<<<(pairs + 63) / 64, 64>>>(averages, next, device_details, pairs);
    std::swap(averages, next);
  }
  require(cudaMemcpy(device_details, averages, sizeof(float), cudaMemcpyDeviceToDevice));
  require(cudaMemcpy(details, device_details, sizeof details, cudaMemcpyDeviceToHost));
  float rebuilt[kCount] = {details[0]};
  for (int pairs = 1; pairs < kCount; pairs *= 2) {
    for (int i = pairs - 1; i >= 0; --i) {
      const float average = rebuilt[i], detail = details[pairs + i];
      rebuilt[2 * i] = average + detail;
      rebuilt[2 * i + 1] = average - detail;
    }
  }
  bool is_right = true;
  for (int i = 0; i < kCount; ++i) is_right &= rebuilt[i] == host[i];
  for (float* each : {averages, next, device_details}) require(cudaFree(each));
  return verdict(is_right);
}
