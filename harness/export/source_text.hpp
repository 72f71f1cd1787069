// A source file with its own headers inlined, so that it compiles anywhere.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck {

// A source cannot be read.  what() is one line that names it.
class SourceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Several files one after the other, each once, and each header with `#pragma once` once.  #line
// directives keep the names (relative to `root`) and lines that compilers and sanitizers report. An
// #include is kept if its file is in none of the search directories.
class SourceText {
 public:
  explicit SourceText(std::filesystem::path root) : root_(std::move(root)) {}

  // Further search directories after the root, separated by ';' as in KernelSource.
  void search_in(const std::string& directories);

  // Does nothing if the file was added before.  Throws SourceError.
  void add(const std::filesystem::path& file);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void include(const std::filesystem::path& file);
  // includer: the file with `#include "..."`, whose directory is searched; not for `#include
  // <...>`.
  [[nodiscard]] std::filesystem::path find(
      const std::string& name, const std::optional<std::filesystem::path>& includer) const;

  std::filesystem::path root_;
  std::vector<std::filesystem::path> directories_;
  std::string text_;
  std::set<std::filesystem::path> once_;
  std::vector<std::filesystem::path> open_;  // outermost first
};

}  // namespace warpcheck
