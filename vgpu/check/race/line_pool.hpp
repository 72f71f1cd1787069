// Objects to which lines refer by number: what does not fit into the line itself.
//
// Most lines need none, and a number takes less room in a line than a pointer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace warpcheck::vgpu {

template <typename T>
class LinePool {
 public:
  static constexpr std::uint32_t kNone = 0;  // the number of no object

  // Returns the number of an object that no line uses.  Its content is what its last user left.
  std::uint32_t take() {
    if (!free_.empty()) {
      const std::uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    if (used_ == slabs_.size() * kSlab) slabs_.push_back(std::make_unique<Slab>());
    return ++used_;
  }
  void give_back(std::uint32_t number) { free_.push_back(number); }
  // All objects are given back.
  void clear() {
    used_ = 0;
    free_.clear();
  }
  // The reference stays valid when others are taken.
  [[nodiscard]] T& at(std::uint32_t number) const {
    return (*slabs_[(number - 1) / kSlab])[(number - 1) % kSlab];
  }
  [[nodiscard]] std::size_t host_bytes() const { return slabs_.size() * sizeof(Slab); }

 private:
  static constexpr std::size_t kSlab = 64;
  using Slab = std::array<T, kSlab>;

  std::vector<std::unique_ptr<Slab>> slabs_;
  std::uint32_t used_ = 0;           // numbers up to this one have been given out
  std::vector<std::uint32_t> free_;  // of them
};

}  // namespace warpcheck::vgpu
