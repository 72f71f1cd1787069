// Finds stores that only move values: they store exactly what loads have read, and nothing
// calculated.  Struct copies, sorts and stagings through shared memory do that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/program/flow/register_flow.hpp"

namespace warpcheck::vgpu {

class MovedValues {
 public:
  using Loads = std::vector<std::uint32_t>;

  explicit MovedValues(const Program& program);

  // Returns the pcs of the loads whose values the store at `pc` moves in one element, over all
  // paths.  Nothing: the store may store something else, or the registers cannot be followed.
  const std::optional<Loads>& loads_of(std::uint32_t pc, std::uint32_t element);

 private:
  [[nodiscard]] std::optional<Loads> find_loads(std::uint32_t pc, std::uint32_t element) const;
  // Returns the instructions that may have given a register its value before `pc`; nothing: not
  // known.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> writers(std::uint32_t pc,
                                                                  std::uint32_t number) const;
  [[nodiscard]] std::vector<std::uint32_t> moved_registers(std::uint32_t pc) const;

  RegisterFlow flow_;
  std::vector<std::vector<std::uint32_t>> predecessors_;  // by basic block
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<Loads>> known_;
};

}  // namespace warpcheck::vgpu
