#include "vgpu/program/library_headers.hpp"

namespace warpcheck::vgpu {

// A toolkit keeps its headers in .../cuda*/include or .../targets/*-linux/include.
bool is_library_header(std::string_view file) {
  if (file.starts_with("/usr/include/")) return true;
  const std::size_t end = file.find("/include/");
  if (end == std::string_view::npos) return false;
  std::string_view owner = file.substr(0, end);
  owner.remove_prefix(owner.rfind('/') + 1);  // npos + 1: nothing
  return owner.starts_with("cuda") || owner.ends_with("-linux");
}

std::string_view short_header_name(std::string_view header) {
  constexpr std::string_view kDirectory = "/include/";
  const std::size_t at = header.rfind(kDirectory);
  return at == std::string_view::npos ? header : header.substr(at + kDirectory.size());
}

bool is_library_code(std::string_view header) {
  const std::string_view name = short_header_name(header);
  return name.find('/') != std::string_view::npos || !name.ends_with(".hpp");
}

}  // namespace warpcheck::vgpu
