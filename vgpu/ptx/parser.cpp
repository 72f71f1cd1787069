// The module: its directives, variables and functions (PTX ISA 9.0, 4.3.1, 11.1, 11.5, 11.6).
//
//   parse(text): Lexer -> parse_module -> parse_variable, parse_function -> parse_body
//                -> parse_instruction -> Module
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "vgpu/ptx/parse/constant.hpp"
#include "vgpu/ptx/parse/context.hpp"
#include "vgpu/ptx/parse/function_parser.hpp"
#include "vgpu/ptx/parse/module_parser.hpp"
#include "vgpu/ptx/parse/variable_parser.hpp"

namespace warpcheck::ptx {
namespace {

constexpr std::uint64_t kFilesMax = 1 << 16;

// .version 9.0
void parse_version(Context& context) {
  Lexer& lexer = context.lexer;
  if (!lexer.accept_directive(".version")) lexer.expected("'.version'");
  const std::string_view text = lexer.peek().text;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, context.module.version_major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') {
    lexer.expected("a version");
  }
  const auto minor = std::from_chars(major.ptr + 1, end, context.module.version_minor);
  if (minor.ec != std::errc{} || minor.ptr != end) lexer.expected("a version");
  lexer.take();
}

// .target sm_75, debug
void parse_target(Context& context) {
  Lexer& lexer = context.lexer;
  if (!lexer.accept_directive(".target")) lexer.expected("'.target'");
  context.module.target = lexer.expect_identifier("a target");
  while (lexer.accept(',')) {
    if (lexer.expect_identifier("a target option") == "debug") context.module.debug = true;
  }
}

void parse_address_size(Context& context) {
  const std::uint32_t line = context.lexer.peek().line;
  const std::uint64_t bits = parse_count(context.lexer, "an address size", 64);
  if (bits != 32 && bits != 64) context.lexer.fail(line, "expected an address size of 32 or 64");
  context.module.address_bits = static_cast<std::uint32_t>(bits);
}

// A file's name as nvcc writes it, "a \"b\" \303\274.cu": quotes and backslashes after a
// backslash, tabs and the like as in C, and every other byte that is not printable ASCII as three
// octal digits.
std::string unescaped(std::string_view text) {
  constexpr std::string_view kLetters = "nrtbf", kMeanings = "\n\r\t\b\f";
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const bool is_octal =
        rest.size() >= 4 && std::ranges::all_of(rest.substr(1, 3), [](char digit) {
          return digit >= '0' && digit <= '7';
        });
    if (rest[0] != '\\' || rest.size() == 1) {
      name += rest[0];
    } else if (is_octal) {
      name += static_cast<char>((rest[1] - '0') * 64 + (rest[2] - '0') * 8 + (rest[3] - '0'));
      i += 3;
    } else {
      const std::size_t letter = kLetters.find(rest[1]);
      name += letter == std::string_view::npos ? rest[1] : kMeanings[letter];
      ++i;
    }
  }
  return name;
}

// .file 1 "name" [, timestamp, size]
void parse_file(Context& context) {
  Lexer& lexer = context.lexer;
  const std::uint64_t number = parse_count(lexer, "a file number", kFilesMax);
  if (lexer.peek().kind != Token::Kind::string) lexer.expected("a file name");
  const std::string_view name = lexer.take().text;
  while (lexer.accept(',')) parse_constant(lexer);
  std::vector<std::string>& files = context.module.files;
  if (files.size() <= number) files.resize(number + 1);
  files[number] = unescaped(name.substr(1, name.size() - 2));
}

// .section .debug_info { ... }: DWARF, which is skipped, except for the names of functions.
void parse_section(Context& context) {
  Lexer& lexer = context.lexer;
  const Token name = lexer.take();
  if (name.kind != Token::Kind::directive && name.kind != Token::Kind::identifier) {
    lexer.fail(name.line,
               fmt::format("expected the name of a section, found '{}'", printable(name.text)));
  }
  if (!lexer.peek().is('{')) lexer.expected("'{'");
  const std::string_view text = lexer.skip_braces();
  if (name.text == ".debug_str") context.function_names.read(text);
}

// .alias name, target;
void parse_alias(Context& context) {
  Lexer& lexer = context.lexer;
  const std::uint32_t line = lexer.peek().line;
  const std::string_view name = lexer.expect_identifier("a function");
  lexer.expect(',');
  const std::string_view target = lexer.expect_identifier("a function");
  lexer.expect(';');
  for (const std::string_view function : {name, target}) {
    const std::optional<Symbol> symbol = context.symbols.find(function);
    if (symbol && symbol->kind == Symbol::Kind::function) continue;
    lexer.fail(line, fmt::format("undeclared function '{}'", printable(function)));
  }
  context.module.aliases.push_back({std::string(name), std::string(target)});
}

// Adds a variable.  A definition replaces an `.extern` declaration of the same name in the list.
void declare_variable(Context& context, Declaration declaration) {
  std::vector<Variable>& variables = context.module.variables;
  const auto index = static_cast<std::uint32_t>(variables.size());
  const Symbol symbol{Symbol::Kind::variable, VariableRef::Scope::module, index};
  if (context.symbols.declare(declaration.name, symbol)) {
    variables.push_back(std::move(declaration.variable));
    return;
  }
  const Symbol known = *context.symbols.find(declaration.name);
  const bool both_defined = known.kind == Symbol::Kind::variable &&
                            !variables[known.index].external && !declaration.variable.external;
  if (known.kind != Symbol::Kind::variable || both_defined) {
    context.lexer.fail(declaration.line,
                       fmt::format("'{}' is declared twice", printable(declaration.name)));
  }
  if (variables[known.index].external) variables[known.index] = std::move(declaration.variable);
}

// [.extern | .visible | .weak | .common] function or variable
void parse_entity(Context& context) {
  Lexer& lexer = context.lexer;
  bool external = false;
  Linkage linkage = Linkage::internal;
  for (;;) {
    if (lexer.accept_directive(".extern")) {
      external = true;
    } else if (lexer.accept_directive(".visible")) {
      linkage = Linkage::visible;
    } else if (lexer.accept_directive(".weak")) {
      linkage = Linkage::weak;
    } else if (lexer.accept_directive(".common")) {
      linkage = Linkage::common;
    } else {
      break;
    }
  }
  for (const bool is_entry : {true, false}) {
    if (!lexer.accept_directive(is_entry ? ".entry" : ".func")) continue;
    Function& function = parse_function(context, is_entry);
    function.external |= external;
    if (linkage != Linkage::internal) function.linkage = linkage;
    return;
  }
  const Token& token = lexer.peek();
  const Space space =
      token.kind == Token::Kind::directive ? find_space(token.text) : Space::generic;
  if (space != Space::global && space != Space::constant && space != Space::shared) {
    lexer.expected("a declaration of a function or variable");
  }
  lexer.take();
  for (Declaration& declaration : parse_variables(context, space)) {
    declaration.variable.external = external;
    declaration.variable.linkage = linkage;
    declare_variable(context, std::move(declaration));
  }
}

}  // namespace

Context begin_module(Module& module, std::string_view text, std::string_view name) {
  constexpr std::uint64_t kFreeRegisters = 1 << 18;
  constexpr std::uint64_t kFreePadding = 1 << 26;
  module.name = name;
  return {Lexer(text, name),
          module,
          Budget{kFreeRegisters + text.size(), kFreePadding},
          {},
          {},
          {},
          {}};
}

void parse_module(Context& context) {
  Lexer& lexer = context.lexer;
  parse_version(context);
  parse_target(context);
  while (lexer.peek().kind != Token::Kind::end) {
    if (lexer.accept_directive(".address_size")) {
      parse_address_size(context);
    } else if (lexer.accept_directive(".file")) {
      parse_file(context);
    } else if (lexer.accept_directive(".section")) {
      parse_section(context);
    } else if (lexer.accept_directive(".alias")) {
      parse_alias(context);
    } else if (lexer.accept_directive(".pragma")) {
      lexer.skip_statement();
    } else {
      parse_entity(context);
    }
  }
  context.functions_of_files.conclude(context.module, context.function_names);
  context.function_names.resolve(context.module.inlined_functions);
}

const Function* Module::find_function(std::string_view function_name) const {
  for (const Alias& alias : aliases) {
    if (alias.name == function_name) function_name = alias.target;
  }
  for (const Function& function : functions) {
    if (function.name == function_name) return &function;
  }
  return nullptr;
}

Module parse(std::string_view text, std::string_view name) {
  Module module;
  Context context = begin_module(module, text, name);
  parse_module(context);
  return module;
}

}  // namespace warpcheck::ptx
