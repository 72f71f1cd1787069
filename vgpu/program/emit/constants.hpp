// The constant bank of a program.  Internal to vgpu/program.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// The constant rows: one row for each distinct value and width.
class ConstantRows {
 public:
  explicit ConstantRows(Program& program) : program_(program) {}
  Ref word(std::uint32_t value);
  Ref wide(std::uint64_t value);
  Ref predicate(bool value) { return word(value ? 0xffffffffu : 0u); }
  // Returns the row for the address of a module variable plus `addend`; it is patched when the
  // module is loaded.
  Ref address(std::uint32_t variable, std::int64_t addend, bool is_wide);
  // Returns the row for the address of a shared variable plus an offset; an integer of the same
  // value has another row.
  Ref shared(std::uint32_t symbol, std::uint64_t value, bool is_wide);
  // Returns what a row holds the address of; null: it holds an integer, or the address of a
  // function.
  [[nodiscard]] const Root* root_of(const Ref& row) const;

 private:
  Ref append(std::uint64_t value, bool is_wide);

  Program& program_;
  std::map<std::pair<std::uint64_t, bool>, Ref> rows_;
  std::map<std::pair<std::uint32_t, std::pair<std::int64_t, bool>>, Ref> addresses_;
  std::map<std::pair<std::uint32_t, std::pair<std::uint64_t, bool>>, Ref> shared_;
  std::map<std::uint32_t, Root> roots_;                 // by offset of the row
  std::map<std::uint32_t, std::uint32_t> first_patch_;  // by variable
};

}  // namespace warpcheck::vgpu
