// Accesses of launches with weak memory: the strategy is asked, and lanes move one by one.
#include <bit>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/memory/weak_memory.hpp"

namespace warpcheck::vgpu {

// Executes an access that has been described.
void Accesses::perform_weakly(RunningFragment& run, const Instr& instr,
                              const Allocation& allocation, const RowScan& scan) {
  Access& access = current_.access;
  const std::uint32_t mask = access.mask;
  WeakMemory& memory = *launch_.observers().weak_memory;
  if (access.asynchronous) {
    current_.report();
    memory.pass(access);
    return move_bytes(run, instr, allocation, scan, mask);
  }
  PastPoint point = memory.begin(access);
  if (point.lanes != 0) {
    point.launch = launch_.request().index;
    point.at = {run.slot.block, run.warp.index};
    point.index = run.warp.accesses - 1;
    const std::optional<PastChoice> choice = launch_.strategy().choose_past(point);
    if (choice && (choice->lanes & point.lanes) != 0 && choice->writes != 0) {
      const PastChoice fits{choice->lanes & point.lanes, std::min(choice->writes, point.depth)};
      launch_.record({point.launch, point.at, Decision::Point::past, point.index, fits.lanes,
                      WarpId{fits.writes, 0}});
      memory.choose(access, fits);
    }
  }
  current_.report();
  // Lanes that do not move need a valid offset too.
  const std::uint32_t safe = access.offset[access.first_lane()];
  for (std::uint32_t rest = ~mask; rest != 0; rest &= rest - 1) {
    access.offset[static_cast<unsigned>(std::countr_zero(rest))] = safe;
  }
  const RowScan one_lane{.inside = true, .strided = false, .uniform = false};
  const std::uint32_t undefined = access.undefined;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    memory.begin_lane(access, lane);
    move_bytes(run, instr, allocation, one_lane, 1u << lane);
    memory.end_lane(access, lane);
  }
  access.undefined = undefined;
  access.sources = nullptr;
}

}  // namespace warpcheck::vgpu
