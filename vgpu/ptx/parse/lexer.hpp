// PTX text -> tokens (PTX ISA 9.0, 4.1 - 4.5).  Tokens are views into the text; nothing is copied.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier,  // foo, $L1, %r1, %tid.x, _
    directive,   // .reg, .u32
    integer,     // bits
    real,        // bits: a float's (0f...) or a double's (0d..., 1.5)
    string,      // "..." with its quotes
    punctuation  // one character; `<<` and `>>` are two
  };
  Kind kind = Kind::end;
  bool is_unsigned = false;  // integer with the suffix U, or too large for a signed one
  bool is_double = false;    // real
  std::uint32_t line = 1;
  std::string_view text;
  std::uint64_t bits = 0;

  [[nodiscard]] bool is(char c) const {
    return kind == Kind::punctuation && text.size() == 1 && text[0] == c;
  }
  [[nodiscard]] bool is_directive(std::string_view word) const {
    return kind == Kind::directive && text == word;
  }
};

// Provides one token of look-ahead over the text, and errors with a place in it.
class Lexer {
 public:
  // Both texts must outlive the lexer.
  //   line: the number of the text's first line
  Lexer(std::string_view text, std::string_view name, std::uint32_t line = 1);

  [[nodiscard]] const Token& peek() const { return token_; }
  Token take();
  bool accept(char punctuation);
  bool accept_directive(std::string_view word);
  void expect(char punctuation);
  std::string_view expect_identifier(std::string_view what);

  // Returns whether a `:` follows the current token.
  [[nodiscard]] bool at_label() const;
  // Extends the current identifier by its `.suffix` parts, as in mnemonics.
  void extend_mnemonic();
  // The current token must be `{`: continues after its `}` without parsing what is in between.
  // Returns the text from the one to the other.
  std::string_view skip_braces();
  // Continues after the next `;`.
  void skip_statement();

  // Throws "FILE:LINE: expected WHAT, found 'TOKEN'".
  [[noreturn]] void expected(std::string_view what) const;
  // Throws "FILE:LINE: MESSAGE".
  [[noreturn]] void fail(std::uint32_t line, std::string_view message) const;
  [[noreturn]] void fail(std::string_view message) const { fail(token_.line, message); }

 private:
  void advance();
  void skip_blanks();
  bool skip_comment();  // false: there is none
  void read_identifier();
  void read_number();
  void read_string();
  void read_float_bits(std::size_t digits);
  void read_decimal_real(const char* start);
  void read_integer(const char* start);

  std::string_view name_;
  const char* cursor_;
  const char* end_;
  std::uint32_t line_;
  Token token_;
};

// Returns a token as errors show it: without control characters, and shortened to fit a line.
std::string printable(std::string_view text);

}  // namespace warpcheck::ptx
