// A source file with its own headers written into it, so that it compiles anywhere.
#pragma once

#include <filesystem>
#include <optional>
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
// An #include of a file that is in none of the places stays.
class SourceText {
 public:
  explicit SourceText(std::filesystem::path root) : root_(std::move(root)) {}

  // Further places, after the root: ';' between them, as KernelSource has them.
  void search_in(const std::string& directories);

  // Does nothing for a file that was added before.  Throws SourceError.
  void add(const std::filesystem::path& file);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void include(const std::filesystem::path& file);
  // includer: of `#include "..."`; that of `#include <...>` is not looked beside.
  [[nodiscard]] std::filesystem::path find(
      const std::string& name, const std::optional<std::filesystem::path>& includer) const;

  std::filesystem::path root_;
  std::vector<std::filesystem::path> directories_;
  std::string text_;
  std::set<std::filesystem::path> once_;
  std::vector<std::filesystem::path> open_;  // outermost first
};

}  // namespace warpcheck
