// A failed call names the limit that it breaks, and by what.  It is a note, but for calls of which nothing tells the
// program that they have failed: a `<<<>>>`, or a copy whose result is not read, while nobody asks for the last error.
// case grid: | | grid
// expect grid: error api-error grid
// says grid: (1) returned cudaErrorInvalidValue: invalid argument; gridDim.y 75000 > 65535
// says grid: ; the program never asks for this error (cudaGetLastError())
// case block: | | block
// expect block: note api-error block
// conceals block: never asks
// says block: invalid argument; blockDim.z 128 > 64
// case threads: | | threads
// expect threads: error api-error threads
// says threads: invalid argument; 2048 threads a block > 1024
// case bounds: | | bounds
// expect bounds: note api-error bounds
// conceals bounds: never asks
// says bounds: invalid argument; 256 threads a block > `__launch_bounds__(128)`
// case dynamic: | | dynamic
// expect dynamic: error api-error dynamic
// says dynamic: invalid argument; 60000 bytes of dynamic shared memory > 49152 - 1024 static; cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize allows more
// case dynamic_set: | | dynamic-set
// expect dynamic_set: error api-error dynamic_set
// says dynamic_set: invalid argument; 60000 bytes of dynamic shared memory > 256 set at limits.cu:97
// case attribute: | --device sm_90 | attribute
// expect attribute: note api-error attribute
// says attribute: invalid argument; 232448 bytes of dynamic shared memory > 232448 of the device - 1024 static
// case cooperative: | --device sm_90 | cooperative
// expect cooperative: note api-error cooperative
// says cooperative: 100000 blocks of a cooperative grid > 4224 that are resident at once: 32 on each of 132 multiprocessors
// case rows: | | rows
// expect rows: error api-error rows
// says rows: ; a row of 128 bytes > pitch 64
// case pitch: | | pitch
// expect pitch: note api-error pitch
// says pitch: ; pitch 404 is no multiple of 32 (texturePitchAlignment)
// case aligned: | | aligned
// expect aligned: note api-error aligned
// says aligned: ; the pointer is no multiple of 512 bytes (textureAlignment)
// case device: | | device
// expect device: error api-error device
// says device: invalid device ordinal; device 7, and the devices are 0 to 0
// case of_device: | | of-device
// expect of_device: error api-error of_device
// says of_device: ; the target is memory of the device, and memory of the host is wanted
// case of_host: | | of-host
// expect of_host: error api-error of_host
// says of_host: ; the target is memory of the host, and memory of the device is wanted
// case kind: | | kind
// expect kind: error api-error kind
// says kind: ; 9 is no cudaMemcpyKind
// case other_device: | --devices 2 | other-device
// expect other_device: error api-error other_device
// says other_device: ; the stream is of device 0, and the current one is 1
// case never_recorded: | | never-recorded
// expect never_recorded: note api-error never_recorded
// says never_recorded: ; the last event was never recorded
// case untimed: | | untimed
// expect untimed: note api-error untimed
// says untimed: ; the first event was made with cudaEventDisableTiming
// case unmanaged: | | unmanaged
// expect unmanaged: note api-error unmanaged
// says unmanaged: ; the bytes are not inside memory of cudaMallocManaged()
// case pageable: | | pageable
// expect pageable: note api-error pageable
// says pageable: ; the memory is not page-locked: cudaHostAlloc() and cudaHostRegister() make it so
// case flags: | | flags
// expect flags: note api-error flags
// says flags: ; flags 0x40, and the known ones are 0x1
// case cycle: | | cycle
// expect cycle: note api-error cycle
// says cycle: ; the edges of the graph form a cycle
// case edge: | | edge
// expect edge: note api-error edge
// says edge: ; edge 0 exists already
// case array: | | array
// expect array: error api-error array
// says array: ; 4 rows of 128 bytes from row 0 and byte 0 on are not inside an array of 4 rows of 64 bytes
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

void copies(const std::string& mode) {
  char *data, host[256] = {};
  cudaMalloc(&data, 256);
  if (mode == "of-device") cudaMemcpy(data, host, 64, cudaMemcpyDeviceToHost);               //~ of_device
  if (mode == "of-host") cudaMemset(host, 0, 64);                                            //~ of_host
  if (mode == "kind") cudaMemcpy(data, host, 64, static_cast<cudaMemcpyKind>(9));            //~ kind
  if (mode == "unmanaged") cudaMemPrefetchAsync(data, 64, {cudaMemLocationTypeDevice, 0}, 0);  //~ unmanaged
  void* alias;
  if (mode == "pageable") cudaHostGetDevicePointer(&alias, host, 0);  //~ pageable
  if (mode == "array") {
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 16, 4);
    cudaMemcpy2DToArray(array, 0, 0, host, 128, 128, 4, cudaMemcpyHostToDevice);  //~ array
    cudaFreeArray(array);
  }
  cudaFree(data);
}

void streams_and_events(const std::string& mode) {
  cudaStream_t stream, other;
  cudaEvent_t timed, untimed;
  cudaStreamCreate(&stream);
  cudaEventCreate(&timed);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  cudaEventRecord(untimed);
  float time;
  if (mode == "never-recorded") {
    cudaEvent_t begin;
    cudaEventCreate(&begin);
    cudaEventRecord(begin);
    cudaEventElapsedTime(&time, begin, timed);  //~ never_recorded
    cudaEventDestroy(begin);
  }
  if (mode == "untimed") cudaEventElapsedTime(&time, untimed, timed);        //~ untimed
  if (mode == "flags") cudaStreamCreateWithFlags(&other, 0x40);              //~ flags
  if (mode == "other-device") {
    cudaSetDevice(1);
    nothing<<<1, 1, 0, stream>>>();  //~ other_device
    cudaSetDevice(0);
  }
  cudaEventDestroy(untimed);
  cudaEventDestroy(timed);
  cudaStreamDestroy(stream);
}

void edges(bool forms_cycle) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t first, second;
  cudaGraphAddEmptyNode(&first, graph, nullptr, 0);
  cudaGraphAddEmptyNode(&second, graph, &first, 1);
  cudaGraphExec_t executable;
  if (forms_cycle) {
    cudaGraphAddDependencies(graph, &second, &first, nullptr, 1);
    cudaGraphInstantiate(&executable, graph, 0);  //~ cycle
  } else {
    cudaGraphAddDependencies(graph, &first, &second, nullptr, 1);  //~ edge
  }
  cudaGraphDestroy(graph);
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
  if (mode == "block") cudaGetLastError();
  if (mode == "bounds") cudaPeekAtLastError();
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
  copies(mode);
  streams_and_events(mode);
  if (mode == "cycle" || mode == "edge") edges(mode == "cycle");
  if (mode == "all-fit") all_fit();
  return 0;
}
