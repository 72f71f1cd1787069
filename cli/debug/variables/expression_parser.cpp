// The grammar of expressions: recursive descent, and precedences for binary operators.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/debug/variables/expression_nodes.hpp"
#include "cli/debug/variables/scalar.hpp"

namespace warpcheck::debug {
namespace {

using NodePtr = std::unique_ptr<Node>;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_number(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return is_letter(c) || is_number(c); }

struct BinaryOperator {
  std::string_view text;
  Operator op;
  int precedence;  // the higher binds more
};
// Of operators that begin alike, the longer one comes first.
constexpr std::array kBinary = {
    BinaryOperator{"<<", Operator::shift_left, 8},
    BinaryOperator{">>", Operator::shift_right, 8},
    BinaryOperator{"<=", Operator::less_equal, 7},
    BinaryOperator{">=", Operator::greater_equal, 7},
    BinaryOperator{"==", Operator::equal, 6},
    BinaryOperator{"!=", Operator::not_equal, 6},
    BinaryOperator{"&&", Operator::logical_and, 2},
    BinaryOperator{"||", Operator::logical_or, 1},
    BinaryOperator{"@", Operator::repeat, 11},
    BinaryOperator{"*", Operator::multiply, 10},
    BinaryOperator{"/", Operator::divide, 10},
    BinaryOperator{"%", Operator::remainder, 10},
    BinaryOperator{"+", Operator::add, 9},
    BinaryOperator{"-", Operator::subtract, 9},
    BinaryOperator{"<", Operator::less, 7},
    BinaryOperator{">", Operator::greater, 7},
    BinaryOperator{"&", Operator::bit_and, 5},
    BinaryOperator{"^", Operator::bit_xor, 4},
    BinaryOperator{"|", Operator::bit_or, 3},
};
constexpr std::array<std::pair<char, Operator>, 6> kUnary = {{{'+', Operator::plus},
                                                              {'-', Operator::negate},
                                                              {'!', Operator::logical_not},
                                                              {'~', Operator::complement},
                                                              {'*', Operator::dereference},
                                                              {'&', Operator::address_of}}};

const std::map<std::string_view, ptx::Space>& spaces() {
  static const std::map<std::string_view, ptx::Space> kSpaces = {
      {"generic", ptx::Space::generic}, {"global", ptx::Space::global},
      {"shared", ptx::Space::shared},   {"local", ptx::Space::local},
      {"const", ptx::Space::constant},  {"constant", ptx::Space::constant},
      {"param", ptx::Space::param},     {"parameter", ptx::Space::param}};
  return kSpaces;
}

class Parser {
 public:
  Parser(std::string_view text, const ModuleDescription& module) : text_(text), module_(module) {}

  NodePtr whole() {
    NodePtr node = conditional();
    if (!at_end() && peek() == '=') fail("an expression cannot assign; '==' compares");
    if (!at_end()) expected("an operator or the end");
    return node;
  }
  // nullptr: the text is no type, or goes on behind it.
  const Type* whole_type() {
    const Type* const type = type_name();
    return type != nullptr && at_end() ? type : nullptr;
  }

 private:
  // Bounds the recursion, so that no text exhausts the stack.
  struct Depth {
    explicit Depth(Parser& parser) : depth(parser.depth_) {
      constexpr int kDepthMax = 1000;
      if (++depth > kDepthMax) parser.fail("the expression is nested too deeply");
    }
    ~Depth() { --depth; }
    int& depth;
  };

  [[noreturn]] void fail(const std::string& message) const {
    throw ExpressionError(at_ + 1, message);
  }
  [[noreturn]] void expected(std::string_view what);

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool accept(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) expected(fmt::format("'{}'", token));
  }
  std::string_view word();  // empty: there is none
  std::string_view qualified_name();

  NodePtr make(Node::Kind kind, std::size_t column) const {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->column = column;
    node->end_column = at_ + 1;
    return node;
  }
  NodePtr conditional();
  NodePtr binary(int precedence_min);
  NodePtr unary();
  NodePtr cast_or_none();
  void refuse_unknown_pointer();
  NodePtr size_of(std::size_t column);
  NodePtr postfix();
  NodePtr primary();
  NodePtr number();
  NodePtr real(std::size_t begin);
  NodePtr character();
  NodePtr literal(std::size_t column, Scalar scalar) const;

  const Type* type_name();
  const Type* pointer_to_array(const Type& element, std::optional<ptx::Space> space);
  const Type* base_type();
  std::string template_arguments();

  std::string_view text_;
  const ModuleDescription& module_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

void Parser::expected(std::string_view what) {
  if (at_end()) fail(fmt::format("expected {}, found the end", what));
  std::size_t end = at_ + 1;
  while (end < text_.size() && is_word(text_[at_]) && is_word(text_[end])) ++end;
  if (text_[at_] == '$') {  // as other debuggers have it
    fail("expected a register as PTX names it, such as %r1 (info registers), found '$'");
  }
  fail(fmt::format("expected {}, found '{}'", what, text_.substr(at_, end - at_)));
}

std::string_view Parser::word() {
  skip_blanks();
  const std::size_t begin = at_;
  if (is_letter(peek())) {
    while (is_word(peek())) ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

// a::b
std::string_view Parser::qualified_name() {
  skip_blanks();
  const std::size_t begin = at_;
  word();
  while (at_ > begin && peek() == ':' && peek(1) == ':' && is_letter(peek(2))) {
    at_ += 2;
    word();
  }
  return text_.substr(begin, at_ - begin);
}

// a ? b : c
NodePtr Parser::conditional() {
  const Depth depth(*this);
  skip_blanks();
  const std::size_t column = at_ + 1;
  NodePtr condition = binary(1);
  if (!accept("?")) return condition;
  NodePtr node = make(Node::Kind::conditional, column);
  node->a = std::move(condition);
  node->b = conditional();
  expect(":");
  node->c = conditional();
  node->end_column = at_ + 1;
  return node;
}

NodePtr Parser::binary(int precedence_min) {
  const Depth depth(*this);
  NodePtr left = unary();
  for (;;) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    const auto* const found = std::ranges::find_if(
        kBinary, [&](const BinaryOperator& each) { return rest.starts_with(each.text); });
    if (found == kBinary.end() || found->precedence < precedence_min) return left;
    const bool assigns = rest.substr(found->text.size()).starts_with('=');
    if (assigns) fail("expressions do not assign");
    NodePtr node = make(Node::Kind::binary, at_ + 1);
    at_ += found->text.size();
    node->op = found->op;
    node->a = std::move(left);
    node->b = binary(found->precedence + 1);
    node->end_column = at_ + 1;
    left = std::move(node);
  }
}

NodePtr Parser::unary() {
  const Depth depth(*this);
  skip_blanks();
  const std::size_t column = at_ + 1;
  for (const auto& [c, op] : kUnary) {
    if (peek() != c) continue;
    ++at_;
    NodePtr node = make(Node::Kind::unary, column);
    node->op = op;
    node->a = unary();
    node->end_column = at_ + 1;
    return node;
  }
  if (NodePtr cast = cast_or_none()) return cast;
  return postfix();
}

// (float*)a; nothing, if the parentheses have no type in them
NodePtr Parser::cast_or_none() {
  skip_blanks();
  const std::size_t begin = at_;
  if (!accept("(")) return nullptr;
  const Type* const type = type_name();
  if (type == nullptr || !accept(")")) {
    at_ = begin;
    refuse_unknown_pointer();
    return nullptr;
  }
  NodePtr node = make(Node::Kind::cast, begin + 1);
  node->type = type;
  node->a = unary();
  node->end_column = at_ + 1;
  return node;
}

// (Unknown*): no expression begins like this
void Parser::refuse_unknown_pointer() {
  const std::size_t begin = at_;
  accept("(");
  const std::string name(qualified_name());
  bool is_pointer = false;
  while (!name.empty() && accept("*")) is_pointer = true;
  const bool is_cast = is_pointer && accept(")");
  at_ = begin;
  if (!is_cast) return;
  ++at_;
  fail(fmt::format("no type `{}`{}", name,
                   module_.debug_info() == nullptr
                       ? ": the optimised build describes no types of the program"
                       : ""));
}

// sizeof(type), sizeof e: behind the word
NodePtr Parser::size_of(std::size_t column) {
  const std::size_t begin = at_;
  if (accept("(")) {
    const Type* const type = type_name();
    if (type != nullptr && accept(")")) {
      return literal(column, {&module_.basic_types().get("unsigned long"), stripped(type).bytes});
    }
    at_ = begin;
  }
  NodePtr node = make(Node::Kind::size_of, column);
  node->a = unary();
  node->end_column = at_ + 1;
  return node;
}

NodePtr Parser::postfix() {
  NodePtr node = primary();
  for (;;) {
    skip_blanks();
    const std::size_t column = at_ + 1;
    NodePtr outer;
    if (accept("[")) {
      outer = make(Node::Kind::index, column);
      outer->b = conditional();
      expect("]");
    } else if (accept("->")) {
      outer = make(Node::Kind::arrow, column);
      outer->name = qualified_name();
      if (outer->name.empty()) expected("the name of a member");
    } else if (peek() == '.' && !is_number(peek(1))) {
      ++at_;
      outer = make(Node::Kind::member, column);
      outer->name = qualified_name();
      if (outer->name.empty()) expected("the name of a member");
    } else if (peek() == '(') {
      fail("an expression cannot call a function");
    } else {
      return node;
    }
    outer->a = std::move(node);
    outer->end_column = at_ + 1;
    node = std::move(outer);
  }
}

NodePtr Parser::primary() {
  const Depth depth(*this);
  skip_blanks();
  const std::size_t begin = at_;
  if (accept("(")) {
    NodePtr node = conditional();
    expect(")");
    return node;
  }
  if (is_number(peek()) || (peek() == '.' && is_number(peek(1)))) return number();
  if (peek() == '\'') return character();
  if (peek() == '%' && is_letter(peek(1))) {
    ++at_;
    while (is_word(peek()) || (peek() == '.' && is_letter(peek(1)))) ++at_;
    NodePtr node = make(Node::Kind::reg, begin + 1);
    node->name = text_.substr(begin, at_ - begin);
    return node;
  }
  const std::string name(qualified_name());
  if (name.empty()) expected("a value");
  if (name == "sizeof") return size_of(begin + 1);
  if (name == "true" || name == "false") {
    return literal(begin + 1, {&module_.basic_types().get("bool"), name == "true" ? 1u : 0u});
  }
  if (name == "nullptr") {
    return literal(begin + 1,
                   {&module_.basic_types().pointer_to(module_.basic_types().get("void"))});
  }
  NodePtr node = make(Node::Kind::variable, begin + 1);
  node->name = name;
  return node;
}

NodePtr Parser::literal(std::size_t column, Scalar scalar) const {
  NodePtr node = make(Node::Kind::literal, column);
  node->value = value_of(scalar);
  return node;
}

// 1.5, 1e3f, .5
NodePtr Parser::real(std::size_t begin) {
  double number = 0;
  const char* const first = text_.data() + begin;
  const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), number);
  if (error != std::errc{}) fail("the number is too large for double, or too small");
  at_ = static_cast<std::size_t>(end - text_.data());
  const bool is_float = peek() == 'f' || peek() == 'F';
  if (is_float) {
    float narrow = 0;
    std::from_chars(first, end, narrow);
    number = narrow;
    ++at_;
  }
  if (is_word(peek())) expected("an operator behind the number");
  return literal(begin + 1, {&module_.basic_types().get(is_float ? "float" : "double"), 0, number});
}

// The type of an integer literal is the first of C's list that it fits (C11, 6.4.4.1).
NodePtr Parser::number() {
  const std::size_t begin = at_;
  std::size_t end = at_;
  const bool is_hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  const bool is_binary = peek() == '0' && (peek(1) == 'b' || peek(1) == 'B');
  while (end < text_.size() && is_number(text_[end])) ++end;
  const char next = end < text_.size() ? text_[end] : '\0';
  if (!is_hex && !is_binary && (next == '.' || next == 'e' || next == 'E')) return real(begin);

  const bool is_octal = !is_hex && !is_binary && peek() == '0';
  const int base = is_hex ? 16 : is_binary ? 2 : is_octal ? 8 : 10;
  if (is_hex || is_binary) at_ += 2;
  std::uint64_t bits = 0;
  const char* const last = text_.data() + text_.size();
  const auto [stop, error] = std::from_chars(text_.data() + at_, last, bits, base);
  if (error == std::errc::result_out_of_range) fail("the number does not fit 64 bits");
  if (error != std::errc{}) expected("a digit");
  at_ = static_cast<std::size_t>(stop - text_.data());
  bool is_unsigned = false;
  int longs = 0;
  while (is_word(peek())) {
    const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(peek())));
    if (c == 'u' && !is_unsigned) {
      is_unsigned = true;
    } else if (c == 'l' && longs < 2) {
      ++longs;
    } else {
      expected("a digit, or u, l or ll behind the number");
    }
    ++at_;
  }
  constexpr std::array<std::string_view, 3> kNames = {"int", "long", "long long"};
  for (std::size_t rank = static_cast<std::size_t>(longs); rank < kNames.size(); ++rank) {
    const unsigned width = rank == 0 ? 32 : 64;
    const std::uint64_t max = std::numeric_limits<std::uint64_t>::max() >> (64 - width);
    const std::string unsigned_name = "unsigned " + std::string(kNames[rank]);
    if (!is_unsigned && bits <= max / 2) {
      return literal(begin + 1, {&module_.basic_types().get(kNames[rank]), bits});
    }
    if ((is_unsigned || base != 10) && bits <= max) {
      return literal(begin + 1, {&module_.basic_types().get(unsigned_name), bits});
    }
  }
  fail("the number fits no signed type: write u behind it");
}

// 'a', '\n', '\x41', '\0'
NodePtr Parser::character() {
  const std::size_t begin = at_++;
  int code = static_cast<unsigned char>(peek());
  if (code == '\\') {
    constexpr std::string_view kLetters = "abfnrtv\\'\"?";
    constexpr std::string_view kCodes = "\a\b\f\n\r\t\v\\'\"?";
    ++at_;
    const std::size_t letter = kLetters.find(peek());
    const bool is_hex = peek() == 'x';
    if (letter != std::string_view::npos && peek() != '\0') {
      code = kCodes[letter];
    } else {
      if (is_hex) ++at_;
      unsigned char byte = 0;
      const char* const first = text_.data() + at_;
      const auto [end, error] =
          std::from_chars(first, text_.data() + text_.size(), byte, is_hex ? 16 : 8);
      if (error != std::errc{}) expected("an escape of one byte");
      code = byte;
      at_ += static_cast<std::size_t>(end - first) - 1;
    }
  }
  ++at_;
  expect("'");
  return literal(begin + 1, {&module_.basic_types().get("char"),
                             extended(static_cast<std::uint64_t>(code), 8, true)});
}

// "<float,3>", as nvcc describes it, for "<float, 3>"; empty: there are none here
std::string Parser::template_arguments() {
  const std::size_t begin = at_;
  std::string text;
  int depth = 0;
  do {
    const char c = peek();
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == '\0' || depth == 0) break;
    if (c != ' ' || !text.ends_with(',')) text += c;
    ++at_;
  } while (true);
  if (text.empty() || !accept(">")) {
    at_ = begin;
    return {};
  }
  return text + ">";
}

// "unsigned int", "struct Point", "deep::Pair", "Ring<int, 4>"
const Type* Parser::base_type() {
  std::vector<std::string> words;
  const std::size_t begin = at_;
  const auto skip_qualifiers = [&] {
    for (;;) {
      const std::size_t before = at_;
      const std::string_view next = word();
      const bool skips = next == "const" || next == "volatile" || next == "struct" ||
                         next == "union" || next == "enum" || next == "class";
      if (skips) continue;
      at_ = before;
      return;
    }
  };
  static constexpr std::array<std::string_view, 9> kWords = {
      "unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool"};
  for (;;) {
    skip_qualifiers();
    const std::size_t before = at_;
    const std::string_view next = word();
    if (std::ranges::find(kWords, next) == kWords.end() || next.empty()) {
      at_ = before;
      break;
    }
    words.emplace_back(next);
  }
  if (words.empty()) {
    std::string name(qualified_name());
    if (!name.empty()) name += template_arguments();
    const Type* const type = name.empty() ? nullptr : module_.find_type(name);
    if (type == nullptr) at_ = begin;
    skip_qualifiers();
    return type;
  }
  // Words may stand in any order: "long unsigned int".
  const auto count = [&](std::string_view word) { return std::ranges::count(words, word); };
  std::string name;
  const bool is_sized = count("long") != 0 || count("short") != 0;
  if (count("unsigned") != 0) name = "unsigned ";
  if (count("signed") != 0 && count("char") != 0) name = "signed ";
  for (auto i = count("long"); i > 0; --i) name += i == 1 ? "long" : "long ";
  if (count("short") != 0) name += "short";
  for (const std::string_view rest : {"char", "float", "double", "bool"}) {
    if (count(rest) != 0) name += rest;
  }
  const bool is_named =
      is_sized || count("char") + count("float") + count("double") + count("bool") != 0;
  if (!is_named) name += "int";
  return module_.basic_types().find(name);
}

// [@space] base {*} [(*)[n]]; nullptr: there is no type here
const Type* Parser::type_name() {
  const std::size_t begin = at_;
  std::optional<ptx::Space> space;
  if (accept("@")) {
    skip_blanks();
    const std::size_t name = at_;
    const auto known = spaces().find(word());
    if (known == spaces().end()) {
      at_ = name;
      expected("global, shared, local, const, param or generic");
    }
    space = known->second;
  }
  const Type* type = base_type();
  if (type == nullptr) {
    if (space) expected("the name of a type");
    at_ = begin;
    return nullptr;
  }
  int stars = 0;
  while (accept("*")) {
    ++stars;
    for (;;) {
      const std::size_t before = at_;
      const std::string_view next = word();
      if (next == "const" || next == "volatile" || next == "__restrict__") continue;
      at_ = before;
      break;
    }
  }
  for (int i = 0; i < stars; ++i) {
    const bool is_outermost = i == stars - 1;
    type = &module_.basic_types().pointer_to(*type,
                                             is_outermost && space ? *space : ptx::Space::generic);
  }
  if (const Type* const to_array = pointer_to_array(*type, space)) return to_array;
  if (space && stars == 0) expected("'*': only pointers have a space");
  return type;
}

// (*)[4][8]: to arrays of this type; nullptr: it is not there
const Type* Parser::pointer_to_array(const Type& element, std::optional<ptx::Space> space) {
  const std::size_t begin = at_;
  if (!accept("(") || !accept("*") || !accept(")") || !accept("[")) {
    at_ = begin;
    return nullptr;
  }
  std::vector<std::uint64_t> counts;
  do {
    skip_blanks();
    std::uint64_t count = 0;
    const char* const from = text_.data() + at_;
    const auto [to, error] = std::from_chars(from, text_.data() + text_.size(), count);
    if (error != std::errc{} || count == 0) expected("a number of elements");
    at_ += static_cast<std::size_t>(to - from);
    expect("]");
    counts.push_back(count);
  } while (accept("["));
  BasicTypes& types = module_.basic_types();
  const Type* array = &element;
  for (std::size_t i = counts.size(); i-- > 0;) array = &types.array_of(*array, counts[i]);
  return &types.pointer_to(*array, space.value_or(ptx::Space::generic));
}

}  // namespace

std::unique_ptr<const Node> parse_expression(std::string_view text,
                                             const ModuleDescription& module) {
  return Parser(text, module).whole();
}

const Type* parse_type(std::string_view text, const ModuleDescription& module) {
  try {
    return Parser(text, module).whole_type();
  } catch (const ExpressionError&) {
    return nullptr;
  }
}

}  // namespace warpcheck::debug
