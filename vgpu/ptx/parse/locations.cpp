#include "vgpu/ptx/parse/locations.hpp"

#include <limits>

#include "vgpu/ptx/parse/constant.hpp"

namespace warpcheck::ptx {
namespace {

std::uint32_t read_number(Lexer& lexer, std::string_view what) {
  if (lexer.peek().kind != Token::Kind::integer) lexer.expected(what);
  const Token token = lexer.take();
  if (token.bits > std::numeric_limits<std::uint32_t>::max()) {
    lexer.fail(token.line, "a number of a source location is too large");
  }
  return static_cast<std::uint32_t>(token.bits);
}

}  // namespace

LocationReader::Place LocationReader::read_place() {
  const std::uint32_t file = read_number(context_.lexer, "a file number");
  const std::uint32_t line = read_number(context_.lexer, "a line number");
  return {file, line, read_number(context_.lexer, "a column number")};
}

SourceLocation LocationReader::read() {
  Lexer& lexer = context_.lexer;
  const Place place = read_place();
  SourceLocation out{std::get<0>(place), std::get<1>(place), std::get<2>(place), kNone};
  while (lexer.accept(',')) {
    const std::string_view word = lexer.expect_identifier("'function_name' or 'inlined_at'");
    if (word == "function_name") {
      lexer.expect_identifier("a label");
      if (lexer.accept('+')) read_number(lexer, "a number");
    } else if (word == "inlined_at") {
      const auto [file, line, column] = read_place();
      const auto chain = inlined_at_.find({file, line, column});
      out.inlined_at =
          intern({file, line, column, chain == inlined_at_.end() ? kNone : chain->second});
    } else {
      lexer.fail("expected 'function_name' or 'inlined_at'");
    }
  }
  inlined_at_[place] = out.inlined_at;
  return out;
}

std::uint32_t LocationReader::intern(const SourceLocation& location) {
  const Place place{location.file, location.line, location.column};
  std::vector<SourceLocation>& all = context_.module.locations;
  const auto [at, is_new] =
      interned_.try_emplace({place, location.inlined_at}, static_cast<std::uint32_t>(all.size()));
  if (is_new) all.push_back(location);
  return at->second;
}

}  // namespace warpcheck::ptx
