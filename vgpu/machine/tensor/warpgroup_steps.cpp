#include "vgpu/machine/tensor/warpgroup_steps.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {
namespace {

struct Thread {
  const Warp* warp = nullptr;
  unsigned lane = 0;
};

// Returns whether two instructions are of one kind; `alike`: also their qualifiers are the same.
bool is_step(const Program& program, std::uint32_t one, std::uint32_t other, bool alike) {
  if (alike) return program.source_of(one).text == program.source_of(other).text;
  const Instr& x = program.code[one];
  const Instr& y = program.code[other];
  return x.opcode == y.opcode && x.modifiers.copy_op == y.modifiers.copy_op;
}

// Returns how often a thread has executed such instructions as the one at `pc`.
std::uint32_t times_of(const Program& program, const Thread& thread, std::uint32_t pc, bool alike) {
  std::uint32_t times = 0;
  for (const Warp::GroupStep& step : thread.warp->group_steps) {
    if (is_step(program, step.pc, pc, alike)) times += step.times[thread.lane];
  }
  return times;
}

// The first warp of a warpgroup, and the one behind the last.
struct Group {
  std::uint32_t first = 0, end = 0;
};

// Returns the first thread that has executed such instructions less often than `times`; its warp is
// null if there is none.
Thread find_fewer(const Program& program, const Slot& slot, const Group& group, std::uint32_t pc,
                  std::uint32_t times, bool alike) {
  for (std::uint32_t index = group.first; index < group.end; ++index) {
    const Warp& warp = slot.warps[index];
    for (std::uint32_t rest = warp.lanes; rest != 0; rest &= rest - 1) {
      const Thread thread{&warp, static_cast<unsigned>(std::countr_zero(rest))};
      if (times_of(program, thread, pc, alike) < times) return thread;
    }
  }
  return {};
}

// Returns whether all threads have executed the same instructions equally often, in one order, as
// almost all warpgroups do.
bool are_equal(const Slot& slot, const Group& group) {
  const std::vector<Warp::GroupStep>& expected = slot.warps[group.first].group_steps;
  for (std::uint32_t index = group.first; index < group.end; ++index) {
    const Warp& warp = slot.warps[index];
    const auto is_equal = [&](const Warp::GroupStep& step, const Warp::GroupStep& first) {
      if (step.pc != first.pc) return false;
      for (std::uint32_t rest = warp.lanes; rest != 0; rest &= rest - 1) {
        if (step.times[static_cast<unsigned>(std::countr_zero(rest))] != first.times[0])
          return false;
      }
      return true;
    };
    if (!std::ranges::equal(warp.group_steps, expected, is_equal)) return false;
  }
  return true;
}

// Reports the first difference; returns whether there is one.
bool report_difference(const RunningLaunch& launch, const Slot& slot, const Group& group,
                       bool alike) {
  const Program& program = launch.program();
  for (std::uint32_t index = group.first; index < group.end; ++index) {
    const Warp& warp = slot.warps[index];
    for (const Warp::GroupStep& step : warp.group_steps) {
      const auto most = std::ranges::max_element(step.times);
      const Thread one{&warp, static_cast<unsigned>(most - step.times.begin())};
      const std::uint32_t times = times_of(program, one, step.pc, alike);
      const Thread other = find_fewer(program, slot, group, step.pc, times, alike);
      if (other.warp == nullptr) continue;
      BarrierDivergence divergence;
      divergence.reason = alike ? BarrierDivergence::Reason::unlike_in_warpgroup
                                : BarrierDivergence::Reason::part_of_warpgroup;
      divergence.program = &program;
      divergence.place = launch.place_of(slot, warp);
      divergence.pc = step.pc;
      divergence.lane = one.lane;
      divergence.other_pc = other.warp->exit_pc;
      divergence.other_warp = other.warp->index;
      divergence.other_lane = other.lane;
      launch.notify([&](Observer& observer) { observer.on_barrier_divergence(divergence); });
      return true;
    }
  }
  return false;
}

}  // namespace

void note_warpgroup_step(const RunningFragment& run, std::uint32_t lanes) {
  std::vector<Warp::GroupStep>& steps = run.warp.group_steps;
  auto step = std::ranges::find(steps, run.pc, &Warp::GroupStep::pc);
  if (step == steps.end()) step = steps.insert(step, {run.pc, {}});
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    ++step->times[static_cast<unsigned>(std::countr_zero(rest))];
  }
}

void compare_warpgroups(const RunningLaunch& launch, const Slot& slot) {
  const std::uint32_t warps = launch.warps_per_block();
  for (std::uint32_t first = 0; first < warps; first += kGroupWarps) {
    const Group group{first, std::min(first + kGroupWarps, warps)};
    if (are_equal(slot, group)) continue;
    if (!report_difference(launch, slot, group, false))
      report_difference(launch, slot, group, true);
  }
}

}  // namespace warpcheck::vgpu
