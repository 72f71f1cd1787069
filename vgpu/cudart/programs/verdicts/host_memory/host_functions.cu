// Host functions of streams that access page-locked and managed memory: what their stream or an event
// orders is silent, and what nothing orders is a race with the line of the function.
// case pinned: | | pinned
// expect pinned: error data-race copied reads
// says pinned: nothing orders cudaMemcpyAsync (1) and the host function of (2): they are in different streams
// case callback: | | callback
// expect callback: error data-race reads copied
// says callback: nothing orders cudaMemcpyAsync (2) and the host function of (1): they are in different streams
// case managed: | | managed
// expect managed: error data-race store reads_managed
// says managed: nothing orders the kernel of (1) and the host function of (2): they are in different streams
// case writes: | | writes
// expect writes: error data-race load writes_managed
// says writes: nothing orders the kernel of (1) and the host function of (2): they are in different streams
// case pinned_in_order: | | pinned-in-order
// expect pinned_in_order: clean
// prints pinned_in_order: 999
// case event: | | event
// expect event: clean
// prints event: 999
// case managed_in_order: | | managed-in-order
// expect managed_in_order: clean
// prints managed_in_order: 999
// case prepares: | | prepares
// expect prepares: clean
// prints prepares: 0
// case told: | | told
// expect told: clean
// prints told: -1
// case not_told: | | not-told
// expect not_told: error data-race store load
// says not_told: nothing orders these two kernel launches
// case after_another_wait: | | after-another-wait
// expect after_another_wait: error data-race store load
// says after_another_wait: nothing orders these two kernel launches
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

constexpr int kCount = 1000;

__global__ void fill(int* values) {
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) values[i] = i;  //~ store
}
__global__ void twice(const int* from, int* to) {
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) to[i] = 2 * from[i];  //~ load
}

static cudaStream_t one, other;
static int *pinned, *managed, *device, *second;
static int seen = -1;

static void read_pinned(void*) {
  seen = pinned[kCount - 1];  //~ reads
}
static void read_managed(void*) {
  seen = managed[kCount - 1];  //~ reads_managed
}
static void write_managed(void*) {
  managed[7] = 70;  //~ writes_managed
}
static void CUDART_CB callback(cudaStream_t, cudaError_t, void*) { read_pinned(nullptr); }

static std::mutex mutex;
static std::condition_variable is_told;
static bool told = false;
static void tell(void*) {
  const std::lock_guard lock(mutex);
  told = true;
  is_told.notify_one();
}
static void wait_until_told() {
  std::unique_lock lock(mutex);
  is_told.wait(lock, [] { return told; });
}

static void copy_in(cudaStream_t stream) {
  cudaMemcpyAsync(pinned, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream);  //~ copied
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaMallocHost(&pinned, kCount * sizeof(int));
  cudaMallocManaged(&managed, kCount * sizeof(int));
  cudaMalloc(&device, kCount * sizeof(int));
  cudaMalloc(&second, kCount * sizeof(int));
  std::memset(managed, 0, kCount * sizeof(int));
  if (mode == "pinned-in-order" || mode == "pinned") {
    fill<<<1, 64, 0, one>>>(device);
    copy_in(one);
    cudaLaunchHostFunc(mode == "pinned" ? other : one, read_pinned, nullptr);
  } else if (mode == "callback") {
    fill<<<1, 64, 0, one>>>(device);
    cudaStreamAddCallback(other, callback, nullptr, 0);
    copy_in(one);
  } else if (mode == "event") {
    cudaEvent_t copied;
    cudaEventCreate(&copied);
    fill<<<1, 64, 0, one>>>(device);
    copy_in(one);
    cudaEventRecord(copied, one);
    cudaStreamWaitEvent(other, copied);
    cudaLaunchHostFunc(other, read_pinned, nullptr);
  } else if (mode == "managed" || mode == "managed-in-order") {
    fill<<<1, 64, 0, one>>>(managed);
    cudaLaunchHostFunc(mode == "managed" ? other : one, read_managed, nullptr);
  } else if (mode == "writes") {
    twice<<<1, 64, 0, one>>>(managed, device);
    cudaLaunchHostFunc(other, write_managed, nullptr);
  } else if (mode == "prepares") {
    cudaLaunchHostFunc(one, write_managed, nullptr);
    twice<<<1, 64, 0, one>>>(managed, device);
    copy_in(one);
    cudaLaunchHostFunc(one, read_pinned, nullptr);
  } else if (mode == "after-another-wait") {  // the function runs in a wait that does not cover it
    fill<<<1, 64, 0, one>>>(device);
    cudaLaunchHostFunc(one, tell, nullptr);
    twice<<<1, 64, 0, other>>>(managed, second);
    cudaStreamSynchronize(other);
    twice<<<1, 64, 0, other>>>(device, second);
  } else if (mode == "told" || mode == "not-told") {
    fill<<<1, 64, 0, one>>>(device);
    cudaLaunchHostFunc(one, tell, nullptr);
    if (mode == "told") wait_until_told();
    twice<<<1, 64, 0, other>>>(device, second);
  }
  cudaDeviceSynchronize();
  std::printf("%d\n", seen);
  return 0;
}
