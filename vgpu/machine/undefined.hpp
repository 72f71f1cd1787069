// Which register lanes hold undefined values: loaded from memory that was never written, or
// computed from such.  Nothing is tracked until a warp first loads an undefined value.
//
// A value is undefined when any operand is; but selp looks only at the operand it takes, and where
// one operand of a logical and or or decides the result alone, the other does not matter: `in
// range && a[i] < x` is often compiled to a load and a comparison of both sides.  Undefined values
// are reported where they can matter (an address, a branch), not where they are copied.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// The undefined lanes of a row and the pc of the load that they come from.
struct UndefinedLanes {
  std::uint32_t mask = 0;
  std::uint32_t origin = ptx::kNone;
};

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
  // The stacks of rows have grown.
  void reserve(const FrameRows& rows);

  [[nodiscard]] UndefinedLanes get(const FrameRows& frame, const Ref& ref) const;
  // The lanes of `mask` become `value`'s; others keep theirs.
  void set(const FrameRows& frame, const Ref& ref, UndefinedLanes value, std::uint32_t mask,
           const Program& program);
  // What a compute, warp or move instruction does to its destinations.
  //   selector: the value of the predicate of selp
  //   decided: the lanes whose result is defined, whatever the operands are
  void propagate(const FrameRows& frame, const Instr& instr, std::uint32_t mask,
                 const Program& program, std::uint32_t selector, std::uint32_t decided = 0);
  // The lanes in which a defined operand decides what an and or an or gives.
  [[nodiscard]] std::uint32_t decided_lanes(const FrameRows& frame, const LaneBanks& banks,
                                            const Instr& instr) const;

 private:
  void propagate_product(const FrameRows& frame, const Instr& instr, std::uint32_t mask,
                         const Program& program);
  [[nodiscard]] std::size_t index_of(const FrameRows& frame, const Ref& ref) const;

  bool any_ = false;
  FrameRows reserved_;  // 0: what the program needs
  std::uint32_t wides_at_ = 0, predicates_at_ = 0;
  std::vector<UndefinedLanes> rows_;  // words, then wides, then predicates
};

}  // namespace warpcheck::vgpu
