#include "harness/pair/source_path.hpp"

#include <filesystem>

#include "harness/pair/project.hpp"

namespace warpcheck {

std::string repository_path(std::string_view path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  const std::string root = project().source_root + "/";
  if (normal.starts_with(root)) return normal.substr(root.size());
  return normal;
}

std::string built_path(std::string_view path) {
  return (std::filesystem::path(project().source_root) / path).string();
}

}  // namespace warpcheck
