// Two texts of PTX become one module by nvJitLink; what is no PTX is refused.
#include <cuda.h>
#include <nvJitLink.h>

#include <cstdio>
#include <cstring>
#include <string>

const char* const kCaller = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 x);
.visible .entry each(.param .u64 data) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  { .param .b32 x; .param .b32 result;
    st.param.b32 [x], %r2;
    call (result), twice, (x);
    ld.param.b32 %r3, [result]; }
  st.global.u32 [%rd3], %r3;
  ret;
})";
const char* const kCalled = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 x) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
})";

std::string log_of(nvJitLinkHandle linker) {
  std::size_t bytes = 0;
  nvJitLinkGetErrorLogSize(linker, &bytes);
  std::string log(bytes, '?');
  nvJitLinkGetErrorLog(linker, log.data());
  return log.substr(0, bytes - 1);
}

int link_and_run() {
  const char* options[] = {"-arch=sm_80"};
  nvJitLinkHandle linker = nullptr;
  if (nvJitLinkCreate(&linker, 0, nullptr) != NVJITLINK_ERROR_MISSING_ARCH) return 2;
  if (nvJitLinkCreate(&linker, 1, options) != NVJITLINK_SUCCESS) return 3;
  if (nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, kCaller, std::strlen(kCaller), "caller") !=
      NVJITLINK_SUCCESS)
    return 4;
  if (nvJitLinkAddData(linker, NVJITLINK_INPUT_ANY, kCalled, std::strlen(kCalled), "called") !=
      NVJITLINK_SUCCESS)
    return 5;
  if (nvJitLinkComplete(linker) != NVJITLINK_SUCCESS) return 6;
  std::size_t bytes = 0;
  if (nvJitLinkGetLinkedCubinSize(linker, &bytes) != NVJITLINK_SUCCESS || bytes == 0) return 7;
  std::string image(bytes, '\0');
  if (nvJitLinkGetLinkedCubin(linker, image.data()) != NVJITLINK_SUCCESS) return 8;
  if (nvJitLinkDestroy(&linker) != NVJITLINK_SUCCESS) return 9;
  CUmodule module;
  CUfunction function;
  int* data = nullptr;
  if (cudaMallocManaged(&data, 32 * sizeof(int)) != cudaSuccess) return 14;
  for (int i = 0; i < 32; ++i) data[i] = i;
  if (cuModuleLoadData(&module, image.data()) != CUDA_SUCCESS) return 10;
  if (cuModuleGetFunction(&function, module, "each") != CUDA_SUCCESS) return 11;
  void* arguments[] = {&data};
  if (cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) != CUDA_SUCCESS)
    return 12;
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) {
    if (data[i] != 2 * i) return 13;
  }
  cudaFree(data);
  cuModuleUnload(module);
  std::puts("right");
  return 0;
}

int link_what_carries_no_ptx() {
  const char* options[] = {"-arch=sm_80", "-lto"};
  nvJitLinkHandle linker = nullptr;
  if (nvJitLinkCreate(&linker, 2, options) != NVJITLINK_SUCCESS) return 3;
  const nvJitLinkResult result =
      nvJitLinkAddData(linker, NVJITLINK_INPUT_LTOIR, "BC", 2, "optimised");
  std::printf("%d %s", result == NVJITLINK_ERROR_UNRECOGNIZED_INPUT, log_of(linker).c_str());
  nvJitLinkDestroy(&linker);
  return 0;
}

int main(int count, char**) { return count == 1 ? link_and_run() : link_what_carries_no_ptx(); }
