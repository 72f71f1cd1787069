// Tracks which bits of register lanes are undefined: loaded from memory that was never written, or
// computed from such bits.  Nothing is tracked until a warp first loads an undefined value.
//
// Structs have padding and bit fields, and compilers load, move and store them by whole words.  So
// instructions that only move bits keep defined and undefined bits apart: moves, packing, logic,
// shifts, fields, permutations, integer conversions, memory accesses.  Sums and products are
// undefined as far as carries may reach.  The result of any other instruction is completely
// undefined if an operand has an undefined bit.  The defined bits of two values may decide a
// comparison alone; selp depends only on the operand that it selects; and if one predicate of a
// logical and or or decides the result alone, the other one does not matter: `in range && a[i] < x`
// is often compiled to a load and a comparison of both sides.  Undefined values are reported where
// they can matter (an address, a branch), not where they are copied.
//
// A loop around a compare-and-swap begins with a guess: a read of the place that it will change.
// What the swap finds is compared with the guess, and this comparison does not depend on undefined
// bits of the guess: where it fails, the loop goes round again.  So the comparison counts as
// defined; a lane remembers the latest reads of undefined bits, and its latest swap.  Cf. Seward
// and Nethercote, Using Valgrind to detect undefined value errors with bit-precision, USENIX 2005.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/program/warp_rows.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

struct Instr;
struct Program;

// The lanes whose undefined bits are known to be a value, and not padding that was moved with its
// struct.
struct ValueLanes {
  std::uint32_t whole = 0;       // all bits of what was loaded, perhaps widened since
  std::uint32_t calculated = 0;  // results of calculations, perhaps packed with other bits since

  [[nodiscard]] std::uint32_t any() const { return whole | calculated; }
};

// The undefined lanes of a row, and the pc of the load that the undefined bits come from.
struct UndefinedLanes {
  std::uint32_t mask = 0;
  std::uint32_t origin = ptx::kNone;
  ValueLanes values{};
};

using LaneBits = std::array<std::uint64_t, kWarpLanes>;

// Returns a mask of all bits in so many bytes, 1 to 8.
constexpr std::uint64_t ones_of(std::uint32_t bytes) {
  return ~std::uint64_t{0} >> (64 - 8 * bytes);
}

// Bases of the current frame, in rows.
struct FrameRows {
  std::uint32_t word = 0, wide = 0, predicate = 0;
};

class UndefinedRegisters {
 public:
  // Returns whether a register of the warp may be undefined.  While false, no other function needs
  // to be called.
  [[nodiscard]] bool any() const { return any_; }
  void clear() {
    any_ = false;
    guesses_.clear();
    swap_.clear();
    reserved_ = {};
    rows_.clear();
    touched_.clear();
  }
  // Returns the tracked state, and leaves an empty state with the same number of rows.
  UndefinedRegisters take();
  [[nodiscard]] UndefinedRegisters copy() const;
  // Calls visit(index of the row, undefined lanes) for every row that has undefined lanes.
  template <typename Visit>
  void for_each(Visit visit) const {
    if (!any_) return;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].mask != 0) visit(i, rows_[i].mask);
    }
  }
  // Called when the stacks of rows have grown.
  void reserve(const FrameRows& rows);

  // Returns the lanes that have an undefined bit.
  [[nodiscard]] UndefinedLanes get(const FrameRows& frame, const Ref& ref) const;
  // Returns the undefined bits of every lane, for word rows and wide rows.
  [[nodiscard]] LaneBits bits_of(const FrameRows& frame, const Ref& ref) const;
  // Sets the lanes of `mask` to those of `value`, with all their bits undefined; other lanes stay
  // unchanged.
  void set(const FrameRows& frame, const Ref& ref, UndefinedLanes value, std::uint32_t mask,
           const Program& program);
  // Sets the lanes bit by bit.
  //   origin: of the lanes that have an undefined bit
  void set_bits(const FrameRows& frame, const Ref& ref, const LaneBits& bits, std::uint32_t origin,
                std::uint32_t mask, const Program& program, const ValueLanes& values = {});
  // Makes the lanes defined in every row in which their undefined bits come from that load.
  void forget(std::uint32_t origin, std::uint32_t lanes);
  // Makes lanes that have exited defined, and other lanes in the rows whose values they can no
  // longer read.
  //   is_dead(bank, index of a row in its bank): asked for rows in which such lanes are undefined
  template <typename IsDead>
  void forget_dead(std::uint32_t exited, std::uint32_t lanes, IsDead is_dead) {
    bool is_any_left = false;
    for_each_touched([&](std::uint32_t row) {
      std::uint32_t& mask = rows_[row].mask;
      mask &= ~exited;
      if (mask == 0) return;
      const bool dead = (mask & lanes) != 0 &&
                        (row < wides_at_        ? is_dead(Bank::word, row)
                         : row < predicates_at_ ? is_dead(Bank::wide, row - wides_at_)
                                                : is_dead(Bank::predicate, row - predicates_at_));
      if (dead) mask &= ~lanes;
      is_any_left |= mask != 0;
    });
    if (!is_any_left) become_defined();
  }
  // A read has given the lanes values with undefined bits of an origin: one that a compare-and-swap
  // may follow.
  //   memory: identifies the allocation; offsets: of all lanes
  void note_read(std::uint32_t origin, std::uint32_t lanes, const void* memory,
                 const std::array<std::uint32_t, kWarpLanes>& offsets);
  // Returns those of the lanes that have read the undefined bits of this origin there.
  [[nodiscard]] std::uint32_t guessed_at(
      std::uint32_t origin, std::uint32_t lanes, const void* memory,
      const std::array<std::uint32_t, kWarpLanes>& offsets) const;
  // A compare-and-swap of lanes whose expected values are guesses.
  struct Swap {
    std::uint32_t lanes = 0;
    std::uint32_t bytes = 0;  // of the type
    LaneBits expected{}, found{};
    std::uint32_t expected_origin = ptx::kNone;
  };
  void note_swap(const Swap& swap);
  // Returns the latest swap; null: there is none.
  [[nodiscard]] const Swap* latest_swap() const { return swap_.empty() ? nullptr : &swap_[0]; }

  // Computes what a compute, warp or move instruction is about to do to its destinations.
  void propagate(const FrameRows& frame, const LaneBanks& banks, const Instr& instr,
                 std::uint32_t mask, const Program& program);

 private:
  // undefined_flow.cpp
  struct Flow;

  // Calls visit(index) for each row that has had undefined lanes since begin() or take().
  template <typename Visit>
  void for_each_touched(Visit visit) {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      for (std::uint64_t rest = touched_[i]; rest != 0; rest &= rest - 1) {
        visit(static_cast<std::uint32_t>(64 * i) +
              static_cast<std::uint32_t>(__builtin_ctzll(rest)));
      }
    }
  }
  void touch(std::size_t row) { touched_[row / 64] |= std::uint64_t{1} << (row % 64); }
  void become_defined();
  // Returns false if there is nothing to record.
  [[nodiscard]] bool begin(const Ref& ref, std::uint32_t lanes, const Program& program);
  [[nodiscard]] std::size_t index_of(const FrameRows& frame, const Ref& ref) const;

  // Lanes that have read undefined bits at the offsets.
  struct Guess {
    std::uint32_t origin = ptx::kNone, lanes = 0;
    const void* memory = nullptr;
    std::array<std::uint32_t, kWarpLanes> offsets{};
  };
  static constexpr std::size_t kGuessesMax = 4;

  std::vector<Guess> guesses_;  // the latest last; one of an origin
  std::vector<Swap> swap_;      // at most one
  bool any_ = false;
  FrameRows reserved_;  // 0: the number that the program needs
  std::uint32_t wides_at_ = 0, predicates_at_ = 0;
  std::vector<UndefinedLanes> rows_;  // words, then wides, then predicates
  // By row, a bit, set wherever a lane becomes undefined: the other rows are as begin() has made
  // them.  Few are touched, and they are looked through at every block of machine code.
  std::vector<std::uint64_t> touched_;
  // For words and wides; valid for the lanes in the row's mask.
  std::unique_ptr<LaneBits[]> bits_;
  std::size_t bits_rows_ = 0;
};

}  // namespace warpcheck::vgpu
