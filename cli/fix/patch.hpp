// A change of source files, as text: what it makes of a file, and its unified diff.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

// Replaces bytes of a file.
struct TextEdit {
  std::size_t at = 0;
  std::size_t removed = 0;
  std::string text;
  friend auto operator<=>(const TextEdit&, const TextEdit&) = default;
};

struct Patch {
  // By the name of the file in reports, "kernels/scan.cu"; of one file in ascending order.
  std::map<std::string, std::vector<TextEdit>> files;
  std::vector<std::string> what;  // "__syncthreads() after line 14"

  // Two patches of the same sources; false: they change the same bytes.
  bool add(const Patch& other);
  friend bool operator==(const Patch& a, const Patch& b) { return a.files == b.files; }
};

// The text with the edits, which are in ascending order and do not overlap.
std::string edited_text(std::string_view text, const std::vector<TextEdit>& edits);

// The unified diff from `before` to `after`, with three lines of context: for `patch -p1`.
std::string unified_diff(std::string_view file, std::string_view before, std::string_view after);

}  // namespace warpcheck
