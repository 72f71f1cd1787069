#include "harness/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <regex>
#include <system_error>

namespace warpcheck {

namespace fs = std::filesystem;

void SourceText::add(const fs::path& file) {
  const fs::path path = fs::weakly_canonical(file);
  include(path);
  once_.insert(path);
}

// As a compiler looks: beside the file that includes it, then below the root.
fs::path SourceText::find(const std::string& name, const fs::path& includer) const {
  for (const fs::path& directory : {includer.parent_path(), root_}) {
    std::error_code error;
    const fs::path path = fs::weakly_canonical(directory / name, error);
    if (!error && fs::is_regular_file(path, error)) return path;
  }
  return {};
}

void SourceText::include(const fs::path& file) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*\"([^\"]+)\".*)");
  static const std::regex kOnce(R"(^\s*#\s*pragma\s+once\b.*)");
  if (once_.contains(file) || std::ranges::count(open_, file) != 0) return;
  std::ifstream stream(file);
  if (!stream) {
    throw SourceError(
        fmt::format("cannot read the source {}: {}", file.generic_string(), std::strerror(errno)));
  }
  open_.push_back(file);
  const std::string shown = file.lexically_proximate(root_).generic_string();
  const auto go_to_line = [&](int line) { text_ += fmt::format("#line {} \"{}\"\n", line, shown); };
  go_to_line(1);
  int number = 0;
  std::smatch match;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (std::regex_match(line, kOnce)) {
      once_.insert(file);
      text_ += "\n";
    } else if (std::regex_match(line, match, kInclude)) {
      const fs::path header = find(match[1], file);
      if (header.empty()) {
        text_ += line + "\n";
      } else {
        include(header);
        go_to_line(number + 1);
      }
    } else {
      text_ += line + "\n";
    }
  }
  open_.pop_back();
}

}  // namespace warpcheck
