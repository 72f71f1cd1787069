#include "vgpu/ptx/parse/instruction_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"
#include "vgpu/ptx/parse/constant.hpp"
#include "vgpu/ptx/parse/target_features.hpp"

namespace warpcheck::ptx {
namespace {

// Special registers (chapter 10) that have no SpecialRegister: an instruction that reads one is
// refused.
bool is_other_special_register(std::string_view name) {
  constexpr std::array kNames = {"%aggr_smem_size", "%reserved_smem_offset_begin",
                                 "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
                                 "%reserved_smem_offset_0"};
  for (const std::string_view known : kNames) {
    if (known == name) return true;
  }
  for (const std::string_view family : {"%envreg", "%pm"}) {
    if (!name.starts_with(family) || name.size() == family.size()) continue;
    const char next = name[family.size()];
    if (next >= '0' && next <= '9') return true;
  }
  return false;
}

// `%tid` and the like are vectors of four, of which the last element is zero (chapter 10).  Returns
// such a vector, or its last element; nothing: it is another name.
std::optional<Operand> special_vector(std::string_view name) {
  constexpr std::array<std::string_view, 8> kVectors = {
      "%tid",       "%ntid",       "%ctaid",         "%nctaid",
      "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};
  constexpr std::string_view kLast = ".w";
  Operand zero;
  zero.kind = Operand::Kind::immediate;
  const bool is_last = name.ends_with(kLast);
  if (is_last) name.remove_suffix(kLast.size());
  if (std::ranges::find(kVectors, name) == kVectors.end()) return std::nullopt;
  if (is_last) return zero;
  Operand vector;
  vector.kind = Operand::Kind::vector;
  for (const char element : std::string_view("xyz")) {
    Operand& part = vector.parts.emplace_back();
    part.kind = Operand::Kind::special;
    part.special = find_special_register(fmt::format("{}.{}", name, element));
  }
  vector.parts.push_back(std::move(zero));
  return vector;
}

class InstructionParser {
 public:
  InstructionParser(Context& context, const Function& function, std::optional<LabelUse>& label)
      : context_(context), lexer_(context.lexer), function_(function), label_(label) {}

  Instruction parse() {
    parse_guard();
    const Mnemonic& mnemonic = parse_mnemonic();
    if (mnemonic.opcode == Opcode::invalid) {
      lexer_.skip_statement();
      return std::move(out_);
    }
    switch (mnemonic.opcode) {
      case Opcode::bra_: parse_branch(); break;
      case Opcode::call_: parse_call(); break;
      default: parse_operands(); break;
    }
    lexer_.expect(';');
    if (out_.unsupported.empty()) {
      if (const std::string misfit = find_misfit(mnemonic, out_.operands); !misfit.empty()) {
        out_.unsupported = fmt::format("'{}': {}", out_.text, misfit);
      } else if (mnemonic.cache_policy && !mnemonic.unchecked) {
        // It changes nothing that can be observed.  It is the last operand, but for .cp_mask.
        out_.operands.erase(out_.operands.end() - (out_.modifiers.cp_mask ? 2 : 1));
      }
    }
    return std::move(out_);
  }

 private:
  void parse_guard() {
    if (!lexer_.accept('@')) return;
    out_.guard_negated = lexer_.accept('!');
    const Token token = lexer_.peek();
    const Operand guard = find_name(lexer_.expect_identifier("a predicate register"), token.line);
    if (guard.kind != Operand::Kind::reg || function_.registers[guard.index].type != Type::pred) {
      lexer_.fail(token.line,
                  fmt::format("expected a predicate register, found '{}'", printable(token.text)));
    }
    out_.guard = guard.index;
  }

  const Mnemonic& parse_mnemonic() {
    if (lexer_.peek().kind != Token::Kind::identifier) lexer_.expected("an instruction");
    lexer_.extend_mnemonic();
    const Token token = lexer_.take();
    const auto [at, is_new] = context_.mnemonics.try_emplace(token.text);
    if (is_new) {
      at->second = read_mnemonic(token.text);
      std::string& why = at->second.unsupported;
      if (why.empty()) why = lack_of_target(token.text, context_.module.target);
    }
    const Mnemonic& mnemonic = at->second;
    out_.text = token.text;
    out_.ptx_line = token.line;
    out_.opcode = mnemonic.opcode;
    out_.modifiers = mnemonic.modifiers;
    out_.unsupported = mnemonic.unsupported;
    return mnemonic;
  }

  void parse_operands() {
    if (lexer_.peek().is(';')) return;
    do {
      out_.operands.push_back(parse_operand());
    } while (lexer_.accept(','));
  }

  void parse_branch() {
    const std::uint32_t line = lexer_.peek().line;
    label_ = LabelUse{lexer_.expect_identifier("a label"), line};
    Operand& target = out_.operands.emplace_back();
    target.kind = Operand::Kind::label;
  }

  // call [(results),] callee [, (arguments)] [, prototype]
  void parse_call() {
    out_.operands.resize(3);
    out_.operands[0].kind = out_.operands[2].kind = Operand::Kind::vector;
    if (lexer_.peek().is('(')) {
      parse_list(out_.operands[0], '(', ')');
      lexer_.expect(',');
    }
    const Token callee = lexer_.peek();
    out_.operands[1] = find_name(lexer_.expect_identifier("a function"), callee.line);
    const Operand::Kind kind = out_.operands[1].kind;
    if (kind != Operand::Kind::function && kind != Operand::Kind::reg) {
      lexer_.fail(callee.line,
                  fmt::format("expected a function, found '{}'", printable(callee.text)));
    }
    if (!lexer_.accept(',')) return;
    if (lexer_.peek().is('(')) {
      parse_list(out_.operands[2], '(', ')');
      if (!lexer_.accept(',')) return;
    }
    const Token list = lexer_.peek();
    out_.operands.push_back(find_name(lexer_.expect_identifier("a prototype"), list.line));
    if (out_.operands[3].kind != Operand::Kind::name) {
      lexer_.fail(list.line, fmt::format("expected a prototype, found '{}'", printable(list.text)));
    }
  }

  // A list of simple operands between brackets.
  void parse_list(Operand& out, char open, char close) {
    lexer_.expect(open);
    out.kind = Operand::Kind::vector;
    if (lexer_.accept(close)) return;
    do {
      out.parts.push_back(parse_simple());
    } while (lexer_.accept(','));
    lexer_.expect(close);
  }

  Operand parse_operand() {
    Operand out;
    if (lexer_.peek().is('{')) {
      parse_list(out, '{', '}');
    } else if (lexer_.peek().is('[')) {
      return parse_address();
    } else {
      const bool negated = lexer_.accept(out_.opcode == Opcode::vmad_ ? '-' : '!');
      out = parse_simple();
      out.negated = negated;
    }
    if (!lexer_.accept('|')) return out;
    Operand pair;
    pair.kind = Operand::Kind::vector;
    pair.pair = true;
    pair.parts.push_back(std::move(out));
    pair.parts.push_back(parse_simple());
    return pair;
  }

  // A register, a constant, `_`, or a name with an offset.
  Operand parse_simple() {
    if (starts_constant(lexer_)) return parse_immediate();
    if (row_of(out_.opcode).family == Family::video) return parse_selected();
    const std::uint32_t line = lexer_.peek().line;
    Operand out = find_name(lexer_.expect_identifier("an operand"), line);
    if (out.kind == Operand::Kind::variable) out.offset = parse_offset();
    return out;
  }

  // A register and the part that a video instruction selects: `%r1`, `%r1.b3`, `r.h10`.
  Operand parse_selected() {
    const std::uint32_t line = lexer_.peek().line;
    const std::string_view text = lexer_.expect_identifier("an operand");
    const std::size_t dot = context_.symbols.find(text) ? std::string_view::npos : text.find('.');
    Operand out = find_name(text.substr(0, dot), line);
    if (out.kind != Operand::Kind::reg) return out;
    if (dot != std::string_view::npos) {
      out.name = text.substr(dot + 1);
    } else if (lexer_.peek().kind == Token::Kind::directive) {
      out.name = lexer_.take().text.substr(1);
    }
    return out;
  }

  Operand parse_immediate() {
    const Constant constant = parse_constant(lexer_);
    Operand out;
    out.kind = Operand::Kind::immediate;
    out.bits = constant.bits;
    out.is_float = constant.is_real;
    out.float_is_double = constant.is_double;
    return out;
  }

  // `+8`, `-8`, `+-8`, or nothing.
  std::int64_t parse_offset() {
    if (!lexer_.peek().is('+') && !lexer_.peek().is('-')) return 0;
    const std::uint32_t line = lexer_.peek().line;
    const Constant offset = parse_constant(lexer_);
    if (offset.is_real) lexer_.fail(line, "expected an integer as the offset of an address");
    return static_cast<std::int64_t>(offset.bits);
  }

  // `[base+offset]`, `[number]`, and `[texture, {x, y}]`.
  Operand parse_address() {
    lexer_.expect('[');
    Operand out;
    if (starts_constant(lexer_)) {
      out.offset = static_cast<std::int64_t>(parse_immediate().bits);
    } else {
      const Token token = lexer_.peek();
      out = find_name(lexer_.expect_identifier("an address"), token.line);
      if (out.kind != Operand::Kind::reg && out.kind != Operand::Kind::variable) {
        lexer_.fail(token.line, fmt::format("expected a register or a variable, found '{}'",
                                            printable(token.text)));
      }
      out.offset = parse_offset();
    }
    out.kind = Operand::Kind::address;
    while (lexer_.accept(',')) {
      Operand coordinates;
      if (lexer_.peek().is('{')) {
        parse_list(coordinates, '{', '}');
      } else {
        coordinates = parse_simple();
      }
      out.parts.push_back(std::move(coordinates));
    }
    lexer_.expect(']');
    return out;
  }

  Operand find_name(std::string_view name, std::uint32_t line) {
    Operand out;
    if (name == "_") {
      out.kind = Operand::Kind::sink;
      return out;
    }
    if (const std::optional<Symbol> symbol = context_.symbols.find(name)) {
      const bool is_vector = symbol->kind == Symbol::Kind::reg && symbol->elements > 1;
      return is_vector ? vector_or_element(*symbol, name, line) : operand_of(*symbol, name, line);
    }
    // `%v.x` is one token.
    if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) {
      const std::optional<Symbol> vector = context_.symbols.find(name.substr(0, dot));
      if (vector && vector->kind == Symbol::Kind::reg && vector->elements > 1) {
        return element_of(*vector, name.substr(dot), name, line);
      }
    }
    out.special = find_special_register(name);
    if (out.special != SpecialRegister::none) {
      out.kind = Operand::Kind::special;
      return out;
    }
    if (std::optional<Operand> vector = special_vector(name)) return std::move(*vector);
    if (!is_other_special_register(name)) {
      lexer_.fail(line, fmt::format("undeclared name '{}'", printable(name)));
    }
    out.kind = Operand::Kind::name;
    out.name = name;
    if (out_.unsupported.empty()) {
      out_.unsupported = fmt::format("special register '{}'", printable(name));
    }
    return out;
  }

  // A vector of registers is like a list of them; `v.x` and `v.r` are its first element (PTX ISA
  // 9.0, 6.4.3).
  Operand vector_or_element(const Symbol& vector, std::string_view name, std::uint32_t line) {
    if (lexer_.peek().kind == Token::Kind::directive) {
      return element_of(vector, lexer_.take().text, name, line);
    }
    Operand out;
    out.kind = Operand::Kind::vector;
    for (std::uint32_t at = 0; at < vector.elements; ++at) {
      Operand& part = out.parts.emplace_back();
      part.kind = Operand::Kind::reg;
      part.index = vector.index + at;
    }
    return out;
  }

  Operand element_of(const Symbol& vector, std::string_view element, std::string_view name,
                     std::uint32_t line) const {
    constexpr std::string_view kNames = "xyzwrgba";
    const std::size_t at = element.size() == 2 ? kNames.find(element[1]) : std::string_view::npos;
    if (at == std::string_view::npos || at % 4 >= vector.elements) {
      lexer_.fail(line, fmt::format("expected an element of the vector '{}', found '{}'",
                                    printable(name), printable(element)));
    }
    Operand out;
    out.kind = Operand::Kind::reg;
    out.index = vector.index + static_cast<std::uint32_t>(at % 4);
    return out;
  }

  Operand operand_of(const Symbol& symbol, std::string_view name, std::uint32_t line) const {
    Operand out;
    out.index = symbol.index;
    switch (symbol.kind) {
      case Symbol::Kind::reg: out.kind = Operand::Kind::reg; break;
      case Symbol::Kind::variable:
        out.kind = Operand::Kind::variable;
        out.index = kNone;
        out.variable = {symbol.variables, symbol.index};
        break;
      case Symbol::Kind::function:
        out.kind = Operand::Kind::function;
        out.index = kNone;
        out.name = name;
        break;
      case Symbol::Kind::branch_targets:
      case Symbol::Kind::prototype:
        out.kind = Operand::Kind::name;
        out.name = name;
        break;
      case Symbol::Kind::label:
        lexer_.fail(line,
                    fmt::format("expected an operand, found the label '{}'", printable(name)));
    }
    return out;
  }

  Context& context_;
  Lexer& lexer_;
  const Function& function_;
  std::optional<LabelUse>& label_;
  Instruction out_;
};

}  // namespace

Instruction parse_instruction(Context& context, const Function& function,
                              std::optional<LabelUse>& label) {
  return InstructionParser(context, function, label).parse();
}

}  // namespace warpcheck::ptx
