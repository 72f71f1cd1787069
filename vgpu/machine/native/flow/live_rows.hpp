// Liveness of register rows: which values may be read later.  Other values need not be stored.
//
// The analysis goes backward over all paths that a thread can take, as for any variable (Muchnick,
// Advanced Compiler Design and Implementation, 14.1.3).  Lanes read only their own cells, except in
// warp operations.  What these read counts as read everywhere, because they may read a lane that is
// at another place or has exited.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/program/flow/register_flow.hpp"

namespace warpcheck::vgpu {

class LiveRows {
 public:
  explicit LiveRows(const Program& program);

  // Returns whether the value of `ref` before the instruction at `pc` may be read, by that
  // instruction or later.
  [[nodiscard]] bool is_live(std::uint32_t pc, const Ref& ref) const;
  // The same for a row of the warp's stack, by its index in its bank.
  [[nodiscard]] bool is_live(std::uint32_t pc, Bank bank, std::uint32_t row) const;
  // False: every value counts as one that may be read.
  [[nodiscard]] bool is_known() const { return is_known_; }
  [[nodiscard]] const RegisterFlow& flow() const { return flow_; }
  // Returns the rows of a bank whose initial values may be read, if is_known().
  //   rows: of the bank
  [[nodiscard]] std::vector<std::uint32_t> live_at_begin(Bank bank, std::uint32_t rows) const;

 private:
  [[nodiscard]] bool is_live(std::uint32_t pc, std::uint32_t number) const;
  [[nodiscard]] bool bit(const std::vector<std::uint64_t>& bits, std::size_t first,
                         std::uint32_t number) const {
    return (bits[first + number / 64] >> (number % 64) & 1) != 0;
  }
  void find_read_by_others();
  void solve();

  RegisterFlow flow_;
  bool is_known_ = false;
  std::size_t words_ = 0;                                   // 64 registers per word
  std::vector<std::uint64_t> read_by_others_;               // by register
  std::vector<std::uint64_t> live_at_begin_, live_at_end_;  // by block and register
};

// Returns whether all lanes that execute `instr` get new values in each of its destinations.
[[nodiscard]] bool overwrites(const Instr& instr);

}  // namespace warpcheck::vgpu
