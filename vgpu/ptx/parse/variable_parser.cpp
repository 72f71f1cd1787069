#include "vgpu/ptx/parse/variable_parser.hpp"

#include <fmt/format.h>

#include <bit>

#include "vgpu/ptx/parse/constant.hpp"
#include "vgpu/ptx/parse/initializer_parser.hpp"
#include "vgpu/ptx/suffixes.hpp"

namespace warpcheck::ptx {
namespace {

constexpr std::uint64_t kVariableBytesMax = std::uint64_t{1} << 40;
constexpr std::size_t kDimensionsMax = 16;

// Opaque handles (5.3): textures, samplers and surfaces are 64-bit handles in memory.
bool is_opaque_type(std::string_view directive) {
  return directive == ".texref" || directive == ".samplerref" || directive == ".surfref";
}

struct Attributes {
  std::uint32_t alignment = 0;  // 0: natural alignment
  std::uint32_t vector = 1;
  Type type = Type::none;
  bool managed = false;
};

// `.attribute(.managed)`, `.attribute(.unified(uuid1, uuid2))`
void parse_attribute(Lexer& lexer, Attributes& out) {
  lexer.expect('(');
  int depth = 1;
  while (depth > 0) {
    if (lexer.peek().kind == Token::Kind::end) lexer.expected("')'");
    const Token token = lexer.take();
    depth += token.is('(') - token.is(')');
    out.managed |= token.is_directive(".managed");
  }
}

// Skips `.ptr` and the space and alignment that follow it.  They are the caller's promises about
// the memory that a kernel parameter points to; they have no use here.
void skip_pointer_attributes(Lexer& lexer) {
  if (lexer.peek().kind == Token::Kind::directive &&
      find_space(lexer.peek().text) != Space::generic) {
    lexer.take();
  }
  if (lexer.accept_directive(".align")) parse_alignment(lexer);
}

Attributes parse_attributes(Lexer& lexer) {
  Attributes out;
  while (lexer.peek().kind == Token::Kind::directive) {
    const std::string_view word = lexer.peek().text;
    if (const Type type = find_type(word); type != Type::none) {
      if (out.type != Type::none) lexer.expected("a name");
      out.type = type;
    } else if (is_opaque_type(word)) {
      out.type = Type::b64;
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      out.vector = static_cast<std::uint32_t>(word[2] - '0');
    } else if (word != ".align" && word != ".attribute" && word != ".ptr") {
      lexer.expected("a type");
    }
    lexer.take();
    if (word == ".align") out.alignment = parse_alignment(lexer);
    if (word == ".attribute") parse_attribute(lexer, out);
    if (word == ".ptr") skip_pointer_attributes(lexer);
  }
  if (out.type == Type::none) lexer.expected("a type");
  if (out.type == Type::pred) lexer.fail("a variable cannot have the type .pred");
  return out;
}

// Parses `[2][3]`; a first dimension without a size is 0.
std::vector<std::uint64_t> parse_dimensions(Lexer& lexer) {
  std::vector<std::uint64_t> dimensions;
  while (lexer.accept('[')) {
    if (dimensions.size() == kDimensionsMax) lexer.fail("an array has too many dimensions");
    if (dimensions.empty() && lexer.accept(']')) {
      dimensions.push_back(0);
      continue;
    }
    dimensions.push_back(parse_count(lexer, "a dimension", kVariableBytesMax));
    lexer.expect(']');
  }
  return dimensions;
}

std::uint64_t size_of(const Lexer& lexer, const std::vector<std::uint64_t>& dimensions,
                      std::uint64_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t dimension : dimensions) {
    if (dimension != 0 && bytes > kVariableBytesMax / dimension) {
      lexer.fail(fmt::format("a variable has more than {} bytes", kVariableBytesMax));
    }
    bytes *= dimension;
  }
  return bytes;
}

// Parses name, dimensions and initialiser.
Declaration parse_declarator(Context& context, Space space, const Attributes& attributes) {
  Lexer& lexer = context.lexer;
  Declaration declaration;
  declaration.line = lexer.peek().line;
  declaration.name = lexer.expect_identifier("a name");
  Variable& out = declaration.variable;
  out.space = space;
  out.element = attributes.type;
  out.managed = attributes.managed;
  out.name = declaration.name;
  std::vector<std::uint64_t> dimensions = parse_dimensions(lexer);
  const std::uint64_t element_bytes = bytes_of(attributes.type) * attributes.vector;
  out.alignment =
      attributes.alignment != 0 ? attributes.alignment : static_cast<std::uint32_t>(element_bytes);
  out.bytes = size_of(lexer, dimensions, element_bytes);
  if (!lexer.accept('=')) return declaration;
  if (attributes.vector > 1) dimensions.push_back(attributes.vector);
  parse_initializer(context, dimensions, out);
  return declaration;
}

}  // namespace

Type find_type(std::string_view directive) {
  for (const Suffix& suffix : find_suffixes(directive.substr(1))) {
    if (suffix.suffix_class == SuffixClass::type) return static_cast<Type>(suffix.value);
  }
  return Type::none;
}

Space find_space(std::string_view directive) {
  for (const Suffix& suffix : find_suffixes(directive.substr(1))) {
    if (suffix.suffix_class == SuffixClass::space) return static_cast<Space>(suffix.value);
  }
  return Space::generic;
}

std::uint32_t parse_alignment(Lexer& lexer) {
  constexpr std::uint64_t kAlignmentMax = 1 << 16;
  const std::uint32_t line = lexer.peek().line;
  const std::uint64_t alignment = parse_count(lexer, "an alignment", kAlignmentMax);
  if (!std::has_single_bit(alignment)) {
    lexer.fail(line, fmt::format("alignment {} is not a power of two", alignment));
  }
  return static_cast<std::uint32_t>(alignment);
}

Declaration parse_variable(Context& context, Space space) {
  const Attributes attributes = parse_attributes(context.lexer);
  return parse_declarator(context, space, attributes);
}

std::vector<Declaration> parse_variables(Context& context, Space space) {
  const Attributes attributes = parse_attributes(context.lexer);
  std::vector<Declaration> out;
  do {
    out.push_back(parse_declarator(context, space, attributes));
  } while (context.lexer.accept(','));
  context.lexer.expect(';');
  return out;
}

}  // namespace warpcheck::ptx
