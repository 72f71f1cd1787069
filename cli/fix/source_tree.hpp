// The statements of a CUDA source file: enough of C++ to place a statement more, and no more than
// that.  Comments, literals and preprocessor lines are blank to it, so a statement that a macro
// makes is in no tree.  A function whose braces and parentheses do not match has no statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/text/trimmed.hpp"

namespace warpcheck {

struct SourceNode {
  enum class Kind : std::uint8_t {
    function,  // child: its block
    block,     // children: its statements
    simple,    // ends with `;`
    branch,    // if, switch; children: what is done, and what else
    loop,      // child: its body
  };
  static constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);
  Kind kind = Kind::simple;
  std::size_t begin = 0, end = 0;            // bytes, `;` and `}` included
  std::size_t head_begin = 0, head_end = 0;  // between the parentheses; function: its parameters
  std::size_t parent = kNoNode;
  std::vector<std::size_t> children;
};

class SourceTree {
 public:
  explicit SourceTree(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }
  // The text with blanks in place of comments, literals and preprocessor lines.
  [[nodiscard]] const std::string& code() const { return code_; }
  [[nodiscard]] const std::vector<SourceNode>& nodes() const { return nodes_; }
  [[nodiscard]] const SourceNode& operator[](std::size_t node) const { return nodes_[node]; }

  [[nodiscard]] std::uint32_t line_of(std::size_t at) const;  // from 1
  // The innermost statements that have code on the line; of a branch or a loop, its head.
  [[nodiscard]] std::vector<std::size_t> statements_at(std::uint32_t line) const;
  [[nodiscard]] std::size_t function_of(std::size_t node) const;
  [[nodiscard]] std::string_view code_of(std::size_t node) const;
  [[nodiscard]] std::string_view head_of(std::size_t node) const;
  // The blanks at the beginning of the line of a byte.
  [[nodiscard]] std::string_view indentation_at(std::size_t at) const;

 private:
  friend class SourceParser;
  std::string text_, code_;
  std::vector<std::size_t> lines_;  // where each begins
  std::vector<SourceNode> nodes_;
};

bool is_word_character(char c);
// The place of a whole word at or behind `from`, or npos.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0);
// The place of the bracket that closes the one at `open`, or npos.
std::size_t closing_bracket(std::string_view code, std::size_t open);
// What < and > are: brackets of types, or operators.
enum class Angles : std::uint8_t { brackets, operators };
// The parts between commas outside of brackets: arguments, parameters, declared names.
std::vector<std::string_view> split_arguments(std::string_view code,
                                              Angles angles = Angles::brackets);

}  // namespace warpcheck
