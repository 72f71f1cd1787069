#include "harness/export/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <system_error>

namespace warpcheck {

namespace fs = std::filesystem;

void SourceText::add(const fs::path& file) {
  const fs::path path = fs::weakly_canonical(file);
  include(path);
  once_.insert(path);
}

void SourceText::search_in(const std::string& directories) {
  std::istringstream list(directories);
  for (std::string directory; std::getline(list, directory, ';');) {
    if (!directory.empty()) directories_.emplace_back(directory);
  }
}

// Searches as a compiler does: the directory of the includer, then the root and further
// directories.
fs::path SourceText::find(const std::string& name, const std::optional<fs::path>& includer) const {
  std::vector<fs::path> places{root_};
  if (includer) places.insert(places.begin(), includer->parent_path());
  places.insert(places.end(), directories_.begin(), directories_.end());
  for (const fs::path& directory : places) {
    std::error_code error;
    fs::path path = fs::weakly_canonical(directory / name, error);
    if (!error && fs::is_regular_file(path, error)) return path;
  }
  return {};
}

void SourceText::include(const fs::path& file) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*(<|\")([^\">]+)[\">].*)");
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
      const fs::path header = find(match[2], match[1] == "<" ? std::nullopt : std::optional(file));
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
