// Runs what a solver suspects of a kernel: whole, or sparsely where that is too large, and finds
// the smallest numbers that fail.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/kernel/kernel_pair.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/symbolic/prove_kernel.hpp"

namespace warpcheck {

// The input of a case of such a kernel.
[[nodiscard]] inline const KernelInput& kernel_input_of(const Case& a_case) {
  return *static_cast<const KernelInput*>(a_case.input.get());
}

class SuspectRuns {
 public:
  // pair: outlives the cases.  settings: each is tried; sparse runs take the first one of the build
  // that is proved.
  // has_block_for_each: by axis, whether a number needs a block, else a thread.
  SuspectRuns(const KernelPair& pair, std::vector<Settings> settings,
              std::array<bool, 3> has_block_for_each = {})
      : pair_(pair), settings_(std::move(settings)), has_block_for_each_(has_block_for_each) {}

  // A case with the suspected numbers, or larger ones, that fails.
  //   wide: integers that may be larger than suspected
  [[nodiscard]] std::optional<Case> failing(const vgpu::symbolic::Suspect& suspect,
                                            const std::vector<std::string>& wide = {});
  // ... and the smallest such case.
  [[nodiscard]] std::optional<Case> smallest_failing(const vgpu::symbolic::Suspect& suspect,
                                                     const std::vector<std::string>& wide = {});
  // A case of large numbers that fails, and the smallest such one: where the solver finds no
  // suspicion and no proof.
  //   largest: the integers, by name; the grid is as large as they need
  [[nodiscard]] std::optional<Case> smallest_failing_large(
      const std::map<std::string, std::int64_t>& largest);
  // From the case that failing() returned, by bisection, the one with the smallest value of an
  // integer; at `passes` there is none.  Whatever runs whole is returned as it is.
  [[nodiscard]] Case smallest(const Case& failing, std::size_t scalar, std::int64_t passes);
  // The line where an integer wraps first in a case, with its operands; empty: none does.
  [[nodiscard]] std::string wrap_of(const Case& failing);

 private:
  // Of all integers and the grid, one after the other.
  [[nodiscard]] Case smallest(const Case& failing);
  [[nodiscard]] Case case_of(AnyInput input, const Settings& settings) const;
  [[nodiscard]] std::optional<Case> failing_whole(const KernelInput& shape);
  [[nodiscard]] std::optional<Case> failing_sparsely(KernelInput shape,
                                                     std::vector<std::uint32_t> blocks);
  [[nodiscard]] std::optional<Case> failing_wider(const KernelInput& shape,
                                                  const std::vector<std::uint32_t>& blocks);
  [[nodiscard]] std::optional<Case> failing_just_beyond(const KernelInput& shape,
                                                        const std::vector<std::string>& wide);
  // The grid follows the integers down, so that it covers no more than they need.
  void shrink_grid(KernelInput& input) const;
  [[nodiscard]] Case smallest_grid(const Case& failing, std::uint32_t Dim3::*axis);

  const KernelPair& pair_;
  std::vector<Settings> settings_;
  std::array<bool, 3> has_block_for_each_;
  TrialRunner runner_;
  // The one kind that sparse runs look for; nothing: all.
  std::optional<vgpu::FindingKind> kind_{};
  vgpu::FindingKind last_kind_ = vgpu::FindingKind::out_of_bounds;  // of the last one that failed
};

}  // namespace warpcheck
