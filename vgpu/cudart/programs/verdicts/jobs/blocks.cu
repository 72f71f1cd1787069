// Blocks of one launch on several threads: those that do not communicate, and some that do.  Neither the
// results nor a byte of the report depends on the number of threads.
// jobs: 2 7
// also unoptimized: -G
// case apart: | | apart
// expect apart: clean
// case counts: | | counts
// expect counts: clean
// case tickets: | | tickets
// expect tickets: clean
// case prints: | | prints
// expect prints: clean
// prints prints: block 0
// prints prints: block 100
// prints prints: block 200
// prints prints: block 300
// prints prints: block 400
// prints prints: block 500
// prints prints: block 600
// prints prints: block 700
// prints prints: block 800
// prints prints: block 900
// prints prints: block 1000
// prints prints: block 1100
// case pixels: | | pixels
// expect pixels: note uninitialized-read
// case streams: | | streams
// expect streams: error data-race neighbours summed
// expect streams: error data-race smoothed summed
// expect streams: error data-race taken smoothed
// case race: | | race
// expect race: error data-race race
// case beyond: | | beyond
// expect beyond: error out-of-bounds store
// case unwritten: | | unwritten
// expect unwritten: error uninitialized-read branch
// case dies: | | dies
// expect dies: error trap
// prints dies: bae41dc5 device-side assert triggered
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kThreads = 128, kBlocks = 1200, kCount = kThreads * kBlocks;

__device__ int number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void smooth(const float* in, float* out, int n) {
  const int i = number();
  if (i >= n) return;
  const float left = i == 0 ? in[i] : in[i - 1], right = i == n - 1 ? in[i] : in[i + 1];  //~ neighbours
  out[i] = 0.25f * left + 0.5f * in[i] + 0.25f * right;  //~ smoothed
}

__global__ void sum_blocks(const float* in, float* sums) {
  __shared__ float partial[kThreads];
  const int t = threadIdx.x;
  partial[t] = in[number()];  //~ taken
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];  //~ summed
}

struct Pixel {
  unsigned char red, green, blue, alpha;
};

// The number of rounds depends on the place, so blocks take different times.
__global__ void draw(Pixel* pixels) {
  const int i = number();
  int rounds = 0;
  for (float x = 0; rounds < i % 97 + blockIdx.x % 31 && x < 1e9f; ++rounds) x = x * 1.01f + 1;
  pixels[i].red = rounds;
  pixels[i].green = rounds / 2;
  pixels[i].blue = 3;  // nothing writes alpha
}

__global__ void in_place(float* data, int n) {
  const int i = number();
  if (i + 1 < n) data[i] += data[i + 1];  //~ race
}

__global__ void count(const float* in, int* counts) {
  atomicAdd(&counts[static_cast<int>(in[number()]) % 64], 1);
}

__global__ void tickets(int* next, int* taken) { taken[number()] = atomicAdd(next, 1); }

__global__ void beyond(float* out, int n) {
  out[number()] = 1;
  if (blockIdx.x == 1000) out[number() + n] = 2;  //~ store
}

__global__ void copy_unwritten(const float* in, float* out) {
  if (in[number()] > 0) out[number()] = 1;  //~ branch
}

__global__ void say(float* out) {
  out[number()] = 1;
  if (threadIdx.x == 5 && blockIdx.x % 100 == 0) printf("block %d\n", blockIdx.x);
}

__global__ void dies(float* out) {
  out[number()] = 1;
  assert(number() != 90000);
}

template <typename T>
void show(const T* device, int count) {
  std::vector<unsigned char> bytes(count * sizeof(T));
  cudaMemcpy(bytes.data(), device, bytes.size(), cudaMemcpyDeviceToHost);
  unsigned hash = 2166136261u;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 16777619u;
  std::printf("%08x %s\n", hash, cudaGetErrorString(cudaGetLastError()));
}

int main(int, char** argv) {
  const char* const mode = argv[1];
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  std::vector<float> numbers(kCount);
  for (int i = 0; i < kCount; ++i) numbers[i] = static_cast<float>(i * 7919 % 1000);
  float *a, *b;
  int* counts;
  cudaMalloc(&a, kCount * sizeof(float));
  cudaMalloc(&b, kCount * sizeof(float));
  cudaMalloc(&counts, (kCount + 1) * sizeof(int));
  cudaMemcpy(a, numbers.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(counts, 0, (kCount + 1) * sizeof(int));
  if (is("apart")) {
    for (int step = 0; step < 6; ++step) {
      smooth<<<kBlocks, kThreads>>>(step % 2 == 0 ? a : b, step % 2 == 0 ? b : a, kCount - 5);
    }
    cudaMemcpy(b + kCount - 5, a, 5 * sizeof(float), cudaMemcpyDeviceToDevice);
    sum_blocks<<<kBlocks, kThreads>>>(a, b);
    show(a, kCount);
    show(b, kCount - 5);
  }
  if (is("pixels")) {
    Pixel* pixels;
    cudaMalloc(&pixels, kCount * sizeof(Pixel));
    draw<<<kBlocks, kThreads>>>(pixels);
    show(pixels, kCount);
  }
  if (is("streams")) {
    cudaStream_t one, other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    smooth<<<kBlocks, kThreads, 0, one>>>(a, b, kCount);
    sum_blocks<<<kBlocks, kThreads, 0, other>>>(b, a);
    cudaDeviceSynchronize();
    show(b, kCount);
  }
  if (is("race")) in_place<<<kBlocks, kThreads>>>(a, kCount), show(a, kCount);
  if (is("counts")) count<<<kBlocks, kThreads>>>(a, counts), show(counts, 64);
  if (is("tickets")) tickets<<<kBlocks, kThreads>>>(counts, counts + 1), show(counts, 1000);
  if (is("beyond")) beyond<<<kBlocks, kThreads>>>(b, kCount), show(b, kCount);
  if (is("unwritten")) copy_unwritten<<<kBlocks, kThreads>>>(b, a), show(a, kCount);
  if (is("prints")) say<<<kBlocks, kThreads>>>(b), show(b, kCount);
  if (is("dies")) dies<<<kBlocks, kThreads>>>(b), show(b, kCount);
  return 0;
}
