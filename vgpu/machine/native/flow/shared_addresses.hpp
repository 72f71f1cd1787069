// Accesses of a basic block that share their addresses: they use the same value of the same
// register, with different constants added.  The first of them finds how the addresses lie, and the
// others need not find it again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu::native {

class SharedAddresses {
 public:
  // The number of groups at any place of the code; each has a place on the stack.
  static constexpr std::uint32_t kPlaces = 4;

  // An access in a group of at least two.
  struct Share {
    std::uint32_t place = 0;
    std::uint32_t first = 0;    // the pc of the first access of the group
    std::int32_t distance = 0;  // of its addresses from those of the first access
    // The distances in the group are in [low, low + span], if they are multiples of the access's
    // size; low is not positive.
    std::int32_t low = 0;
    std::uint32_t span = 0;
    bool is_near = false;  // the access's distance is within these
    friend bool operator==(const Share&, const Share&) = default;
  };

  // Finds the groups of the block in [begin, end).
  void begin_block(const std::vector<Instr>& code, std::uint32_t begin, std::uint32_t end);
  // Returns what an access of that block shares with others.
  [[nodiscard]] std::optional<Share> find(std::uint32_t pc) const;

 private:
  std::uint32_t begin_ = 0;
  std::vector<std::optional<Share>> shares_;  // by pc, from begin_ on
};

}  // namespace warpcheck::vgpu::native
