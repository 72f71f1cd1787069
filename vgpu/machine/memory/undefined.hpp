// Which bits of register lanes are undefined: loaded from memory that was never written, or
// computed from such.  Nothing is tracked until a warp first loads an undefined value.
//
// Structs have padding and bit fields, and compilers load, move and store them by whole words.  So
// what moves bits about keeps them apart: moves, packing, logic, shifts, fields, permutations,
// conversions of integers, memory.  Sums and products are undefined as far as carries may reach;
// what any other instruction computes is undefined as a whole when an operand has an undefined bit.
// The defined bits of two values may decide a comparison alone; selp looks only at the operand it
// takes; and where one predicate of a logical and or or decides the result alone, the other does
// not matter: `in range && a[i] < x` is often compiled to a load and a comparison of both sides.
// Undefined values are reported where they can matter (an address, a branch), not where they are
// copied.  Cf. Seward and Nethercote, Using Valgrind to detect undefined value errors with
// bit-precision, USENIX 2005.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// The undefined lanes of a row and the pc of the load that they come from.
struct UndefinedLanes {
  std::uint32_t mask = 0;
  std::uint32_t origin = ptx::kNone;
};

using LaneBits = std::array<std::uint64_t, kWarpLanes>;

// All bits of so many bytes, 1 to 8.
constexpr std::uint64_t ones_of(std::uint32_t bytes) {
  return ~std::uint64_t{0} >> (64 - 8 * bytes);
}

// Bases of the current frame, in rows.
struct FrameRows {
  std::uint32_t word = 0, wide = 0, predicate = 0;
};

class UndefinedRegisters {
 public:
  // Whether any register of the warp was ever undefined.  While false, nothing else need be
  // called.
  [[nodiscard]] bool any() const { return any_; }
  void clear();
  // What it knows; it then knows nothing, of as many rows.
  UndefinedRegisters take();
  // Calls visit(index of the row, undefined lanes) for every row that has some.
  template <typename Visit>
  void for_each(Visit visit) const {
    if (!any_) return;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].mask != 0) visit(i, rows_[i].mask);
    }
  }
  // The stacks of rows have grown.
  void reserve(const FrameRows& rows);

  // The lanes that have an undefined bit.
  [[nodiscard]] UndefinedLanes get(const FrameRows& frame, const Ref& ref) const;
  // The undefined bits of every lane; of words and wide rows.
  [[nodiscard]] LaneBits bits_of(const FrameRows& frame, const Ref& ref) const;
  // The lanes of `mask` become `value`'s, with all their bits; others keep theirs.
  void set(const FrameRows& frame, const Ref& ref, UndefinedLanes value, std::uint32_t mask,
           const Program& program);
  // The same, bit by bit.
  //   origin: of the lanes that have an undefined bit
  void set_bits(const FrameRows& frame, const Ref& ref, const LaneBits& bits, std::uint32_t origin,
                std::uint32_t mask, const Program& program);
  // Lanes of every row that are undefined because of that load are so no more.
  void forget(std::uint32_t origin, std::uint32_t lanes);
  // What a compute, warp or move instruction will do to its destinations.
  void propagate(const FrameRows& frame, const LaneBanks& banks, const Instr& instr,
                 std::uint32_t mask, const Program& program);

 private:
  // undefined_flow.cpp
  struct Flow;

  // False where there is nothing to be remembered.
  [[nodiscard]] bool begin(const Ref& ref, std::uint32_t lanes, const Program& program);
  [[nodiscard]] std::size_t index_of(const FrameRows& frame, const Ref& ref) const;

  bool any_ = false;
  FrameRows reserved_;  // 0: what the program needs
  std::uint32_t wides_at_ = 0, predicates_at_ = 0;
  std::vector<UndefinedLanes> rows_;  // words, then wides, then predicates
  // Of words and wides; hold for the lanes of the row's mask.
  std::unique_ptr<LaneBits[]> bits_;
  std::size_t bits_rows_ = 0;
};

}  // namespace warpcheck::vgpu
