#include "vgpu/ptx/parse/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

namespace warpcheck::ptx {
namespace {

// kMark: what skip_braces() must look at
enum : std::uint8_t { kLetter = 1, kDigit = 2, kName = kLetter | kDigit, kMark = 4 };

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kLetter;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  classes['_'] = classes['$'] = kLetter;
  for (const char c : {'{', '}', '"', '/'}) classes[static_cast<unsigned char>(c)] = kMark;
  return classes;
}();

bool is_name(char c) { return kClasses[static_cast<unsigned char>(c)] & kName; }
bool is_letter(char c) { return kClasses[static_cast<unsigned char>(c)] & kLetter; }
bool is_digit(char c) { return kClasses[static_cast<unsigned char>(c)] & kDigit; }

std::string_view between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out;
  for (const char c : text.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (text.size() > kLongest) out += "...";
  return out;
}

Lexer::Lexer(std::string_view text, std::string_view name, std::uint32_t line)
    : name_(name), cursor_(text.data()), end_(text.data() + text.size()), line_(line) {
  while (end_ != cursor_ && end_[-1] == '\0') --end_;
  advance();
}

Token Lexer::take() {
  const Token taken = token_;
  advance();
  return taken;
}

bool Lexer::accept(char punctuation) {
  if (!token_.is(punctuation)) return false;
  advance();
  return true;
}

bool Lexer::accept_directive(std::string_view word) {
  if (!token_.is_directive(word)) return false;
  advance();
  return true;
}

void Lexer::expect(char punctuation) {
  if (!accept(punctuation)) expected(fmt::format("'{}'", punctuation));
}

std::string_view Lexer::expect_identifier(std::string_view what) {
  if (token_.kind != Token::Kind::identifier) expected(what);
  return take().text;
}

void Lexer::expected(std::string_view what) const {
  if (token_.kind == Token::Kind::end) {
    fail(token_.line, fmt::format("expected {}, found the end of the text", what));
  }
  fail(token_.line, fmt::format("expected {}, found '{}'", what, printable(token_.text)));
}

void Lexer::fail(std::uint32_t line, std::string_view message) const {
  throw ParseError(fmt::format("{}:{}: {}", name_, line, message));
}

bool Lexer::at_label() const {
  const char* at = cursor_;
  while (at != end_ && (*at == ' ' || *at == '\t')) ++at;
  return at != end_ && *at == ':' && (at + 1 == end_ || at[1] != ':');
}

void Lexer::extend_mnemonic() {
  while (cursor_ != end_ && (is_name(*cursor_) || *cursor_ == '.' || *cursor_ == ':')) {
    if (*cursor_ == ':') {
      if (cursor_ + 1 == end_ || cursor_[1] != ':') break;
      ++cursor_;
    }
    ++cursor_;
  }
  token_.text = between(token_.text.data(), cursor_);
}

std::string_view Lexer::skip_braces() {
  const char* const begin = token_.text.data();
  for (unsigned depth = 1; depth > 0;) {
    const char* const from = cursor_;
    while (cursor_ != end_ && !(kClasses[static_cast<unsigned char>(*cursor_)] & kMark)) ++cursor_;
    line_ += static_cast<std::uint32_t>(std::count(from, cursor_, '\n'));
    if (cursor_ == end_) fail("expected '}', found the end of the text");
    const char mark = *cursor_;
    if (mark == '"') {
      read_string();
    } else if (mark != '/' || !skip_comment()) {
      ++cursor_;
      depth += mark == '{';
      depth -= mark == '}';
    }
  }
  const std::string_view skipped = between(begin, cursor_);
  advance();
  return skipped;
}

void Lexer::skip_statement() {
  while (token_.kind != Token::Kind::end && !token_.is(';')) advance();
  expect(';');
}

bool Lexer::skip_comment() {
  const std::string_view rest = between(cursor_, end_);
  if (rest.starts_with("//")) {
    cursor_ += std::min(rest.find('\n'), rest.size());
    return true;
  }
  if (!rest.starts_with("/*")) return false;
  const std::size_t close = rest.find("*/", 2);
  if (close == std::string_view::npos) fail(line_, "expected '*/', found the end of the text");
  const char* const behind = cursor_ + close + 2;
  line_ += static_cast<std::uint32_t>(std::count(cursor_, behind, '\n'));
  cursor_ = behind;
  return true;
}

void Lexer::skip_blanks() {
  while (cursor_ != end_) {
    if (*cursor_ == '/') {
      if (!skip_comment()) return;
      continue;
    }
    if (*cursor_ == '\n') {
      ++line_;
    } else if (*cursor_ != ' ' && *cursor_ != '\t' && *cursor_ != '\r' && *cursor_ != '\f' &&
               *cursor_ != '\v') {
      return;
    }
    ++cursor_;
  }
}

void Lexer::advance() {
  skip_blanks();
  token_ = {};
  token_.line = line_;
  if (cursor_ == end_) {
    token_.text = between(end_, end_);
    return;
  }
  const char* const start = cursor_;
  const char c = *cursor_;
  const char next = cursor_ + 1 != end_ ? cursor_[1] : '\0';
  if (is_letter(c) || (c == '%' && is_name(next))) {
    read_identifier();
  } else if (is_digit(c)) {
    read_number();
  } else if (c == '"') {
    read_string();
  } else if (c == '.' && is_name(next)) {
    token_.kind = Token::Kind::directive;
    for (++cursor_; cursor_ != end_ && (is_name(*cursor_) || *cursor_ == ':'); ++cursor_) {
    }
    token_.text = between(start, cursor_);
  } else {
    token_.kind = Token::Kind::punctuation;
    cursor_ += (c == '<' || c == '>') && next == c ? 2 : 1;
    token_.text = between(start, cursor_);
  }
}

void Lexer::read_identifier() {
  const char* const start = cursor_;
  token_.kind = Token::Kind::identifier;
  for (++cursor_; cursor_ != end_ && is_name(*cursor_); ++cursor_) {
  }
  if (*start == '%' && end_ - cursor_ >= 2 && *cursor_ == '.' && is_letter(cursor_[1])) {
    for (++cursor_; cursor_ != end_ && is_name(*cursor_); ++cursor_) {
    }
  }
  token_.text = between(start, cursor_);
}

void Lexer::read_string() {
  const char* const start = cursor_;
  for (++cursor_; cursor_ != end_ && *cursor_ != '"' && *cursor_ != '\n'; ++cursor_) {
    if (*cursor_ == '\\' && cursor_ + 1 != end_ && cursor_[1] != '\n') ++cursor_;
  }
  if (cursor_ == end_ || *cursor_ != '"') fail("expected '\"' at the end of the string");
  ++cursor_;
  token_.kind = Token::Kind::string;
  token_.text = between(start, cursor_);
}

// Constants are 0fXXXXXXXX, 0dXXXXXXXXXXXXXXXX, decimal reals, or integers in four bases.
void Lexer::read_number() {
  const char* const start = cursor_;
  while (cursor_ != end_ && is_name(*cursor_)) ++cursor_;
  token_.text = between(start, cursor_);
  const char second = token_.text.size() > 1 ? token_.text[1] : '\0';
  if (second == 'f' || second == 'F') return read_float_bits(8);
  if (second == 'd' || second == 'D') return read_float_bits(16);
  const bool based = *start == '0' && (second == 'x' || second == 'X');
  const bool fraction = end_ - cursor_ >= 2 && *cursor_ == '.' && is_digit(cursor_[1]);
  const bool exponent = token_.text.find_first_of("eE") != std::string_view::npos;
  if (!based && (fraction || exponent)) return read_decimal_real(start);
  read_integer(start);
}

void Lexer::read_float_bits(std::size_t digits) {
  const char* const last = token_.text.data() + token_.text.size();
  const auto [stop, error] = std::from_chars(token_.text.data() + 2, last, token_.bits, 16);
  if (token_.text[0] != '0' || token_.text.size() != digits + 2 || error != std::errc{} ||
      stop != last) {
    fail(fmt::format("expected a constant of {} hexadecimal digits, found '{}'", digits,
                     printable(token_.text)));
  }
  token_.kind = Token::Kind::real;
  token_.is_double = digits == 16;
}

void Lexer::read_decimal_real(const char* start) {
  double value = 0;
  const auto [stop, error] = std::from_chars(start, end_, value);
  cursor_ = stop;
  while (cursor_ != end_ && is_name(*cursor_)) ++cursor_;
  token_.text = between(start, cursor_);
  if (error != std::errc{} || stop != cursor_) {
    fail(fmt::format("expected a real constant, found '{}'", printable(token_.text)));
  }
  token_.kind = Token::Kind::real;
  token_.is_double = true;
  token_.bits = std::bit_cast<std::uint64_t>(value);
}

void Lexer::read_integer(const char* start) {
  const char* last = cursor_;
  const bool suffix = last[-1] == 'U' || last[-1] == 'u';
  if (suffix) --last;
  int base = 10;
  const char* digits = start;
  if (*start == '0' && last - start > 1) {
    const char letter = start[1];
    base = letter == 'x' || letter == 'X' ? 16 : letter == 'b' || letter == 'B' ? 2 : 8;
    digits += base == 8 ? 1 : 2;
  }
  const auto [stop, error] = std::from_chars(digits, last, token_.bits, base);
  if (error == std::errc::result_out_of_range) {
    fail(fmt::format("constant '{}' has more than 64 bits", printable(token_.text)));
  }
  if (error != std::errc{} || stop != last) {
    fail(fmt::format("expected a constant, found '{}'", printable(token_.text)));
  }
  token_.kind = Token::Kind::integer;
  token_.is_unsigned = suffix || static_cast<std::int64_t>(token_.bits) < 0;
}

}  // namespace warpcheck::ptx
