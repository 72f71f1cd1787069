#include "harness/kernel/kernel_conditions.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <string>

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
    if (settled_.contains(name.text) && fit_grid(*number, other)) return true;
    if (const auto wanted = value(other)) *number = *wanted;
    settled_.insert(name.text);
    return true;
  }

  // `n == 16 * gridDim.x`, and `n == 16 * gridDim.y` behind it.
  bool fit_grid(std::int64_t number, const Node& other) {
    constexpr std::uint32_t kBlocksMax = 64;
    std::uint32_t* const extents[] = {&input_.launch.grid.x, &input_.launch.grid.y,
                                      &input_.launch.grid.z};
    for (std::size_t i = 0; i < 3; ++i) {
      const bool is_free =
          !kernel_.launch.grid[i] && static_cast<int>(i) < kernel_.launch.grid_dims;
      if (!is_free || !names(other, std::string("gridDim.") + "xyz"[i])) continue;
      const std::uint32_t drawn = *extents[i];
      for (*extents[i] = 1; *extents[i] <= kBlocksMax; ++*extents[i]) {
        if (value(other) == number) return true;
      }
      *extents[i] = drawn;
    }
    return false;
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
  std::set<std::string> settled_;
};

}  // namespace

bool is_given_by_equation(const KernelDescription& kernel, std::string_view name) {
  return std::ranges::any_of(kernel.conditions, [&](const Expression& condition) {
    const Node& root = condition.root();
    if (!is_binary(root, "==")) return false;
    const Node &left = *root.operands[0], &right = *root.operands[1];
    const auto is_name = [&](const Node& node) {
      return node.kind == Node::Kind::name && node.text == name;
    };
    return (is_name(left) && !names(right, name)) || (is_name(right) && !names(left, name));
  });
}

void settle_integers(const KernelDescription& kernel, KernelInput& input) {
  Settling settling(kernel, input);
  for (const Expression& condition : kernel.conditions) {
    const auto holds = condition.value(names_of(kernel, input));
    if (!holds || *holds == 0) settling.settle(condition.root());
  }
}

}  // namespace warpcheck
