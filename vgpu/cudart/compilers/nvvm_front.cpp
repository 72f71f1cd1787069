// libnvvm.so of `warpcheck exec`: libNVVM as nvvm.h documents it, for programs that generate code
// for link-time optimisation from NVVM IR (-gen-lto).  The toolkit's own compiler does all work.
// The code for link-time optimisation is a module image of PTX, which nvJitLink and cuLinkAddData()
// of the virtual GPU accept.
#include <nvvm.h>

#include <string>
#include <utility>
#include <vector>

#include "vgpu/cudart/compilers/compiler_options.hpp"
#include "vgpu/cudart/compilers/toolkits_compiler.hpp"

namespace warpcheck::cudart {
namespace {

Images<nvvmProgram>& images() {
  // never destroyed: programs call libNVVM in their destructors
  static auto* const all = new Images<nvvmProgram>;
  return *all;
}

nvvmResult keep_image(nvvmProgram program) {
  std::size_t bytes = 0;
  nvvmResult result = TOOLKITS(nvvmGetCompiledResultSize)(program, &bytes);
  if (result != NVVM_SUCCESS) return result;
  std::string text(bytes, '\0');
  result = TOOLKITS(nvvmGetCompiledResult)(program, text.data());
  if (result == NVVM_SUCCESS) images().set(program, image_of_ptx(std::move(text)));
  return result;
}

// Calls function(program, count, options) with the options that the virtual GPU needs.
template <class Function>
nvvmResult with_options(Function* function, nvvmProgram program, int count, const char** options,
                        bool& wants_link_time_code) {
  if (count < 0 || (count > 0 && options == nullptr)) return function(program, count, options);
  const CompilerOptions asked = nvvm_options_for_the_virtual_gpu({options, options + count});
  wants_link_time_code = asked.wants_link_time_code;
  std::vector<const char*> words;
  for (const std::string& word : asked.words) words.push_back(word.c_str());
  return function(program, static_cast<int>(words.size()), words.data());
}

}  // namespace
}  // namespace warpcheck::cudart

namespace cudart = warpcheck::cudart;

extern "C" {

nvvmResult nvvmCompileProgram(nvvmProgram program, int count, const char** options) {
  bool wants_link_time_code = false;
  cudart::images().forget(program);
  const nvvmResult result = cudart::with_options(cudart::TOOLKITS(nvvmCompileProgram), program,
                                                 count, options, wants_link_time_code);
  return result == NVVM_SUCCESS && wants_link_time_code ? cudart::keep_image(program) : result;
}

nvvmResult nvvmVerifyProgram(nvvmProgram program, int count, const char** options) {
  bool wants_link_time_code = false;
  return cudart::with_options(cudart::TOOLKITS(nvvmVerifyProgram), program, count, options,
                              wants_link_time_code);
}

nvvmResult nvvmGetCompiledResultSize(nvvmProgram program, size_t* bytes) {
  return cudart::images().give_size(program, bytes)
             ? NVVM_SUCCESS
             : cudart::TOOLKITS(nvvmGetCompiledResultSize)(program, bytes);
}

nvvmResult nvvmGetCompiledResult(nvvmProgram program, char* result) {
  return cudart::images().give(program, result)
             ? NVVM_SUCCESS
             : cudart::TOOLKITS(nvvmGetCompiledResult)(program, result);
}

nvvmResult nvvmDestroyProgram(nvvmProgram* program) {
  if (program != nullptr) cudart::images().forget(*program);
  return cudart::TOOLKITS(nvvmDestroyProgram)(program);
}

}  // extern "C"

#include "nvvm_forwarded.def"
