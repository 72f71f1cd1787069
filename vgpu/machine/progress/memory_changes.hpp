// What a look-ahead has changed in memory, in order, with the old bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

class MemoryChanges {
 public:
  struct Change {
    std::byte* at = nullptr;
    const Allocation* allocation = nullptr;
    std::uint32_t offset = 0;
    std::uint8_t bytes = 0;
    bool is_local = false;
    std::array<std::byte, 16> old{};
  };

  [[nodiscard]] std::size_t count() const { return changes_.size(); }
  // Returns the number of changes outside local memory.
  [[nodiscard]] std::size_t foreign() const { return foreign_; }
  // Adds what a lane is about to write.
  void add(const Access& access, unsigned lane);
  // Drops those after the first `since` that have changed nothing.
  void settle(std::size_t since);
  // Returns whether memory is as it was after `since` changes.
  [[nodiscard]] bool are_undone(std::size_t since) const;
  // Calls visit(change) for those after the first `since`.
  template <typename Visit>
  void for_each(std::size_t since, Visit visit) const {
    for (std::size_t i = since; i < changes_.size(); ++i) visit(changes_[i]);
  }
  // Returns a hash of the bytes that differ from their initial values.
  [[nodiscard]] std::uint64_t hash() const;
  // Restores memory as it was after `since` changes, and drops the later ones.
  void undo(std::size_t since);

 private:
  std::vector<Change> changes_;
  std::size_t foreign_ = 0;
};

}  // namespace warpcheck::vgpu
