// Calls of the runtime library that fail are notes, or errors if work is missing and the program does
// not read their results.  They are the cause of what follows from them, as copies are that end too
// early; what questions answer is none.  ci/exec/runtime_test.py builds it in other ways.
// case too_much: | --memory 4G | too-much
// expect too_much: error api-error too_much
// expect too_much: error out-of-bounds store
// says too_much: ========= api-error cudaMalloc(&pointer, 8589934592)
// says too_much: (1) returned cudaErrorMemoryAllocation: out of memory; `exec --memory` sets the size of the device's memory, and `--device` selects another device
// says too_much: cudaMalloc(&pointer, 8589934592) failed before: cudaErrorMemoryAllocation, 
// case too_much_managed: | --memory 4G | too-much-managed
// expect too_much_managed: error api-error too_much_managed
// expect too_much_managed: error use-after-free
// says too_much_managed: ========= api-error cudaMallocManaged(&pointer, 8589934592, 1)
// says too_much_managed: (1) returned cudaErrorMemoryAllocation: out of memory; `exec --memory` sets the size of the device's memory, and `--device` selects another device
// says too_much_managed: cudaMallocManaged(&pointer, 8589934592, 1) failed before
// case no_blocks: | --memory 4G | no-blocks
// expect no_blocks: note api-error no_blocks
// expect no_blocks: error uninitialized-read
// says no_blocks: note: api-error fill<<<0, 32>>>(...)
// says no_blocks: (1) returned cudaErrorInvalidValue: invalid argument
// says no_blocks: fill<<<0, 32>>>(...) failed before: cudaErrorInvalidValue, 
// case bad_copy: | --memory 4G | bad-copy
// expect bad_copy: error api-error wrong_way
// expect bad_copy: error uninitialized-read
// says bad_copy: ========= api-error cudaMemcpy(0xf0000000000, host pointer, 128, cudaMemcpyDeviceToHost)
// says bad_copy: cudaMemcpy(0xf0000000000, host pointer, 128, cudaMemcpyDeviceToHost) failed before
// case again: | --memory 4G | again
// expect again: note api-error x3 in_a_loop
// expect again: error api-error another_device
// says again: note: api-error cudaStreamDestroy(stream 0)
// says again: (1) returned cudaErrorInvalidResourceHandle: invalid resource handle
// says again: ========= api-error cudaSetDevice(7)
// says again: (1) returned cudaErrorInvalidDevice: invalid device ordinal
// says again: ; the program reads neither this result nor cudaGetLastError(), and goes on
// says again: 1 error, 1 note
// case read_results: | --memory 4G | read-results
// expect read_results: note api-error of_value
// expect read_results: note api-error of_branch
// expect read_results: note api-error of_function
// expect read_results: note api-error asked_later
// expect read_results: error api-error not_read
// case short_copy: | | short-copy
// expect short_copy: error uninitialized-read twice copied_back
// says short_copy: cause: cudaMemcpy at failed.cu:
// says short_copy: wrote bytes 0 to 31 of 128 only; 128 is 4 times as many: sizes of copies are in bytes
// case short_fill: | | short-fill
// expect short_fill: error uninitialized-read twice copied_back
// says short_fill: cause: cudaMemset at failed.cu:
// says short_fill: wrote bytes 0 to 99 of 128 only
// conceals short_fill: times as many
// case full_fill: | | full-fill
// expect full_fill: clean
// case packed_rows: | | packed-rows
// expect packed_rows: error uninitialized-read packed_rows
// expect packed_rows: note uninitialized-read packed_rows
// says packed_rows: they lie between the rows of the memory, which are 512 bytes apart; is the pitch of the copy another one?
// case callback: | --memory 4G | callback
// expect callback: note api-error in_a_callback
// says callback: note: api-error cudaDeviceSynchronize()
// says callback: (1) returned cudaErrorNotPermitted: 
// case forks: | --memory 4G | forks
// expect forks: note api-error after_a_fork
// says forks: note: api-error cudaMalloc(&pointer, 128)
// says forks: (1) returned cudaErrorInitializationError: initialization error
// prints forks: before: cudaSuccess
// prints forks: parent: cudaSuccess
// prints forks: after: cudaErrorInitializationError
// prints forks: parent: cudaSuccess
// case forks_beside_calls: | | forks-beside-calls
// expect forks_beside_calls: clean
// prints forks_beside_calls: 0 failed
// case forks_late: | | forks-late
// expect forks_late: error out-of-bounds x2 behind
// says forks_late: 1 error; 2 launches of 1 kernel
// case forks_late_leaks: | --leaks | forks-late
// expect forks_late_leaks: error out-of-bounds x2 behind
// says forks_late_leaks: 1 error; 2 launches of 1 kernel
// case questions: | --memory 4G | questions
// expect questions: clean
// case garbage: | --memory 4G | garbage
// expect garbage: error uninitialized-read
// says garbage: allocation of 128 bytes [108], first of a copy of 128 bytes
// case padding: | --memory 4G | padding
// expect padding: note uninitialized-read
// case memory_16G: | --memory 16G | memory 1024
// expect memory_16G: clean
// prints memory_16G: 17179869184 of 17179869184, 17179869184, cudaSuccess
// case memory_64M: | --memory 64M | memory 1024
// expect memory_64M: clean
// prints memory_64M: 67108864 of 67108864, 67108864, cudaSuccess
// case more_than_all: | --memory 64M | memory 104857600
// expect more_than_all: note api-error
// prints more_than_all: 67108864 of 67108864, 67108864, cudaErrorMemoryAllocation
// case in_one_piece: | --memory 16G | memory 16106127360
// expect in_one_piece: clean
// prints in_one_piece: 17179869184 of 17179869184, 17179869184, cudaSuccess
// case fresh: | | fresh
// expect fresh: clean
// prints fresh: 00000000 00000000
// case fresh_pattern: | --fresh pattern | fresh
// expect fresh_pattern: clean
// prints fresh_pattern: a5a5a5a5 a5a5a5a5
// case attributes: | --memory 4G | attributes
// expect attributes: note api-error
// prints attributes: set: cudaSuccess
// prints attributes: copied: 1
// prints attributes: misses persist: cudaErrorInvalidValue
// prints attributes: three halves: cudaErrorInvalidValue
// prints attributes: too large: cudaErrorInvalidValue
// prints attributes: launched: cudaSuccess
// case array_bounds: | --memory 4G | array-bounds
// expect array_bounds: note api-error
// prints array_bounds: cudaSuccess, cudaSuccess, cudaErrorInvalidValue, cudaErrorInvalidValue
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

__global__ void fill(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;  //~ store
}

struct Padded {
  char small;
  int large;
};

__global__ void fill_structs(Padded* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  out[i].small = 1;
  out[i].large = i;
}

constexpr size_t kTooMuch = size_t{8} << 30;

void too_much_memory() {
  int* data = nullptr;
  cudaMalloc(&data, kTooMuch);  //~ too_much
  fill<<<1, 32>>>(data, 32);
  cudaDeviceSynchronize();
}

void too_much_managed_memory() {
  int* data;
  cudaMalloc(&data, 128);
  cudaFree(data);
  cudaMallocManaged(&data, kTooMuch);  //~ too_much_managed
  fill<<<1, 32>>>(data, 32);
  cudaDeviceSynchronize();
}

void no_blocks() {
  int *data, host[32];
  const int n = 0;
  cudaMalloc(&data, sizeof host);
  fill<<<n, 32>>>(data, n);  //~ no_blocks
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
}

void bad_copy() {
  int *data = nullptr, host[32] = {};
  cudaMalloc((void**)&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyDeviceToHost);  //~ wrong_way
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
}

cudaError_t copy_the_wrong_way(int* data) {
  int host[32] = {};
  return cudaMemcpy(data, host, 16, cudaMemcpyDeviceToHost);  //~ of_function
}

// Each result but the last is read, or the error is asked for.
void read_results() {
  int *data = nullptr, host[32] = {};
  cudaMalloc(&data, sizeof host);
  const size_t bytes = sizeof host;
  const cudaError_t e = cudaMemcpy(data, host, bytes, cudaMemcpyDeviceToHost);  //~ of_value
  if (cudaMemcpy(data, host, bytes, cudaMemcpyDeviceToHost)) {                  //~ of_branch
    std::printf("%s, %s\n", cudaGetErrorName(e), cudaGetErrorName(copy_the_wrong_way(data)));
  }
  cudaMemcpy(data, host, 8, cudaMemcpyDeviceToHost);  //~ asked_later
  cudaPeekAtLastError();
  cudaMemcpy(data, host, 4, cudaMemcpyDeviceToHost);  //~ not_read
  cudaFree(data);
}

__global__ void double_all(int* data) {
  data[threadIdx.x] *= 2;  //~ twice
}

// bytes: of the beginning, which a copy, or else a fill, brings
void short_input(bool is_copy, size_t bytes) {
  int *data, host[32] = {};
  cudaMalloc(&data, sizeof host);
  if (is_copy) {
    cudaMemcpy(data, host, bytes, cudaMemcpyHostToDevice);
  } else {
    cudaMemset(data, 1, bytes);
  }
  double_all<<<1, 32>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);  //~ copied_back
  cudaFree(data);
}

__global__ void fill_rows(int* data, size_t pitch) {
  reinterpret_cast<int*>(reinterpret_cast<char*>(data) + blockIdx.x * pitch)[threadIdx.x] = 1;
}

// Copies rows of pitched memory as if nothing lay between them.
void packed_rows() {
  int *data, host[4][40];
  const size_t row = sizeof host[0];
  size_t pitch;
  cudaMallocPitch(&data, &pitch, row, 4);
  fill_rows<<<4, 40>>>(data, pitch);
  cudaMemcpy2D(host, row, data, row, row, 4, cudaMemcpyDeviceToHost);  //~ packed_rows
  cudaMemcpy2D(host, row, data, pitch, row, 4, cudaMemcpyDeviceToHost);
  cudaFree(data);
}

void calls_in_a_callback() {
  cudaLaunchHostFunc(
      nullptr,
      [](void*) {
        cudaDeviceSynchronize();  //~ in_a_callback
      },
      nullptr);
  cudaDeviceSynchronize();
}

void again_and_again() {
  for (int i = 0; i < 3; ++i) {
    cudaStreamDestroy(nullptr);  //~ in_a_loop
  }
  cudaSetDevice(7);  //~ another_device
}

void questions() {
  cudaEvent_t event;
  cudaStream_t stream;
  cudaEventCreate(&event);
  cudaStreamCreate(&stream);
  int *data, value = 0;
  cudaMalloc(&data, 128);
  fill<<<1, 32, 0, stream>>>(data, 32);
  fill<<<1, 32, 0, stream>>>(data, 32);
  cudaEventRecord(event, stream);
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0);
  cudaDeviceCanAccessPeer(&value, 0, 1);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, &value);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, fill, 4096, 0);
  cudaStreamDestroy(stream);
  cudaEventDestroy(event);
  cudaFree(data);
  cudaGetLastError();
}

// Returns 0 if the last element, which the kernel does not write, has another value than it would
// write.
int compares_garbage() {
  int *data, host[32];
  cudaMalloc(&data, sizeof host);
  fill<<<1, 32>>>(data, 27);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return host[0] == 0 && host[31] != 31 ? 0 : 1;
}

int copies_padding() {
  Padded *data, host[32];
  cudaMalloc(&data, sizeof host);
  fill_structs<<<1, 32>>>(data, 32);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return host[31].large == 31 ? 0 : 1;
}

void memory_sizes(size_t bytes) {
  size_t free_bytes, total;
  cudaDeviceProp properties;
  cudaMemGetInfo(&free_bytes, &total);
  cudaGetDeviceProperties(&properties, 0);
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  std::printf("%zu of %zu, %zu, %s\n", free_bytes, total, properties.totalGlobalMem,
              cudaGetErrorName(error));
  cudaFree(data);
}

void fresh_memory() {
  unsigned *managed, *page_locked;
  cudaMallocManaged(&managed, 64);
  cudaMallocHost(&page_locked, 64);
  std::printf("%08x %08x\n", managed[7], page_locked[7]);
  cudaFree(managed);
  cudaFreeHost(page_locked);
}

void attributes() {
  cudaStream_t stream, other;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  char* data;
  cudaMalloc(&data, 4096);
  cudaStreamAttrValue value{}, back{};
  value.accessPolicyWindow = {data, 4096, 0.5f, cudaAccessPropertyPersisting,
                              cudaAccessPropertyStreaming};
  const auto set = [&] {
    return cudaGetErrorName(
        cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
  };
  std::printf("set: %s\n", set());
  cudaStreamCopyAttributes(other, stream);
  cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &back);
  std::printf("copied: %d\n", back.accessPolicyWindow.base_ptr == data &&
                                  back.accessPolicyWindow.num_bytes == 4096 &&
                                  back.accessPolicyWindow.hitRatio == 0.5f);
  value.accessPolicyWindow.missProp = cudaAccessPropertyPersisting;
  std::printf("misses persist: %s\n", set());
  value.accessPolicyWindow.missProp = cudaAccessPropertyNormal;
  value.accessPolicyWindow.hitRatio = 1.5f;
  std::printf("three halves: %s\n", set());
  value.accessPolicyWindow.hitRatio = 1;
  value.accessPolicyWindow.num_bytes = size_t{1} << 40;
  std::printf("too large: %s\n", set());
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeAccessPolicyWindow;
  attribute.val.accessPolicyWindow = {data, 4096, 1, cudaAccessPropertyStreaming,
                                      cudaAccessPropertyNormal};
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t launched = cudaLaunchKernelEx(&config, fill, reinterpret_cast<int*>(data), 32);
  std::printf("launched: %s\n", cudaGetErrorName(launched));
  cudaFree(data);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(other);
}

// A copy of two rows at row 1 of two.
void array_bounds() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  int host[16] = {};
  cudaMallocArray(&array, &format, 8, 2);
  const auto copy = [&](size_t bytes, size_t row) {
    return cudaGetErrorName(cudaMemcpyToArray(array, 0, row, host, bytes, cudaMemcpyHostToDevice));
  };
  std::printf("%s, %s, ", copy(64, 0), copy(32, 1));
  std::printf("%s, %s\n", copy(36, 1), copy(32, 2));
  cudaFreeArray(array);
}

// A process that is forked before the first call has a device; one that is forked later has none.
void forks() {
  for (const char* when : {"before", "after"}) {
    const pid_t child = fork();
    int* data = nullptr;
    if (child == 0) {
      const cudaError_t answer = cudaMalloc(&data, 128);  //~ after_a_fork
      std::printf("%s: %s\n", when, cudaGetErrorName(answer));
      std::fflush(stdout);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    cudaMalloc(&data, 128);
    std::printf("parent: %s\n", cudaGetErrorName(cudaFree(data)));
    std::fflush(stdout);
  }
}

// Children that end by themselves while another thread of their parent is in a call.
void forks_beside_calls() {
  std::atomic<bool> has_ended = false;
  std::thread other([&] {
    constexpr int kCount = 1 << 20;
    int* data = nullptr;
    cudaMalloc(&data, kCount * sizeof *data);
    for (int i = 0; i < 20; ++i) {
      fill<<<kCount / 256, 256>>>(data, kCount);
      cudaDeviceSynchronize();
    }
    cudaFree(data);
    has_ended = true;
  });
  int failed = 0;
  while (!has_ended) {
    if (fork() == 0) std::exit(0);
    int status = -1;
    wait(&status);
    failed += status != 0 ? 1 : 0;
  }
  other.join();
  std::printf("%d failed\n", failed);
}

__global__ void store_behind(int* data) { data[1] = 1; }  //~ behind

// The child of a process that has launched kernels: it has nothing of its own to tell.
void forks_late() {
  int* data = nullptr;
  cudaMalloc(&data, 4);
  store_behind<<<1, 1>>>(data);
  cudaDeviceSynchronize();
  store_behind<<<1, 1>>>(data);
  if (fork() == 0) std::exit(0);
  wait(nullptr);
  cudaFree(data);
}

// Which devices there are; the last one runs a kernel.
void list_devices() {
  int count = -1;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  std::printf("%s, %d:", cudaGetErrorName(counted), count);
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties;
    char bus[16];
    int again = -1;
    cudaGetDeviceProperties(&properties, i);
    cudaDeviceGetPCIBusId(bus, sizeof bus, i);
    cudaDeviceGetByPCIBusId(&again, bus);
    std::printf(" %s is %d, uuid %d", bus, again, properties.uuid.bytes[15]);
  }
  cudaSetDevice(count - 1);
  int *data = nullptr, result[32] = {};
  cudaMalloc(&data, sizeof result);
  fill<<<1, 32>>>(data, 32);
  cudaMemcpy(result, data, sizeof result, cudaMemcpyDeviceToHost);
  int version = 0;
  cudaRuntimeGetVersion(&version);
  std::printf("; %d, %s, CUDA %d\n", result[31], cudaGetErrorName(cudaFree(data)), version / 1000);
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "too-much") too_much_memory();
  if (mode == "too-much-managed") too_much_managed_memory();
  if (mode == "no-blocks") no_blocks();
  if (mode == "bad-copy") bad_copy();
  if (mode == "read-results") read_results();
  if (mode == "short-copy") short_input(true, 32);
  if (mode == "short-fill") short_input(false, 100);
  if (mode == "full-fill") short_input(false, 128);
  if (mode == "packed-rows") packed_rows();
  if (mode == "callback") calls_in_a_callback();
  if (mode == "again") again_and_again();
  if (mode == "questions") questions();
  if (mode == "garbage") return compares_garbage();
  if (mode == "padding") return copies_padding();
  if (mode == "memory") memory_sizes(std::strtoull(argv[2], nullptr, 10));
  if (mode == "fresh") fresh_memory();
  if (mode == "attributes") attributes();
  if (mode == "array-bounds") array_bounds();
  if (mode == "forks-beside-calls") forks_beside_calls();
  if (mode == "forks") forks();
  if (mode == "forks-late") forks_late();
  if (mode == "devices") list_devices();
  if (mode == "one-of-the-devices") setenv("CUDA_VISIBLE_DEVICES", argv[2], 1), list_devices();
  return 0;
}
