// An audit library (rtld-audit(7), LD_AUDIT): the dynamic linker calls it for every file that it
// loads (the program, the libraries that it needs, and those that are opened later), before any
// code of the file runs and before it is relocated.  If the file contains the toolkit's static CUDA
// runtime, the functions of that runtime are redirected to the shared library of the virtual GPU
// beside this one.
//
// An audit library has its own namespace and its own C library, so it does not conflict with the
// program's symbols.  The first call of a redirected function loads the virtual GPU into the
// program's namespace: so there is one virtual GPU in the process, even if other files of the
// program need it as a shared library, and none if no function is called.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "vgpu/cudart/exec/refusal_record.hpp"
#include "vgpu/cudart/redirect/jumps.hpp"
#include "vgpu/cudart/redirect/unsupported_libraries.hpp"

namespace warpcheck::cudart {
namespace {

// The exit status if the program cannot run: that of `warpcheck exec` when it refuses a program.
constexpr int kCannotRun = 2;

void report(const std::string& reason) {
  if (append_refusal(std::getenv("WARPCHECK_EXEC"), reason)) return;
  std::fprintf(stderr, "warpcheck: %s\n", reason.c_str());
}

[[noreturn]] void end_with(const std::string& reason) {
  report(reason);
  std::fflush(nullptr);
  ::_exit(kCannotRun);
}

// Returns the directory of this library and of the virtual GPU.
std::string libraries() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<void*>(libraries), &self) == 0) return {};
  const std::string path = self.dli_fname;
  return path.substr(0, path.rfind('/'));
}

// Returns the file that is mapped at this address (proc(5), /proc/pid/maps).
std::string mapped_file(std::uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char* end = nullptr;
    const std::uintptr_t first = std::strtoul(line.c_str(), &end, 16);
    const std::uintptr_t behind = std::strtoul(end + 1, nullptr, 16);
    const std::size_t path = line.find('/');
    if (first <= address && address < behind && path != std::string::npos) return line.substr(path);
  }
  return {};
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_loaded_from(const link_map& loaded, const ElfFile& elf) {
  if (!elf.is_x86_64()) return false;
  const auto dynamic = elf.segments(PT_DYNAMIC);
  return !dynamic.empty() &&
         loaded.l_addr + dynamic.front().p_vaddr == reinterpret_cast<std::uintptr_t>(loaded.l_ld);
}

// A program that cannot be redirected to the virtual GPU ends before it runs.  With such a library,
// it continues.
void refuse(const std::string& reason, bool is_program) {
  if (is_program) end_with(reason);
  report(reason);
}

void redirect_in(const link_map& loaded, const ElfFile& elf, bool is_program) {
  StaticRuntime runtime = find_static_runtime(elf);
  if (!runtime.is_inside) return;
  const std::string path =
      is_program ? mapped_file(reinterpret_cast<std::uintptr_t>(loaded.l_ld)) : loaded.l_name;
  if (!why_unsupported(file_name(path)).empty()) return;
  if (const std::string why = why_not_led(runtime, libraries()); !why.empty()) {
    if (is_program) end_with(path + ": " + why);
    // Frameworks load many libraries and use few of them; some have functions of these names that
    // search for the shared runtime. libcuda.so.1 detects when such a runtime begins to work
    // (cuGetExportTable).
    return;
  }
  auto* const redirected = new RedirectedFile(std::move(runtime), loaded.l_addr);
  const RedirectOutcome outcome = redirected->write(elf);
  if (outcome.failure.empty()) return;
  const std::string reason = path +
                             ": the toolkit's static CUDA runtime is linked in, and its functions "
                             "cannot be led to the virtual GPU (" +
                             outcome.failure + "); " + other_ways(libraries());
  refuse(reason, is_program || outcome.is_broken);
}

void redirect(const link_map& loaded) {
  const bool is_program = loaded.l_name == nullptr || *loaded.l_name == '\0';
  // The dynamic linker gives no name for the program.  The program's file may have been deleted
  // since, or may be an argument of the dynamic linker, which is then the running file.
  const MappedFile file(is_program ? "/proc/self/exe" : loaded.l_name);
  const ElfFile elf(file.bytes());
  if (is_loaded_from(loaded, elf)) return redirect_in(loaded, elf, is_program);
  if (!is_program) return;
  const MappedFile other(mapped_file(reinterpret_cast<std::uintptr_t>(loaded.l_ld)));
  const ElfFile other_elf(other.bytes());
  if (is_loaded_from(loaded, other_elf)) redirect_in(loaded, other_elf, is_program);
}

// Returns our library that replaces the one with this name, or the name itself.
char* path_of_ours(const char* name) {
  const char* const slash = std::strrchr(name, '/');
  const char* const file = slash == nullptr ? name : slash + 1;
  // The vendor's libraries begin with these names; other names need no lookup in the directory.
  const std::string_view beginning(file);
  if (!beginning.starts_with("libcu") && !beginning.starts_with("libnvJitLink.so")) {
    return const_cast<char*>(name);
  }
  const std::string path = libraries() + "/" + file;
  // A program may open a library by its development name; then we choose the release.
  for (const char* const release : {"", ".13", ".12", ".10"}) {
    const std::string found = path + release;
    // The dynamic linker keeps the returned string.
    if (::access(found.c_str(), R_OK) == 0) return ::strdup(found.c_str());
    if (!path.ends_with(".so")) break;
  }
  return const_cast<char*>(name);
}

// ---- the toolkit's compilers, which ours wrap (vgpu/cudart/compilers) ----

std::string directory_of_compilers() { return libraries() + "/compilers/"; }

// For each of our wrappers: the path of the toolkit's library that was about to be loaded.  Never
// destroyed, because the dynamic linker calls until the end of the process.
std::map<std::string, std::string>& toolkits_compilers() {
  static auto* const compilers = new std::map<std::string, std::string>;
  return *compilers;
}

bool is_compiler(std::string_view path) {
  const std::string_view file = file_name(path);
  return file.starts_with("libnvrtc.so") || file.starts_with("libnvvm.so");
}

// Returns our wrapper for the toolkit's compiler at this path; nullptr: the file does not exist, or
// is of another release.
char* compiler_of_ours(const char* path) {
  constexpr std::string_view kVersion = ".so.";
  char* const real = ::realpath(path, nullptr);
  if (real == nullptr) return nullptr;
  const std::string file(file_name(real));
  std::free(real);
  const std::size_t version = file.find(kVersion);
  if (!is_compiler(file) || version == std::string::npos) return nullptr;
  const std::string ours =
      directory_of_compilers() + file.substr(0, file.find('.', version + kVersion.size()));
  if (::access(ours.c_str(), R_OK) != 0) return nullptr;
  toolkits_compilers()[ours] = path;
  return ::strdup(ours.c_str());
}

// Returns whether the file is one of our wrappers, and passes it the path of the toolkit's library.
bool point_compiler_to_ours(const link_map& loaded) {
  if (loaded.l_name == nullptr || !is_compiler(loaded.l_name)) return false;
  const std::string path = mapped_file(reinterpret_cast<std::uintptr_t>(loaded.l_ld));
  const auto known = toolkits_compilers().find(path);
  if (known == toolkits_compilers().end()) return false;
  const MappedFile file(path);
  const ElfFile elf(file.bytes());
  elf.for_each_symbol(SHT_DYNSYM, [&](std::string_view name, const Elf64_Sym& symbol) {
    if (name != "warpcheck_compiler_path" || symbol.st_size <= known->second.size()) return;
    std::memcpy(reinterpret_cast<void*>(loaded.l_addr + symbol.st_value), known->second.c_str(),
                known->second.size() + 1);
  });
  return true;
}

int answer_not_supported() { return cudaErrorNotSupported; }

// Loads the virtual GPU of a release into the program's namespace.
void* virtual_gpu(unsigned release) {
  const std::string path = libraries() + "/libcudart.so." + std::to_string(release);
  void* const library = ::dlmopen(LM_ID_BASE, path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) end_with(std::string("the virtual GPU cannot be loaded: ") + ::dlerror());
  return library;
}

}  // namespace

// The first call of a file's functions resolves all of them.  A function that the virtual GPU does
// not know belongs to a newer release: its first call is reported, and all calls return that it is
// not supported.
extern "C" [[gnu::used]] void* warpcheck_target_of(RedirectedFile* file, std::size_t function) {
  const int error = errno;
  const StaticRuntime& runtime = file->runtime();
  void* const library = virtual_gpu(runtime.release);
  void* wanted = nullptr;
  for (std::size_t i = 0; i < runtime.functions.size(); ++i) {
    void* const target = ::dlsym(library, runtime.functions[i].name.c_str());
    if (target == nullptr) continue;
    file->lead(i, target);
    if (i == function) wanted = target;
  }
  errno = error;
  if (wanted != nullptr) return wanted;
  report(runtime.functions[function].name + " is not supported by the virtual device");
  wanted = reinterpret_cast<void*>(answer_not_supported);
  file->lead(function, wanted);
  return wanted;
}

}  // namespace warpcheck::cudart

// NOLINTBEGIN(readability-identifier-naming): the names are the dynamic linker's.
extern "C" {

unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

// The cookie identifies a file when it requests a library.  It is 0 for our compiler wrappers: they
// get what they request.
unsigned la_objopen(link_map* loaded, Lmid_t, std::uintptr_t* cookie) {
  if (warpcheck::cudart::point_compiler_to_ours(*loaded)) *cookie = 0;
  warpcheck::cudart::redirect(*loaded);
  return 0;  // symbol bindings are not audited
}

// Called with the name of a requested library before any search, because LD_LIBRARY_PATH has lower
// precedence than DT_RPATH and than a path.  Then called with every path at which it may be; for
// compilers, that path is needed.
char* la_objsearch(const char* name, std::uintptr_t* cookie, unsigned from) {
  namespace cudart = warpcheck::cudart;
  if (cudart::is_compiler(name) && std::strchr(name, '/') != nullptr && *cookie != 0) {
    if (char* const ours = cudart::compiler_of_ours(name)) return ours;
  }
  return from == LA_SER_ORIG ? cudart::path_of_ours(name) : const_cast<char*>(name);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
