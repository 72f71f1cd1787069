// Streams that hand work on by values in memory: one writes it behind its work, the other waits for
// it; the host and a kernel do the same.
// nvcc: -lcuda
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// defect no_wait: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect no_barrier: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect written_too_early: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect never_written: deadlock; the host waits for a stream that waits in cuStreamWaitValue32 for a value, and nothing is left that could write it
// clang-format on
#include <cuda.h>

#include <cstdint>
#include <cstring>

#include "../check.hpp"

void require(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  std::printf("%d\n", static_cast<int>(result));
  std::exit(1);
}

__global__ void produce(int* out, int value) {
  out[threadIdx.x] = value;  //~ no_wait no_barrier written_too_early
}

__global__ void consume(const int* in, int* out) {
  out[threadIdx.x] += in[threadIdx.x];  //~ no_wait no_barrier written_too_early
}

__global__ void signal(volatile unsigned* flag, unsigned value) {
  __threadfence_system();
  *flag = value;
}

constexpr int kCount = 64;

struct Streams {
  cudaStream_t first, second;
  Streams() {
    require(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    require(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  }
  ~Streams() {
    require(cudaStreamDestroy(second));
    require(cudaStreamDestroy(first));
  }
};

// All conditions, in 32 and 64 bits, of flags in memory of the device and of the host.
bool conditions_hold(const Streams& streams, unsigned* flag) {
  const auto address = reinterpret_cast<CUdeviceptr>(flag);
  std::uint64_t* wide = nullptr;
  require(cudaHostAlloc(&wide, sizeof *wide, cudaHostAllocMapped));
  const auto of_host = reinterpret_cast<CUdeviceptr>(wide);
  *wide = 0;
  require(cuStreamWaitValue32(streams.second, address, 0xffffffffu, CU_STREAM_WAIT_VALUE_GEQ));
  require(cuStreamWaitValue64(streams.second, of_host, 1ull << 40, CU_STREAM_WAIT_VALUE_AND));
  require(cuStreamWriteValue64(streams.second, of_host, 7, CU_STREAM_WRITE_VALUE_DEFAULT));
  CUstreamBatchMemOpParams batch[3] = {};
  batch[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, address, {3}, 0, 0};
  batch[1].memoryBarrier = {CU_STREAM_MEM_OP_BARRIER, 0};
  batch[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  batch[2].writeValue.address = of_host;
  batch[2].writeValue.value64 = 5ull << 40;
  require(cuStreamBatchMemOp(streams.first, 3, batch, 0));
  require(cuStreamWaitValue64(streams.first, of_host, 7, CU_STREAM_WAIT_VALUE_EQ));
  require(cuStreamWaitValue32(streams.first, address, ~3u, CU_STREAM_WAIT_VALUE_GEQ));
  require(cudaStreamSynchronize(streams.first));
  require(cudaStreamSynchronize(streams.second));
  // The host writes what a stream waits for already.
  require(cuStreamWaitValue64(streams.first, of_host, 100, CU_STREAM_WAIT_VALUE_EQ));
  *static_cast<volatile std::uint64_t*>(wide) = 100;
  require(cudaStreamSynchronize(streams.first));
  // So does a kernel.
  require(cuStreamWaitValue32(streams.second, address, 9, CU_STREAM_WAIT_VALUE_EQ));
  signal<<<1, 1, 0, streams.first>>>(flag, 9);
  require(cudaStreamSynchronize(streams.second));
  unsigned value = 0;
  require(cudaStreamSynchronize(streams.first));
  require(cudaMemcpy(&value, flag, sizeof value, cudaMemcpyDeviceToHost));
  const bool is_misaligned =
      cuStreamWriteValue32(streams.first, address + 2, 1, 0) == CUDA_ERROR_INVALID_VALUE;
  require(cudaFreeHost(wide));
  return value == 9 && is_misaligned;
}

int main(int count, char** arguments) {
  const auto has = [&](const char* defect) {
    return count > 1 && std::strcmp(arguments[1], defect) == 0;
  };
  require(cudaSetDevice(0));
  int *data, *sum, host[kCount];
  unsigned* flag;
  require(cudaMalloc(&data, kCount * sizeof(int)));
  require(cudaMalloc(&sum, kCount * sizeof(int)));
  require(cudaMalloc(&flag, sizeof *flag));
  require(cudaMemset(sum, 0, kCount * sizeof(int)));
  require(cudaMemset(flag, 0, sizeof *flag));
  require(cudaDeviceSynchronize());
  const Streams streams;
  const auto address = reinterpret_cast<CUdeviceptr>(flag);
  const unsigned barrier =
      has("no_barrier") ? CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER : CU_STREAM_WRITE_VALUE_DEFAULT;
  if (!has("no_wait")) {
    require(cuStreamWaitValue32(streams.second, address, 1, CU_STREAM_WAIT_VALUE_EQ));
  }
  consume<<<1, kCount, 0, streams.second>>>(data, sum);
  if (has("written_too_early")) require(cuStreamWriteValue32(streams.first, address, 1, 0));
  produce<<<1, kCount, 0, streams.first>>>(data, 5);
  if (!has("never_written") && !has("written_too_early")) {
    require(cuStreamWriteValue32(streams.first, address, 1, barrier));
  }
  require(cudaStreamSynchronize(streams.second));
  require(cudaStreamSynchronize(streams.first));
  require(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
  const bool is_right = host[0] == 5 && host[kCount - 1] == 5;
  const bool holds = count > 1 || conditions_hold(streams, flag);
  require(cudaFree(flag));
  require(cudaFree(sum));
  require(cudaFree(data));
  return verdict(is_right && holds);
}
