// libwarpcheck_nvtx.so, which `exec` names in NVTX_INJECTION64_PATH.  NVTX loads it into every
// process that uses NVTX and calls the function below for each of its extensions
// (nvtx3/nvtxDetail/nvtxExtInit.h).
//
// It must not bring a virtual GPU into the process: the process may have its own
// (libcudart_static.a of `warpcheck libdir`), or none.  So it only asks for one that is loaded.
#include <dlfcn.h>

using Extension = int(const void* info);

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtxExtension(const void* info) {
  void* const gpu = dlopen("libwarpcheck_gpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (gpu == nullptr) return 0;
  auto* const extension = reinterpret_cast<Extension*>(dlsym(gpu, "warpcheck_nvtx_extension"));
  return extension == nullptr ? 0 : extension(info);
}
