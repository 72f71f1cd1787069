#include "harness/kernel/kernel_conditions.hpp"

#include <algorithm>
#include <bit>
#include <optional>

namespace warpcheck {
namespace {

using Node = Expression::Node;

bool is_binary(const Node& node, std::string_view op) {
  return node.kind == Node::Kind::binary && node.text == op;
}

bool is_number(const Node& node, std::int64_t number) {
  return node.kind == Node::Kind::number && node.number == number;
}

bool names(const Node& node, std::string_view name) {
  return (node.kind == Node::Kind::name && node.text == name) ||
         std::ranges::any_of(node.operands, [&](const auto& part) { return names(*part, name); });
}

class Settling {
 public:
  Settling(const KernelDescription& kernel, KernelInput& input) : kernel_(kernel), input_(input) {}

  void settle(const Node& condition) {
    if (!is_binary(condition, "==")) return;
    const Node &left = *condition.operands[0], &right = *condition.operands[1];
    if (equal(left, right) || equal(right, left) || !is_number(right, 0)) return;
    if (is_binary(left, "%")) make_multiple(*left.operands[0], *left.operands[1]);
    if (is_binary(left, "&")) make_power_of_two(*left.operands[0], *left.operands[1]);
  }

 private:
  std::int64_t* integer(const Node& node) {
    if (node.kind != Node::Kind::name) return nullptr;
    for (std::size_t i = 0; i < kernel_.scalars.size(); ++i) {
      const ScalarParameter& scalar = kernel_.scalars[i];
      if (scalar.name == node.text && is_integer(scalar.element)) return &input_.integers[i];
    }
    return nullptr;
  }

  [[nodiscard]] std::optional<std::int64_t> value(const Node& node) const {
    return Expression::value_of(node, names_of(kernel_, input_));
  }

  bool equal(const Node& name, const Node& other) {
    std::int64_t* const number = integer(name);
    if (number == nullptr || names(other, name.text)) return false;
    if (const auto wanted = value(other)) *number = *wanted;
    return true;
  }

  void make_multiple(const Node& name, const Node& divisor) {
    std::int64_t* const number = integer(name);
    const auto of = value(divisor);
    if (number != nullptr && of && *of > 0) *number -= *number % *of;
  }

  void make_power_of_two(const Node& name, const Node& less) {
    std::int64_t* const number = integer(name);
    const bool is_test = is_binary(less, "-") && less.operands[0]->text == name.text &&
                         is_number(*less.operands[1], 1);
    if (number == nullptr || !is_test || *number <= 0) return;
    *number = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(*number)));
  }

  const KernelDescription& kernel_;
  KernelInput& input_;
};

}  // namespace

void settle_integers(const KernelDescription& kernel, KernelInput& input) {
  Settling settling(kernel, input);
  for (const Expression& condition : kernel.conditions) {
    const auto holds = condition.value(names_of(kernel, input));
    if (!holds || *holds == 0) settling.settle(condition.root());
  }
}

}  // namespace warpcheck
