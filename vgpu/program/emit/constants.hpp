// The constant bank of a program.  Internal to vgpu/program.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// One row for each different value and width.
class ConstantRows {
 public:
  explicit ConstantRows(Program& program) : program_(program) {}
  Ref word(std::uint32_t value);
  Ref wide(std::uint64_t value);
  Ref predicate(bool value) { return word(value ? 0xffffffffu : 0u); }
  // The address of a module variable plus `addend`, patched when the module is loaded.
  Ref address(std::uint32_t variable, std::int64_t addend, bool is_wide);
  // The address of a shared variable plus something: no integer of that value has this row.
  Ref shared(std::uint32_t symbol, std::uint64_t value, bool is_wide);
  // What a row holds the address of; null: an integer, or the address of a function.
  [[nodiscard]] const Root* root_of(const Ref& row) const;

 private:
  Ref append(std::uint64_t value, bool is_wide);

  Program& program_;
  std::map<std::pair<std::uint64_t, bool>, Ref> rows_;
  std::map<std::pair<std::uint32_t, std::pair<std::int64_t, bool>>, Ref> addresses_;
  std::map<std::pair<std::uint32_t, std::pair<std::uint64_t, bool>>, Ref> shared_;
  std::map<std::uint32_t, Root> roots_;                 // by offset of the row
  std::map<std::uint32_t, std::uint32_t> first_patch_;  // of each variable
};

}  // namespace warpcheck::vgpu
