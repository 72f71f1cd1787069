#include "harness/kernel/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace warpcheck {

namespace {

using Node = Expression::Node;
using Pointer = std::shared_ptr<const Node>;

// Binary operators by precedence, the loosest first.  A longer one stands before its beginning.
constexpr std::array<std::array<std::string_view, 4>, 10> kOperators{{{"||"},
                                                                      {"&&"},
                                                                      {"|"},
                                                                      {"^"},
                                                                      {"&"},
                                                                      {"==", "!="},
                                                                      {"<=", ">=", "<", ">"},
                                                                      {"<<", ">>"},
                                                                      {"+", "-"},
                                                                      {"*", "/", "%"}}};

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) {
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Pointer whole() {
    Pointer node = conditional();
    skip_space();
    if (at_ != text_.size()) fail("an operator");
    return node;
  }

 private:
  // More levels than anybody writes, and few enough for any stack.
  static constexpr int kDepthMax = 200;

  [[noreturn]] void fail(std::string_view expected) const {
    throw ExpressionError(fmt::format(
        "'{}': expected {} {}", text_, expected,
        at_ == text_.size() ? "at the end" : fmt::format("at '{}'", text_.substr(at_))));
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  // "&" is not the beginning of "&&", nor "<" that of "<<".
  bool take_operator(std::string_view token) {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    if (token.size() == 1 && rest.size() > 1 && rest[0] == rest[1] &&
        std::string_view("&|<>").find(rest[0]) != std::string_view::npos) {
      return false;
    }
    return take(token);
  }

  Pointer conditional() {
    Pointer condition = binary(0);
    if (!take("?")) return condition;
    Pointer yes = conditional();
    if (!take(":")) fail("':'");
    return make(Node::Kind::conditional, "?", {condition, yes, conditional()});
  }

  Pointer binary(std::size_t level) {
    if (level == kOperators.size()) return unary();
    Pointer left = binary(level + 1);
    while (true) {
      const auto found = std::ranges::find_if(kOperators[level], [&](std::string_view token) {
        return !token.empty() && take_operator(token);
      });
      if (found == kOperators[level].end()) return left;
      left = make(Node::Kind::binary, *found, {left, binary(level + 1)});
    }
  }

  Pointer unary() {
    if (++depth_ > kDepthMax) fail("fewer parentheses");
    Pointer node;
    if (take("(")) {
      node = conditional();
      if (!take(")")) fail("')'");
    } else if (take("-")) {
      node = make(Node::Kind::unary, "-", {unary()});
    } else if (take("!")) {
      node = make(Node::Kind::unary, "!", {unary()});
    } else {
      node = operand();
    }
    --depth_;
    return node;
  }

  Pointer operand() {
    skip_space();
    if (at_ == text_.size()) fail("a number or a name");
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return number();
    if (!begins_name(text_[at_])) fail("a number or a name");
    const std::size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "true" || name == "false") return make_number(name == "true" ? 1 : 0);
    return make(Node::Kind::name, name, {});
  }

  Pointer number() {
    const bool is_hex = text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
    const char* const begin = text_.data() + at_ + (is_hex ? 2 : 0);
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(begin, text_.data() + text_.size(), value, is_hex ? 16 : 10);
    if (error != std::errc()) fail("a number below 2^63");
    at_ = static_cast<std::size_t>(end - text_.data());
    while (at_ < text_.size() &&
           std::string_view("uUlL").find(text_[at_]) != std::string_view::npos)
      ++at_;
    if (at_ < text_.size() && continues_name(text_[at_])) fail("an operator");
    return make_number(value);
  }

  static Pointer make_number(std::int64_t value) {
    auto node = std::make_shared<Node>();
    node->number = value;
    return node;
  }
  static Pointer make(Node::Kind kind, std::string_view text, std::vector<Pointer> operands) {
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->text = text;
    node->operands = std::move(operands);
    return node;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::optional<std::int64_t> divided(const std::string& op, std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  return op == "/" ? a / b : a % b;
}

std::optional<std::int64_t> shifted(const std::string& op, std::int64_t a, std::int64_t b) {
  if (b < 0 || b > 62 || a < 0) return std::nullopt;
  if (op == ">>") return a >> b;
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, std::int64_t{1} << b, &product)) return std::nullopt;
  return product;
}

std::optional<std::int64_t> applied(const std::string& op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (op == "+" || op == "-" || op == "*") {
    const bool overflows = op == "+"   ? __builtin_add_overflow(a, b, &result)
                           : op == "-" ? __builtin_sub_overflow(a, b, &result)
                                       : __builtin_mul_overflow(a, b, &result);
    if (overflows) return std::nullopt;
    return result;
  }
  if (op == "/" || op == "%") return divided(op, a, b);
  if (op == "<<" || op == ">>") return shifted(op, a, b);
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "&") return a & b;
  if (op == "==") return a == b ? 1 : 0;
  if (op == "!=") return a != b ? 1 : 0;
  if (op == "<=") return a <= b ? 1 : 0;
  if (op == ">=") return a >= b ? 1 : 0;
  if (op == "<") return a < b ? 1 : 0;
  return a > b ? 1 : 0;
}

void add_names(const Node& node, std::vector<std::string>& names) {
  if (node.kind == Node::Kind::name && std::ranges::find(names, node.text) == names.end()) {
    names.push_back(node.text);
  }
  for (const Pointer& operand : node.operands) add_names(*operand, names);
}

// Of the operators of that node; larger ones bind tighter.
std::size_t precedence_of(const Node& node) {
  if (node.kind == Node::Kind::conditional) return 0;
  if (node.kind != Node::Kind::binary) return kOperators.size() + 1;
  const auto level = std::ranges::find_if(kOperators, [&](const auto& operators) {
    return std::ranges::find(operators, node.text) != operators.end();
  });
  return 1 + static_cast<std::size_t>(level - kOperators.begin());
}

std::string text_of(const Node& node) {
  // The right side of an operator of the same level has parentheses: a - (b - c).
  const auto part = [&](std::size_t i) {
    const Node& of = *node.operands[i];
    const std::size_t least = precedence_of(node) + (i == 0 ? 0 : 1);
    return precedence_of(of) < least ? fmt::format("({})", text_of(of)) : text_of(of);
  };
  switch (node.kind) {
    case Node::Kind::number: return std::to_string(node.number);
    case Node::Kind::name: return node.text;
    case Node::Kind::unary: return node.text + part(0);
    case Node::Kind::binary: return fmt::format("{} {} {}", part(0), node.text, part(1));
    case Node::Kind::conditional: break;
  }
  return fmt::format("({}) ? {} : {}", text_of(*node.operands[0]), part(1), part(2));
}

// Whether the value is 0 or 1.
bool is_truth(const Node& node) {
  if (node.kind == Node::Kind::unary) return node.text == "!";
  if (node.kind != Node::Kind::binary) return false;
  if (node.text == "&" || node.text == "|") {
    return is_truth(*node.operands[0]) && is_truth(*node.operands[1]);
  }
  constexpr std::string_view kTruths[] = {"||", "&&", "==", "!=", "<=", ">=", "<", ">"};
  return std::ranges::find(kTruths, node.text) != std::end(kTruths);
}

// `64 == n` as `n == 64`.
Pointer with_name_first(const Pointer& node) {
  constexpr std::pair<std::string_view, std::string_view> kMirrored[] = {
      {"==", "=="}, {"!=", "!="}, {"<=", ">="}, {">=", "<="}, {"<", ">"}, {">", "<"}};
  const auto mirrored =
      std::ranges::find(kMirrored, node->text, [](const auto& one) { return one.first; });
  if (node->kind != Node::Kind::binary || mirrored == std::end(kMirrored) ||
      node->operands[0]->kind != Node::Kind::number ||
      node->operands[1]->kind != Node::Kind::name) {
    return node;
  }
  auto turned = std::make_shared<Node>(*node);
  turned->text = mirrored->second;
  std::swap(turned->operands[0], turned->operands[1]);
  return turned;
}

void add_conjuncts(const Pointer& node, std::vector<Pointer>& conjuncts) {
  const bool is_binary = node->kind == Node::Kind::binary;
  const bool are_both = is_binary && (node->text == "&&" || (node->text == "&" && is_truth(*node)));
  if (!are_both) return conjuncts.push_back(with_name_first(node));
  for (const Pointer& part : node->operands) add_conjuncts(part, conjuncts);
}

}  // namespace

std::optional<std::int64_t> Expression::value_of(const Node& node, const Names& names) {
  using Kind = Node::Kind;
  if (node.kind == Kind::number) return node.number;
  if (node.kind == Kind::name) return names(node.text);
  const auto first = value_of(*node.operands[0], names);
  if (!first) return std::nullopt;
  if (node.kind == Kind::conditional) return value_of(*node.operands[*first != 0 ? 1 : 2], names);
  if (node.kind == Kind::unary) {
    if (node.text == "!") return *first == 0 ? 1 : 0;
    return applied("-", 0, *first);
  }
  // The right side of && and || counts only where C evaluates it.
  if (node.text == "&&" && *first == 0) return 0;
  if (node.text == "||" && *first != 0) return 1;
  const auto second = value_of(*node.operands[1], names);
  if (!second) return std::nullopt;
  if (node.text == "&&" || node.text == "||") return *second != 0 ? 1 : 0;
  return applied(node.text, *first, *second);
}

Expression::Expression(std::string_view text) : text_(text), root_(Parser(text).whole()) {}

Expression::Expression(Pointer root) : text_(text_of(*root)), root_(std::move(root)) {}

std::vector<Expression> Expression::conjuncts() const {
  std::vector<Pointer> nodes;
  add_conjuncts(root_, nodes);
  std::vector<Expression> parts;
  for (Pointer& node : nodes) parts.push_back(Expression(std::move(node)));
  return parts;
}

std::optional<std::int64_t> Expression::value(const Names& names) const {
  return value_of(*root_, names);
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  add_names(*root_, names);
  return names;
}

}  // namespace warpcheck
