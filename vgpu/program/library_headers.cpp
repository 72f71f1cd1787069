#include "vgpu/program/library_headers.hpp"

#include <algorithm>

#include "vgpu/ptx/library_files.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns whether the name is of a release: "12.9" in .../cuda/12.9/include, "cu13" in
// .../nvidia/cu13/include.
bool is_release(std::string_view name, std::string_view beginning) {
  if (!name.starts_with(beginning) || name.size() == beginning.size()) return false;
  return std::ranges::all_of(name.substr(beginning.size()),
                             [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

std::string_view last_folder(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1: all of it
}

}  // namespace

// A toolkit keeps its headers in .../cuda*/include or .../targets/*-linux/include.
bool is_library_header(std::string_view file) {
  if (file.starts_with("/usr/include/")) return true;
  if (!ptx::known_library_file(file).empty()) return true;
  const std::size_t end = file.find("/include/");
  if (end == std::string_view::npos) return false;
  const std::string_view owner = last_folder(file.substr(0, end));
  if (owner.starts_with("cuda") || owner.ends_with("-linux")) return true;
  const std::size_t above_end = end - owner.size();
  const std::string_view above =
      above_end == 0 ? std::string_view() : last_folder(file.substr(0, above_end - 1));
  return (above.starts_with("cuda") && is_release(owner, "")) ||
         (above == "nvidia" && is_release(owner, "cu"));
}

std::string_view short_header_name(std::string_view header) {
  const std::string_view include = ptx::known_library_file(header);
  if (!include.empty()) return header.substr(header.size() - include.size());
  constexpr std::string_view kDirectory = "/include/";
  const std::size_t at = header.rfind(kDirectory);
  return at == std::string_view::npos ? header : header.substr(at + kDirectory.size());
}

bool is_library_code(std::string_view header) {
  const std::string_view name = short_header_name(header);
  return name.find('/') != std::string_view::npos || !name.ends_with(".hpp");
}

}  // namespace warpcheck::vgpu
