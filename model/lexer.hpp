// The tokens of a litmus test, with their places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/litmus_test.hpp"

namespace warpcheck::model {

struct Token {
  enum class Kind : std::uint8_t { name, number, sign, end };
  Kind kind = Kind::end;
  std::string text;  // names without a leading '%'
  std::int64_t value = 0;
  Place place;
  bool is_register = false;  // a name that was written with '%'

  [[nodiscard]] bool is(std::string_view sign) const { return kind != Kind::end && text == sign; }
};

struct LexedTest {
  std::string title;  // the first line
  Place title_place;
  std::vector<Token> tokens;          // of the rest; the last is the end
  std::vector<std::string> comments;  // (* ... *), // ..., and strings
};

// Throws LitmusError.
LexedTest lex(std::string_view text);

// "'ld'", or "the end of the file".
std::string shown(const Token& token);

}  // namespace warpcheck::model
