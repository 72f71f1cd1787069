// Lists of numbers, such as registers or blocks, stored one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warpcheck::vgpu {

class NumberLists {
 public:
  // Adds a number to the list that is open: the one behind the last that was closed.
  void add(std::uint32_t number) { numbers_.push_back(number); }
  [[nodiscard]] std::span<const std::uint32_t> open() const {
    return std::span(numbers_).subspan(begins_.back());
  }
  void close() { begins_.push_back(static_cast<std::uint32_t>(numbers_.size())); }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t list) const {
    return std::span(numbers_).subspan(begins_[list], begins_[list + 1] - begins_[list]);
  }

 private:
  std::vector<std::uint32_t> numbers_, begins_{0};
};

}  // namespace warpcheck::vgpu
