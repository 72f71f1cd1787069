// Findings that are known and accepted: which ones, and why (docs/use/expected-findings.md).
//
// A line's number changes with every edit above it, so an expectation names what stays: the kind,
// the kernel's name without template arguments and parameters, and of each side the file and the
// text of the line.  A pattern is literal, but "*" stands for any characters; that of a file is one
// of the shell (fnmatch(3), "*" matches "/" too), and also matches the end of a path.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/check/finding.hpp"

namespace warpcheck {

struct Expectation {
  // A side of the finding.
  struct Place {
    std::string role;        // "read", "host copy"; empty: any
    std::string file;        // a pattern
    std::uint32_t line = 0;  // 0: any
    std::string text;        // a pattern of the line without comments; empty: any
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::optional<vgpu::FindingKind> kind;  // nothing: any
  std::string space;                      // empty: any
  bool is_note = false;                   // else notes and errors
  std::string program, kernel, object;    // patterns; empty: any
  std::vector<Place> places;              // each has a side, and each side with a line has one
  std::vector<std::string> files;  // patterns; if any: all sides with lines are in such files
  std::string reason;
  std::string source;      // the file in which it stands; empty: it is an option's
  std::uint32_t line = 0;  // of that file
  friend bool operator==(const Expectation&, const Expectation&) = default;

  [[nodiscard]] bool is_option() const { return source.empty(); }
  // "data-race shared in kernel scan"
  [[nodiscard]] std::string title() const;
};

// A reason that is still to be written.
inline constexpr std::string_view kNoReason = "TODO";

// The lines of a source file by its name; null: it cannot be read.
using SourceLines = std::function<const std::vector<std::string>*(const std::string&)>;

// The code of a line: without comments, one space for several.
[[nodiscard]] std::string code_of_line(std::string_view line);

// Whether the pattern matches the whole text.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);
// Whether the pattern matches this path, the path as seen from the current directory, or its end.
[[nodiscard]] bool matches_file(const std::string& pattern, const std::string& path);
[[nodiscard]] std::string path_from_here(const std::string& path);

// finding: with files as recorded, or relative to the current directory.
[[nodiscard]] bool matches(const Expectation& expectation, const vgpu::Finding& finding,
                           const SourceLines& lines);

}  // namespace warpcheck
