// Modules, libraries and the linker of the driver API.
#include <cuda.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/code/module_image.hpp"
#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/cudart/driver/modules.hpp"
#include "vgpu/text/file_text.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)
namespace vgpu = warpcheck::vgpu;
namespace ptx = warpcheck::ptx;

namespace {

template <typename Handle>
Handle handle_as(LoadedModule* module) {
  return reinterpret_cast<Handle>(module);
}

// Runs `body(device, module)`.
template <typename Handle, typename Body>
CUresult of_module(Handle handle, Body&& body) {
  return in_context([&] {
    return answer([&](Device& device) {
      LoadedModule* const module = LoadedModules::instance().find(handle);
      return module == nullptr ? cudaErrorInvalidResourceHandle : body(device, *module);
    });
  });
}

// Runs `body(kernel)`.
template <typename Handle, typename Body>
CUresult of_kernel(Handle handle, Body&& body) {
  return after_init([&] {
    return answer([&](Device&) {
      Kernel* const kernel = Registry::instance().find_kernel(handle);
      return kernel == nullptr ? cudaErrorInvalidResourceHandle : body(*kernel);
    });
  });
}

template <typename Handle>
CUresult load(Handle* made, const void* image, unsigned count, CUjit_option* options,
              void** values) {
  return in_context([&] {
    return answer([&](Device& device) {
      if (made == nullptr) return cudaErrorInvalidValue;
      JitOptions read;
      if (!read.read(count, options, values)) return cudaErrorInvalidValue;
      LoadedModule* module = nullptr;
      const cudaError_t error = load_module(device, image, read, &module);
      if (error == cudaSuccess) *made = handle_as<Handle>(module);
      return error;
    });
  });
}

template <typename Handle>
CUresult load_file(Handle* made, const char* path, unsigned count, CUjit_option* options,
                   void** values) {
  if (path == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  const std::string bytes = warpcheck::text_of_file(path);
  if (bytes.empty()) return fail(CUDA_ERROR_FILE_NOT_FOUND);
  return load(made, bytes.c_str(), count, options, values);
}

template <typename Handle, typename Function>
CUresult find_function(Handle handle, const char* name, Function* function) {
  return of_module(handle, [&](Device&, const LoadedModule& module) {
    if (function == nullptr || name == nullptr) return cudaErrorInvalidValue;
    Kernel* const kernel = module.find_kernel(name);
    if (kernel == nullptr) return cudaErrorSymbolNotFound;
    *function = reinterpret_cast<Function>(kernel);
    return cudaSuccess;
  });
}

template <typename Handle>
CUresult find_global(CUdeviceptr* address, size_t* bytes, Handle handle, const char* name,
                     bool managed) {
  return of_module(handle, [&](Device& device, const LoadedModule& module) {
    void* found = nullptr;
    const cudaError_t error = find_variable(device, module, name, managed, &found, bytes);
    if (error == cudaSuccess && address != nullptr) *address = to_address(found);
    return error;
  });
}

// The object behind a CUlinkState.
struct Linker {
  std::vector<std::string> texts;
  JitOptions options;
  std::string image;
};

cudaError_t add_image_to(Device& device, Linker& linker, const void* data) {
  try {
    for (std::string& text : ptx_of_module(data, code_target(device.trial()))) {
      linker.texts.push_back(std::move(text));
    }
    return cudaSuccess;
  } catch (const ModuleImageError& error) {
    if (*error.what() != '\0') device.errors().refuse(error.what());
    return error.error;
  }
}

cudaError_t add_to(Device& device, Linker& linker, CUjitInputType type, const void* data,
                   std::size_t bytes) {
  switch (number_of(type)) {
    case CU_JIT_INPUT_PTX: {
      std::string text(static_cast<const char*>(data), bytes);
      text.resize(std::strlen(text.c_str()));
      static_cast<void>(ptx::parse(text, "linked PTX"));
      linker.texts.push_back(std::move(text));
      return cudaSuccess;
    }
    case CU_JIT_INPUT_CUBIN:  // may be in our own format
    case CU_JIT_INPUT_FATBINARY: return add_image_to(device, linker, data);
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
      throw vgpu::Refusal(
          "cuLinkAddData of an object or a library is not supported; add PTX or a fatbinary");
    case CU_JIT_INPUT_NVVM:
      if (is_module_image({static_cast<const char*>(data), bytes})) {
        return add_image_to(device, linker, data);
      }
      throw vgpu::Refusal(
          "cuLinkAddData of code for link-time optimisation is not supported; add PTX or a "
          "fatbinary that carries it");
    default: return cudaErrorInvalidValue;
  }
}

CUresult add(CUlinkState state, CUjitInputType type, const void* data, std::size_t bytes) {
  return in_context([&] {
    return answer([&](Device& device) {
      if (state == nullptr || data == nullptr) return cudaErrorInvalidValue;
      Linker& linker = *reinterpret_cast<Linker*>(state);
      try {
        return add_to(device, linker, type, data, bytes);
      } catch (const std::runtime_error& error) {
        linker.options.write_logs("", error.what());
        throw;
      }
    });
  });
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  return load(module, image, count, options, values);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load_file(module, path, 0, nullptr, nullptr);
}

CUresult cuModuleUnload(CUmodule handle) { return of_module(handle, unload); }

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return find_function(handle, name, function);
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return of_module(
      handle, [&](Device&, const LoadedModule& module) { return count_functions(module, count); });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
  return of_module(handle, [&](Device&, const LoadedModule& module) {
    return list_functions(module, count, functions);
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module,
                              const char* name) {
  return find_global(address, bytes, module, name, false);
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return load(library, image, count, options, values);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                               void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return load_file(library, path, count, options, values);
}

CUresult cuLibraryUnload(CUlibrary handle) { return of_module(handle, unload); }

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  return find_function(handle, name, kernel);
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
  return of_module(
      handle, [&](Device&, const LoadedModule& module) { return count_functions(module, count); });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary handle) {
  return of_module(handle, [&](Device&, const LoadedModule& module) {
    return list_functions(module, count, kernels);
  });
}

CUresult cuLibraryGetModule(CUmodule* made, CUlibrary handle) {
  return of_module(handle, [&](Device&, LoadedModule& module) {
    return write_result(made, handle_as<CUmodule>(&module));
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                            const char* name) {
  return find_global(address, bytes, library, name, false);
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                             const char* name) {
  return find_global(address, bytes, library, name, true);
}

CUresult cuLibraryGetUnifiedFunction(void** function, CUlibrary handle, const char* name) {
  return of_module(handle, [&](Device&, const LoadedModule&) {
    return function == nullptr || name == nullptr ? cudaErrorInvalidValue : cudaErrorSymbolNotFound;
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel handle) {
  return of_kernel(handle, [&](Kernel& kernel) {
    return write_result(function, reinterpret_cast<CUfunction>(&kernel));
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel handle) {
  return of_kernel(handle, [&](const Kernel& kernel) {
    return write_result(library,
                        handle_as<CUlibrary>(&LoadedModules::instance().module_of(kernel)));
  });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  return of_kernel(handle, [&](const Kernel& kernel) {
    return write_result(module, handle_as<CUmodule>(&LoadedModules::instance().module_of(kernel)));
  });
}

CUresult cuKernelGetName(const char** name, CUkernel handle) {
  return of_kernel(handle,
                   [&](const Kernel& kernel) { return write_result(name, kernel.name.c_str()); });
}

CUresult cuFuncGetName(const char** name, CUfunction handle) {
  return cuKernelGetName(name, reinterpret_cast<CUkernel>(handle));
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  return of_kernel(
      handle, [&](const Kernel&) { return write_result(state, CU_FUNCTION_LOADING_STATE_LOADED); });
}

CUresult cuFuncLoad(CUfunction handle) {
  return of_kernel(handle, [](const Kernel&) { return cudaSuccess; });
}

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return in_context([&] {
    return answer([&](Device&) {
      if (state == nullptr) return cudaErrorInvalidValue;
      auto linker = std::make_unique<Linker>();
      if (!linker->options.read(count, options, values)) return cudaErrorInvalidValue;
      *state = reinterpret_cast<CUlinkState>(linker.release());
      return cudaSuccess;
    });
  });
}
CUresult virtual_cuLinkCreate(unsigned count, CUjit_option* options, void** values,
                              CUlinkState* state) {
  return cuLinkCreate_v2(count, options, values, state);
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                          const char*, unsigned, CUjit_option*, void**) {
  return add(state, type, data, bytes);
}
CUresult virtual_cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                               const char*, unsigned, CUjit_option*, void**) {
  return add(state, type, data, bytes);
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                          CUjit_option*, void**) {
  if (path == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  const std::string bytes = warpcheck::text_of_file(path);
  if (bytes.empty()) return fail(CUDA_ERROR_FILE_NOT_FOUND);
  return add(state, type, bytes.data(), bytes.size());
}
CUresult virtual_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned n,
                               CUjit_option* options, void** values) {
  return cuLinkAddFile_v2(state, type, path, n, options, values);
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  return in_context([&] {
    return answer([&](Device&) {
      if (state == nullptr || image == nullptr) return cudaErrorInvalidValue;
      Linker& linker = *reinterpret_cast<Linker*>(state);
      if (linker.texts.empty()) return cudaErrorInvalidValue;
      try {
        std::vector<ptx::Module> parts;
        for (const std::string& text : linker.texts) {
          parts.push_back(ptx::parse(text, "linked PTX"));
        }
        static_cast<void>(ptx::link_modules(std::move(parts), "linked PTX"));
      } catch (const ptx::LinkError& error) {
        linker.options.write_logs("", error.what());
        return cudaErrorInvalidKernelImage;
      }
      linker.image = make_module_image(linker.texts);
      linker.options.write_logs("", "");
      *image = linker.image.data();
      if (bytes != nullptr) *bytes = linker.image.size();
      return cudaSuccess;
    });
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return in_context([&] {
    delete reinterpret_cast<Linker*>(state);
    return cudaSuccess;
  });
}

}  // extern "C"
