// Where a warp keeps its registers: banks of rows of 32 lanes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpcheck::vgpu {

inline constexpr unsigned kWarpLanes = 32;
inline constexpr std::uint32_t kWordRowBytes = kWarpLanes * 4;
inline constexpr std::uint32_t kWideRowBytes = kWarpLanes * 8;

enum class Bank : std::uint8_t {
  word,       // 32 x 4 bytes a row
  wide,       // 32 x 8 bytes a row
  constant,   // rows of either width, the same in all lanes
  predicate,  // 4 bytes: bit l is lane l
  none,       // operand absent, or the sink `_`
};

// The place of an operand's row: a byte offset from the frame's base in its bank.
struct Ref {
  Bank bank = Bank::none;
  std::uint32_t offset = 0;
  friend bool operator==(const Ref&, const Ref&) = default;
};

// The bases of the current frame, indexed by Bank.
struct LaneBanks {
  std::array<std::byte*, 4> base{};
};

// Returns the row `rows` places after `first`, in consecutive rows.
constexpr Ref row_after(Ref first, std::uint32_t rows) {
  if (first.bank != Bank::none) {
    first.offset += rows * (first.bank == Bank::wide ? kWideRowBytes : kWordRowBytes);
  }
  return first;
}

}  // namespace warpcheck::vgpu
