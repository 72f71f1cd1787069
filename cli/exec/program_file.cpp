#include "cli/exec/program_file.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "vgpu/cudart/redirect/elf_file.hpp"
#include "vgpu/cudart/redirect/static_runtime.hpp"
#include "vgpu/cudart/redirect/unsupported_libraries.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using cudart::ElfFile;
using cudart::MappedFile;

// The first needed library of the file whose name begins with `prefix`; empty: none.
std::string needed(const ElfFile& elf, std::string_view prefix) {
  for (const std::string& name : elf.dynamic(DT_NEEDED)) {
    if (name.starts_with(prefix)) return name;
  }
  return {};
}

// Whether the program gets rights that its user does not have: then the dynamic linker ignores the
// variables that name our libraries (ld.so(8), "Secure-execution mode").
bool is_privileged(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  return ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid()) ||
         ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getgid()) ||
         ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

// Empty: it can be redirected to the virtual GPU.
std::string why_program_is_not_led(const std::string& path, const ElfFile& elf,
                                   const cudart::StaticRuntime& runtime) {
  constexpr std::string_view kInside = "the toolkit's static CUDA runtime is linked in";
  const std::string libraries = drop_in_directory();
  if (elf.segments(PT_INTERP).empty()) {
    return fmt::format(
        "{}, and so is the C library (-static), so nothing can take its place; link it again "
        "without -static",
        kInside);
  }
  if (is_privileged(path)) {
    return fmt::format(
        "{}, and the system lets nothing take its place in a program that runs with the rights of "
        "another user, or with capabilities; {}",
        kInside, cudart::other_ways(libraries));
  }
  return cudart::why_not_led(runtime, libraries);
}

// A library of machine code that is linked into the file, found by a function that all its users
// call; empty: none.
std::string static_library(const ElfFile& elf) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kKnownBy{
      {{"cublasCreate_v2", "libcublas_static.a"},
       {"cublasLtCreate", "libcublasLt_static.a"},
       {"cufftPlanMany", "libcufft_static.a"},
       {"curandCreateGenerator", "libcurand_static.a"},
       {"cusparseCreate", "libcusparse_static.a"},
       {"cusolverDnCreate", "libcusolver_static.a"}}};
  for (const auto& [function, library] : kKnownBy) {
    if (elf.has_symbol(SHT_SYMTAB, function, true)) return std::string(library);
  }
  return {};
}

void require_no_static_library(ProgramFile& program, const std::string& path, const ElfFile& elf) {
  const std::string library = static_library(elf);
  if (library.empty()) return;
  program.unsupported.push_back(
      fmt::format("{}{} is linked in: machine code of real GPUs, which the virtual GPU cannot run, "
                  "and which nothing can take the place of; link the shared library",
                  path == program.path ? "" : fmt::format("its library {}: ", path), library));
}

// What a file that is no program may be meant for.
std::string hint_for(const std::string& path) {
  if (path.ends_with(".cu") || path.ends_with(".cuh")) {
    return fmt::format(
        "is CUDA source: build it with nvcc, or try its kernels: warpcheck kernel {}", path);
  }
  if (path.ends_with(".ptx")) {
    return fmt::format("is PTX: try its kernels: warpcheck kernel {}", path);
  }
  if (path.ends_with(".case")) return fmt::format("is a case: warpcheck replay {}", path);
  return fmt::format("cannot be executed (chmod +x {}?)", path);
}

void require_executable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw ProgramError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw ProgramError(path + ": a directory, not a program");
  if (::access(path.c_str(), X_OK) != 0) {
    throw ProgramError(fmt::format("{}: {}", path, hint_for(path)));
  }
}

std::string search_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::filesystem::path directory(rest.substr(0, colon));
    std::string candidate = (directory.empty() ? "." : directory) / name;
    struct stat status {};
    const bool is_file = ::stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_file && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) {
    throw ProgramError(fmt::format("{}: a directory, not a program", name));
  }
  if (::access(name.c_str(), F_OK) == 0) {
    require_executable("./" + name);
    throw ProgramError(fmt::format("{0}: no such program in $PATH; is it ./{0}?", name));
  }
  throw ProgramError(fmt::format("{}: no such program in $PATH", name));
}

// Refuses a script whose first line names an interpreter that is not there: the system's error
// would name the script.
void require_interpreter(const std::string& path, std::string_view bytes) {
  std::string_view line = bytes.substr(2, bytes.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string interpreter(line.substr(0, line.find_first_of(" \t\r")));
  if (!interpreter.empty() && ::access(interpreter.c_str(), X_OK) != 0) {
    throw ProgramError(
        fmt::format("{}: its interpreter {}: {}", path, interpreter, std::strerror(errno)));
  }
}

// Refuses a file that ends before the last of its bytes that would be loaded.
void require_whole(const std::string& path, std::string_view bytes, const ElfFile& elf) {
  for (const Elf64_Phdr& segment : elf.segments(PT_LOAD)) {
    const std::uint64_t size = segment.p_filesz;
    if (size == 0) continue;
    if (segment.p_offset <= bytes.size() && size <= bytes.size() - segment.p_offset) continue;
    throw ProgramError(fmt::format("{}: damaged: it has {} bytes, and its program needs {}", path,
                                   bytes.size(), segment.p_offset + size));
  }
}

// Directories separated by colons, with $ORIGIN as the loader expands it.
std::vector<fs::path> directories_in(std::string_view list, const fs::path& origin) {
  std::vector<fs::path> directories;
  while (!list.empty()) {
    const std::size_t colon = std::min(list.find(':'), list.size());
    std::string directory(list.substr(0, colon));
    for (const std::string_view name : {"$ORIGIN", "${ORIGIN}"}) {
      const std::size_t at = directory.find(name);
      if (at != std::string::npos) directory.replace(at, name.size(), origin.string());
    }
    directories.emplace_back(directory.empty() ? "." : directory);
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
  return directories;
}

// Empty: it can be redirected to the virtual GPU, or has no static runtime.
std::string why_library_is_not_led(const ProgramFile& program, const std::string& path,
                                   const ElfFile& elf) {
  const cudart::StaticRuntime runtime = cudart::find_static_runtime(elf);
  if (!runtime.is_inside) return {};
  const std::string libraries = drop_in_directory();
  // It would be redirected to libcudart.so, and there would be two virtual GPUs.
  if (program.runtime == ProgramFile::Runtime::ours) {
    return fmt::format(
        "its library {} has the toolkit's static CUDA runtime inside, and the program that of the "
        "virtual GPU; link both with `nvcc -L {}`, or neither",
        path, libraries);
  }
  const std::string why = cudart::why_not_led(runtime, libraries);
  return why.empty() ? why : fmt::format("its library {}: {}", path, why);
}

// Examines the libraries that a program needs, recursively.  Only libraries that the files
// themselves or LD_LIBRARY_PATH lead to are opened; libraries of the system contain no CUDA code.
class NeededLibraries {
 public:
  explicit NeededLibraries(ProgramFile& program) : program_(program) {}

  void look_into(const std::string& path, const ElfFile& elf) {
    const fs::path origin = fs::absolute(path).parent_path();
    std::vector<fs::path> directories;
    const auto add = [&](const std::string& list) {
      const auto more = directories_in(list, origin);
      directories.insert(directories.end(), more.begin(), more.end());
    };
    const std::vector<std::string> runpath = elf.dynamic(DT_RUNPATH);
    if (runpath.empty()) std::ranges::for_each(elf.dynamic(DT_RPATH), add);
    const char* const variable = std::getenv("LD_LIBRARY_PATH");
    add(variable != nullptr ? variable : "");
    std::ranges::for_each(runpath, add);
    for (const std::string& name : elf.dynamic(DT_NEEDED)) look_at(path, name, directories);
  }

 private:
  void look_at(const std::string& user, const std::string& name,
               const std::vector<fs::path>& directories) {
    if (!seen_.insert(name).second) return;
    // One of our libraries replaces it.
    std::error_code error;
    if (fs::exists(fs::path(drop_in_directory()) / fs::path(name).filename(), error)) return;
    const std::string why = cudart::why_unsupported(fs::path(name).filename().string());
    if (!why.empty()) {
      program_.unsupported.push_back(
          user == program_.path
              ? "it needs a library that cannot be used here: " + why
              : fmt::format("{} needs a library that cannot be used here: {}", user, why));
      return;
    }
    const std::string path = find(name, directories);
    const MappedFile file(path);
    const ElfFile elf(file.bytes());
    if (!elf.is_x86_64()) return;
    const std::string not_led = why_library_is_not_led(program_, path, elf);
    if (!not_led.empty()) program_.unsupported.push_back(not_led);
    require_no_static_library(program_, path, elf);
    look_into(path, elf);
  }

  static std::string find(const std::string& name, const std::vector<fs::path>& directories) {
    if (name.find('/') != std::string::npos) return name;
    std::error_code error;
    for (const fs::path& directory : directories) {
      if (fs::exists(directory / name, error)) return (directory / name).string();
    }
    return {};
  }

  ProgramFile& program_;
  std::set<std::string> seen_;
};

void look_for_runtime(ProgramFile& program, const ElfFile& elf) {
  using Runtime = ProgramFile::Runtime;
  program.needed_library = needed(elf, "libcudart.so");
  program.has_device_code = elf.has_section(".nv_fatbin");
  const cudart::StaticRuntime runtime = cudart::find_static_runtime(elf);
  if (elf.has_note("warpcheck")) {
    program.runtime = Runtime::ours;
  } else if (runtime.is_inside) {
    program.runtime = Runtime::toolkit;
    const std::string why = why_program_is_not_led(program.path, elf, runtime);
    if (!why.empty()) program.unsupported.push_back(why);
  } else if (!program.needed_library.empty()) {
    program.runtime = Runtime::shared;
  }
}

}  // namespace

ProgramFile find_program(const std::string& name) {
  ProgramFile program;
  program.path = name.find('/') != std::string::npos ? name : search_path(name);
  require_executable(program.path);
  const MappedFile file(program.path);
  if (!file.is_open()) {
    throw ProgramError(fmt::format("{}: {}", program.path, std::strerror(errno)));
  }
  if (file.bytes().starts_with("#!")) {
    require_interpreter(program.path, file.bytes());
    return program;
  }
  const ElfFile elf(file.bytes());
  if (const std::string kind = elf.foreign_kind(); !kind.empty()) {
    throw ProgramError(fmt::format("{}: a{} {}; the virtual GPU takes programs for x86-64",
                                   program.path, kind.starts_with('E') ? "n" : "", kind));
  }
  if (!elf.is_x86_64()) {
    throw ProgramError(program.path +
                       ": neither an ELF program for x86-64 nor a script that begins with #!");
  }
  require_whole(program.path, file.bytes(), elf);
  look_for_runtime(program, elf);
  require_no_static_library(program, program.path, elf);
  NeededLibraries(program).look_into(program.path, elf);
  return program;
}

void require_our_runtime(const ProgramFile& program) {
  const auto refuse = [&](std::string_view why) {
    throw ProgramError(fmt::format("{}: {}", program.path, why));
  };
  if (!program.unsupported.empty()) refuse(fmt::format("{}", fmt::join(program.unsupported, "; ")));
  const std::string& needed = program.needed_library;
  if (!needed.empty() && needed != "libcudart.so.13" && needed != "libcudart.so.12") {
    refuse(fmt::format("it needs {}; supported are libcudart.so.13 and libcudart.so.12", needed));
  }
}

std::string drop_in_directory() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string looked;
  for (const auto& libraries :
       {self.parent_path() / "lib", self.parent_path().parent_path() / WARPCHECK_LIBDIR}) {
    const auto directory = libraries / "warpcheck";
    if (std::filesystem::exists(directory / "libwarpcheck_gpu.so", error)) return directory;
    looked += fmt::format("{}{}", looked.empty() ? "" : " or ", directory.string());
  }
  throw ProgramError(
      fmt::format("there is no libwarpcheck_gpu.so in {}; build the target warpcheck_drop_in, or "
                  "install warpcheck",
                  looked));
}

}  // namespace warpcheck
