// A CUDA driver without a GPU, for tests of `exec --against gpu`: its device runs one kernel,
// `square`, whatever its PTX says.  FAKE_DEVICE chooses what it does:
//
//   right      the right result
//   wrong      one element is wrong at every level of optimisation
//   optimises  one element is wrong from level 2 on
//   fails      the launch fails, and the device is lost
//   none       there is no device
#include <cuda.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

std::string_view mode() {
  const char* const text = std::getenv("FAKE_DEVICE");
  return text == nullptr ? "right" : text;
}

// A module is the level at which it was assembled.
unsigned level_of(CUmodule module) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(module)) - 1;
}

struct SquareParameters {
  int* out;
  const int* in;
  int count;
};

// __global__ void square(int* out, const int* in, int count)
void square(const SquareParameters& parameters, bool is_wrong) {
  for (int i = 0; i < parameters.count; ++i)
    parameters.out[i] = parameters.in[i] * parameters.in[i];
  if (is_wrong) parameters.out[3] += 1;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return mode() == "none" ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = nullptr;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit, std::size_t) { return CUDA_SUCCESS; }
CUresult cuCtxSynchronize() {
  return mode() == "fails" ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::strncpy(name, "fake", static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  *bytes = std::size_t{2} << 20;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* given, std::size_t bytes, std::size_t, CUdeviceptr wanted,
                             unsigned long long) {
  void* const at = ::mmap(reinterpret_cast<void*>(wanted), bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  *given = at == MAP_FAILED ? 0 : reinterpret_cast<CUdeviceptr>(at);
  return CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr, std::size_t) { return CUDA_SUCCESS; }
CUresult cuMemCreate(CUmemGenericAllocationHandle*, std::size_t, const CUmemAllocationProp*,
                     unsigned long long) {
  return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
                  unsigned long long) {
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void* source, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(target), source, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH_v2(void* target, CUdeviceptr source, std::size_t bytes) {
  std::memcpy(target, reinterpret_cast<const void*>(source), bytes);
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void*, unsigned count, CUjit_option* options,
                            void** values) {
  std::uintptr_t level = 4;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_OPTIMIZATION_LEVEL)
      level = reinterpret_cast<std::uintptr_t>(values[i]);
  }
  *module = reinterpret_cast<CUmodule>(level + 1);
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetGlobal_v2(CUdeviceptr*, std::size_t*, CUmodule, const char*) {
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (std::string_view(name).find("square") == std::string_view::npos) return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(module);
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction function, void**, void** extra) {
  SquareParameters parameters{};
  std::memcpy(&parameters, extra[1], 20);
  const unsigned level = level_of(reinterpret_cast<CUmodule>(function));
  square(parameters, mode() == "wrong" || (mode() == "optimises" && level >= 2));
  return CUDA_SUCCESS;
}

}  // extern "C"
