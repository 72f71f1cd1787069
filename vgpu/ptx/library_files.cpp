#include "vgpu/ptx/library_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace warpcheck::ptx {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// Takes a number from the beginning of the text.
std::optional<std::size_t> take_number(std::string_view& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Returns the first components of a nested name (Itanium C++ ABI, 5.1.6), without the namespace
// that nvcc gives to what is local to a translation unit.
std::vector<std::string_view> components_of(std::string_view mangled) {
  constexpr std::size_t kComponentsMax = 5;
  std::vector<std::string_view> components;
  if (!mangled.starts_with("_Z")) return components;
  mangled.remove_prefix(2);
  while (mangled.starts_with('Z')) mangled.remove_prefix(1);  // local to a function
  if (!mangled.starts_with('N')) return components;
  mangled.remove_prefix(1);
  mangled.remove_prefix(std::min(mangled.find_first_not_of("rVKRO"), mangled.size()));
  while (components.size() < kComponentsMax && !mangled.empty() && is_decimal(mangled[0])) {
    const std::optional<std::size_t> size = take_number(mangled);
    if (!size || *size == 0 || *size > mangled.size()) break;
    const std::string_view name = mangled.substr(0, *size);
    mangled.remove_prefix(*size);
    if (!name.starts_with("_INTERNAL_")) components.push_back(name);
  }
  return components;
}

// Returns whether the name is "CUB_300001_SM_800" or the like.
bool is_version(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() > prefix.size() && is_decimal(name[prefix.size()]);
}

struct Library {
  std::string_view name;     // of its namespace and of the folder of its headers
  std::string_view version;  // the beginning of the namespace of its version
};
constexpr std::array<Library, 3> kLibraries{
    {{"cub", "CUB_"}, {"thrust", "THRUST_"}, {"cuda", "__"}}};

// Returns the part of the path from the last folder of this name on; empty: there is none.
std::string_view from_folder(std::string_view file, std::string_view folder) {
  for (std::size_t at = file.rfind(folder); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : file.rfind(folder, at - 1)) {
    const bool begins = at == 0 || file[at - 1] == '/';
    const bool ends = file.substr(at + folder.size()).starts_with('/');
    if (begins && ends) return file.substr(at);
  }
  return {};
}

// Returns whether a header of the library may have this name: in most folders, names of headers
// repeat that of the folder.
bool is_of_layout(std::string_view include) {
  const auto begins_with = [&](std::string_view beginning) {
    return include.starts_with(beginning);
  };
  constexpr std::array<std::string_view, 16> kOfCub{
      "cub/agent/agent_",
      "cub/agent/single_pass_",
      "cub/block/block_",
      "cub/block/radix_rank_",
      "cub/block/specializations/block_",
      "cub/detail/",
      "cub/device/device_",
      "cub/device/dispatch/",
      "cub/grid/grid_",
      "cub/iterator/",
      "cub/thread/thread_",
      "cub/util_",
      "cub/warp/specializations/warp_",
      "cub/warp/warp_",
      "cub/host/mutex.",
      "cub/config.",
  };
  constexpr std::array<std::string_view, 7> kOfThrust{
      "thrust/detail/", "thrust/iterator/", "thrust/mr/",         "thrust/random/",
      "thrust/system/", "thrust/async/",    "thrust/type_traits/"};
  if (std::ranges::any_of(kOfCub, begins_with) || std::ranges::any_of(kOfThrust, begins_with)) {
    return true;
  }
  constexpr std::array<std::string_view, 12> kHeadersOfThrust{
      "functional.h", "tuple.h",      "pair.h",         "swap.h",
      "complex.h",    "device_ptr.h", "functional.inl", "device_reference.h",
      "reduce.h",     "transform.h",  "zip_function.h", "device_vector.h"};
  constexpr std::string_view kThrust = "thrust/";
  return include.starts_with(kThrust) &&
         std::ranges::find(kHeadersOfThrust, include.substr(kThrust.size())) !=
             kHeadersOfThrust.end();
}

std::mutex known_mutex;
// The name by which programs include a file, by its whole name.
std::map<std::string, std::string, std::less<>>& known_files() {
  static auto* const files = new std::map<std::string, std::string, std::less<>>;
  return *files;
}

}  // namespace

bool is_library_function(std::string_view mangled) {
  const std::vector<std::string_view> components = components_of(mangled);
  return !components.empty() && std::ranges::any_of(kLibraries, [&](const Library& library) {
    return components[0] == library.name &&
           std::any_of(components.begin() + 1, components.end(),
                       [&](std::string_view name) { return is_version(name, library.version); });
  });
}

std::string_view library_include_name(std::string_view file, std::string_view function) {
  std::vector<std::string_view> scopes = components_of(function);
  if (scopes.empty()) return {};
  for (const Library& library : kLibraries) {
    const std::string_view include = from_folder(file, library.name);
    if (include.empty()) continue;
    const auto own = std::ranges::find(scopes, library.name);
    if (own == scopes.end() || own - scopes.begin() > 1) continue;  // one wrapping namespace
    const bool has_version = std::any_of(own + 1, scopes.end(), [&](std::string_view name) {
      return is_version(name, library.version);
    });
    if (has_version || is_of_layout(include)) return include;
  }
  return {};
}

std::string_view known_library_file(std::string_view file) {
  const std::lock_guard lock(known_mutex);
  const auto known = known_files().find(file);
  return known == known_files().end() ? std::string_view() : std::string_view(known->second);
}

void FunctionsOfFiles::conclude(const Module& module, const FunctionNames& names) {
  for (const auto& [file, label] : labels_) {
    named_.emplace(file, names.name_at(label, 0, kNameMax));
  }
  for (const auto& [number, function] : named_) {
    if (number >= module.files.size()) continue;
    const std::string& file = module.files[number];
    const std::string_view include = library_include_name(file, function);
    if (include.empty()) continue;
    const std::lock_guard lock(known_mutex);
    known_files().try_emplace(file, include);
  }
}

}  // namespace warpcheck::ptx
