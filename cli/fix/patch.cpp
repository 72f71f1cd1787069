#include "cli/fix/patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpcheck {
namespace {

constexpr std::size_t kContext = 3;

std::vector<std::string_view> lines_of_text(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Lines [old_begin, old_end) become [new_begin, new_end).
struct DiffRange {
  std::size_t old_begin, old_end, new_begin, new_end;
};

// By the longest common subsequence of what the texts do not begin and end with in common.
std::vector<DiffRange> differing(const std::vector<std::string_view>& before,
                                 const std::vector<std::string_view>& after) {
  std::size_t first = 0, last = 0;
  const std::size_t shorter = std::min(before.size(), after.size());
  while (first < shorter && before[first] == after[first]) ++first;
  while (last < shorter - first &&
         before[before.size() - 1 - last] == after[after.size() - 1 - last]) {
    ++last;
  }
  const std::size_t rows = before.size() - first - last, columns = after.size() - first - last;
  std::vector<std::vector<std::uint32_t>> common(rows + 1,
                                                 std::vector<std::uint32_t>(columns + 1, 0));
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      common[i][j] = before[first + i] == after[first + j]
                         ? common[i + 1][j + 1] + 1
                         : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<DiffRange> ranges;
  std::size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && before[first + i] == after[first + j]) {
      ++i, ++j;
      continue;
    }
    const bool removes = i < rows && (j == columns || common[i + 1][j] >= common[i][j + 1]);
    const bool goes_on =
        !ranges.empty() && ranges.back().old_end == first + i && ranges.back().new_end == first + j;
    if (!goes_on) ranges.push_back({first + i, first + i, first + j, first + j});
    (removes ? ranges.back().old_end : ranges.back().new_end) += 1;
    (removes ? i : j) += 1;
  }
  return ranges;
}

void print_line(std::string& out, char sign, std::string_view line) {
  out += sign;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

std::string range_text(std::size_t begin, std::size_t count) {
  const std::size_t first = count == 0 ? begin : begin + 1;
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

}  // namespace

bool Patch::add(const Patch& other) {
  Patch sum = *this;
  for (const auto& [file, edits] : other.files) {
    std::vector<TextEdit>& all = sum.files[file];
    all.insert(all.end(), edits.begin(), edits.end());
    std::ranges::sort(all);
    if (std::ranges::adjacent_find(all) != all.end()) return false;
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i - 1].at + all[i - 1].removed > all[i].at) return false;
    }
  }
  sum.what.insert(sum.what.end(), other.what.begin(), other.what.end());
  *this = std::move(sum);
  return true;
}

std::string edited_text(std::string_view text, const std::vector<TextEdit>& edits) {
  std::string out;
  std::size_t at = 0;
  for (const TextEdit& edit : edits) {
    out += text.substr(at, edit.at - at);
    out += edit.text;
    at = edit.at + edit.removed;
  }
  out += text.substr(at);
  return out;
}

std::string unified_diff(std::string_view file, std::string_view before, std::string_view after) {
  const std::vector<std::string_view> old_lines = lines_of_text(before);
  const std::vector<std::string_view> new_lines = lines_of_text(after);
  const std::vector<DiffRange> ranges = differing(old_lines, new_lines);
  if (ranges.empty()) return {};
  std::string out = fmt::format("--- a/{0}\n+++ b/{0}\n", file);
  for (std::size_t i = 0; i < ranges.size();) {
    std::size_t next = i + 1;
    while (next < ranges.size() &&
           ranges[next].old_begin - ranges[next - 1].old_end <= 2 * kContext) {
      ++next;
    }
    const std::size_t before_it = std::min(kContext, ranges[i].old_begin);
    const DiffRange hunk{
        ranges[i].old_begin - before_it,
        std::min(ranges[next - 1].old_end + kContext, old_lines.size()),
        ranges[i].new_begin - before_it,
        std::min(ranges[next - 1].new_end + kContext, new_lines.size()),
    };
    out += fmt::format("@@ -{} +{} @@\n", range_text(hunk.old_begin, hunk.old_end - hunk.old_begin),
                       range_text(hunk.new_begin, hunk.new_end - hunk.new_begin));
    std::size_t at = hunk.old_begin;
    for (; i < next; ++i) {
      for (; at < ranges[i].old_begin; ++at) print_line(out, ' ', old_lines[at]);
      for (; at < ranges[i].old_end; ++at) print_line(out, '-', old_lines[at]);
      for (std::size_t line = ranges[i].new_begin; line < ranges[i].new_end; ++line) {
        print_line(out, '+', new_lines[line]);
      }
    }
    for (; at < hunk.old_end; ++at) print_line(out, ' ', old_lines[at]);
  }
  return out;
}

}  // namespace warpcheck
