// libnvJitLink.so.13 of `warpcheck exec`: the linker of nvJitLink.h, for inputs that contain PTX.
//
// It uses cuLinkAddData() and cuLinkComplete() of the virtual GPU's driver, whose image takes the
// place of machine code: cuModuleLoadData() and similar functions load the result of
// nvJitLinkGetLinkedCubin().  Inputs with only machine code or code for link-time optimisation
// cannot be linked: the driver refuses them by name, and the log here has the reason.
#include <cuda.h>
#define NVJITLINK_NO_INLINE  // the unversioned names are functions here
#include <nvJitLink.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "vgpu/text/file_text.hpp"

struct nvJitLink {
  CUlinkState state = nullptr;
  std::string image, log;
  std::array<char, 4096> drivers_log{};  // the driver's log for the latest input
  // Of CU_JIT_ERROR_LOG_BUFFER and its size: the driver stores the length of each log here, so they
  // live as long as `state` (cuLinkCreate).
  std::array<void*, 2> option_values{drivers_log.data(),
                                     reinterpret_cast<void*>(drivers_log.size())};
  bool is_complete = false;
};

namespace warpcheck::cudart {
namespace {

constexpr std::string_view kNoPtx =
    "the virtual GPU links PTX, and fatbinaries that carry it; this input carries none";

// Logs `why` if the driver gives no reason of its own.
nvJitLinkResult refused(nvJitLink& linker, nvJitLinkResult result, std::string_view why) {
  if (linker.drivers_log[0] != '\0') why = linker.drivers_log.data();
  linker.log.append(why).append("\n");
  linker.drivers_log[0] = '\0';
  return result;
}

// The driver links in a context, but nvJitLink needs none.  If the program has no context, the
// device's primary context is used.
class InContext {
 public:
  InContext() {
    CUcontext current = nullptr;
    CUdevice device{};
    is_there_ = cuInit(0) == CUDA_SUCCESS;
    if (!is_there_ || (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr)) return;
    CUcontext primary = nullptr;
    is_pushed_ = cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
                 cuDevicePrimaryCtxRetain(&primary, device) == CUDA_SUCCESS &&
                 cuCtxPushCurrent(primary) == CUDA_SUCCESS;
    is_there_ = is_pushed_;
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  ~InContext() {
    CUcontext primary = nullptr;
    if (is_pushed_) cuCtxPopCurrent(&primary);
  }
  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  bool is_there_ = false, is_pushed_ = false;
};

bool begins_with(const void* data, std::size_t bytes, std::string_view magic) {
  return bytes >= magic.size() && std::memcmp(data, magic.data(), magic.size()) == 0;
}

// Returns the actual type for ANY.
nvJitLinkInputType kind_of(const void* data, std::size_t bytes) {
  constexpr std::string_view kFatbinary("\x50\xed\x55\xba", 4), kElf(
                                                                    "\x7f"
                                                                    "ELF",
                                                                    4);
  if (begins_with(data, bytes, kFatbinary)) return NVJITLINK_INPUT_FATBIN;
  return begins_with(data, bytes, kElf) ? NVJITLINK_INPUT_CUBIN : NVJITLINK_INPUT_PTX;
}

bool driver_type(nvJitLinkInputType type, CUjitInputType& out) {
  switch (type) {
    case NVJITLINK_INPUT_CUBIN: out = CU_JIT_INPUT_CUBIN; return true;
    case NVJITLINK_INPUT_PTX: out = CU_JIT_INPUT_PTX; return true;
    case NVJITLINK_INPUT_FATBIN: out = CU_JIT_INPUT_FATBINARY; return true;
    case NVJITLINK_INPUT_OBJECT: out = CU_JIT_INPUT_OBJECT; return true;
    case NVJITLINK_INPUT_LIBRARY: out = CU_JIT_INPUT_LIBRARY; return true;
    case NVJITLINK_INPUT_LTOIR: out = CU_JIT_INPUT_NVVM; return true;
    default: return false;
  }
}

nvJitLinkResult add(nvJitLink& linker, nvJitLinkInputType type, const void* data, std::size_t bytes,
                    const char* name) {
  if (linker.is_complete) return refused(linker, NVJITLINK_ERROR_INVALID_INPUT, "already linked");
  if (data == nullptr || bytes == 0) return NVJITLINK_ERROR_NULL_INPUT;
  if (type == NVJITLINK_INPUT_ANY) type = kind_of(data, bytes);
  CUjitInputType input{};
  if (!driver_type(type, input)) return refused(linker, NVJITLINK_ERROR_UNRECOGNIZED_INPUT, kNoPtx);
  std::string text;
  if (type == NVJITLINK_INPUT_PTX) {  // the driver reads it up to the null byte
    text.assign(static_cast<const char*>(data), bytes);
    text.push_back('\0');
    data = text.data();
    bytes = text.size();
  }
  const InContext context;
  const CUresult result = cuLinkAddData(linker.state, input, const_cast<void*>(data), bytes,
                                        name == nullptr ? "input" : name, 0, nullptr, nullptr);
  if (result == CUDA_SUCCESS) return NVJITLINK_SUCCESS;
  return refused(linker, NVJITLINK_ERROR_UNRECOGNIZED_INPUT, kNoPtx);
}

template <class Size, class Text>
nvJitLinkResult give_size(const nvJitLink* linker, Size* size, const Text& text) {
  if (linker == nullptr || size == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  *size = text.size();
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult give(const nvJitLink* linker, void* to, const std::string& text) {
  if (linker == nullptr || to == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  std::memcpy(to, text.data(), text.size());
  return NVJITLINK_SUCCESS;
}

// Appends the terminating null byte.
std::string ended(const std::string& text) { return text + '\0'; }

}  // namespace
}  // namespace warpcheck::cudart

namespace cudart = warpcheck::cudart;

extern "C" {

nvJitLinkResult __nvJitLinkCreate_13_0(nvJitLinkHandle* handle, uint32_t count,
                                       const char* const* options) {
  if (handle == nullptr || (count != 0 && options == nullptr)) return NVJITLINK_ERROR_INVALID_INPUT;
  bool has_architecture = false;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view option = options[i];
    has_architecture |= option.starts_with("-arch=") || option.starts_with("-arch ");
  }
  if (!has_architecture) return NVJITLINK_ERROR_MISSING_ARCH;
  const cudart::InContext context;
  auto linker = std::make_unique<nvJitLink>();
  std::array options_of_driver{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  if (!context.is_there() || cuLinkCreate(2, options_of_driver.data(), linker->option_values.data(),
                                          &linker->state) != CUDA_SUCCESS) {
    return NVJITLINK_ERROR_INTERNAL;
  }
  *handle = linker.release();
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult __nvJitLinkDestroy_13_0(nvJitLinkHandle* handle) {
  if (handle == nullptr || *handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  const cudart::InContext context;
  cuLinkDestroy((*handle)->state);
  delete *handle;
  *handle = nullptr;
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult __nvJitLinkAddData_13_0(nvJitLinkHandle handle, nvJitLinkInputType type,
                                        const void* data, size_t bytes, const char* name) {
  if (handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  return cudart::add(*handle, type, data, bytes, name);
}

nvJitLinkResult __nvJitLinkAddFile_13_0(nvJitLinkHandle handle, nvJitLinkInputType type,
                                        const char* path) {
  if (handle == nullptr || path == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  const std::string bytes = warpcheck::text_of_file(path);
  return cudart::add(*handle, type, bytes.data(), bytes.size(), path);
}

nvJitLinkResult __nvJitLinkComplete_13_0(nvJitLinkHandle handle) {
  if (handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  const cudart::InContext context;
  void* image = nullptr;
  size_t bytes = 0;
  if (cuLinkComplete(handle->state, &image, &bytes) != CUDA_SUCCESS) {
    return cudart::refused(*handle, NVJITLINK_ERROR_INVALID_INPUT,
                           "the inputs do not fit together");
  }
  handle->image.assign(static_cast<const char*>(image), bytes);
  handle->is_complete = true;
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult __nvJitLinkGetLinkedCubinSize_13_0(nvJitLinkHandle handle, size_t* size) {
  if (handle == nullptr || !handle->is_complete) return NVJITLINK_ERROR_INVALID_INPUT;
  return cudart::give_size(handle, size, handle->image);
}
nvJitLinkResult __nvJitLinkGetLinkedCubin_13_0(nvJitLinkHandle handle, void* cubin) {
  if (handle == nullptr || !handle->is_complete) return NVJITLINK_ERROR_INVALID_INPUT;
  return cudart::give(handle, cubin, handle->image);
}

// There is a text only if link-time optimisation was requested (-lto -ptx).
nvJitLinkResult __nvJitLinkGetLinkedPtxSize_13_0(nvJitLinkHandle, size_t*) {
  return NVJITLINK_ERROR_LTO_NOT_ENABLED;
}
nvJitLinkResult __nvJitLinkGetLinkedPtx_13_0(nvJitLinkHandle, char*) {
  return NVJITLINK_ERROR_LTO_NOT_ENABLED;
}

nvJitLinkResult __nvJitLinkGetErrorLogSize_13_0(nvJitLinkHandle handle, size_t* size) {
  if (handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  return cudart::give_size(handle, size, cudart::ended(handle->log));
}
nvJitLinkResult __nvJitLinkGetErrorLog_13_0(nvJitLinkHandle handle, char* log) {
  if (handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  return cudart::give(handle, log, cudart::ended(handle->log));
}
nvJitLinkResult __nvJitLinkGetInfoLogSize_13_0(nvJitLinkHandle handle, size_t* size) {
  return cudart::give_size(handle, size, cudart::ended({}));
}
nvJitLinkResult __nvJitLinkGetInfoLog_13_0(nvJitLinkHandle handle, char* log) {
  return cudart::give(handle, log, cudart::ended({}));
}

nvJitLinkResult nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (major == nullptr || minor == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  *major = CUDA_VERSION / 1000;
  *minor = CUDA_VERSION % 1000 / 10;
  return NVJITLINK_SUCCESS;
}

// Names for code that looks functions up by name.
#define UNVERSIONED(name, ...)                                                                 \
  nvJitLinkResult nvJitLink##name(__VA_ARGS__) __attribute__((alias("__nvJitLink" #name "_13_" \
                                                                    "0")));
UNVERSIONED(Create, nvJitLinkHandle*, uint32_t, const char* const*)
UNVERSIONED(Destroy, nvJitLinkHandle*)
UNVERSIONED(AddData, nvJitLinkHandle, nvJitLinkInputType, const void*, size_t, const char*)
UNVERSIONED(AddFile, nvJitLinkHandle, nvJitLinkInputType, const char*)
UNVERSIONED(Complete, nvJitLinkHandle)
UNVERSIONED(GetLinkedCubinSize, nvJitLinkHandle, size_t*)
UNVERSIONED(GetLinkedCubin, nvJitLinkHandle, void*)
UNVERSIONED(GetLinkedPtxSize, nvJitLinkHandle, size_t*)
UNVERSIONED(GetLinkedPtx, nvJitLinkHandle, char*)
UNVERSIONED(GetErrorLogSize, nvJitLinkHandle, size_t*)
UNVERSIONED(GetErrorLog, nvJitLinkHandle, char*)
UNVERSIONED(GetInfoLogSize, nvJitLinkHandle, size_t*)
UNVERSIONED(GetInfoLog, nvJitLinkHandle, char*)
#undef UNVERSIONED
}
