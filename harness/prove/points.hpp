// The sizes and launches of a pair's domain, as inputs, for `prove`.
//
// A pair declares how to draw an input and which inputs are valid, but not what a size is.  So it
// is derived from the fields: the size is the length of the input's arrays, or a number (`n` of an
// n x n matrix); the width is a launch's block, or another number (`block`).  Drawn inputs show how
// lengths follow from numbers; an input outside the domain is no point.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/pair/any_pair.hpp"

namespace warpcheck {

// Whether a field of an input is a LaunchConfig.
[[nodiscard]] bool is_launch(const Json& field);

// One size and launch.  A component that an input does not have is 0.
struct Point {
  std::uint32_t size = 0;
  std::uint32_t block = 0;
  std::uint32_t grid = 0;
  friend auto operator<=>(const Point&, const Point&) = default;
};

struct PointOptions {
  std::uint32_t size_max = 1'024;
  std::vector<std::uint32_t> blocks;  // empty: those that tend to break kernels, up to 1,024
};
[[nodiscard]] std::vector<std::uint32_t> revealing_blocks();
[[nodiscard]] std::vector<std::uint32_t> all_blocks();

class Points {
 public:
  // Draws inputs to derive the size from; throws DomainError.
  Points(const AnyPair& pair, const PointOptions& options);

  [[nodiscard]] bool has_blocks() const { return width_ != Width::none; }
  [[nodiscard]] const std::vector<std::uint32_t>& blocks() const { return blocks_; }
  // The points of one size and block; for a launch, with the needed grid and with one block more.
  struct Input {
    Point point;
    AnyInput input;
  };
  [[nodiscard]] std::vector<Input> inputs(std::uint32_t size, std::uint32_t block);

 private:
  // The length of an array: the size, or a product of the numbers in two fields, and of a constant,
  // or a sum of such a product of one number and a constant.
  struct Length {
    std::string array;
    std::string first, second;  // second empty: the first alone; both empty: the size
    std::uint64_t each = 1;     // the constant
    std::uint64_t plus = 0;     // the other one
  };
  enum class Width : std::uint8_t { none, launch, number };

  static Length length_of(const std::vector<Json>& samples, const std::string& array,
                          const std::vector<std::string>& numbers);
  void learn_lengths(const std::vector<Json>& samples, const Json& base);
  void learn_width(const Json& base);
  // An input of a size, with some launch and width.
  struct OfSize {
    std::uint32_t size = 0;
    AnyInput input{};
  };
  [[nodiscard]] const AnyInput& of_size(std::uint32_t size);
  // Null: it is none of the domain.
  [[nodiscard]] AnyInput edited(const AnyInput& input, const InputEdit& edit) const;

  const AnyPair& pair_;
  AnyInput base_;  // has the elements of all others; null: nothing tells the sizes
  std::vector<Length> lengths_;
  std::string size_field_;  // the number that is the size; empty: the arrays' length is
  // If arrays grow faster than the size: the largest size that was drawn.
  std::uint64_t size_limit_ = UINT64_MAX;
  Width width_ = Width::none;
  std::string width_field_;
  std::vector<std::uint32_t> blocks_;
  OfSize latest_;
};

}  // namespace warpcheck
