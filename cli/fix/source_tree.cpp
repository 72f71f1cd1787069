#include "cli/fix/source_tree.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace warpcheck {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Replaces what is no code by blanks; line ends remain.
class Blanking {
 public:
  explicit Blanking(const std::string& text) : text_(text), code_(text) {}

  std::string code() {
    bool line_begins = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_begins = true;
        ++at_;
      } else if (line_begins && c == '#') {
        blank_directive();
      } else if (text_.compare(at_, 2, "//") == 0) {
        blank_to(std::min(text_.find('\n', at_), text_.size()));
      } else if (text_.compare(at_, 2, "/*") == 0) {
        const std::size_t end = text_.find("*/", at_ + 2);
        blank_to(end == kNowhere ? text_.size() : end + 2);
      } else if (c == '"') {
        blank_string();
      } else if (c == '\'' && (at_ == 0 || !is_word_character(text_[at_ - 1]))) {
        blank_quoted('\'');
      } else {
        line_begins = line_begins && is_blank(c);
        ++at_;
      }
    }
    return std::move(code_);
  }

 private:
  void blank_to(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') code_[at_] = ' ';
    }
  }
  void blank_directive() {
    std::size_t end = text_.find('\n', at_);
    while (end != kNowhere && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    blank_to(end == kNowhere ? text_.size() : end);
  }
  void blank_string() {
    if (at_ == 0 || text_[at_ - 1] != 'R') return blank_quoted('"');
    const std::size_t open = text_.find('(', at_);
    if (open == kNowhere) return blank_to(text_.size());
    const std::string close = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    const std::size_t end = text_.find(close, open);
    blank_to(end == kNowhere ? text_.size() : end + close.size());
  }
  // The quotes remain, so that an empty string is an operand.
  void blank_quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    ++at_;
    blank_to(std::min(end, text_.size()));
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  const std::string& text_;
  std::string code_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != kNowhere; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    if (begins && (end == text.size() || !is_word_character(text[end]))) return at;
  }
  return kNowhere;
}

std::size_t closing_bracket(std::string_view code, std::size_t open) {
  std::string expected;
  for (std::size_t at = open; at < code.size(); ++at) {
    switch (code[at]) {
      case '(': expected += ')'; break;
      case '[': expected += ']'; break;
      case '{': expected += '}'; break;
      case ')':
      case ']':
      case '}':
        if (expected.empty() || expected.back() != code[at]) return kNowhere;
        expected.pop_back();
        if (expected.empty()) return at;
        break;
      default: break;
    }
  }
  return kNowhere;
}

std::vector<std::string_view> split_arguments(std::string_view code, Angles angles) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= code.size(); ++at) {
    const char c = at < code.size() ? code[at] : ',';
    const bool is_arrow = c == '>' && at != 0 && code[at - 1] == '-';
    const bool is_angle = angles == Angles::brackets && !is_arrow;
    if (c == '(' || c == '[' || c == '{' || (c == '<' && is_angle)) ++depth;
    if (c == ')' || c == ']' || c == '}' || (c == '>' && is_angle)) --depth;
    if (c != ',' || (depth > 0 && at < code.size())) continue;
    parts.push_back(trimmed(code.substr(begin, at - begin)));
    begin = at + 1;
  }
  return parts;
}

// Function bodies at namespace scope, and the statements in them.
class SourceParser {
 public:
  explicit SourceParser(SourceTree& tree) : tree_(tree), code_(tree.code_) {}

  void parse() { parse_declarations(0, code_.size()); }

 private:
  // In [at, end): the text before a `{` says what it opens.
  void parse_declarations(std::size_t at, std::size_t end) {
    std::size_t begin = at;
    while (at < end) {
      const char c = code_[at];
      if (c == ';' || c == '}') begin = at + 1;
      if (c == '(' || c == '[') {
        const std::size_t close = closing_bracket(code_, at);
        if (close == kNowhere) return;
        at = close;
      } else if (c == '{') {
        const std::size_t close = closing_bracket(code_, at);
        if (close == kNowhere) return;
        parse_braces(begin, at, close);
        begin = close + 1;
        at = close;
      }
      ++at;
    }
  }

  void parse_braces(std::size_t begin, std::size_t open, std::size_t close) {
    const std::string_view before = std::string_view(code_).substr(begin, open - begin);
    const std::size_t parameters_end = before.rfind(')');
    const bool is_scope =
        find_word(before, "namespace") != kNowhere || find_word(before, "extern") != kNowhere ||
        find_word(before, "struct") != kNowhere || find_word(before, "class") != kNowhere;
    if (parameters_end == kNowhere || !may_follow_parameters(before.substr(parameters_end + 1))) {
      if (is_scope) parse_declarations(open + 1, close);
      return;
    }
    const std::size_t parameters = opening_parenthesis(begin, begin + parameters_end);
    if (parameters == kNowhere) return;
    const std::size_t nodes_before = tree_.nodes_.size();
    const std::size_t function = add({.kind = SourceNode::Kind::function,
                                      .begin = begin,
                                      .end = close + 1,
                                      .head_begin = parameters + 1,
                                      .head_end = begin + parameters_end,
                                      .children = {}});
    if (!parse_statement(open, close + 1, function)) tree_.nodes_.resize(nodes_before);
  }

  static bool may_follow_parameters(std::string_view text) {
    text = trimmed(text);
    return text.empty() || text.starts_with("->") || text == "const" || text == "noexcept" ||
           text == "const noexcept";
  }

  // The first parenthesis of the list that ends at `close`.
  [[nodiscard]] std::size_t opening_parenthesis(std::size_t begin, std::size_t close) const {
    int depth = 0;
    for (std::size_t at = close + 1; at-- > begin;) {
      if (code_[at] == ')') ++depth;
      if (code_[at] == '(' && --depth == 0) return at;
    }
    return kNowhere;
  }

  std::size_t add(SourceNode node) {
    tree_.nodes_.push_back(std::move(node));
    return tree_.nodes_.size() - 1;
  }
  std::size_t add_to(std::size_t parent, SourceNode::Kind kind, std::size_t begin) {
    const std::size_t node = add({.kind = kind, .begin = begin, .parent = parent, .children = {}});
    tree_.nodes_[parent].children.push_back(node);
    return node;
  }

  void skip_blanks(std::size_t& at, std::size_t end) const {
    while (at < end && is_blank(code_[at])) ++at;
  }
  [[nodiscard]] bool word_at(std::size_t at, std::string_view word) const {
    return find_word(std::string_view(code_).substr(at, word.size() + 1), word) == 0;
  }

  // Returns the end of the statement that begins at `at`.
  std::optional<std::size_t> parse_statement(std::size_t at, std::size_t end, std::size_t parent) {
    skip_blanks(at, end);
    if (at >= end) return std::nullopt;
    if (code_[at] == '{') return parse_block(at, parent);
    if (word_at(at, "do")) return parse_do(at, end, parent);
    for (const std::string_view word : {"if", "switch", "for", "while"}) {
      if (word_at(at, word)) return parse_compound(at, end, parent, word);
    }
    return parse_simple(at, end, parent);
  }

  std::optional<std::size_t> parse_block(std::size_t open, std::size_t parent) {
    const std::size_t close = closing_bracket(code_, open);
    if (close == kNowhere) return std::nullopt;
    const std::size_t block = add_to(parent, SourceNode::Kind::block, open);
    std::size_t at = open + 1;
    while (true) {
      skip_blanks(at, close);
      if (at == close) break;
      const auto next = parse_statement(at, close, block);
      if (!next) return std::nullopt;
      at = *next;
    }
    tree_.nodes_[block].end = close + 1;
    return close + 1;
  }

  std::optional<std::size_t> parse_compound(std::size_t at, std::size_t end, std::size_t parent,
                                            std::string_view word) {
    const bool is_branch = word == "if" || word == "switch";
    const std::size_t node =
        add_to(parent, is_branch ? SourceNode::Kind::branch : SourceNode::Kind::loop, at);
    const std::size_t open = code_.find('(', at);
    const std::size_t close = open == kNowhere ? kNowhere : closing_bracket(code_, open);
    if (close == kNowhere || close >= end) return std::nullopt;
    tree_.nodes_[node].head_begin = open + 1;
    tree_.nodes_[node].head_end = close;
    auto next = parse_statement(close + 1, end, node);
    if (!next) return std::nullopt;
    std::size_t other = *next;
    skip_blanks(other, end);
    if (word == "if" && word_at(other, "else")) next = parse_statement(other + 4, end, node);
    if (next) tree_.nodes_[node].end = *next;
    return next;
  }

  std::optional<std::size_t> parse_do(std::size_t at, std::size_t end, std::size_t parent) {
    const std::size_t node = add_to(parent, SourceNode::Kind::loop, at);
    const auto body_end = parse_statement(at + 2, end, node);
    if (!body_end) return std::nullopt;
    const std::size_t semicolon = code_.find(';', *body_end);
    if (semicolon == kNowhere || semicolon >= end) return std::nullopt;
    tree_.nodes_[node].head_begin = *body_end;
    tree_.nodes_[node].head_end = semicolon;
    tree_.nodes_[node].end = semicolon + 1;
    return semicolon + 1;
  }

  std::optional<std::size_t> parse_simple(std::size_t begin, std::size_t end, std::size_t parent) {
    std::size_t at = begin;
    for (; at < end && code_[at] != ';'; ++at) {
      if (code_[at] != '(' && code_[at] != '[' && code_[at] != '{') continue;
      at = closing_bracket(code_, at);
      if (at == kNowhere || at >= end) return std::nullopt;
    }
    if (at >= end) return std::nullopt;
    const std::size_t node = add_to(parent, SourceNode::Kind::simple, begin);
    tree_.nodes_[node].end = at + 1;
    return at + 1;
  }

  SourceTree& tree_;
  const std::string& code_;
};

SourceTree::SourceTree(std::string text) : text_(std::move(text)) {
  lines_.push_back(0);
  for (std::size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] == '\n') lines_.push_back(at + 1);
  }
  code_ = Blanking(text_).code();
  SourceParser(*this).parse();
}

std::uint32_t SourceTree::line_of(std::size_t at) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(lines_, at) - lines_.begin());
}

std::vector<std::size_t> SourceTree::statements_at(std::uint32_t line) const {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    const SourceNode& node = nodes_[at];
    if (node.kind == SourceNode::Kind::function || node.kind == SourceNode::Kind::block) continue;
    const bool is_simple = node.kind == SourceNode::Kind::simple;
    const std::size_t begin = is_simple ? node.begin : std::min(node.begin, node.head_begin);
    const std::size_t end = is_simple ? node.end - 1 : node.head_end;
    if (line_of(begin) > line || line_of(end) < line) continue;
    // What is within it on this line is found after it.
    const bool is_inner = is_simple && !found.empty() && nodes_[at].parent == found.back();
    if (is_inner) found.pop_back();
    found.push_back(at);
  }
  return found;
}

std::size_t SourceTree::function_of(std::size_t node) const {
  while (nodes_[node].kind != SourceNode::Kind::function) node = nodes_[node].parent;
  return node;
}

std::string_view SourceTree::code_of(std::size_t node) const {
  return std::string_view(code_).substr(nodes_[node].begin, nodes_[node].end - nodes_[node].begin);
}

std::string_view SourceTree::head_of(std::size_t node) const {
  const SourceNode& there = nodes_[node];
  return std::string_view(code_).substr(there.head_begin, there.head_end - there.head_begin);
}

std::string_view SourceTree::indentation_at(std::size_t at) const {
  const std::size_t begin = lines_[line_of(at) - 1];
  std::size_t end = begin;
  while (end < text_.size() && (text_[end] == ' ' || text_[end] == '\t')) ++end;
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace warpcheck
