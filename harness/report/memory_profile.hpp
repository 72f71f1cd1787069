// What the kernels' lines cost in memory: the counts of vgpu/check/counters by source line, those
// first that lose most.
//
// A line loses the sectors and the wavefronts that its accesses move beyond the least that their
// bytes need.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/input/json_values.hpp"
#include "harness/report/source_excerpt.hpp"
#include "vgpu/check/counters/memory_counts.hpp"

namespace warpcheck {

inline constexpr std::string_view kProfileSchema = "warpcheck-profile/1";

struct MemoryProfile {
  struct Line {
    std::string file;  // by its name in reports; empty: lines are not known
    std::uint32_t line = 0;
    std::vector<vgpu::CountedInstr> instrs;  // in the order of the code
    vgpu::MemoryCounts total;  // of executions and lanes: those of its busiest instruction

    [[nodiscard]] std::uint64_t lost() const { return total.excess_sectors() + total.conflicts(); }
    // Whether there is something to say of it.
    [[nodiscard]] bool has_costs() const;
  };
  std::vector<Line> lines;
};

//   name_of: the name of a file in reports
[[nodiscard]] MemoryProfile memory_profile(
    const std::vector<vgpu::CountedInstr>& instrs,
    const std::function<std::string(const std::string& file)>& name_of);

// A sentence for each thing that the counts say: "28 of 32 sectors of a request are wasted (...)".
[[nodiscard]] std::vector<std::string> profile_sentences(const vgpu::MemoryCounts& counts);

//   lines_max: of lines; the end says how many are left out
[[nodiscard]] std::string profile_text(const MemoryProfile& profile, SourceFiles& files,
                                       std::size_t lines_max);

// The document of `--profile FILE`; docs/use/report.schema.json describes it.
[[nodiscard]] Json profile_json(const MemoryProfile& profile);

}  // namespace warpcheck
