#include "vgpu/ptx/parse/function_parser.hpp"

#include <fmt/format.h>

#include <limits>

#include "vgpu/ptx/parse/body_parser.hpp"
#include "vgpu/ptx/parse/constant.hpp"
#include "vgpu/ptx/parse/locations.hpp"
#include "vgpu/ptx/parse/variable_parser.hpp"

namespace warpcheck::ptx {
namespace {

struct Header {
  Function function;
  std::string_view name;
  std::uint32_t line = 0;
};

// `256`, `16, 16`, `8, 8, 4`; missing extents are 1.
void parse_extents(Lexer& lexer, std::uint32_t (&out)[3]) {
  out[0] = out[1] = out[2] = 1;
  for (std::uint32_t& extent : out) {
    extent = static_cast<std::uint32_t>(
        parse_count(lexer, "a block size", std::numeric_limits<std::uint32_t>::max()));
    if (!lexer.accept(',')) return;
  }
  lexer.expected("';' or '{'");
}

std::uint32_t volume(const Lexer& lexer, const std::uint32_t (&extents)[3]) {
  std::uint64_t product = 1;
  for (const std::uint32_t extent : extents) {
    product *= extent;
    if (product > std::numeric_limits<std::uint32_t>::max()) lexer.fail("block size is too large");
  }
  return static_cast<std::uint32_t>(product);
}

// Directives that change no result: they are skipped with their numbers.
bool is_hint(std::string_view word) {
  return word == ".maxnreg" || word == ".minnctapersm" || word == ".maxnctapersm" ||
         word == ".maxclusterrank" || word == ".noreturn" || word == ".abi_preserve" ||
         word == ".abi_preserve_control";
}

void parse_directives(Lexer& lexer, Function& function) {
  while (lexer.peek().kind == Token::Kind::directive) {
    const std::string_view word = lexer.take().text;
    if (word == ".maxntid") {
      std::uint32_t extents[3];
      parse_extents(lexer, extents);
      function.max_threads = volume(lexer, extents);
    } else if (word == ".reqntid") {
      parse_extents(lexer, function.required_threads);
      volume(lexer, function.required_threads);
    } else if (word == ".reqnctapercluster") {
      parse_extents(lexer, function.required_cluster);
      volume(lexer, function.required_cluster);
    } else if (word == ".explicitcluster") {
      function.explicit_cluster = true;
    } else if (word == ".pragma") {
      do {
        if (lexer.peek().kind != Token::Kind::string) lexer.expected("a string");
        lexer.take();
      } while (lexer.accept(','));
      lexer.expect(';');
    } else {
      if (!is_hint(word)) function.unsupported = fmt::format("directive '{}'", printable(word));
      while (starts_constant(lexer)) {
        parse_constant(lexer);
        if (!lexer.accept(',')) break;
      }
    }
  }
}

void skip_attribute(Lexer& lexer) {
  lexer.expect('(');
  for (int depth = 1; depth > 0;) {
    if (lexer.peek().kind == Token::Kind::end) lexer.expected("')'");
    const Token token = lexer.take();
    depth += token.is('(') - token.is(')');
  }
}

Header parse_header(Context& context, bool is_entry) {
  Lexer& lexer = context.lexer;
  Header out;
  if (lexer.accept_directive(".attribute")) skip_attribute(lexer);
  if (lexer.peek().is('(')) {
    if (is_entry) lexer.expected("the name of a kernel");
    out.function.results = parse_parameters(context, out.function.registers);
  }
  out.line = lexer.peek().line;
  out.name = lexer.expect_identifier(is_entry ? "the name of a kernel" : "the name of a function");
  if (lexer.peek().is('(')) {
    out.function.parameters = parse_parameters(context, out.function.registers);
  }
  out.function.name = out.name;
  out.function.is_entry = is_entry;
  out.function.ptx_line = out.line;
  if (is_entry && !out.function.registers.empty()) {
    out.function.unsupported = "parameters of a kernel in registers";
  }
  parse_directives(lexer, out.function);
  return out;
}

// Adds the register that a parameter is, or those of its elements.
void add_registers(const Lexer& lexer, Variable& parameter, std::vector<Register>& registers) {
  constexpr std::string_view kElements = "xyzw";
  const std::size_t elements = parameter.bytes / bytes_of(parameter.element);
  if (elements == 0 || elements > kElements.size()) lexer.fail("a register cannot be an array");
  parameter.first_register = static_cast<std::uint32_t>(registers.size());
  for (const char element : kElements.substr(0, elements)) {
    registers.push_back(
        {elements == 1 ? parameter.name : fmt::format("{}.{}", parameter.name, element),
         parameter.element});
  }
}

// The function of the header's name; created if the name is new.
Function& declare_function(Context& context, const Header& header) {
  std::vector<Function>& functions = context.module.functions;
  const auto index = static_cast<std::uint32_t>(functions.size());
  if (context.symbols.declare(header.name, {Symbol::Kind::function, {}, index})) {
    return functions.emplace_back();
  }
  const Symbol known = *context.symbols.find(header.name);
  if (known.kind != Symbol::Kind::function) {
    context.lexer.fail(header.line, fmt::format("'{}' is declared twice", printable(header.name)));
  }
  return functions[known.index];
}

}  // namespace

std::vector<Variable> parse_parameters(Context& context, std::vector<Register>& registers) {
  Lexer& lexer = context.lexer;
  std::vector<Variable> out;
  lexer.expect('(');
  if (lexer.accept(')')) return out;
  do {
    const bool is_register = lexer.accept_directive(".reg");
    if (!is_register && !lexer.accept_directive(".param")) lexer.expected("'.param'");
    out.push_back(parse_variable(context, Space::param).variable);
    if (is_register) add_registers(lexer, out.back(), registers);
  } while (lexer.accept(','));
  lexer.expect(')');
  return out;
}

Function& parse_function(Context& context, bool is_entry) {
  Lexer& lexer = context.lexer;
  Header header = parse_header(context, is_entry);
  Function& known = declare_function(context, header);
  header.function.external = known.external;
  header.function.linkage = known.linkage;
  if (lexer.accept(';')) {
    if (!known.has_body) known = std::move(header.function);
    return known;
  }
  if (known.has_body) {
    lexer.fail(header.line, fmt::format("'{}' has two bodies", printable(header.name)));
  }
  if (!lexer.peek().is('{')) lexer.expected("';' or '{'");
  known = std::move(header.function);
  known.has_body = true;
  const char* const begin = lexer.peek().text.data();
  if (context.later == nullptr) {
    parse_body(context, known);
  } else {
    const std::uint32_t line = lexer.peek().line;
    const auto index = static_cast<std::uint32_t>(&known - context.module.functions.data());
    context.later->push_back({index, line, lexer.skip_braces()});
  }
  const char* const end = lexer.peek().text.data();  // blanks after the body change nothing
  note_files(context, {begin, static_cast<std::size_t>(end - begin)}, known.name);
  return known;
}

}  // namespace warpcheck::ptx
