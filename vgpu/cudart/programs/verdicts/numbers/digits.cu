// Results that lose their digits in plain programs, and kernels that compute the same and keep them.
// All of a kind run in one process.
//
// case lost: | --check precision | lost
// expect lost: note rounding-error swallows
//
// case kept: | --check precision | kept
// expect kept: clean
#include <cstdio>
#include <string>
#include <vector>

namespace {

template <typename T>
T* on_device(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

float first_of(const float* device) {
  float value = 0;
  cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}

constexpr int kCount = 4'096;

std::vector<float> terms(float first, float rest) {
  std::vector<float> list(kCount, rest);
  list[0] = first;
  return list;
}

__global__ void sums(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += in[i];  //~ swallows
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

}  // namespace

int main(int, char** arguments) {
  const bool is_lost = arguments[1] == std::string("lost");
  float* out = on_device(std::vector<float>(1));
  (is_lost ? sums : sums_compensated)<<<1, 1>>>(on_device(terms(1e8f, 1)), out);
  std::printf("sum %.0f\n", first_of(out));
  return 0;
}
