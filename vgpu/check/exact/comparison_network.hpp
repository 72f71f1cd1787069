// Numbers that are calculated from others by min and max alone: which of them are the same
// functions, by the 0-1 principle (Knuth, The Art of Computer Programming, volume 3, 5.3.4).
//
// A function f that is increasing in each argument commutes with min and max.  Let it be the step
// from 0 to 1 at a threshold: two expressions of min and max are the same function of ordered
// numbers if and only if they are the same function of zeros and ones.  The k-th least of a list is
// such an expression too, so this decides whether a network sorts.
//
// There are 2^n inputs of n zeros and ones, but most of them need not be told apart: what counts is
// which values can occur together in the numbers that are still used.  Numbers that no comparison
// has brought together are independent (Component).  A sorted list of m numbers has m + 1 states,
// so the merge of two has (m + 1)^2, whatever the network is.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace warpcheck::vgpu {

// The order in which integers of a width are compared; of floats: signed, 0 bits.
struct NumberOrder {
  bool is_signed = true;
  unsigned bits = 0;
  friend auto operator<=>(const NumberOrder&, const NumberOrder&) = default;
};

// The expressions of a run.  A number is named by what stands for it in exact arithmetic.
class ComparisonNetwork {
 public:
  using Number = std::uint64_t;

  // result = min(a, b) or max(a, b); a number that is no result is free.
  void add_extremum(NumberOrder order, bool is_greatest, Number result, Number a, Number b);
  // results[k] is the k-th least of `list`, from 0 on.
  void add_statistics(NumberOrder order, const std::vector<Number>& list,
                      const std::vector<Number>& results);
  // Whether a number is an expression of others.
  [[nodiscard]] bool has(NumberOrder order, Number number) const;

  struct Answer {
    enum class Kind : std::uint8_t { same, different, too_large };
    Kind kind = Kind::same;
    std::size_t pair = 0;  // different: the first pair that is
    // different: what the free numbers are there; numbers that are not named do not matter
    std::vector<std::pair<Number, bool>> inputs{};
  };
  // Whether the two numbers of each pair are the same functions of the free numbers.
  [[nodiscard]] Answer compare(NumberOrder order,
                               std::span<const std::pair<Number, Number>> pairs) const;

 private:
  friend class ZeroOneRun;
  using Node = std::uint32_t;  // the operands of a node have smaller numbers
  struct Expression {
    enum class Kind : std::uint8_t { free, least, greatest, statistic };
    Kind kind = Kind::free;
    Node a = 0, b = 0;       // extrema
    std::uint32_t list = 0;  // statistic
    std::size_t rank = 0;
    Number number = 0;
  };
  Node node_of(NumberOrder order, Number number);
  static Answer compare_nodes(const ComparisonNetwork& network,
                              std::span<const std::pair<Node, Node>> pairs);

  std::vector<Expression> nodes_;
  std::map<std::pair<NumberOrder, Number>, Node> numbers_;
  std::vector<std::vector<Node>> lists_;
};

}  // namespace warpcheck::vgpu
