// Random operations of several streams on several threads, twelve seeds a case.  Each stream has buffers
// of its own, and in most cases it now and then uses those of another one.  In the cases `in_turn`, each
// stream requests all its operations before the next one, and the host waits for one stream after the
// other.  Neither the results nor a byte of the report depends on the number of threads.
// jobs: 2 3
// case apart: | | 0
// expect apart: clean
// case apart_in_turn: | | 0 in-turn
// expect apart_in_turn: clean
// case seldom: | | 1
// expect seldom: error data-race
// expect seldom: note data-race
// case seldom_in_turn: | | 1 in-turn
// expect seldom_in_turn: error data-race
// expect seldom_in_turn: note data-race
// case often: | | 5
// expect often: error data-race
// expect often: note data-race
// case often_in_turn: | | 5 in-turn
// expect often_in_turn: error data-race
// expect often_in_turn: note data-race
#include <cstdint>
#include <cstdio>
#include <cstdlib>

constexpr int kStreams = 4, kBlocks = 2, kThreads = 64, kCount = kBlocks * kThreads, kBuffers = 3;
constexpr unsigned kSeeds = 12;
constexpr std::size_t kBytes = kCount * sizeof(float);

__device__ int number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void iterate(float* data, int rounds) {
  float x = data[number()];
  for (int round = 0; round < rounds; ++round) x = 0.5f * x + 1.0f / (1.0f + x * x);
  data[number()] = x;
}

__global__ void reverse(const float* in, float* out) { out[kCount - 1 - number()] = in[number()]; }

__global__ void count(float* data) {
  __shared__ int above;
  if (threadIdx.x == 0) above = 0;
  __syncthreads();
  if (data[number()] > 100) atomicAdd(&above, 1);
  __syncthreads();
  atomicAdd(&data[blockIdx.x * kThreads], static_cast<float>(above));
}

std::uint64_t state;
unsigned draw(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<unsigned>(state >> 33) % below;
}

int called;
void CUDART_CB call(void*) { ++called; }

struct Lane {
  cudaStream_t stream;
  cudaEvent_t event;
  float* buffers[kBuffers];
  float* host;
};
Lane lanes[kStreams];

void request(int s, unsigned percent) {
  const Lane& lane = lanes[s];
  // of another stream, now and then
  const Lane& used = draw(100) < percent ? lanes[draw(kStreams)] : lane;
  float* const a = used.buffers[draw(kBuffers)];
  float* const b = lane.buffers[draw(kBuffers)];
  float* const host = used.host + draw(kBuffers) * kCount;
  switch (draw(14)) {
    case 0: cudaMemcpyAsync(a, host, kBytes, cudaMemcpyHostToDevice, lane.stream); break;
    case 1: cudaMemcpyAsync(host, a, kBytes, cudaMemcpyDeviceToHost, lane.stream); break;
    case 2:
      if (a != b) cudaMemcpyAsync(b, a, kBytes, cudaMemcpyDeviceToDevice, lane.stream);
      break;
    case 3: cudaMemsetAsync(a, draw(3), kBytes - 4 * draw(3), lane.stream); break;
    case 4: cudaEventRecord(lane.event, lane.stream); break;
    case 5: cudaStreamWaitEvent(lane.stream, lanes[draw(kStreams)].event, 0); break;
    case 6:
      if (draw(40) == 0) cudaLaunchHostFunc(lane.stream, call, nullptr);
      break;
    case 7: count<<<kBlocks, kThreads, 0, lane.stream>>>(a); break;
    case 8:
    case 9:
      if (a != b) reverse<<<kBlocks, kThreads, 0, lane.stream>>>(a, b);
      break;
    default: iterate<<<kBlocks, kThreads, 0, lane.stream>>>(a, 500 + draw(2000));
  }
}

// Prints what these operations have computed, and gives everything back.
void try_operations(unsigned seed, unsigned percent, bool in_turn) {
  state = std::uint64_t{seed} * 2654435761u + 1;
  called = 0;
  for (int s = 0; s < kStreams; ++s) {
    Lane& lane = lanes[s];
    cudaStreamCreateWithFlags(&lane.stream, s == 1 ? cudaStreamDefault : cudaStreamNonBlocking);
    cudaEventCreate(&lane.event);
    cudaMallocHost(&lane.host, kBuffers * kBytes);
    for (int i = 0; i < kBuffers * kCount; ++i)
      lane.host[i] = static_cast<float>(i * 7919 % 1000 + s);
    for (float*& buffer : lane.buffers) {
      cudaMalloc(&buffer, kBytes);
      cudaMemcpy(buffer, lane.host, kBytes, cudaMemcpyHostToDevice);
    }
  }
  double sum = 0;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 60; ++i) {
      request(in_turn ? i * kStreams / 60 : static_cast<int>(draw(kStreams)), percent);
    }
    if (draw(8) == 0) cudaStreamSynchronize(lanes[draw(kStreams)].stream);
    for (int s = 0; s < kStreams && in_turn; ++s) cudaStreamSynchronize(lanes[s].stream);
    if (draw(4) == 0) continue;
    cudaDeviceSynchronize();
    for (const Lane& lane : lanes) {
      for (int i = 0; i < kBuffers * kCount; ++i) sum += lane.host[i];
    }
  }
  cudaDeviceSynchronize();
  unsigned hash = 2166136261u;
  for (const Lane& lane : lanes) {
    for (const float* const buffer : lane.buffers) {
      float copied[kCount];
      cudaMemcpy(copied, buffer, kBytes, cudaMemcpyDeviceToHost);
      for (const float& one : copied) {
        hash = (hash ^ reinterpret_cast<const unsigned&>(one)) * 16777619u;
      }
    }
  }
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, lanes[0].event, lanes[1].event);
  std::printf("%08x %g %d %g %s\n", hash, sum, called, milliseconds,
              cudaGetErrorString(cudaGetLastError()));
  cudaDeviceReset();
}

int main(int argc, char** argv) {
  const auto percent = static_cast<unsigned>(std::atoi(argv[1]));
  for (unsigned seed = 0; seed < kSeeds; ++seed) try_operations(seed, percent, argc > 2);
  return 0;
}
