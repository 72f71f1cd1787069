#include "vgpu/cudart/api/calls/call_place.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#ifdef WARPCHECK_BACKTRACE
#include <backtrace.h>
#endif

#include "vgpu/check/finding.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/machine/memory/thread_object.hpp"
#include "vgpu/ptx/library_files.hpp"

namespace warpcheck::cudart {
namespace {

// Returns "saxpy+0x11f2".
std::string place_in_module(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view path = info.dli_fname;
  const auto offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  return fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), offset);
}

#ifdef WARPCHECK_BACKTRACE

constexpr std::size_t kCallersMax = 32;

// Returns whether no place of a program is in a module: this one, unless it is the program, and
// those of the compiler and the C library, whose debugging information takes longer to read than
// most programs run.
bool has_no_place(std::string_view path) {
  static const std::string& own = *new const auto([] {
    Dl_info info{};
    const bool is_known = ::dladdr(reinterpret_cast<const void*>(&has_no_place), &info) != 0;
    return std::string(is_known && info.dli_fname != nullptr ? info.dli_fname : "");
  }());
  if (path.empty()) return false;  // the program
  constexpr std::array kPrefixes = std::to_array<std::string_view>(
      {"ld-linux", "libc.so", "libdl.so", "libgcc_s.so", "libm.so", "libpthread.so", "librt.so",
       "libstdc++.so", "linux-vdso.so"});
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return path == own || std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
           return name.starts_with(prefix);
         });
}

// Returns an address in the call instruction, because the next instruction may belong to another
// line.
std::uintptr_t call_before(const void* return_address) {
  return reinterpret_cast<std::uintptr_t>(return_address) - 1;
}

void ignore_error(void*, const char*, int) {}  // unknown parts are left out

backtrace_state* symbols() {
  constexpr int kThreads = 1;
  static backtrace_state* const state =
      ::backtrace_create_state(nullptr, kThreads, ignore_error, nullptr);
  return state;
}

struct SourceLine {
  std::string file;
  std::uint32_t line = 0;
  std::string function;  // mangled; empty: not known

  [[nodiscard]] bool is_of_library() const {
    return vgpu::is_library_header(file) || !ptx::library_include_name(file, function).empty();
  }
};

// Returns the lines of the code at `address` and of the calls that were inlined there, innermost
// first.
std::vector<SourceLine> lines_at(std::uintptr_t address) {
  std::vector<SourceLine> lines;
  const auto add = [](void* to, std::uintptr_t, const char* file, int line, const char* function) {
    if (file != nullptr) {
      static_cast<std::vector<SourceLine>*>(to)->push_back(
          {file, static_cast<std::uint32_t>(std::max(line, 0)),
           function == nullptr ? "" : function});
    }
    return 0;
  };
  if (symbols() != nullptr) ::backtrace_pcinfo(symbols(), address, add, ignore_error, &lines);
  return lines;
}

struct SymbolPlace {
  std::string name;  // demangled, without parameters; empty: none
  std::uintptr_t offset = 0;
  bool is_of_library = false;
};

SymbolPlace symbol_at(const void* return_address) {
  struct Found {
    const char* name = nullptr;
    std::uintptr_t start = 0;
  } found;
  const auto keep = [](void* to, std::uintptr_t, const char* name, std::uintptr_t start,
                       std::uintptr_t) {
    *static_cast<Found*>(to) = {name, start};
  };
  if (symbols() != nullptr) {
    ::backtrace_syminfo(symbols(), call_before(return_address), keep, ignore_error, &found);
  }
  if (found.name == nullptr) return {};
  return {vgpu::kernel_name(found.name),
          reinterpret_cast<std::uintptr_t>(return_address) - found.start,
          ptx::is_library_function(found.name)};
}

// Returns whether it is a function of the toolkit's headers that forwards a call (cudaError
// cudaMalloc<float>), or any function of CUB, thrust or libcu++.
bool passes_on(const SymbolPlace& place) {
  return place.name.starts_with("cuda") || place.name.starts_with("cudaError cuda") ||
         place.name.starts_with("__device_stub__") || place.name.starts_with("__cuda") ||
         place.is_of_library;
}

// The same of the function of a return address.  Launches ask each time.
bool passes_on(const void* return_address) {
  thread_local vgpu::ThreadObject<std::unordered_map<const void*, bool>> known;
  const auto [at, is_new] = known.value.try_emplace(return_address, false);
  if (is_new) at->second = passes_on(symbol_at(return_address));
  return at->second;
}

#endif

}  // namespace

#ifdef WARPCHECK_BACKTRACE

// What libbacktrace calls in place of dl_iterate_phdr (CMakeLists.txt of this room).
extern "C" int warpcheck_for_each_module(int (*visit)(dl_phdr_info*, std::size_t, void*),
                                         void* data) {
  std::pair asked{visit, data};
  const auto visit_if_asked = [](dl_phdr_info* module, std::size_t size, void* to) {
    const auto& [each, its] = *static_cast<decltype(asked)*>(to);
    const bool is_left_out = module->dlpi_name != nullptr && has_no_place(module->dlpi_name);
    return is_left_out ? 0 : each(module, size, its);
  };
  return ::dl_iterate_phdr(visit_if_asked, &asked);
}

std::vector<const void*> callers_from(const void* return_address) {
  struct Found {
    const void* first = nullptr;
    std::vector<const void*> callers;
  } found{return_address, {}};
  // Frames before the first are the runtime's own.
  const auto add = [](void* to, std::uintptr_t call) {
    auto& [first, callers] = *static_cast<Found*>(to);
    const auto* const address = reinterpret_cast<const void*>(call + 1);
    if (!callers.empty() || address == first) callers.push_back(address);
    return callers.size() == kCallersMax ? 1 : 0;
  };
  if (symbols() != nullptr) ::backtrace_simple(symbols(), 0, add, ignore_error, &found);
  if (found.callers.empty()) return {return_address};
  return found.callers;
}

void ask_for_program() {
  ApiCall& call = current_call();
  if (call.return_address == nullptr || !passes_on(call.return_address)) return;
  const std::vector<const void*> callers = callers_from(call.return_address);
  const auto own =
      std::ranges::find_if_not(callers, [](const void* address) { return passes_on(address); });
  if (own != callers.end()) call.return_address = *own;
}

void ask_at_launch(const void* address) {
  if (!passes_on(address)) {
    current_call().return_address = address;
  } else {
    ask_for_program();
  }
}

CallPlace place_of(const std::vector<const void*>& return_addresses) {
  CallPlace place;
  for (const void* const address : return_addresses) {
    const SymbolPlace symbol = symbol_at(address);
    const std::vector<SourceLine> lines = lines_at(call_before(address));
    const auto own = std::ranges::find_if_not(
        lines, [](const SourceLine& line) { return line.is_of_library(); });
    const bool is_own = lines.empty() ? !passes_on(symbol) : own != lines.end();
    if (place.code.empty() || is_own) {
      place.code =
          symbol.name.empty()
              ? place_in_module(address)
              : fmt::format("{}+{:#x}", vgpu::short_kernel_name(symbol.name), symbol.offset);
    }
    if (!is_own) continue;
    if (own != lines.end()) {
      place.file = own->file;
      place.line = own->line;
    }
    break;
  }
  return place;
}

#else

std::vector<const void*> callers_from(const void* return_address) { return {return_address}; }
void ask_for_program() {}
void ask_at_launch(const void* address) { current_call().return_address = address; }

CallPlace place_of(const std::vector<const void*>& return_addresses) {
  return {.file = {}, .line = 0, .code = place_in_module(return_addresses.front())};
}

#endif

}  // namespace warpcheck::cudart
