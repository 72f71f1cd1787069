// Two inputs become one module by nvJitLink: texts of PTX, or what NVRTC and libNVVM (argument 2 is
// its path) make for link-time optimisation; what is neither is refused.
#include <cuda.h>
#include <dlfcn.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <nvvm.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

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

const char* const kCallerInCuda = R"(
extern __device__ int twice(int x);
extern "C" __global__ void each(int* data) {
  const int i = threadIdx.x + OFFSET;
  data[i] = twice(data[i]);
}
)";
const char* const kCalledInCuda = R"(__device__ int twice(int x) { return x + x; })";

const char* const kCalledInNvvm = R"(
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define i32 @twice(i32 %x) {
  %sum = add i32 %x, %x
  ret i32 %sum
}
!nvvmir.version = !{!0}
!0 = !{i32 2, i32 0, i32 3, i32 1}
)";

struct Input {
  nvJitLinkInputType type;
  std::string bytes;
};

[[noreturn]] void fail(int code, const std::string& log) {
  std::fprintf(stderr, "%s\n", log.c_str());
  std::exit(code);
}

std::string log_of(nvJitLinkHandle linker) {
  std::size_t bytes = 0;
  nvJitLinkGetErrorLogSize(linker, &bytes);
  std::string log(bytes, '?');
  nvJitLinkGetErrorLog(linker, log.data());
  return log.substr(0, bytes - 1);
}

Input by_nvrtc(const char* source, const char* offset) {
  const char* options[] = {"-arch=sm_80", "-dlto", offset};
  nvrtcProgram program;
  if (nvrtcCreateProgram(&program, source, "source.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS ||
      nvrtcCompileProgram(program, 3, options) != NVRTC_SUCCESS)
    fail(20, "NVRTC");
  std::size_t bytes = 0;
  if (nvrtcGetLTOIRSize(program, &bytes) != NVRTC_SUCCESS || bytes == 0) fail(21, "size");
  std::string code(bytes, '\0');
  if (nvrtcGetLTOIR(program, code.data()) != NVRTC_SUCCESS) fail(22, "code");
  nvrtcDestroyProgram(&program);
  return {NVJITLINK_INPUT_LTOIR, code};
}

Input by_nvvm(const char* source, const char* path) {
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) fail(30, dlerror());
#define NVVM(name) reinterpret_cast<decltype(name)*>(dlsym(library, #name))
  const char* options[] = {"-arch=compute_80", "-gen-lto"};
  nvvmProgram program;
  std::size_t bytes = 0;
  if (NVVM(nvvmCreateProgram)(&program) != NVVM_SUCCESS ||
      NVVM(nvvmAddModuleToProgram)(program, source, std::strlen(source), "twice") != NVVM_SUCCESS)
    fail(31, "module");
  if (NVVM(nvvmVerifyProgram)(program, 2, options) != NVVM_SUCCESS ||
      NVVM(nvvmCompileProgram)(program, 2, options) != NVVM_SUCCESS) {
    NVVM(nvvmGetProgramLogSize)(program, &bytes);
    std::string log(bytes, '\0');
    NVVM(nvvmGetProgramLog)(program, log.data());
    fail(32, log);
  }
  if (NVVM(nvvmGetCompiledResultSize)(program, &bytes) != NVVM_SUCCESS) fail(33, "size");
  std::string code(bytes, '\0');
  if (NVVM(nvvmGetCompiledResult)(program, code.data()) != NVVM_SUCCESS) fail(34, "code");
  NVVM(nvvmDestroyProgram)(&program);
#undef NVVM
  return {NVJITLINK_INPUT_LTOIR, code};
}

std::string link(const std::vector<Input>& inputs) {
  const char* options[] = {"-arch=sm_80", "-lto"};
  nvJitLinkHandle linker = nullptr;
  if (nvJitLinkCreate(&linker, 0, nullptr) != NVJITLINK_ERROR_MISSING_ARCH) fail(2, "options");
  if (nvJitLinkCreate(&linker, 2, options) != NVJITLINK_SUCCESS) fail(3, "linker");
  for (const Input& input : inputs) {
    if (nvJitLinkAddData(linker, input.type, input.bytes.data(), input.bytes.size(), "input") !=
        NVJITLINK_SUCCESS)
      fail(4, log_of(linker));
  }
  if (nvJitLinkComplete(linker) != NVJITLINK_SUCCESS) fail(6, log_of(linker));
  std::size_t bytes = 0;
  if (nvJitLinkGetLinkedCubinSize(linker, &bytes) != NVJITLINK_SUCCESS || bytes == 0) fail(7, "");
  std::string image(bytes, '\0');
  if (nvJitLinkGetLinkedCubin(linker, image.data()) != NVJITLINK_SUCCESS) fail(8, "");
  if (nvJitLinkDestroy(&linker) != NVJITLINK_SUCCESS) fail(9, "");
  return image;
}

int link_and_run(const std::vector<Input>& inputs) {
  const std::string image = link(inputs);
  CUmodule module;
  CUfunction function;
  int *device = nullptr, data[32];
  for (int i = 0; i < 32; ++i) data[i] = i;
  if (cudaMalloc(&device, sizeof data) != cudaSuccess) return 14;
  cudaMemcpy(device, data, sizeof data, cudaMemcpyHostToDevice);
  if (cuModuleLoadData(&module, image.data()) != CUDA_SUCCESS) return 10;
  if (cuModuleGetFunction(&function, module, "each") != CUDA_SUCCESS) return 11;
  void* arguments[] = {&device};
  if (cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) != CUDA_SUCCESS)
    return 12;
  cudaMemcpy(data, device, sizeof data, cudaMemcpyDeviceToHost);
  bool is_right = true;
  for (int i = 0; i < 32; ++i) is_right &= data[i] == 2 * i;
  cudaFree(device);
  cuModuleUnload(module);
  std::puts(is_right ? "right" : "wrong");
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

int main(int, char** arguments) {
  const Input caller{NVJITLINK_INPUT_PTX, kCaller};
  const std::string mode = arguments[1];
  if (mode == "ptx") return link_and_run({caller, {NVJITLINK_INPUT_ANY, kCalled}});
  if (mode == "lto") return link_what_carries_no_ptx();
  if (mode == "nvvm") return link_and_run({caller, by_nvvm(kCalledInNvvm, arguments[2])});
  const char* const offset = mode == "overrun" ? "-DOFFSET=1" : "-DOFFSET=0";
  return link_and_run({by_nvrtc(kCallerInCuda, offset), by_nvrtc(kCalledInCuda, offset)});
}
