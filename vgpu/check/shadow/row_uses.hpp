// Which instructions of a program write each row, and which read it.
//
// A row of a frame is known by its function.  Parameters and results of a call are rows of the
// callee's frame, which the caller writes and reads beyond the end of its own.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

class RowUses {
 public:
  using Row = std::tuple<std::uint32_t, Bank, std::uint32_t>;  // of a function

  explicit RowUses(const Program& program);

  // The row that an instruction writes, or reads.
  [[nodiscard]] Row written(std::uint32_t pc, const Ref& ref) const {
    return row_of(pc, ref, next_call_);
  }
  [[nodiscard]] Row read(std::uint32_t pc, const Ref& ref) const {
    return row_of(pc, ref, last_call_);
  }
  // Return instructions, by pc in ascending order.
  [[nodiscard]] std::span<const std::uint32_t> makers(const Row& row) const {
    return found_in(makers_, row);
  }
  [[nodiscard]] std::span<const std::uint32_t> users(const Row& row) const {
    return found_in(users_, row);
  }

 private:
  using Lists = std::map<Row, std::vector<std::uint32_t>>;
  [[nodiscard]] static std::span<const std::uint32_t> found_in(const Lists& lists, const Row& row) {
    const auto found = lists.find(row);
    return found == lists.end() ? std::span<const std::uint32_t>() : found->second;
  }
  void find_calls();
  [[nodiscard]] Row row_of(std::uint32_t pc, const Ref& ref,
                           const std::vector<std::uint32_t>& calls) const;

  const Program& program_;
  std::vector<std::uint32_t> functions_;              // by pc
  std::vector<std::uint32_t> next_call_, last_call_;  // by pc: the callee; kNone: none
  Lists makers_, users_;
};

}  // namespace warpcheck::vgpu
