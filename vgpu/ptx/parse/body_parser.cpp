#include "vgpu/ptx/parse/body_parser.hpp"

#include <fmt/format.h>

#include <deque>
#include <limits>
#include <optional>

#include "vgpu/ptx/parse/constant.hpp"
#include "vgpu/ptx/parse/function_parser.hpp"
#include "vgpu/ptx/parse/instruction_parser.hpp"
#include "vgpu/ptx/parse/locations.hpp"
#include "vgpu/ptx/parse/variable_parser.hpp"

namespace warpcheck::ptx {
namespace {

constexpr std::uint32_t kScopeDepthMax = 64;

class BodyParser {
 public:
  BodyParser(Context& context, Function& function)
      : context_(context), lexer_(context.lexer), function_(function), locations_(context) {}

  void parse() {
    open_scope();
    declare_header();
    lexer_.expect('{');
    // The body's outermost scope is that of the header, so `.reg` must not repeat a parameter's
    // name in it.
    parse_scope();
    require_labels();
  }

  void parse_statements() {
    open_scope();
    declare_known();
    lexer_.expect('{');
    open_scope();
    parse_scope();
    if (lexer_.peek().kind != Token::Kind::end) lexer_.expected("the end of the text");
    close_scope();
    require_labels();
  }

 private:
  // A use of a label that no scope has defined so far; the indices say where the label's index must
  // be stored.
  struct Unresolved {
    LabelUse use;
    std::uint32_t depth;  // the scope in which it is searched next
    std::uint32_t owner;  // instruction, or branch target list
    std::uint32_t position;
    bool in_list;
  };

  void parse_scope() {
    const std::uint32_t outermost = context_.symbols.depth();
    while (context_.symbols.depth() >= outermost) parse_statement();
  }

  void require_labels() const {
    if (unresolved_.empty()) return;
    const LabelUse& use = unresolved_.front().use;
    lexer_.fail(use.line, fmt::format("undeclared label '{}'", printable(use.name)));
  }

  void open_scope() {
    if (context_.symbols.depth() == kScopeDepthMax) lexer_.fail("scopes are nested too deeply");
    context_.symbols.open_scope();
  }

  // A label of this scope resolves the uses in it; other uses are searched in the outer scope.
  void close_scope() {
    const std::uint32_t depth = context_.symbols.depth();
    std::size_t first = unresolved_.size();
    while (first > 0 && unresolved_[first - 1].depth == depth) --first;
    std::size_t kept = first;
    for (std::size_t at = first; at < unresolved_.size(); ++at) {
      Unresolved use = unresolved_[at];
      const std::optional<Symbol> symbol = context_.symbols.find(use.use.name);
      if (symbol && symbol->kind == Symbol::Kind::label && symbol->depth == depth) {
        set_label(use, symbol->index);
        continue;
      }
      --use.depth;
      unresolved_[kept++] = use;
    }
    unresolved_.resize(kept);
    context_.symbols.close_scope();
  }

  void set_label(const Unresolved& use, std::uint32_t label) {
    if (use.in_list) {
      function_.branch_targets[use.owner].labels[use.position] = label;
    } else {
      function_.body[use.owner].operands[use.position].index = label;
    }
  }

  void declare(std::string_view name, const Symbol& symbol, std::uint32_t line) {
    if (context_.symbols.declare(name, symbol)) return;
    lexer_.fail(line, fmt::format("'{}' is declared twice", printable(name)));
  }

  // Declares results, parameters, and parameters in registers.  Their names are stored in the
  // function.
  void declare_header() {
    const auto declare_all = [&](std::vector<Variable>& variables, VariableRef::Scope scope) {
      for (std::uint32_t at = 0; at < variables.size(); ++at) {
        const Variable& one = variables[at];
        if (one.name == "_") continue;
        const Symbol symbol = one.first_register == kNone
                                  ? Symbol{Symbol::Kind::variable, scope, at}
                                  : register_symbol(one);
        declare(one.name, symbol, function_.ptx_line);
      }
    };
    declare_all(function_.results, VariableRef::Scope::result);
    declare_all(function_.parameters, VariableRef::Scope::parameter);
  }

  static Symbol register_symbol(const Variable& parameter) {
    return {.index = parameter.first_register,
            .elements = static_cast<std::uint8_t>(parameter.bytes / bytes_of(parameter.element))};
  }

  // Declares all names of a function that has been parsed.  Their texts are copied, because the
  // function's lists grow meanwhile.
  void declare_known() {
    const auto declare_known_as = [&](std::string_view name, const Symbol& symbol) {
      context_.symbols.declare(known_names_.emplace_back(name), symbol);
    };
    const auto declare_variables = [&](const std::vector<Variable>& variables,
                                       VariableRef::Scope scope) {
      for (std::uint32_t at = 0; at < variables.size(); ++at) {
        if (variables[at].first_register != kNone) continue;
        declare_known_as(variables[at].name, {Symbol::Kind::variable, scope, at});
      }
    };
    declare_variables(function_.results, VariableRef::Scope::result);
    declare_variables(function_.parameters, VariableRef::Scope::parameter);
    declare_variables(function_.locals, VariableRef::Scope::local);
    for (std::uint32_t at = 0; at < function_.registers.size(); ++at) {
      declare_known_as(function_.registers[at].name, {Symbol::Kind::reg, {}, at});
    }
    for (std::uint32_t at = 0; at < function_.labels.size(); ++at) {
      declare_known_as(function_.labels[at].name, {Symbol::Kind::label, {}, at});
    }
  }

  void parse_statement() {
    const Token& token = lexer_.peek();
    if (token.kind == Token::Kind::directive) return parse_directive();
    if (token.kind == Token::Kind::identifier && lexer_.at_label()) return parse_label();
    if (lexer_.accept('{')) return open_scope();
    if (lexer_.accept('}')) return close_scope();
    if (lexer_.accept(';')) return;
    if (token.kind != Token::Kind::identifier && !token.is('@')) {
      lexer_.expected("an instruction or '}'");
    }
    std::optional<LabelUse> label;
    Instruction instruction = parse_instruction(context_, function_, label);
    instruction.location = location_;
    if (label) use_label(*label, static_cast<std::uint32_t>(function_.body.size()), 0, false);
    function_.body.push_back(std::move(instruction));
  }

  void use_label(const LabelUse& use, std::uint32_t owner, std::uint32_t position, bool in_list) {
    unresolved_.push_back({use, context_.symbols.depth(), owner, position, in_list});
  }

  void parse_label() {
    const Token name = lexer_.take();
    lexer_.expect(':');
    const std::string_view directive = lexer_.peek().text;
    if (directive == ".branchtargets") return parse_branch_targets(name);
    if (directive == ".callprototype") return parse_prototype(name);
    if (directive == ".calltargets") return parse_call_targets(name);
    const auto index = static_cast<std::uint32_t>(function_.labels.size());
    declare(name.text, {Symbol::Kind::label, {}, index}, name.line);
    function_.labels.push_back(
        {std::string(name.text), static_cast<std::uint32_t>(function_.body.size())});
  }

  void parse_branch_targets(const Token& name) {
    lexer_.take();
    const auto index = static_cast<std::uint32_t>(function_.branch_targets.size());
    declare(name.text, {Symbol::Kind::branch_targets, {}, index}, name.line);
    BranchTargets& targets = function_.branch_targets.emplace_back();
    targets.name = name.text;
    do {
      const std::uint32_t line = lexer_.peek().line;
      const std::string_view label = lexer_.expect_identifier("a label");
      use_label({label, line}, index, static_cast<std::uint32_t>(targets.labels.size()), true);
      targets.labels.push_back(kNone);
    } while (lexer_.accept(','));
    lexer_.expect(';');
  }

  // name: .callprototype [(results)] _ [(parameters)] [.noreturn ...];
  void parse_prototype(const Token& name) {
    lexer_.take();
    const auto index = static_cast<std::uint32_t>(function_.prototypes.size());
    declare(name.text, {Symbol::Kind::prototype, {}, index}, name.line);
    Prototype prototype;
    prototype.name = name.text;
    std::vector<Register> registers;  // only their sizes count
    if (lexer_.peek().is('(')) prototype.results = parse_parameters(context_, registers);
    lexer_.expect_identifier("'_'");
    if (lexer_.peek().is('(')) prototype.parameters = parse_parameters(context_, registers);
    lexer_.skip_statement();
    function_.prototypes.push_back(std::move(prototype));
  }

  // name: .calltargets f, g;
  void parse_call_targets(const Token& name) {
    lexer_.take();
    const auto index = static_cast<std::uint32_t>(function_.prototypes.size());
    declare(name.text, {Symbol::Kind::prototype, {}, index}, name.line);
    Prototype& prototype = function_.prototypes.emplace_back();
    prototype.name = name.text;
    do {
      prototype.targets.emplace_back(lexer_.expect_identifier("a function"));
    } while (lexer_.accept(','));
    lexer_.expect(';');
  }

  void parse_directive() {
    const Token word = lexer_.take();
    const bool external = word.text == ".extern";
    const Token space_word = external ? lexer_.take() : word;
    if (word.text == ".loc") {
      const SourceLocation location = locations_.read();
      // Line 0: the optimiser has merged instructions of several lines and gives none of them.
      if (location.line != 0 || location_.line == 0) {
        location_ = location;
      } else {
        location_.column = kMergedColumn;
      }
    } else if (word.text == ".pragma") {
      lexer_.skip_statement();
    } else if (word.text == ".reg") {
      parse_registers();
    } else {
      const Space space =
          space_word.kind == Token::Kind::directive ? find_space(space_word.text) : Space::generic;
      if (space != Space::local && space != Space::shared && space != Space::param) {
        lexer_.fail(word.line, fmt::format("expected an instruction or a declaration, found '{}'",
                                           printable(space_word.text)));
      }
      parse_locals(space, external);
    }
  }

  void parse_locals(Space space, bool external) {
    for (Declaration& local : parse_variables(context_, space)) {
      local.variable.external = external;
      const auto index = static_cast<std::uint32_t>(function_.locals.size());
      declare(local.name, {Symbol::Kind::variable, VariableRef::Scope::local, index}, local.line);
      function_.locals.push_back(std::move(local.variable));
    }
  }

  // .reg .b32 %r<10>, a, b;  .reg .v2 .f32 pair;
  void parse_registers() {
    std::uint8_t elements = 1;
    if (lexer_.accept_directive(".v2")) elements = 2;
    if (elements == 1 && lexer_.accept_directive(".v4")) elements = 4;
    if (lexer_.peek().kind != Token::Kind::directive) lexer_.expected("a type");
    const Token type_token = lexer_.take();
    const Type type = find_type(type_token.text);
    if (type == Type::none) {
      lexer_.fail(type_token.line, fmt::format("expected the type of a register, found '{}'",
                                               printable(type_token.text)));
    }
    // A vector has at most 128 bits, and none of predicates (PTX ISA 9.0, 5.4.2).
    constexpr std::uint32_t kVectorBytesMax = 16;
    if (elements > 1 && (type == Type::pred || bytes_of(type) * elements > kVectorBytesMax)) {
      lexer_.fail(type_token.line, fmt::format("expected the type of an element of a vector of at "
                                               "most 128 bits, found '{}'",
                                               printable(type_token.text)));
    }
    do {
      const Token name = lexer_.peek();
      lexer_.expect_identifier("the name of a register");
      parse_register(name, type, elements);
    } while (lexer_.accept(','));
    lexer_.expect(';');
  }

  void parse_register(const Token& name, Type type, std::uint8_t elements) {
    const auto first = static_cast<std::uint32_t>(function_.registers.size());
    if (!lexer_.accept('<')) {
      spend_registers(elements, name.line);
      declare(name.text, {.index = first, .elements = elements}, name.line);
      add_register(std::string(name.text), type, elements);
      return;
    }
    const std::uint64_t count =
        parse_count(lexer_, "a number of registers", std::numeric_limits<std::uint32_t>::max());
    lexer_.expect('>');
    spend_registers(count * elements, name.line);
    if (!context_.symbols.declare_registers(name.text, first, static_cast<std::uint32_t>(count),
                                            elements)) {
      lexer_.fail(name.line, fmt::format("'{}' is declared twice", printable(name.text)));
    }
    for (std::uint64_t at = 0; at < count; ++at) {
      add_register(fmt::format("{}{}", name.text, at), type, elements);
    }
  }

  // The elements of a vector are registers of their own, which follow one another.
  void add_register(const std::string& name, Type type, std::uint8_t elements) {
    if (elements == 1) {
      function_.registers.push_back({name, type});
      return;
    }
    for (const char element : std::string_view("xyzw").substr(0, elements)) {
      function_.registers.push_back({fmt::format("{}.{}", name, element), type});
    }
  }

  void spend_registers(std::uint64_t count, std::uint32_t line) {
    if (count > context_.budget.registers) {
      lexer_.fail(line, fmt::format("{} registers are more than this text can use", count));
    }
    context_.budget.registers -= count;
  }

  Context& context_;
  Lexer& lexer_;
  Function& function_;
  LocationReader locations_;
  SourceLocation location_;
  std::vector<Unresolved> unresolved_;
  std::deque<std::string> known_names_;
};

}  // namespace

void parse_body(Context& context, Function& function) { BodyParser(context, function).parse(); }

void parse_statements(Context& context, Function& function) {
  BodyParser(context, function).parse_statements();
}

}  // namespace warpcheck::ptx
