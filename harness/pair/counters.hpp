// What a pair's kernel does to memory, for claims about it: counters_of(in) in the body of a
// property (pair.hpp).
//
//   PROPERTY(transpose, no_bank_conflicts)(TransposeInput in) {
//     EXPECT_EQ(counters_of(in).shared_conflicts, 0);
//   }
//
// The virtual GPU counts as a GPU would (vgpu/check/counters); a real one is not asked.  Counted
// launches have the default schedule: lanes that a strategy holds back would make requests of their
// own, so a claim would hold or not by the luck of a schedule.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/input/function_ref.hpp"
#include "vgpu/check/counters/memory_counts.hpp"

namespace warpcheck {

class Counters {
 public:
  // Of all launches together.
  std::uint64_t shared_conflicts = 0;  // wavefronts beyond those that the bytes need
  std::uint64_t excess_sectors = 0;    // of global memory, in the same sense
  std::uint64_t contended = 0;         // lanes of atomics that wait for another one of their warp
  std::uint64_t divergences = 0;       // branches at which lanes part
  std::uint64_t local_bytes = 0;

  // The share of the moved sectors of global memory that the bytes need: 1 if all accesses are
  // coalesced, and if there are none.
  [[nodiscard]] double coalescing() const;
  // The same of one line: "kernels/sort.cu:12", where leading folders may be left out.  Throws
  // std::invalid_argument if no instruction of that line was executed.
  [[nodiscard]] double coalescing(std::string_view line) const;
  // Returns the counts of a line, named in the same way.
  [[nodiscard]] vgpu::MemoryCounts at(std::string_view line) const;

  std::vector<vgpu::CountedInstr> instrs;
};

// Counts what the launches of `body` do, in the running trial.  Throws std::logic_error if a real
// GPU runs them.
[[nodiscard]] Counters counters_of_launches(FunctionRef<void()> body);

}  // namespace warpcheck
