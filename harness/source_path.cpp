#include "harness/source_path.hpp"

#include <filesystem>

namespace warpcheck {

std::string repository_path(std::string_view path) {
  const std::string normal = std::filesystem::path(path).lexically_normal().string();
  constexpr std::string_view kRoot = WARPCHECK_SOURCE_DIR "/";
  if (normal.starts_with(kRoot)) return normal.substr(kRoot.size());
  return normal;
}

std::string built_path(std::string_view path) {
  return (std::filesystem::path(WARPCHECK_SOURCE_DIR) / path).string();
}

}  // namespace warpcheck
