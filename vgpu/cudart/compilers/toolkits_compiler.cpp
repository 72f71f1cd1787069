#include "vgpu/cudart/compilers/toolkits_compiler.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "vgpu/cudart/code/module_image.hpp"

extern "C" char warpcheck_compiler_path[4096];
char warpcheck_compiler_path[4096] = {};

namespace warpcheck::cudart {
namespace {

// Opens the toolkit's library by another spelling of the path that the program uses, because the
// dynamic linker resolves that path to this library.
void* open_the_toolkits() {
  const std::string path = warpcheck_compiler_path;
  const std::size_t slash = path.rfind('/');
  void* library = nullptr;
  if (slash != std::string::npos) {
    library = ::dlopen((path.substr(0, slash) + "/./" + path.substr(slash + 1)).c_str(), RTLD_LAZY);
  }
  if (library != nullptr) return library;
  std::fprintf(stderr, "warpcheck: the toolkit's compiler cannot be loaded: %s\n",
               path.empty() ? "it is not known where it is; run the program by `warpcheck exec`"
                            : ::dlerror());
  std::abort();
}

}  // namespace

void* function_of_the_toolkits(const char* name) {
  static void* const library = open_the_toolkits();
  return ::dlsym(library, name);
}

std::string image_of_ptx(std::string text) {
  while (text.ends_with('\0')) text.pop_back();
  std::string image = make_module_image({std::move(text)});
  // Callers treat the last byte as the null byte that ends a text, as in PTX.
  image.push_back('\0');
  return image;
}

}  // namespace warpcheck::cudart

extern "C" [[gnu::used]] void* warpcheck_compiler_function(const char* name) {
  void* const function = warpcheck::cudart::function_of_the_toolkits(name);
  if (function != nullptr) return function;
  std::fprintf(stderr, "warpcheck: the toolkit's compiler, %s, has no function %s\n",
               warpcheck_compiler_path, name);
  std::abort();
}
