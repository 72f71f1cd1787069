// A source file with its own headers written into it, so that it compiles anywhere.
#pragma once

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck {

// A source that cannot be read.  what() is one line that names it.
class SourceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Several files one after the other, each once, as is a header with `#pragma once`.  #line
// directives keep the names (relative to `root`) and lines that compilers and sanitizers report.
// `#include <...>` stays, as does `#include "..."` of a file that is in none of the places.
class SourceText {
 public:
  explicit SourceText(std::filesystem::path root) : root_(std::move(root)) {}

  // Does nothing for a file that was added before.  Throws SourceError.
  void add(const std::filesystem::path& file);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void include(const std::filesystem::path& file);
  [[nodiscard]] std::filesystem::path find(const std::string& name,
                                           const std::filesystem::path& includer) const;

  std::filesystem::path root_;
  std::string text_;
  std::set<std::filesystem::path> once_;
  std::vector<std::filesystem::path> open_;  // outermost first
};

}  // namespace warpcheck
