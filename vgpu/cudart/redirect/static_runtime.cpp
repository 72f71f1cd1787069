#include "vgpu/cudart/redirect/static_runtime.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace warpcheck::cudart {
namespace {

constexpr std::string_view kRegister = "__cudaRegisterFatBinary";

// The exports of the runtimes of these releases; functions_12.txt and functions_13.txt, sorted.
constexpr std::string_view kKnownNames[]{
#define FUNCTION(name) #name,
#include "known_functions.def"
#undef FUNCTION
};

bool is_known(std::string_view name) { return std::ranges::binary_search(kKnownNames, name); }

bool is_function(const Elf64_Sym& symbol) {
  return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
}

// Returns whether it is a name of the API or of a function that nvcc's code calls: cudaMalloc,
// __cudaRegisterVar.
bool is_runtime_name(std::string_view name) {
  if (name.starts_with("__")) name.remove_prefix(2);
  return name.starts_with("cuda") && name.size() > 4 && name[4] >= 'A' && name[4] <= 'Z';
}

// Objects that nvcc creates contain functions with such names too (__cudaUnregisterBinaryUtil), and
// so do programs.  The library's own functions are adjacent to known ones: a linker does not mix
// the functions of an archive member with others.
void keep_the_librarys_own(std::vector<RuntimeFunction>& functions) {
  const auto known = [](const RuntimeFunction& function) { return is_known(function.name); };
  const auto first = std::ranges::find_if(functions, known);
  const auto last = std::find_if(functions.rbegin(), functions.rend(), known).base();
  functions = first < last ? std::vector(first, last) : std::vector<RuntimeFunction>();
}

// If two names have one address, the known name is kept.
void keep_each_address_once(std::vector<RuntimeFunction>& functions) {
  std::ranges::sort(functions, [](const RuntimeFunction& one, const RuntimeFunction& other) {
    if (one.address != other.address) return one.address < other.address;
    return is_known(one.name) && !is_known(other.name);
  });
  const auto repeated = std::ranges::unique(functions, {}, &RuntimeFunction::address);
  functions.erase(repeated.begin(), repeated.end());
}

std::set<std::uint64_t> addresses_of_symbols(const ElfFile& elf) {
  std::set<std::uint64_t> addresses;
  elf.for_each_symbol(SHT_SYMTAB, [&](std::string_view, const Elf64_Sym& symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const bool is_place =
        type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE || type == STT_GNU_IFUNC;
    if (is_place && symbol.st_shndx != SHN_UNDEF) addresses.insert(symbol.st_value);
  });
  return addresses;
}

// room_bytes is the size from the symbols on entry, and the usable size on return.
void measure_room(std::vector<RuntimeFunction>& functions,
                  const std::set<std::uint64_t>& addresses) {
  constexpr std::uint64_t kAlignment = 16;  // of functions, by every compiler for x86-64
  for (RuntimeFunction& function : functions) {
    std::uint64_t end = function.address + function.room_bytes;
    if (function.room_bytes < kJumpBytes) end = (end + kAlignment - 1) / kAlignment * kAlignment;
    const auto next = addresses.upper_bound(function.address);
    if (next != addresses.end()) end = std::min(end, *next);
    function.room_bytes = end - function.address;
  }
}

unsigned release_of(const std::vector<RuntimeFunction>& functions) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(functions, name, &RuntimeFunction::name) != functions.end();
  };
  // Functions removed in release 12, and in 13.
  if (has("cudaBindTexture")) return 11;
  return has("cudaGetDeviceProperties_v2") || has("cudaThreadSynchronize") ? 12 : 13;
}

}  // namespace

StaticRuntime find_static_runtime(const ElfFile& elf) {
  StaticRuntime runtime;
  bool has_local_functions = false;
  if (elf.has_note("warpcheck") || elf.has_symbol(SHT_DYNSYM, kRegister, true)) return runtime;
  elf.for_each_symbol(SHT_SYMTAB, [&](std::string_view name, const Elf64_Sym& symbol) {
    if (!is_function(symbol)) return;
    has_local_functions = has_local_functions || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
    if (!is_runtime_name(name)) return;
    runtime.is_inside = runtime.is_inside || name == kRegister;
    runtime.functions.push_back({std::string(name), symbol.st_value, symbol.st_size});
  });
  // Stripping keeps the section with the device code, and a program without kernels has only
  // symbols.  `strip -x` removes local symbols, and linkers make the called functions local.
  const bool has_names = runtime.is_inside && has_local_functions;
  const bool has_device_code = elf.has_section(".nv_fatbin") || elf.has_section(".nvFatBinSegment");
  // A program of host code alone has such a section if nvcc has linked it, but registers nothing.
  const bool needs_shared =
      std::ranges::any_of(elf.dynamic(DT_NEEDED),
                          [](const std::string& name) { return name.starts_with("libcudart.so"); });
  const bool is_elsewhere = needs_shared || elf.has_symbol(SHT_DYNSYM, kRegister, false);
  runtime.is_inside = runtime.is_inside || (has_device_code && !is_elsewhere);
  runtime.is_stripped = runtime.is_inside && !has_names;
  if (!has_names) {
    runtime.functions.clear();
    return runtime;
  }
  keep_each_address_once(runtime.functions);
  keep_the_librarys_own(runtime.functions);
  measure_room(runtime.functions, addresses_of_symbols(elf));
  runtime.release = release_of(runtime.functions);
  return runtime;
}

std::string other_ways(const std::string& libraries) {
  return "link it again with `nvcc -L " + libraries + "` (or with `nvcc -cudart shared`)";
}

std::string why_not_led(const StaticRuntime& runtime, const std::string& libraries) {
  if (!runtime.is_inside) return {};
  if (runtime.is_stripped) {
    return "it is stripped, so the functions of the toolkit's static CUDA runtime in it cannot be "
           "found; do not strip it, or " +
           other_ways(libraries);
  }
  if (runtime.release < 12) {
    return "it has the toolkit's static CUDA runtime of release 11 or an older one inside; there "
           "are 13 and 12";
  }
  for (const RuntimeFunction& function : runtime.functions) {
    if (function.room_bytes >= kJumpBytes) continue;
    return "there is no room for a jump in " + function.name +
           " of the toolkit's static CUDA runtime in it (" + std::to_string(function.room_bytes) +
           " bytes); " + other_ways(libraries);
  }
  return {};
}

}  // namespace warpcheck::cudart
