// Two devices hand partial sums on through peer memory and volatile flags.  A fence of device scope does not
// reach the other device, though both devices execute it: by PTX ISA 8.5, .gpu is the set of the threads "executing
// on the same compute device", and .sys that of all devices.  The flags themselves are strong at system scope (8.4.2:
// a volatile access is relaxed with system scope), so the flag is observed; but the fence and the store form a release
// pattern that synchronizes with the acquire pattern only if its first operation and the other's last one, the two
// fences, are morally strong (8.9.4), and that needs of each a scope that includes the other's thread (8.7).  So the
// sums race, whatever a machine does on which both fences happen to reach memory: an error, and the report advises a
// fence of system scope.
// case device_fence: -DFENCE=__threadfence | --devices 2
// expect device_fence: error data-race part gather
// says device_fence: wrote a flag that was read before (2), but released it at a scope that does not include (2)'s launch
// says device_fence: between devices __threadfence_system()
// case no_fence: -DFENCE=nothing | --devices 2
// expect no_fence: error data-race part gather
// case system_fence: -DFENCE=__threadfence_system | --devices 2
// expect system_fence: clean
// prints system_fence: ok
#include <cstdio>
#include <vector>

__device__ void nothing() {}

constexpr int kRanks = 2, kBlocks = 4, kCount = 2048;

struct Signal { unsigned arrived[kBlocks][kRanks]; };
struct Ranks { const float* in[kRanks]; float* part[kRanks]; Signal* signal[kRanks]; };

__device__ void meet(const Ranks& ranks, int rank) {
  FENCE();
  __syncthreads();
  if (threadIdx.x < kRanks) {
    volatile unsigned* const theirs = &ranks.signal[threadIdx.x]->arrived[blockIdx.x][rank];
    volatile unsigned* const ours = &ranks.signal[rank]->arrived[blockIdx.x][threadIdx.x];
    *theirs = 1;
    while (*ours != 1) {}
    FENCE();
  }
  __syncthreads();
}

// Each rank adds up its half, then gathers both halves.
__global__ void all_reduce(Ranks ranks, float* out, int rank) {
  const int half = kCount / kRanks, step = gridDim.x * blockDim.x;
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < half; i += step) {
    ranks.part[rank][i] = ranks.in[0][rank * half + i] + ranks.in[1][rank * half + i];  //~ part
  }
  meet(ranks, rank);
  for (int i = first; i < half; i += step) {
    for (int r = 0; r < kRanks; ++r) out[r * half + i] = ranks.part[r][i];  //~ gather
  }
}

int main() {
  Ranks ranks;
  float *in[kRanks], *out[kRanks];
  cudaStream_t streams[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(r);
    cudaDeviceEnablePeerAccess(1 - r, 0);
    cudaStreamCreateWithFlags(&streams[r], cudaStreamNonBlocking);
    cudaMalloc(&in[r], kCount * sizeof(float));
    cudaMalloc(&out[r], kCount * sizeof(float));
    cudaMalloc(&ranks.part[r], kCount / kRanks * sizeof(float));
    cudaMalloc(&ranks.signal[r], sizeof(Signal));
    cudaMemset(ranks.signal[r], 0, sizeof(Signal));
    std::vector<float> host(kCount);
    for (int i = 0; i < kCount; ++i) host[i] = float(i % 100 + r);
    cudaMemcpy(in[r], host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    ranks.in[r] = in[r];
  }
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(r);
    all_reduce<<<kBlocks, 256, 0, streams[r]>>>(ranks, out[r], r);
  }
  bool ok = true;
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(r);
    cudaStreamSynchronize(streams[r]);
  }
  for (int r = 0; r < kRanks; ++r) {
    std::vector<float> host(kCount);
    cudaMemcpy(host.data(), out[r], kCount * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < kCount; ++i) ok = ok && host[i] == float(2 * (i % 100) + 1);
    cudaFree(in[r]);
    cudaFree(out[r]);
    cudaFree(ranks.part[r]);
    cudaFree(ranks.signal[r]);
    cudaStreamDestroy(streams[r]);
  }
  std::puts(ok ? "ok" : "wrong");
  return 0;
}
