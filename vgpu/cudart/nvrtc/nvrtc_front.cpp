// libnvrtc.so of `warpcheck exec`: NVRTC as its header documents it, for programs that ask for
// machine code.  Everything is the toolkit's own compiler, which needs no GPU; but where a program
// compiles for a real architecture (--gpu-architecture=sm_90), the virtual one is asked for
// (compute_90), and nvrtcGetCUBIN() gives the PTX as a module image, which cuModuleLoadData() of
// the virtual GPU takes.  Lines are asked for, too (-lineinfo), so that reports have those of the
// source.
//
// The audit library (vgpu/cudart/redirect) puts this in the toolkit's place as the program looks
// for it, and writes where that is into warpcheck_nvrtc_path before any code of this runs.
#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/code/module_image.hpp"
#include "vgpu/cudart/nvrtc/nvrtc_options.hpp"

#ifndef __x86_64__
#error "The jumps to the toolkit's functions are written for x86-64."
#endif

extern "C" char warpcheck_nvrtc_path[4096];
char warpcheck_nvrtc_path[4096] = {};

namespace warpcheck::cudart {
namespace {

// By another spelling of its path than the program's: by the program's the dynamic linker knows
// this library.
void* open_the_toolkits() {
  const std::string path = warpcheck_nvrtc_path;
  const std::size_t slash = path.rfind('/');
  void* library = nullptr;
  if (slash != std::string::npos) {
    library = ::dlopen((path.substr(0, slash) + "/./" + path.substr(slash + 1)).c_str(), RTLD_LAZY);
  }
  if (library != nullptr) return library;
  std::fprintf(stderr, "warpcheck: the toolkit's NVRTC cannot be loaded: %s\n",
               path.empty() ? "it is not known where it is; run the program by `warpcheck exec`"
                            : ::dlerror());
  std::abort();
}

void* function_of_the_toolkits(const char* name) {
  static void* const library = open_the_toolkits();
  return ::dlsym(library, name);
}

// Programs by their handles, from a compilation that was for machine code on.
class Images {
 public:
  void set(nvrtcProgram program, std::string image) {
    const std::lock_guard lock(mutex_);
    images_[program] = std::move(image);
  }
  void forget(nvrtcProgram program) {
    const std::lock_guard lock(mutex_);
    images_.erase(program);
  }
  // Calls use(image) if there is one, and says whether there is.
  template <class Use>
  bool with(nvrtcProgram program, Use&& use) {
    const std::lock_guard lock(mutex_);
    const auto found = images_.find(program);
    if (found == images_.end()) return false;
    use(found->second);
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<nvrtcProgram, std::string> images_;
};

Images& images() {
  static auto* const all = new Images;  // programs call in destructors of their own
  return *all;
}

template <class Function>
Function* toolkits(Function*, const char* name) {
  return reinterpret_cast<Function*>(function_of_the_toolkits(name));
}

#define TOOLKITS(name) toolkits(&name, #name)

nvrtcResult keep_image(nvrtcProgram program) {
  std::size_t bytes = 0;
  nvrtcResult result = TOOLKITS(nvrtcGetPTXSize)(program, &bytes);
  if (result != NVRTC_SUCCESS) return result;
  std::string text(bytes, '\0');
  result = TOOLKITS(nvrtcGetPTX)(program, text.data());
  if (result != NVRTC_SUCCESS) return result;
  while (text.ends_with('\0')) text.pop_back();
  std::string image = make_module_image({text});
  // Callers take the last byte for the null byte that ends a text, as PTX has one.
  image.push_back('\0');
  images().set(program, std::move(image));
  return NVRTC_SUCCESS;
}

}  // namespace
}  // namespace warpcheck::cudart

namespace cudart = warpcheck::cudart;

extern "C" {

[[gnu::used]] void* warpcheck_nvrtc_function(const char* name) {
  void* const function = cudart::function_of_the_toolkits(name);
  if (function != nullptr) return function;
  std::fprintf(stderr, "warpcheck: the toolkit's NVRTC, %s, has no function %s\n",
               warpcheck_nvrtc_path, name);
  std::abort();
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  if (count < 0 || (count > 0 && options == nullptr)) {
    return cudart::TOOLKITS(nvrtcCompileProgram)(program, count, options);
  }
  const cudart::NvrtcOptions asked =
      cudart::options_for_the_virtual_gpu({options, options + count});
  std::vector<const char*> words;
  for (const std::string& word : asked.words) words.push_back(word.c_str());
  cudart::images().forget(program);
  const nvrtcResult result =
      cudart::TOOLKITS(nvrtcCompileProgram)(program, static_cast<int>(words.size()), words.data());
  if (result != NVRTC_SUCCESS || !asked.wants_machine_code) return result;
  return cudart::keep_image(program);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  const bool is_ours = bytes != nullptr && cudart::images().with(program, [&](const auto& image) {
    *bytes = image.size();
  });
  return is_ours ? NVRTC_SUCCESS : cudart::TOOLKITS(nvrtcGetCUBINSize)(program, bytes);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  const bool is_ours = cubin != nullptr && cudart::images().with(program, [&](const auto& image) {
    std::ranges::copy(image, cubin);
  });
  return is_ours ? NVRTC_SUCCESS : cudart::TOOLKITS(nvrtcGetCUBIN)(program, cubin);
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program != nullptr) cudart::images().forget(*program);
  return cudart::TOOLKITS(nvrtcDestroyProgram)(program);
}

}  // extern "C"

// The others are jumps: all take up to six integers or pointers.
#define FORWARDED(name)                       \
  asm(".pushsection .text\n"                  \
      ".globl " #name                         \
      "\n"                                    \
      ".type " #name ", @function\n" #name    \
      ":\n"                                   \
      "endbr64\n"                             \
      "pushq %rdi\npushq %rsi\npushq %rdx\n"  \
      "pushq %rcx\npushq %r8\npushq %r9\n"    \
      "subq $8, %rsp\n"                       \
      "leaq 1f(%rip), %rdi\n"                 \
      "call warpcheck_nvrtc_function\n"       \
      "addq $8, %rsp\n"                       \
      "popq %r9\npopq %r8\npopq %rcx\n"       \
      "popq %rdx\npopq %rsi\npopq %rdi\n"     \
      "jmp *%rax\n"                           \
      ".size " #name ", . - " #name           \
      "\n.popsection\n.pushsection .rodata\n" \
      "1: .asciz \"" #name "\"\n.popsection\n");
#include "nvrtc_forwarded.def"
