#include "vgpu/check/race/race_finding.hpp"

#include <utility>

#include "vgpu/check/race/race_lack.hpp"

namespace warpcheck::vgpu {

Reporter::Key key_of_race(const Program& program, RacingAccess earlier, RacingAccess later,
                          Weight weight, std::uint32_t more) {
  if (std::pair(later.pc, later.kind) < std::pair(earlier.pc, earlier.kind)) {
    std::swap(earlier, later);
  }
  const auto tag = more | static_cast<std::uint32_t>(earlier.kind) << 8 |
                   static_cast<std::uint32_t>(later.kind) << 4 | static_cast<std::uint32_t>(weight);
  return {&program, earlier.pc, later.pc, tag};
}

Finding race_finding(const Reporter& reporter, const Access& access, unsigned lane, Weight weight,
                     AccessSide earlier, const RaceExplanation& explanation) {
  const Program& program = *access.program;
  Finding finding;
  finding.kind = FindingKind::data_race;
  finding.space = space_name(access.space);
  finding.severity = severity_of(weight);
  finding.kernel = kernel_name(program.kernel);
  finding.object = describe_element(access, lane);
  finding.accesses = {std::move(earlier),
                      reporter.side(role_at(program, access.pc, access.kind), program, access.pc,
                                    thread_of(access.place, lane))};
  finding.variable = variable_of(*access.allocation, access.offset[lane]);
  finding.message = explanation.message;
  finding.message += remark_of(weight);
  finding.lack = explanation.lack;
  return finding;
}

}  // namespace warpcheck::vgpu
