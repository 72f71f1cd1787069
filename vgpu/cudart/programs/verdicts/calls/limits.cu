// A failed call names the limit that it breaks, and by what.
// case grid: | | grid
// expect grid: note api-error grid
// says grid: (1) returned cudaErrorInvalidValue: invalid argument; gridDim.y 75000 > 65535
// case block: | | block
// expect block: note api-error block
// says block: invalid argument; blockDim.z 128 > 64
// case threads: | | threads
// expect threads: note api-error threads
// says threads: invalid argument; 2048 threads a block > 1024
// case bounds: | | bounds
// expect bounds: note api-error bounds
// says bounds: invalid argument; 256 threads a block > `__launch_bounds__(128)`
// case dynamic: | | dynamic
// expect dynamic: note api-error dynamic
// says dynamic: invalid argument; 60000 bytes of dynamic shared memory > 49152 - 1024 static; cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize allows more
// case dynamic_set: | | dynamic-set
// expect dynamic_set: note api-error dynamic_set
// says dynamic_set: invalid argument; 60000 bytes of dynamic shared memory > 256 set at limits.cu:57
// case attribute: | --device sm_90 | attribute
// expect attribute: note api-error attribute
// says attribute: invalid argument; 232448 bytes of dynamic shared memory > 232448 of the device - 1024 static
// case cooperative: | --device sm_90 | cooperative
// expect cooperative: note api-error cooperative
// says cooperative: 100000 blocks of a cooperative grid > 4224 that are resident at once: 32 on each of 132 multiprocessors
// case rows: | | rows
// expect rows: note api-error rows
// says rows: ; a row of 128 bytes > pitch 64
// case pitch: | | pitch
// expect pitch: note api-error pitch
// says pitch: ; pitch 404 is no multiple of 32 (texturePitchAlignment)
// case aligned: | | aligned
// expect aligned: note api-error aligned
// says aligned: ; the pointer is no multiple of 512 bytes (textureAlignment)
// case device: | | device
// expect device: note api-error device
// says device: invalid device ordinal; device 7, and the devices are 0 to 0
// case all_fit: | | all-fit
// expect all_fit: clean
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <string>

__global__ void nothing() {}

__global__ void __launch_bounds__(128) bounded() {}

__global__ void shares(int* out) {
  __shared__ int fixed[256];
  extern __shared__ int dynamic[];
  fixed[threadIdx.x] = dynamic[threadIdx.x] = 1;
  if (out != nullptr) out[threadIdx.x] = fixed[threadIdx.x] + dynamic[threadIdx.x];
}

void dynamic_set() {
  cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, 256);
  shares<<<1, 1, 60000>>>(nullptr);  //~ dynamic_set
}

void cooperative() {
  void* arguments[] = {nullptr};
  cudaLaunchCooperativeKernel(nothing, dim3(100000), dim3(32), arguments);  //~ cooperative
}

void rows() {
  char *data, host[256] = {};
  cudaMalloc(&data, 256);
  cudaMemcpy2D(data, 128, host, 64, 128, 2, cudaMemcpyHostToDevice);  //~ rows
  cudaFree(data);
}

void pitch() {
  float* data;
  cudaMalloc(&data, 4096);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {data, cudaCreateChannelDesc<float>(), 100, 4, 404};
  cudaTextureDesc texture{};
  cudaTextureObject_t object;
  cudaCreateTextureObject(&object, &resource, &texture, nullptr);  //~ pitch
  cudaFree(data);
}

void aligned(int offset) {
  float* data;
  cudaMalloc(&data, 4096);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {data + offset, cudaCreateChannelDesc<float>(), 1024};
  cudaTextureDesc texture{};
  cudaTextureObject_t object = 0;
  cudaCreateTextureObject(&object, &resource, &texture, nullptr);  //~ aligned
  cudaDestroyTextureObject(object);
  cudaFree(data);
}

void all_fit() {
  nothing<<<dim3(1, 2), dim3(32, 1, 32)>>>();
  bounded<<<1, 128>>>();
  cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
  shares<<<1, 1, 60000>>>(nullptr);
  aligned(128);
  cudaDeviceSynchronize();
}

int main(int, char** argv) {
  const std::string mode = argv[1];
  if (mode == "grid") nothing<<<dim3(1, 75000), 32>>>();             //~ grid
  if (mode == "block") nothing<<<1, dim3(1, 1, 128)>>>();            //~ block
  if (mode == "threads") nothing<<<1, dim3(64, 32)>>>();             //~ threads
  if (mode == "bounds") bounded<<<1, 256>>>();                       //~ bounds
  if (mode == "dynamic") shares<<<1, 1, 60000>>>(nullptr);           //~ dynamic
  if (mode == "dynamic-set") dynamic_set();
  if (mode == "attribute") {
    cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448);  //~ attribute
  }
  if (mode == "cooperative") cooperative();
  if (mode == "rows") rows();
  if (mode == "pitch") pitch();
  if (mode == "aligned") aligned(1);
  if (mode == "device") cudaSetDevice(7);  //~ device
  if (mode == "all-fit") all_fit();
  return 0;
}
