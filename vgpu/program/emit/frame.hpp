// The frame of a function: rows of registers in the banks, and bytes of local memory.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

class Frame {
 public:
  // param_rows: number of leading word rows, in which the caller writes `.param` variables.
  Frame(const ptx::Function& function, std::uint32_t param_rows);

  [[nodiscard]] Ref row_of(std::uint32_t reg) const { return rows_.at(reg); }
  Ref temporary(Bank bank) { return rows(bank, 1); }
  // Returns the first of `count` consecutive rows.
  Ref rows(Bank bank, std::uint32_t count);
  // Returns the row of the condition code register CC.CF.
  Ref carry();
  // Reserves `bytes` of local memory, and returns their offset.
  std::uint32_t take_local(std::uint64_t bytes, std::uint32_t alignment);
  [[nodiscard]] std::uint32_t local_offset(std::uint32_t local) const {
    return local_offset_.at(local);
  }
  // Returns the offset of the first word row after the frame, where a callee's frame begins.
  [[nodiscard]] std::uint32_t end_of_words() const { return words_ * kWordRowBytes; }
  void describe(FunctionCode& code) const;

 private:
  std::vector<Ref> rows_;  // by register
  std::uint32_t words_ = 0, wides_ = 0, predicates_ = 0, local_bytes_ = 0;
  Ref carry_{};
  std::map<std::uint32_t, std::uint32_t> local_offset_;  // by local variable
};

}  // namespace warpcheck::vgpu
