// Source files for reports, found by the path that a finding recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/expected/expectation.hpp"

namespace warpcheck {

class SourceFiles {
 public:
  // The lines of a file, without their line feeds; null if it does not exist.  A relative path is
  // searched in the current directory, then in the repository that was built.  Each file is read
  // once; a file of more than `kBytesMax` counts as missing.
  const std::vector<std::string>* find(const std::string& path);

  static constexpr std::size_t kBytesMax = 4 << 20;

 private:
  std::map<std::string, std::optional<std::vector<std::string>>> files_;
};

// The lines of source files, for expectations.
[[nodiscard]] SourceLines source_lines();

// Lines around the relevant ones.
struct Excerpt {
  struct Line {
    std::uint32_t number = 0;  // 0: lines are left out here
    std::string text;
    std::vector<std::size_t> sides;  // of the finding, from 1, that are on this line
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::string file;
  bool found = true;  // false: the file is missing, and `lines` has only numbers
  std::vector<Line> lines;
};

// The place of a side; line 0 or no file: none.
struct ExcerptPlace {
  std::string file;
  std::uint32_t line = 0;
};

// One excerpt for each file that a place names, in order of first mention.
[[nodiscard]] std::vector<Excerpt> excerpts(const std::vector<ExcerptPlace>& places,
                                            SourceFiles& files, std::uint32_t lines_around = 3);

}  // namespace warpcheck
