// The fast Walsh transform: rounds over global memory while the strides are long, then in shared
// memory; twice gives the data times its length.
// MUTANT: rounds in shared memory are not apart from each other.
// expect: data-race
#include "check.hpp"

constexpr int kLog = 10, kCount = 1 << kLog, kShort = 8, kPart = 1 << kShort;

__global__ void long_round(int* data, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = i / stride * 2 * stride + i % stride;
  const int a = data[at], b = data[at + stride];
  data[at] = a + b;
  data[at + stride] = a - b;
}

__global__ void short_rounds(int* data) {
  __shared__ int part[kPart];
  const int i = threadIdx.x;
  int* const own = data + blockIdx.x * kPart;
  for (int at = i; at < kPart; at += blockDim.x) part[at] = own[at];
  for (int stride = kPart / 2; stride > 0; stride /= 2) {
#ifndef MUTANT
    __syncthreads();
#else
    if (stride == kPart / 2) __syncthreads();
#endif
    const int at = i / stride * 2 * stride + i % stride;
    const int a = part[at], b = part[at + stride];  //~
    part[at] = a + b;                               //~
    part[at + stride] = a - b;                      //~
  }
  __syncthreads();
  for (int at = i; at < kPart; at += blockDim.x) own[at] = part[at];
}

void transform(int* data) {
  for (int stride = kCount / 2; stride >= kPart; stride /= 2) {
    long_round<<<kCount / 2 / 128, 128>>>(data, stride);
  }
  short_rounds<<<kCount / kPart, kPart / 2>>>(data);
  finish();
}

int main() {
  Buffer<int> data(kCount);
  for (int i = 0; i < kCount; ++i) data[i] = i % 13 - 6;
  transform(data);
  bool is_right = true;
  int sum = 0;
  for (int i = 0; i < kCount; ++i) sum += i % 13 - 6;
  is_right &= data[0] == sum;
  transform(data);
  for (int i = 0; i < kCount; ++i) is_right &= data[i] == (i % 13 - 6) * kCount;
  return verdict(is_right);
}
