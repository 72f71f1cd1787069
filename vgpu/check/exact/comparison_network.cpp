#include "vgpu/check/exact/comparison_network.hpp"

#include <algorithm>
#include <optional>

#include "vgpu/check/exact/zero_one_states.hpp"

namespace warpcheck::vgpu {

ComparisonNetwork::Node ComparisonNetwork::node_of(NumberOrder order, Number number) {
  const auto [at, is_new] = numbers_.try_emplace({order, number}, static_cast<Node>(nodes_.size()));
  if (is_new) nodes_.push_back({.number = number});
  return at->second;
}

void ComparisonNetwork::add_extremum(NumberOrder order, bool is_greatest, Number result, Number a,
                                     Number b) {
  if (numbers_.contains({order, result})) return;
  const Node of_a = node_of(order, a), of_b = node_of(order, b), node = node_of(order, result);
  nodes_[node].kind = is_greatest ? Expression::Kind::greatest : Expression::Kind::least;
  nodes_[node].a = of_a;
  nodes_[node].b = of_b;
}

void ComparisonNetwork::add_statistics(NumberOrder order, const std::vector<Number>& list,
                                       const std::vector<Number>& results) {
  std::vector<Node> nodes;
  for (const Number number : list) nodes.push_back(node_of(order, number));
  const auto number_of_list = static_cast<std::uint32_t>(lists_.size());
  lists_.push_back(std::move(nodes));
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    if (numbers_.contains({order, results[rank]})) continue;
    Expression& statistic = nodes_[node_of(order, results[rank])];
    statistic.kind = Expression::Kind::statistic;
    statistic.list = number_of_list;
    statistic.rank = rank;
  }
}

bool ComparisonNetwork::has(NumberOrder order, Number number) const {
  const auto found = numbers_.find({order, number});
  return found != numbers_.end() && nodes_[found->second].kind != Expression::Kind::free;
}

// Calculates the numbers that some pairs need, for zeros and ones.
class ZeroOneRun {
 public:
  using Node = ComparisonNetwork::Node;
  using Answer = ComparisonNetwork::Answer;
  using Kind = ComparisonNetwork::Expression::Kind;

  ZeroOneRun(const ComparisonNetwork& network, std::size_t states_max)
      : network_(network), uses_(network.nodes_.size()), states_(states_max) {}

  Answer run(std::span<const std::pair<Node, Node>> pairs);

 private:
  void count_uses(std::span<const std::pair<Node, Node>> pairs);
  [[nodiscard]] bool calculate(Node node);
  [[nodiscard]] bool judge(const std::pair<Node, Node>& pair, Answer& answer);
  void release(Node node) {
    if (--uses_[node] == 0) states_.drop(node);
  }

  const ComparisonNetwork& network_;
  std::vector<std::uint32_t> uses_;
  // The multiples of a free number in the lists of statistics that are needed.
  std::map<Node, std::map<std::uint32_t, std::uint32_t>> in_lists_;
  ZeroOneStates states_;
};

// Only what the pairs need is calculated, and kept as long as it is needed.
void ZeroOneRun::count_uses(std::span<const std::pair<Node, Node>> pairs) {
  std::vector<bool> has_list(network_.lists_.size());
  for (const auto& [a, b] : pairs) {
    ++uses_[a];
    ++uses_[b];
  }
  for (std::size_t node = uses_.size(); node-- > 0;) {
    if (uses_[node] == 0) continue;
    const auto& expression = network_.nodes_[node];
    if (expression.kind == Kind::least || expression.kind == Kind::greatest) {
      ++uses_[expression.a];
      ++uses_[expression.b];
    }
    if (expression.kind != Kind::statistic || has_list[expression.list]) continue;
    has_list[expression.list] = true;
    // A list is only counted, so that its numbers need not be kept.
    for (const Node one : network_.lists_[expression.list]) {
      ++in_lists_[one][expression.list];
      ++uses_[one];
    }
  }
}

// Returns false if there are too many states.
bool ZeroOneRun::calculate(Node node) {
  const auto& expression = network_.nodes_[node];
  const auto lists = in_lists_.find(node);
  switch (expression.kind) {
    case Kind::free: states_.add_free(node); break;
    case Kind::least:
    case Kind::greatest:
      if (!states_.join(expression.a, expression.b)) return false;
      states_.add_extremum(node, expression.kind == Kind::greatest, expression.a, expression.b);
      release(expression.a);
      release(expression.b);
      break;
    case Kind::statistic: {
      if (!states_.join_list(expression.list)) return false;
      states_.add_statistic(node, expression.list,
                            network_.lists_[expression.list].size() - expression.rank);
      break;
    }
  }
  if (lists == in_lists_.end()) return true;
  for (const auto& [list, count] : lists->second) {
    states_.count(node, list, count);
    for (std::uint32_t i = 0; i < count; ++i) release(node);
  }
  return true;
}

// Returns false if there are too many states.
bool ZeroOneRun::judge(const std::pair<Node, Node>& pair, Answer& answer) {
  if (!states_.join(pair.first, pair.second)) return false;
  if (auto inputs = states_.difference(pair.first, pair.second)) {
    answer.kind = Answer::Kind::different;
    for (const auto& [node, bit] : *inputs)
      answer.inputs.emplace_back(network_.nodes_[node].number, bit);
  }
  return true;
}

ComparisonNetwork::Answer ZeroOneRun::run(std::span<const std::pair<Node, Node>> pairs) {
  count_uses(pairs);
  for (Node node = 0; node < uses_.size(); ++node) {
    if (uses_[node] != 0 && !calculate(node)) return {.kind = Answer::Kind::too_large};
  }
  Answer answer;
  for (const auto& pair : pairs) {
    if (!judge(pair, answer)) return {.kind = Answer::Kind::too_large};
    if (answer.kind == Answer::Kind::different) return answer;
    ++answer.pair;
  }
  return answer;
}

ComparisonNetwork::Answer ComparisonNetwork::compare(
    NumberOrder order, std::span<const std::pair<Number, Number>> pairs) const {
  // Numbers that nothing has compared are free ones of this question.
  ComparisonNetwork all = *this;
  std::vector<std::pair<Node, Node>> nodes;
  for (const auto& [a, b] : pairs) nodes.emplace_back(all.node_of(order, a), all.node_of(order, b));
  return compare_nodes(all, nodes);
}

// Of the maxima of a window that moves, each depends on a few numbers, and all together on too
// many: they are compared one by one.  Elements of a sorted list depend on all numbers, and are
// compared together, because what they have in common is calculated once.
ComparisonNetwork::Answer ComparisonNetwork::compare_nodes(
    const ComparisonNetwork& network, std::span<const std::pair<Node, Node>> pairs) {
  constexpr std::size_t kFewStates = std::size_t{1} << 12;
  const Answer at_once = ZeroOneRun(network, kFewStates).run(pairs);
  if (at_once.kind != Answer::Kind::too_large) return at_once;
  std::optional<Answer> too_large;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Answer one = ZeroOneRun(network, kFewStates).run(pairs.subspan(i, 1));
    one.pair = i;
    if (one.kind == Answer::Kind::different) return one;
    if (one.kind == Answer::Kind::same || too_large) continue;
    too_large = std::move(one);
    Answer together = ZeroOneRun(network, ZeroOneStates::kStatesMax).run(pairs);
    if (together.kind != Answer::Kind::too_large) return together;
  }
  return too_large.value_or(Answer{});
}

}  // namespace warpcheck::vgpu
