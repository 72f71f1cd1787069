// libnvrtc.so of `warpcheck exec`: NVRTC as its header documents it, for programs that request
// machine code, or code for link-time optimisation by nvJitLink.  The toolkit's own compiler does
// all work, and needs no GPU.  But if a program compiles for a real architecture
// (--gpu-architecture=sm_90), the compiler is called for the virtual one (compute_90), and
// nvrtcGetCUBIN() returns the PTX as a module image, which cuModuleLoadData() of the virtual GPU
// accepts.  nvrtcGetLTOIR() does the same.  The compiler is also called with -lineinfo, so that
// reports have source lines.
#include <nvrtc.h>

#include <string>
#include <utility>
#include <vector>

#include "vgpu/cudart/compilers/compiler_options.hpp"
#include "vgpu/cudart/compilers/toolkits_compiler.hpp"

namespace warpcheck::cudart {
namespace {

using ProgramImages = Images<nvrtcProgram>;

// Both maps are never destroyed, because programs call NVRTC in their own destructors.
ProgramImages& machine_code() {
  static auto* const images = new ProgramImages;
  return *images;
}

ProgramImages& link_time_code() {
  static auto* const images = new ProgramImages;
  return *images;
}

void forget(nvrtcProgram program) {
  machine_code().forget(program);
  link_time_code().forget(program);
}

nvrtcResult keep_image(nvrtcProgram program, ProgramImages& images) {
  std::size_t bytes = 0;
  nvrtcResult result = TOOLKITS(nvrtcGetPTXSize)(program, &bytes);
  if (result != NVRTC_SUCCESS) return result;
  std::string text(bytes, '\0');
  result = TOOLKITS(nvrtcGetPTX)(program, text.data());
  if (result == NVRTC_SUCCESS) images.set(program, image_of_ptx(std::move(text)));
  return result;
}

}  // namespace
}  // namespace warpcheck::cudart

namespace cudart = warpcheck::cudart;

extern "C" {

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  if (count < 0 || (count > 0 && options == nullptr)) {
    return cudart::TOOLKITS(nvrtcCompileProgram)(program, count, options);
  }
  const cudart::CompilerOptions asked =
      cudart::nvrtc_options_for_the_virtual_gpu({options, options + count});
  std::vector<const char*> words;
  for (const std::string& word : asked.words) words.push_back(word.c_str());
  cudart::forget(program);
  const nvrtcResult result =
      cudart::TOOLKITS(nvrtcCompileProgram)(program, static_cast<int>(words.size()), words.data());
  if (result != NVRTC_SUCCESS) return result;
  if (asked.wants_link_time_code) return cudart::keep_image(program, cudart::link_time_code());
  return asked.wants_machine_code ? cudart::keep_image(program, cudart::machine_code()) : result;
}

#define GIVES_IMAGE(get, images)                                          \
  nvrtcResult get##Size(nvrtcProgram program, size_t* bytes) {            \
    if (cudart::images().give_size(program, bytes)) return NVRTC_SUCCESS; \
    return cudart::TOOLKITS(get##Size)(program, bytes);                   \
  }                                                                       \
  nvrtcResult get(nvrtcProgram program, char* image) {                    \
    if (cudart::images().give(program, image)) return NVRTC_SUCCESS;      \
    return cudart::TOOLKITS(get)(program, image);                         \
  }
GIVES_IMAGE(nvrtcGetCUBIN, machine_code)
GIVES_IMAGE(nvrtcGetLTOIR, link_time_code)
#undef GIVES_IMAGE

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program != nullptr) cudart::forget(*program);
  return cudart::TOOLKITS(nvrtcDestroyProgram)(program);
}

}  // extern "C"

#include "nvrtc_forwarded.def"
