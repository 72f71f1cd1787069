#include "vgpu/ptx/parse/initializer_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/ptx/parse/constant.hpp"

namespace warpcheck::ptx {
namespace {

class InitializerParser {
 public:
  InitializerParser(Context& context, const std::vector<std::uint64_t>& dimensions, Variable& out)
      : context_(context),
        lexer_(context.lexer),
        dimensions_(dimensions),
        out_(out),
        element_bytes_(bytes_of(out.element)) {}

  void parse() {
    if (dimensions_.empty()) {
      parse_value(0);
      return;
    }
    const std::uint64_t end = parse_row(0, 0);
    if (dimensions_[0] == 0) out_.bytes = end;
  }

 private:
  // The bytes of one row of that level; 0 for the outermost level if its size is unknown.
  [[nodiscard]] std::uint64_t row_bytes(std::size_t level) const {
    std::uint64_t bytes = element_bytes_;
    for (std::size_t at = level; at < dimensions_.size(); ++at) bytes *= dimensions_[at];
    return bytes;
  }

  // Parses `{ value or row, ... }` at an offset; returns the offset behind the last value or row.
  // Values without their own braces fill the inner rows one after another.
  std::uint64_t parse_row(std::size_t level, std::uint64_t offset) {
    const std::uint64_t size = row_bytes(level);
    const bool unsized = level == 0 && dimensions_[0] == 0;
    const std::uint64_t limit = unsized ? UINT64_MAX : offset + size;
    lexer_.expect('{');
    std::uint64_t at = offset;
    while (!lexer_.peek().is('}')) {
      if (at >= limit) lexer_.fail(fmt::format("too many initial values of '{}'", out_.name));
      if (lexer_.peek().is('{')) {
        if (level + 1 >= dimensions_.size()) lexer_.expected("a value");
        const std::uint64_t inner = std::max<std::uint64_t>(row_bytes(level + 1), 1);
        at += (inner - (at - offset) % inner) % inner;
        parse_row(level + 1, at);
        at += inner;
      } else {
        parse_value(at);
        at += element_bytes_;
      }
      if (!lexer_.accept(',')) break;
    }
    lexer_.expect('}');
    return at;
  }

  void parse_value(std::uint64_t offset) {
    const Token token = lexer_.peek();
    if (token.kind == Token::Kind::identifier && token.text != "WARP_SZ") {
      parse_address(offset, ~std::uint64_t{0});
      return;
    }
    const Constant value = parse_constant(lexer_);
    if (!value.is_real && lexer_.accept('(')) {  // 0xFF00(symbol)
      if (value.bits == 0) lexer_.fail(token.line, "expected a mask that is not 0");
      parse_address(offset, value.bits);
      lexer_.expect(')');
      return;
    }
    store(offset, encode(value, token.line));
  }

  // The bits of a number, converted to the variable's type.
  std::uint64_t encode(const Constant& value, std::uint32_t line) {
    if (out_.element == Type::f64) return std::bit_cast<std::uint64_t>(value.real());
    if (out_.element == Type::f32) {
      if (value.is_real && !value.is_double) return value.bits;
      return std::bit_cast<std::uint32_t>(static_cast<float>(value.real()));
    }
    if (value.is_real && (is_float(out_.element) || element_bytes_ * 8 != width_of(value))) {
      lexer_.fail(line, fmt::format("a real number cannot initialise '{}' of type .{}", out_.name,
                                    name_of(out_.element)));
    }
    return value.bits;
  }

  static std::uint32_t width_of(const Constant& real) { return real.is_double ? 64 : 32; }

  // `symbol`, `symbol+8`, `generic(symbol)+8`
  void parse_address(std::uint64_t offset, std::uint64_t mask) {
    Variable::Relocation relocation;
    relocation.offset = offset;
    relocation.bytes = element_bytes_;
    relocation.mask = mask;
    std::string_view name = lexer_.expect_identifier("a symbol");
    if (name == "generic" && lexer_.accept('(')) {
      relocation.generic = true;
      name = lexer_.expect_identifier("a symbol");
      lexer_.expect(')');
    }
    relocation.symbol = name;
    if (lexer_.peek().is('+') || lexer_.peek().is('-')) {
      const Constant addend = parse_constant(lexer_);
      if (addend.is_real) lexer_.fail("expected an integer behind a symbol");
      relocation.addend = static_cast<std::int64_t>(addend.bits);
    }
    out_.relocations.push_back(std::move(relocation));
    store(offset, 0);
  }

  void store(std::uint64_t offset, std::uint64_t bits) {
    const std::uint64_t gap = offset - std::min<std::uint64_t>(offset, out_.initial.size());
    if (gap > context_.budget.padding_bytes) {
      lexer_.fail(fmt::format("the initial values of '{}' lie too far apart", out_.name));
    }
    context_.budget.padding_bytes -= gap;
    out_.initial.resize(std::max<std::uint64_t>(out_.initial.size(), offset + element_bytes_));
    std::memcpy(out_.initial.data() + offset, &bits, std::min<std::size_t>(element_bytes_, 8));
  }

  Context& context_;
  Lexer& lexer_;
  const std::vector<std::uint64_t>& dimensions_;
  Variable& out_;
  const std::uint32_t element_bytes_;
};

}  // namespace

void parse_initializer(Context& context, const std::vector<std::uint64_t>& dimensions,
                       Variable& out) {
  InitializerParser(context, dimensions, out).parse();
}

}  // namespace warpcheck::ptx
