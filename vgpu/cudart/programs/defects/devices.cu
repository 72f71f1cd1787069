// Two devices: each with memory, streams, variables and errors of its own; peer access; what orders
// work of different devices, and what does not.
// exec: --devices 2
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// defect no_peer: out-of-bounds; (1) is in memory of device 1, which device 0 has no access to: cudaDeviceEnablePeerAccess(1) was not called there
// defect disabled: out-of-bounds; (1) is in memory of device 1, which device 0 has no access to: cudaDeviceEnablePeerAccess(1) was not called there
// defect closed_pool: out-of-bounds; (1) is in memory of device 1, which device 0 has no access to: its pool is not open to it (cudaMemPoolSetAccess)
// defect no_event: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect gpu_scope: data-race; nothing orders these two kernel launches, and the scope of (1) or (2) does not include the other's device
// clang-format on
#include <cstring>
#include <thread>
#include <vector>

#include "../check.hpp"

constexpr int kElements = 256, kBytes = kElements * sizeof(int);

__device__ int calls;  // one for each device
__managed__ int total;

__global__ void fill(int* out, int value) {
  out[threadIdx.x] = value;
  if (threadIdx.x == 0) ++calls;
}

__global__ void add(int* out, const int* in) {
  out[threadIdx.x] +=   //~ no_event
      in[threadIdx.x];  //~ no_peer disabled closed_pool no_event
}

__global__ void count_everywhere() { atomicAdd_system(&total, 1); }
__global__ void count_here() { atomicAdd(&total, 1); }  //~ gpu_scope

bool all_are(const int* on_device, int value) {
  std::vector<int> values(kElements);
  require(cudaMemcpy(values.data(), on_device, kBytes, cudaMemcpyDefault));
  for (const int each : values) {
    if (each != value) return false;
  }
  return true;
}

// What a device says of itself and of its memory.
bool knows_itself(int device, const int* memory) {
  cudaPointerAttributes attributes;
  require(cudaPointerGetAttributes(&attributes, memory));
  char bus[32];
  int found = -1, current = -1, of_variable = 0;
  require(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
  require(cudaDeviceGetByPCIBusId(&found, bus));
  require(cudaGetDevice(&current));
  require(cudaMemcpyFromSymbol(&of_variable, calls, sizeof(int)));
  return attributes.device == device && found == device && current == device && of_variable == 1;
}

// A launch needs a stream of the current device, and an event one of its own.
bool refuses_other_devices(int* memory, cudaStream_t other, cudaEvent_t event) {
  require(cudaSetDevice(0));
  fill<<<1, 1, 0, other>>>(memory, 0);
  return cudaGetLastError() == cudaErrorInvalidResourceHandle &&
         cudaEventRecord(event, other) == cudaErrorInvalidResourceHandle &&
         cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice &&
         cudaSetDevice(2) == cudaErrorInvalidDevice;
}

int main(int count, char** arguments) {
  const auto has = [&](const char* defect) {
    return count > 1 && std::strcmp(arguments[1], defect) == 0;
  };
  int devices = 0, can = 0;
  require(cudaGetDeviceCount(&devices));
  require(cudaDeviceCanAccessPeer(&can, 0, 1));
  bool is_right = devices == 2 && can == 1;

  int* memory[2];
  cudaStream_t stream[2];
  cudaEvent_t event[2];
  for (int device = 0; device < 2; ++device) {
    std::thread([&, device] {  // another thread, another current device
      require(cudaSetDevice(device));
      require(cudaMalloc(&memory[device], kBytes));
      require(cudaStreamCreate(&stream[device]));
      require(cudaEventCreateWithFlags(&event[device], cudaEventDisableTiming));
      fill<<<1, kElements, 0, stream[device]>>>(memory[device], device + 1);
      require(cudaDeviceSynchronize());
      is_right &= knows_itself(device, memory[device]);
    })
        .join();
  }

  // Copies need no peer access, kernels do.
  if (has("closed_pool")) {
    require(cudaSetDevice(1));
    require(cudaFree(memory[1]));
    require(cudaMallocAsync(&memory[1], kBytes, stream[1]));
    fill<<<1, kElements, 0, stream[1]>>>(memory[1], 2);
    require(cudaDeviceSynchronize());
  }
  require(cudaSetDevice(0));
  is_right &= all_are(memory[1], 2);
  if (!has("no_peer")) require(cudaDeviceEnablePeerAccess(1, 0));
  if (has("disabled")) require(cudaDeviceDisablePeerAccess(1));
  add<<<1, kElements, 0, stream[0]>>>(memory[0], memory[1]);
  require(cudaEventRecord(event[0], stream[0]));

  // The other device goes on with the result.
  require(cudaSetDevice(1));
  require(cudaDeviceEnablePeerAccess(0, 0));
  if (!has("no_event")) require(cudaStreamWaitEvent(stream[1], event[0], 0));
  add<<<1, kElements, 0, stream[1]>>>(memory[0], memory[1]);
  require(cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, kBytes, stream[1]));
  require(cudaStreamSynchronize(stream[1]));
  if (!has("closed_pool") && count == 1) is_right &= all_are(memory[1], 5);

  // Managed memory is everybody's, at the scope of the system.
  for (int device = 0; device < 2; ++device) {
    require(cudaSetDevice(device));
    if (has("gpu_scope")) {
      count_here<<<4, 32, 0, stream[device]>>>();
    } else {
      count_everywhere<<<4, 32, 0, stream[device]>>>();
    }
  }
  for (int device = 0; device < 2; ++device) {
    require(cudaSetDevice(device));
    require(cudaDeviceSynchronize());
  }
  is_right &= total == 256;

  is_right &= refuses_other_devices(memory[0], stream[1], event[0]);
  for (int device = 0; device < 2; ++device) require(cudaFree(memory[device]));
  return verdict(is_right);
}
