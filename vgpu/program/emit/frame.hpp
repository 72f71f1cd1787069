// The frame of a function: rows of registers in the banks, and bytes of local memory.
#pragma once

#include <algorithm>
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
  // Rows of words that were given out since `words` was that number are given out again: no
  // instruction uses them any more.
  [[nodiscard]] std::uint32_t words() const { return words_; }
  void give_back_to(std::uint32_t words) {
    words_max_ = std::max(words_max_, words_);
    words_ = words;
  }
  // Returns the row of the condition code register CC.CF.
  Ref carry();
  // Reserves `bytes` of local memory, and returns their offset.
  std::uint32_t take_local(std::uint64_t bytes, std::uint32_t alignment);
  [[nodiscard]] std::uint32_t local_offset(std::uint32_t local) const {
    return local_offset_.at(local);
  }
  // Returns the offset of the first word row after the frame, where a callee's frame begins.
  [[nodiscard]] std::uint32_t end_of_words() const { return words_max() * kWordRowBytes; }
  void describe(FunctionCode& code) const;

 private:
  [[nodiscard]] std::uint32_t words_max() const { return std::max(words_, words_max_); }

  std::vector<Ref> rows_;  // by register
  std::uint32_t words_max_ = 0;
  std::uint32_t words_ = 0, wides_ = 0, predicates_ = 0, local_bytes_ = 0;
  Ref carry_{};
  std::map<std::uint32_t, std::uint32_t> local_offset_;  // by local variable
};

}  // namespace warpcheck::vgpu
