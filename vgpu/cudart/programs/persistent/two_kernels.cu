// Two kernels in two streams that wait for each other, and a third one beside them.
//
// The mutant has both in one stream.
// expect: deadlock
#include "check.hpp"

// Takes turns with the other one, by counting.
__global__ void take_turns(volatile int* mine, volatile int* theirs, int rounds, bool begins,
                           int* sum) {
  int total = 0;
  for (int round = 1; round <= rounds; ++round) {
    if (begins) *theirs = round;
    while (*mine < round) {  //~
    }
    if (!begins) *theirs = round;
    total += round;
  }
  *sum = total;
}

__global__ void scale(float* data) { data[blockIdx.x * blockDim.x + threadIdx.x] *= 2.f; }

int main() {
  constexpr int kRounds = 20, kCount = 256;
  int* words;
  float* data;
  require(cudaMalloc(&words, 256 * sizeof(int)));
  require(cudaMemset(words, 0, 256 * sizeof(int)));
  require(cudaMalloc(&data, kCount * sizeof(float)));
  float values[kCount];
  for (int i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
  cudaStream_t streams[3];
  for (cudaStream_t& stream : streams) {
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  // A GPU loads a kernel at its first use, and may wait for kernels that run.
  cudaFuncAttributes loaded;
  require(cudaFuncGetAttributes(&loaded, scale));
  require(cudaDeviceSynchronize());
  take_turns<<<1, 1, 0, streams[0]>>>(words, words + 64, kRounds, true, words + 128);
#ifdef MUTANT
  const cudaStream_t other = streams[0];
#else
  const cudaStream_t other = streams[1];
#endif
  require(cudaMemcpyAsync(data, values, sizeof values, cudaMemcpyHostToDevice, streams[2]));
  scale<<<kCount / 64, 64, 0, streams[2]>>>(data);
  require(cudaMemcpyAsync(values, data, sizeof values, cudaMemcpyDeviceToHost, streams[2]));
  require(cudaStreamSynchronize(streams[2]));
  take_turns<<<1, 1, 0, other>>>(words + 64, words, kRounds, false, words + 192);
  require(cudaDeviceSynchronize());
  int first, second;
  require(cudaMemcpy(&first, words + 128, sizeof first, cudaMemcpyDeviceToHost));
  require(cudaMemcpy(&second, words + 192, sizeof second, cudaMemcpyDeviceToHost));
  constexpr int kSum = kRounds * (kRounds + 1) / 2;
  const bool is_right = first == kSum && second == kSum && values[kCount - 1] == 2.f * (kCount - 1);
  for (const cudaStream_t stream : streams) require(cudaStreamDestroy(stream));
  require(cudaFree(data));
  require(cudaFree(words));
  return verdict(is_right);
}
