#include "harness/case/stored_cases.hpp"

#include <algorithm>
#include <system_error>

namespace warpcheck {

namespace fs = std::filesystem;

std::vector<std::string> stored_cases(const fs::path& database, const std::string& pair) {
  std::vector<std::string> paths;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(database / "cases" / pair, none)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace warpcheck
