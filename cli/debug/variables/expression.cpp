#include "cli/debug/variables/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/debug/variables/arithmetic.hpp"
#include "cli/debug/variables/expression_nodes.hpp"
#include "cli/debug/variables/scalar.hpp"

namespace warpcheck::debug {
namespace {

using Kind = Type::Kind;

class Evaluation {
 public:
  Evaluation(std::string_view text, const FrameVariables& frame)
      : text_(text), frame_(frame), types_(frame.module().basic_types()) {}

  Value of(const Node& node);
  // A number, a pointer, or an array as a pointer.
  Scalar scalar(const Node& node);

 private:
  [[noreturn]] void fail(const Node& node, const std::string& message) const {
    throw ExpressionError(node.column, message);
  }
  [[nodiscard]] std::string text_of(const Node& node) const;
  Scalar scalar_of_value(const Node& node, const Value& value);
  Scalar number(const Node& node);  // promoted
  Value variable(const Node& node);
  std::optional<Value> builtin(std::string_view name) const;
  Value register_value(const Node& node);
  Value unary(const Node& node);
  Value address_of(const Node& node);
  Value dereferenced(const Node& node, const Scalar& pointer);
  Value index(const Node& node);
  Value member(const Node& node);
  Value binary(const Node& node);
  Value logical(const Node& node);
  Value repeated(const Node& node);
  Value pointer_sum(const Node& node, const Scalar& pointer, const Scalar& offset);
  Value pointer_difference(const Node& node, const Scalar& a, const Scalar& b);
  Value pointer_comparison(const Node& node, const Scalar& a, const Scalar& b);
  Value conditional(const Node& node);
  Value cast(const Node& node);
  Address address(const Scalar& pointer) const;
  std::uint64_t size_of_target(const Node& node, const Type& pointer) const;

  std::string_view text_;
  const FrameVariables& frame_;
  BasicTypes& types_;
};

bool is_pointer(const Scalar& scalar) { return stripped(scalar.type).kind == Kind::pointer; }

std::string Evaluation::text_of(const Node& node) const {
  std::size_t begin = node.column - 1;
  // Operators between operands are where they are, not where their text begins.
  for (const Node* left = &node;
       left->a && left->kind != Node::Kind::unary && left->kind != Node::Kind::cast &&
       left->kind != Node::Kind::size_of;
       left = left->a.get()) {
    begin = std::min(begin, left->a->column - 1);
  }
  std::string text(text_.substr(begin, node.end_column - 1 - begin));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

Value Evaluation::of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::literal: return node.value;
    case Node::Kind::variable: return variable(node);
    case Node::Kind::reg: return register_value(node);
    case Node::Kind::unary: return unary(node);
    case Node::Kind::binary: return binary(node);
    case Node::Kind::conditional: return conditional(node);
    case Node::Kind::cast: return cast(node);
    case Node::Kind::index: return index(node);
    case Node::Kind::member:
    case Node::Kind::arrow: return member(node);
    case Node::Kind::size_of: break;
  }
  const Value operand = referred(of(*node.a), frame_.thread());
  return value_of(Scalar{&types_.get("unsigned long"), stripped(operand.type).bytes});
}

// threadIdx, blockIdx, blockDim, gridDim, warpSize
std::optional<Value> Evaluation::builtin(std::string_view name) const {
  using enum ptx::SpecialRegister;
  struct Triple {
    std::string_view name;
    std::array<ptx::SpecialRegister, 3> parts;
  };
  static constexpr std::array<Triple, 4> kTriples = {{{"threadIdx", {tid_x, tid_y, tid_z}},
                                                      {"blockIdx", {ctaid_x, ctaid_y, ctaid_z}},
                                                      {"blockDim", {ntid_x, ntid_y, ntid_z}},
                                                      {"gridDim", {nctaid_x, nctaid_y, nctaid_z}}}};
  if (name == "warpSize") return value_of(Scalar{&types_.get("int"), 32});
  const auto* const triple =
      std::ranges::find_if(kTriples, [&](const Triple& each) { return each.name == name; });
  if (triple == kTriples.end()) return std::nullopt;
  Value value;
  value.type = &types_.get("uint3");
  value.place = Value::Place::bits;
  for (const ptx::SpecialRegister part : triple->parts) {
    const std::uint64_t bits = frame_.thread().special(part).value_or(0);
    for (unsigned i = 0; i < 4; ++i) value.bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
  }
  value.unwritten.assign(value.bytes.size(), 0);
  return value;
}

Value Evaluation::variable(const Node& node) {
  if (std::optional<Value> value = builtin(node.name)) return *std::move(value);
  if (std::optional<NamedValue> found = frame_.find(node.name)) return std::move(found->value);
  if (const DebugInfo* const info = frame_.module().debug_info()) {
    const DebugInfo::FoundEnumerator enumerator = info->find_enumerator(node.name);
    if (enumerator.type != nullptr) {
      return value_of(Scalar{enumerator.type, static_cast<std::uint64_t>(enumerator.value)});
    }
  }
  fail(node, frame_.why_unknown(node.name));
}

Value Evaluation::register_value(const Node& node) {
  const ptx::SpecialRegister special = ptx::find_special_register(node.name);
  if (special != ptx::SpecialRegister::none) {
    const std::optional<std::uint64_t> bits = frame_.thread().special(special);
    if (!bits) fail(node, fmt::format("{} is not known here", node.name));
    const bool is_wide = *bits > 0xffffffff;
    return value_of(Scalar{&types_.get(is_wide ? "unsigned long long" : "unsigned int"), *bits});
  }
  const std::optional<RegisterBits> found =
      frame_.module().register_bits(frame_.thread(), node.name);
  if (!found) {
    fail(node,
         fmt::format("the function has no register {}; `info registers` lists them", node.name));
  }
  Value value = value_of(Scalar{&types_.get("unsigned long long"), found->bits});
  for (std::size_t i = 0; i < value.unwritten.size(); ++i) {
    value.unwritten[i] = static_cast<std::uint8_t>(found->unwritten >> (8 * i));
  }
  value.type = &types_.of_ptx(found->type);
  value.bytes.resize(value.type->bytes);
  value.unwritten.resize(value.type->bytes);
  value.register_name = node.name;
  return value;
}

Scalar Evaluation::scalar_of_value(const Node& node, const Value& original) {
  const Value value = referred(original, frame_.thread());
  const Type& type = stripped(value.type);
  if (type.kind == Kind::array) {
    if (value.place != Value::Place::memory) {
      fail(node, fmt::format("`{}` is not in memory, so it has no address", text_of(node)));
    }
    const Type& pointer = types_.pointer_to(*type.target, value.address.space);
    return {&pointer, value.address.offset};
  }
  if (!is_arithmetic(type) && type.kind != Kind::pointer) {
    if (value.place == Value::Place::absent) fail(node, text_of(node) + ": " + value.reason);
    fail(node, fmt::format("`{}` is no number: its type is {}", text_of(node), value.type->name));
  }
  try {
    return debug::scalar_of(value, bytes_of(value, frame_.thread()));
  } catch (const Unreadable& error) {
    fail(node, fmt::format("`{}` has no value: {}", text_of(node), error.what()));
  }
}

Scalar Evaluation::scalar(const Node& node) { return scalar_of_value(node, of(node)); }

Scalar Evaluation::number(const Node& node) {
  const Value value = of(node);
  const Scalar scalar = scalar_of_value(node, value);
  return is_pointer(scalar) ? scalar : promoted(scalar, types_, value.bit_count);
}

Value Evaluation::unary(const Node& node) {
  if (node.op == Operator::address_of) return address_of(node);
  if (node.op == Operator::dereference) return dereferenced(node, scalar(*node.a));
  const Scalar operand = number(*node.a);
  if (is_pointer(operand) && node.op != Operator::logical_not) {
    fail(node, fmt::format("'{}' needs a number, and `{}` is a pointer", debug::text_of(node.op),
                           text_of(*node.a)));
  }
  try {
    return value_of(computed(node.op, operand, types_));
  } catch (const ArithmeticError& error) {
    fail(node, error.what());
  }
}

Value Evaluation::address_of(const Node& node) {
  const Value value = referred(of(*node.a), frame_.thread());
  if (value.place == Value::Place::absent) fail(node, text_of(*node.a) + ": " + value.reason);
  if (value.bit_count != 0) {
    fail(node, fmt::format("`{}` is a bit field and has no address", text_of(*node.a)));
  }
  if (value.place == Value::Place::bits) {
    const std::string where =
        value.register_name.empty() ? "no variable" : "in the register " + value.register_name;
    fail(node, fmt::format("`{}` is {} and has no address", text_of(*node.a), where));
  }
  const Type& pointer = types_.pointer_to(*value.type, value.address.space);
  return value_of(Scalar{&pointer, value.address.offset});
}

Value Evaluation::dereferenced(const Node& node, const Scalar& pointer) {
  if (!is_pointer(pointer)) {
    fail(node,
         fmt::format("`{}` is no pointer: its type is {}", text_of(*node.a), pointer.type->name));
  }
  const Type& type = stripped(pointer.type);
  if (stripped(type.target).kind == Kind::void_) {
    fail(node, fmt::format("`{}` points at void: cast it to another pointer", text_of(*node.a)));
  }
  if (pointer.is_unwritten) {
    fail(node, fmt::format("`{}` is not written, so it points nowhere", text_of(*node.a)));
  }
  Value value;
  value.type = type.target;
  value.place = Value::Place::memory;
  value.address = {type.space, pointer.bits};
  return value;
}

Value Evaluation::index(const Node& node) {
  const Value base = referred(of(*node.a), frame_.thread());
  const Scalar offset = number(*node.b);
  if (!is_integral(stripped(offset.type))) {
    fail(*node.b, fmt::format("expected an integer as index, found {}", offset.type->name));
  }
  if (offset.is_unwritten) fail(*node.b, fmt::format("`{}` is not written", text_of(*node.b)));
  const Type& type = stripped(base.type);
  if (type.kind == Kind::array && base.place != Value::Place::memory) {
    if (base.place == Value::Place::absent) fail(node, text_of(*node.a) + ": " + base.reason);
    if (offset.bits >= type.count) {
      fail(*node.b, fmt::format("`{}` has {} elements", text_of(*node.a), type.count));
    }
    return element_of(base, offset.bits);
  }
  const bool has_elements = type.kind == Kind::array || type.kind == Kind::pointer;
  if (!has_elements) {
    fail(node, fmt::format("`{}` is neither an array nor a pointer: its type is {}",
                           text_of(*node.a), base.type->name));
  }
  const Scalar pointer = scalar_of_value(*node.a, base);
  if (pointer.is_unwritten) {
    fail(*node.a, fmt::format("`{}` is not written, so it points nowhere", text_of(*node.a)));
  }
  Scalar moved = pointer;
  moved.bits += offset.bits * size_of_target(node, stripped(pointer.type));
  return dereferenced(node, moved);
}

// What to write for a member of a value of this type: "write `points[0].x`".
std::string member_advice(std::string text, const Type& type, std::string_view name) {
  const Type* at = &stripped(type);
  for (; at->kind == Kind::array; at = &stripped(at->target)) text += "[0]";
  const bool is_pointer = at->kind == Kind::pointer;
  if (is_pointer) at = &stripped(at->target);
  if (at->members.empty()) return at->name + " has no members";
  return fmt::format("write `{}{}{}`", text, is_pointer ? "->" : ".", name);
}

Value Evaluation::member(const Node& node) {
  Value whole = referred(of(*node.a), frame_.thread());
  const Kind kind = stripped(whole.type).kind;
  const bool has_target = kind == Kind::pointer || kind == Kind::array;
  const bool is_arrow = node.kind == Node::Kind::arrow;
  if (has_target != is_arrow) {
    fail(node, fmt::format("`{}` is {}: {}", text_of(*node.a), whole.type->name,
                           member_advice(text_of(*node.a), *whole.type, node.name)));
  }
  if (is_arrow) whole = dereferenced(node, scalar_of_value(*node.a, whole));
  const Type& type = stripped(whole.type);
  if (std::optional<Value> found = find_member(whole, node.name)) return *std::move(found);
  std::string names;
  for (const Member& each : type.members) names += (names.empty() ? "" : ", ") + each.name;
  if (names.empty()) fail(node, fmt::format("{} has no members", type.name));
  fail(node, fmt::format("{} has no member `{}`; it has {}", type.name, node.name, names));
}

std::uint64_t Evaluation::size_of_target(const Node& node, const Type& pointer) const {
  const Type& target = stripped(pointer.target);
  if (target.bytes == 0) {
    fail(node, fmt::format("the size of {} is not known: cast the pointer", target.name));
  }
  return target.bytes;
}

Value Evaluation::binary(const Node& node) {
  if (node.op == Operator::logical_and || node.op == Operator::logical_or) return logical(node);
  if (node.op == Operator::repeat) return repeated(node);
  const Scalar a = number(*node.a), b = number(*node.b);
  if (is_pointer(a) || is_pointer(b)) {
    const bool compares = node.op >= Operator::less && node.op <= Operator::not_equal;
    if (compares) return pointer_comparison(node, a, b);
    if (node.op == Operator::subtract && is_pointer(a) && is_pointer(b)) {
      return pointer_difference(node, a, b);
    }
    if (node.op == Operator::add && !(is_pointer(a) && is_pointer(b))) {
      return is_pointer(a) ? pointer_sum(node, a, b) : pointer_sum(node, b, a);
    }
    if (node.op == Operator::subtract && is_pointer(a)) {
      return pointer_sum(node, a, computed(Operator::negate, b, types_));
    }
    fail(node, fmt::format("'{}' is not defined for {} and {}", debug::text_of(node.op),
                           a.type->name, b.type->name));
  }
  try {
    return value_of(computed(node.op, a, b, types_));
  } catch (const ArithmeticError& error) {
    fail(node, error.what());
  }
}

// a @ n
Value Evaluation::repeated(const Node& node) {
  Value first = referred(of(*node.a), frame_.thread());
  const Scalar count = number(*node.b);
  constexpr std::uint64_t kCountMax = 1 << 28;
  if (first.place != Value::Place::memory || first.bit_count != 0) {
    fail(*node.a, fmt::format("`{}` is not in memory, so nothing follows it", text_of(*node.a)));
  }
  if (!is_integral(stripped(count.type)) || count.is_unwritten || count.bits == 0 ||
      count.bits > kCountMax) {
    fail(*node.b, fmt::format("expected a number of elements from 1 to {}", kCountMax));
  }
  if (stripped(first.type).bytes == 0) {
    fail(*node.a, fmt::format("the size of {} is not known", first.type->name));
  }
  first.type = &types_.array_of(*first.type, count.bits);
  return first;
}

Value Evaluation::logical(const Node& node) {
  const bool is_and = node.op == Operator::logical_and;
  Scalar result = computed(Operator::logical_not, scalar(*node.a), types_);
  result.bits ^= 1;
  const bool decides = !result.is_unwritten && (result.bits == 1) != is_and;
  if (decides) return value_of(result);
  Scalar second = computed(Operator::logical_not, scalar(*node.b), types_);
  second.bits ^= 1;
  const bool second_decides = !second.is_unwritten && (second.bits == 1) != is_and;
  if (!second_decides) second.is_unwritten |= result.is_unwritten;
  return value_of(second);
}

Value Evaluation::pointer_sum(const Node& node, const Scalar& pointer, const Scalar& offset) {
  if (!is_integral(stripped(offset.type))) {
    fail(node, fmt::format("'{}' is not defined for {} and {}", debug::text_of(node.op),
                           pointer.type->name, offset.type->name));
  }
  Scalar sum = pointer;
  sum.bits += offset.bits * size_of_target(node, stripped(pointer.type));
  sum.is_unwritten |= offset.is_unwritten;
  return value_of(sum);
}

// Where a pointer points, in the space that its address belongs to.
Address Evaluation::address(const Scalar& pointer) const {
  const ptx::Space space = stripped(pointer.type).space;
  if (space != ptx::Space::generic) return {space, pointer.bits};
  const Address found = frame_.thread().resolve(pointer.bits);
  return found.space == ptx::Space::generic ? Address{space, pointer.bits} : found;
}

Value Evaluation::pointer_difference(const Node& node, const Scalar& a, const Scalar& b) {
  const std::uint64_t bytes = size_of_target(node, stripped(a.type));
  if (bytes != size_of_target(node, stripped(b.type)) || address(a).space != address(b).space) {
    fail(node, fmt::format("{} and {} point at different things", a.type->name, b.type->name));
  }
  const auto distance = static_cast<std::int64_t>(address(a).offset - address(b).offset);
  Scalar result{&types_.get("long"),
                static_cast<std::uint64_t>(distance / static_cast<std::int64_t>(bytes))};
  result.is_unwritten = a.is_unwritten || b.is_unwritten;
  return value_of(result);
}

Value Evaluation::pointer_comparison(const Node& node, const Scalar& a, const Scalar& b) {
  // 0 is a null pointer.
  const bool are_equal_kinds = (is_pointer(a) || a.bits == 0) && (is_pointer(b) || b.bits == 0);
  const Address x = is_pointer(a) ? address(a) : Address{ptx::Space::generic, a.bits};
  const Address y = is_pointer(b) ? address(b) : Address{ptx::Space::generic, b.bits};
  if (are_equal_kinds && x.space != y.space) {
    const bool is_null = a.bits == 0 || b.bits == 0;
    const bool tests_equality = node.op == Operator::equal || node.op == Operator::not_equal;
    if (!tests_equality && !is_null) {
      fail(node,
           fmt::format("a {} and a {} pointer have no order", name_of(x.space), name_of(y.space)));
    }
    Scalar result{&types_.get("bool"), node.op == Operator::not_equal ? 1u : 0u};
    result.is_unwritten = a.is_unwritten || b.is_unwritten;
    return value_of(result);
  }
  const Type& address_type = types_.get("unsigned long");
  const Scalar left{&address_type, are_equal_kinds ? x.offset : a.bits, 0, a.is_unwritten};
  const Scalar right{&address_type, are_equal_kinds ? y.offset : b.bits, 0, b.is_unwritten};
  return value_of(computed(node.op, left, right, types_));
}

Value Evaluation::conditional(const Node& node) {
  const Scalar condition = scalar(*node.a);
  if (condition.is_unwritten) {
    fail(*node.a, fmt::format("`{}` is not written", text_of(*node.a)));
  }
  const Value chosen = of(is_zero(condition) ? *node.c : *node.b);
  // The other one gives its type, if it has a value.
  Value other;
  try {
    other = of(is_zero(condition) ? *node.b : *node.c);
  } catch (const ExpressionError&) {
    return chosen;
  }
  const Type &a = stripped(chosen.type), &b = stripped(other.type);
  if (!is_arithmetic(a) || !is_arithmetic(b)) return chosen;
  const Node& node_of_chosen = is_zero(condition) ? *node.c : *node.b;
  const Scalar first = promoted(scalar_of_value(node_of_chosen, chosen), types_);
  Scalar second;
  second.type = &b;
  return value_of(
      converted(first, common_type(*first.type, *promoted(second, types_).type, types_)));
}

Value Evaluation::cast(const Node& node) {
  const Type& to = stripped(node.type);
  if (to.kind == Kind::void_ || is_aggregate(to)) {
    fail(node, fmt::format("no value can be cast to {}: cast a pointer, *({}*)", to.name, to.name));
  }
  const Scalar from = scalar(*node.a);
  Scalar result = from;
  try {
    if (to.kind != Kind::pointer) {
      if (is_pointer(from) && is_floating(to)) {
        fail(node, fmt::format("a pointer cannot be cast to {}", to.name));
      }
      return value_of(converted(from, *node.type));
    }
  } catch (const ArithmeticError& error) {
    fail(node, error.what());
  }
  if (is_floating(stripped(from.type))) {
    fail(node, fmt::format("{} cannot be cast to a pointer", from.type->name));
  }
  // A pointer keeps its space, unless the cast names another.
  const bool keeps = to.space == ptx::Space::generic && is_pointer(from);
  result.type = keeps ? &types_.pointer_to(*to.target, stripped(from.type).space) : &to;
  const bool changes = is_pointer(from) && !keeps && stripped(from.type).space != to.space;
  if (changes && !from.is_unwritten) {
    const Address place = address(from);
    if (place.space != to.space) {
      fail(node, fmt::format("`{}` points at {} memory, not at {} memory", text_of(*node.a),
                             name_of(place.space), name_of(to.space)));
    }
    result.bits = place.offset;
  }
  return value_of(result);
}

}  // namespace

ExpressionError::ExpressionError(std::size_t error_column, const std::string& message)
    : std::runtime_error(fmt::format("column {}: {}", error_column, message)),
      column(error_column) {}

Expression::Expression(std::string_view text, const ModuleDescription& module)
    : text_(text), root_(parse_expression(text, module)) {}
Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

Value Expression::evaluate(const FrameVariables& frame) const {
  return Evaluation(text_, frame).of(*root_);
}

bool Expression::is_true(const FrameVariables& frame) const {
  const Scalar scalar = Evaluation(text_, frame).scalar(*root_);
  if (scalar.is_unwritten) {
    throw ExpressionError(1,
                          fmt::format("`{}` depends on what the program has not written", text_));
  }
  return !is_zero(scalar);
}

}  // namespace warpcheck::debug
