// A cursor over tokens, with the errors that all parts of the parser use.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>

#include "model/lexer.hpp"

namespace warpcheck::model {

class TokenReader {
 public:
  // The tokens end with one of Kind::end.
  explicit TokenReader(std::span<const Token> tokens) : tokens_(tokens) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool at_end() const { return peek().kind == Token::Kind::end; }
  const Token& take() {
    const Token& token = peek();
    if (!at_end()) ++at_;
    return token;
  }
  bool accept(std::string_view sign) {
    if (!peek().is(sign)) return false;
    take();
    return true;
  }
  const Token& expect(std::string_view sign) {
    if (!peek().is(sign)) fail(fmt::format("'{}'", sign));
    return take();
  }
  const Token& expect_name(std::string_view what) {
    if (peek().kind != Token::Kind::name) fail(what);
    return take();
  }
  // With or without a sign.
  std::int64_t expect_number(std::string_view what) {
    const bool negative = peek().is("-") && peek(1).kind == Token::Kind::number;
    if (negative || (peek().is("+") && peek(1).kind == Token::Kind::number)) take();
    if (peek().kind != Token::Kind::number) fail(what);
    const auto value = static_cast<std::uint64_t>(take().value);
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }
  [[nodiscard]] bool at_number() const {
    return peek().kind == Token::Kind::number ||
           (peek().is("-") && peek(1).kind == Token::Kind::number);
  }
  [[noreturn]] void fail(std::string_view expected) const {
    throw LitmusError(peek().place,
                      fmt::format("{} was expected, found {}", expected, shown(peek())));
  }

 private:
  std::span<const Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace warpcheck::model
