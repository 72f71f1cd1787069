// Which source lines of the kernels ran, and how often, for the HTML report and lcov.
//
// The lines are those that the line table (`.loc`) of a launched kernel names, in either build.
// The count of a line is that of its most executed instruction: how often a warp, or a group of its
// lanes, executed it.  An instruction with a false guard counts as executed, because its line was.
// Kernels that were never launched are not included.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/input/fields.hpp"
#include "harness/trial/engine.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck {

struct LineCoverage {
  using Lines = std::map<std::uint32_t, std::uint64_t>;  // line -> times; 0: never
  std::map<std::string, Lines> files;                    // by their names in reports

  void add(const LineCoverage& other);
  [[nodiscard]] bool empty() const { return files.empty(); }
};

[[nodiscard]] std::uint64_t lines_hit(const LineCoverage::Lines& lines);

// {"kernels/scan.cu": [[14, 3], [15, 0]]}
template <>
struct FieldTraits<LineCoverage> {
  static void write(Json& json, const LineCoverage& coverage);
  static LineCoverage read(const Json& json, const FieldPath& path);
  static bool identical(const LineCoverage& a, const LineCoverage& b) { return a.files == b.files; }
};

// Counts entries into straight-line code; needs edge events (WatchedEngine).
class CoverageObserver final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override { return {.accesses = false}; }
  void on_sync(const vgpu::Sync& sync) override;
  void on_edge(std::uint32_t from, std::uint32_t to, const vgpu::Program& program) override;

  // Of all trials so far, without lines of the toolkit's own headers.
  [[nodiscard]] LineCoverage coverage() const;
  // How often each instruction of each program was executed, by pc.
  [[nodiscard]] std::unordered_map<const vgpu::Program*, std::vector<std::uint64_t>> executions()
      const;

 private:
  // How often code from each pc to its next branch was entered.  Programs live as long as the
  // process, because the runtime keeps what it has linked.
  using Entries = std::vector<std::uint64_t>;
  Entries& entries_of(const vgpu::Program& program);

  std::unordered_map<const vgpu::Program*, Entries> programs_;
  const vgpu::Program* last_ = nullptr;
  Entries* last_entries_ = nullptr;
  std::uint64_t warps_of_block_ = 0;  // of the running launch
};

// The engine for a command's trials: counts source lines if a report needs them.
class CoveredEngine {
 public:
  explicit CoveredEngine(bool wants_coverage, Engine& engine = virtual_gpu());

  [[nodiscard]] Engine& engine() { return watched_ ? *watched_ : engine_; }
  // Of all trials so far; empty if not counted.
  [[nodiscard]] std::optional<LineCoverage> coverage() const;

 private:
  Engine& engine_;
  CoverageObserver observer_;
  std::optional<WatchedEngine> watched_;
};

}  // namespace warpcheck
