#include "harness/case/stored_cases.hpp"

#include <algorithm>

#include "harness/case/case_file.hpp"

namespace warpcheck {

namespace fs = std::filesystem;

std::vector<std::string> stored_cases(const fs::path& database, const std::string& pair) {
  std::vector<std::string> paths;
  for (const fs::path& path : files_in(database / "cases" / pair)) {
    if (path.extension() == ".case") paths.push_back(path.string());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace warpcheck
