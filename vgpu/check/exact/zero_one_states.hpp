// Which zeros and ones can occur together in some numbers (comparison_network.hpp).
//
// Numbers of one component depend on each other, those of different ones do not.  A component is a
// list of states, and a number a row of bits, one for each state.  States in which all numbers that
// are still used are the same count as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace warpcheck::vgpu {

class ZeroOneStates {
 public:
  using Node = std::uint32_t;
  // Most states of a component: a sort of 1,024 numbers has 513 * 513 states.
  static constexpr std::size_t kStatesMax = std::size_t{1} << 19;

  explicit ZeroOneStates(std::size_t states_max = kStatesMax) : states_max_(states_max) {}

  // A number of its own, which is 0 or 1.
  void add_free(Node node);
  // Brings two numbers into one component.  Returns false if that has too many states.
  [[nodiscard]] bool join(Node a, Node b);
  // a and b are of one component.
  void add_extremum(Node node, bool is_greatest, Node a, Node b);
  // Counts a number `times` times among the ones of a list.
  void count(Node node, std::uint32_t list, std::uint32_t times);
  // Brings all counted numbers of a list into one component.
  [[nodiscard]] bool join_list(std::uint32_t list);
  // Whether a list has `ones` ones at least; its numbers are of one component.
  void add_statistic(Node node, std::uint32_t list, std::size_t ones);
  // The number is not used any more.
  void drop(Node node);

  // The free numbers' values in a state in which two numbers of a component differ.
  [[nodiscard]] std::optional<std::vector<std::pair<Node, bool>>> difference(Node a, Node b) const;

 private:
  using Bits = std::vector<std::uint64_t>;
  struct Component {
    std::size_t states = 0;
    std::map<Node, Bits> used, free;
    std::map<std::uint32_t, std::vector<std::uint32_t>> ones;  // by list, of each state
    bool has_dropped = false;  // since the states were made different
  };
  // Most bits of a component.
  static constexpr std::size_t kBitsMax = std::size_t{1} << 30;

  [[nodiscard]] bool join_components(std::size_t into, std::size_t other);
  static void make_different(Component& component);
  static void keep_states(Component& component, const std::vector<std::uint32_t>& kept);
  [[nodiscard]] const Component& component_of(Node node) const {
    return components_[component_.at(node)];
  }

  std::size_t states_max_;
  std::vector<Component> components_;
  std::map<Node, std::size_t> component_;                      // by used number
  std::map<std::uint32_t, std::vector<std::size_t>> of_list_;  // components with counts
};

}  // namespace warpcheck::vgpu
