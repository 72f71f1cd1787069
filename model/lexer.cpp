#include "model/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>

namespace warpcheck::model {
namespace {

// Longest first.
constexpr std::array<std::string_view, 10> kLongSigns{
    "/\\", "\\/", "&&", "||", "==", "!=", "<=", ">=", "<>", "::"};
constexpr std::string_view kSigns = "{}()[];:,.=<>~!@|&+-*";

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) {
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '$';
}
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  LexedTest run() {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // a byte order mark
    skip_space();
    lexed_.title_place = place();
    lexed_.title = take_line();
    for (skip_space(); at_ < text_.size(); skip_space()) word();
    lexed_.tokens.push_back({Token::Kind::end, "", 0, place(), false});
    return std::move(lexed_);
  }

 private:
  [[nodiscard]] Place place() const {
    return {line_, static_cast<unsigned>(at_ - line_begin_) + 1};
  }
  [[nodiscard]] bool has(std::string_view sign) const {
    return text_.substr(at_).starts_with(sign);
  }
  void advance(std::size_t count = 1) {
    for (; count > 0 && at_ < text_.size(); --count) {
      if (text_[at_++] != '\n') continue;
      ++line_;
      line_begin_ = at_;
    }
  }

  std::string take_line() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '\n') advance();
    std::string line(text_.substr(begin, at_ - begin));
    while (!line.empty() && is_space(line.back())) line.pop_back();
    return line;
  }

  // White space, and comments, which are kept.
  void skip_space() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        advance();
      } else if (has("(*")) {
        until("*)", 2, "a comment");
      } else if (has("//")) {
        lexed_.comments.push_back(take_line());
      } else if (has("\"")) {
        until("\"", 1, "a string");
      } else {
        return;
      }
    }
  }

  void until(std::string_view end, std::size_t opening, std::string_view what) {
    const Place begin = place();
    advance(opening);
    const std::size_t from = at_;
    while (at_ < text_.size() && !has(end)) advance();
    if (at_ == text_.size()) throw LitmusError(begin, fmt::format("{} that never ends", what));
    lexed_.comments.emplace_back(text_.substr(from, at_ - from));
    advance(end.size());
  }

  void word() {
    const Place begin = place();
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return number(begin);
    if (begins_name(c) || c == '%') return name(begin);
    for (const std::string_view sign : kLongSigns) {
      if (!has(sign)) continue;
      lexed_.tokens.push_back({Token::Kind::sign, std::string(sign), 0, begin, false});
      return advance(sign.size());
    }
    if (kSigns.find(c) == std::string_view::npos) {
      const bool printable = std::isprint(static_cast<unsigned char>(c)) != 0;
      throw LitmusError(begin, printable ? fmt::format("unexpected character '{}'", c)
                                         : fmt::format("unexpected byte 0x{:02x}",
                                                       static_cast<unsigned char>(c)));
    }
    lexed_.tokens.push_back({Token::Kind::sign, std::string(1, c), 0, begin, false});
    advance();
  }

  void number(Place begin) {
    const std::size_t from = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) advance();
    const std::string_view digits = text_.substr(from, at_ - from);
    const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    std::uint64_t value = 0;
    const char* last = digits.data() + digits.size();
    const auto result =
        std::from_chars(digits.data() + (is_hex ? 2 : 0), last, value, is_hex ? 16 : 10);
    if (result.ec != std::errc{} || result.ptr != last) {
      throw LitmusError(begin, fmt::format("'{}' is no number of 64 bits", digits));
    }
    lexed_.tokens.push_back(
        {Token::Kind::number, std::string(digits), static_cast<std::int64_t>(value), begin, false});
  }

  void name(Place begin) {
    const bool is_register = text_[at_] == '%';
    if (is_register) advance();
    const std::size_t from = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) advance();
    if (at_ == from) throw LitmusError(begin, "the name of a register was expected behind '%'");
    lexed_.tokens.push_back(
        {Token::Kind::name, std::string(text_.substr(from, at_ - from)), 0, begin, is_register});
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  unsigned line_ = 1;
  LexedTest lexed_;
};

}  // namespace

LitmusError::LitmusError(Place place, std::string_view message)
    : std::runtime_error(fmt::format("{}:{}: {}", place.line, place.column, message)) {}

LexedTest lex(std::string_view text) { return Lexer(text).run(); }

std::string shown(const Token& token) {
  return token.kind == Token::Kind::end ? "the end of the file" : fmt::format("'{}'", token.text);
}

}  // namespace warpcheck::model
