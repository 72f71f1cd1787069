#include "vgpu/check/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kSidesMax = 4;

std::string threads_that(std::uint32_t threads, std::string_view one, std::string_view many) {
  return fmt::format("{} thread{} {}", threads, threads == 1 ? "" : "s", threads == 1 ? one : many);
}

std::string reason_of(const Waiting& waiting, std::uint32_t threads) {
  switch (waiting.kind) {
    case Waiting::Kind::barrier:
      return fmt::format("{} at barrier {}, at which {} of {} threads have arrived",
                         threads_that(threads, "waits", "wait"), waiting.number, waiting.arrived,
                         waiting.expected);
    case Waiting::Kind::members:
      return fmt::format("{} for lanes {:#010x} of the same warp",
                         threads_that(threads, "waits", "wait"), waiting.missing);
    case Waiting::Kind::cluster:
      return fmt::format("{} at the barrier of the cluster, at which {} of {} threads have arrived",
                         threads_that(threads, "waits", "wait"), waiting.arrived, waiting.expected);
    case Waiting::Kind::rejoin:
      return fmt::format("{} until the others of the same warp have come here, too",
                         threads_that(threads, "waits", "wait"));
    case Waiting::Kind::reads: break;
  }
  if (waiting.allocation == nullptr) {
    return threads_that(threads, "goes", "go") + " round a loop that reads nothing";
  }
  return fmt::format("{} {}, {} byte{}, again and again, which holds {:#x}",
                     threads_that(threads, "reads", "read"),
                     vgpu::describe(*waiting.allocation, waiting.offset, waiting.bytes),
                     waiting.bytes, waiting.bytes == 1 ? "" : "s", waiting.value);
}

}  // namespace

std::vector<DeadlockChecker::Group> DeadlockChecker::group(std::span<const Waiting> waiting) {
  std::vector<Group> groups;
  for (const Waiting& one : waiting) {
    const auto same = std::ranges::find_if(groups, [&](const Group& other) {
      return other.first.kind == one.kind && other.first.pc == one.pc &&
             other.first.number == one.number;
    });
    Group& joined = same != groups.end() ? *same : groups.emplace_back(Group{one, 0});
    joined.threads += static_cast<std::uint32_t>(__builtin_popcount(one.lanes));
  }
  // Who polls comes first: what it polls is what all others wait for.
  std::ranges::stable_sort(
      groups, {}, [](const Group& one) { return one.first.kind == Waiting::Kind::reads ? 0 : 1; });
  if (groups.size() > kSidesMax) groups.resize(kSidesMax);
  return groups;
}

std::string DeadlockChecker::describe(const Program& program, const std::vector<Group>& groups,
                                      Finding& finding) const {
  std::string text;
  for (const Group& group : groups) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(group.first.lanes));
    const bool spins = group.first.kind == Waiting::Kind::reads;
    finding.accesses.push_back(reporter_.side(spins ? "spin" : "wait", program, group.first.pc,
                                              thread_of(group.first.place, lane)));
    text += fmt::format("{}({}) {}", text.empty() ? "" : "; ", finding.accesses.size(),
                        reason_of(group.first, group.threads));
  }
  return text;
}

void DeadlockChecker::on_deadlock(const Deadlock& deadlock) {
  const Program& program = *deadlock.program;
  const Waiting& first = deadlock.waiting.front();
  reporter_.report({&program, first.pc, ptx::kNone, 1}, [&] {
    Finding finding;
    finding.kind = FindingKind::deadlock;
    finding.kernel = kernel_name(program.kernel);
    finding.message =
        "no thread of the block can go on: " + describe(program, group(deadlock.waiting), finding);
    if (deadlock.exit_pc != ptx::kNone) {
      const ThreadId who{first.place.block, deadlock.exit_warp * kWarpLanes + deadlock.exit_lane};
      finding.accesses.push_back(reporter_.side("exit", program, deadlock.exit_pc, who));
      finding.message += fmt::format("; ({}) has exited", finding.accesses.size());
    }
    return finding;
  });
}

void DeadlockChecker::on_step_limit(const StepLimit& limit) {
  const Program& program = *limit.program;
  reporter_.report({&program, limit.pc, ptx::kNone, 0}, [&] {
    Finding finding;
    finding.kind = FindingKind::deadlock;
    finding.kernel = kernel_name(program.kernel);
    std::string who = describe(program, group(limit.waiting), finding);
    if (who.empty()) {
      finding.accesses = {
          reporter_.side("spin", program, limit.pc, thread_of(limit.place, limit.lane))};
      who = "(1) is where a warp was last";
    }
    finding.message = fmt::format("no end after {} warp instructions: {}", limit.steps, who);
    if (limit.blocks_not_started != 0) {
      finding.message +=
          fmt::format("; {} blocks start only when others have ended", limit.blocks_not_started);
    }
    return finding;
  });
}

}  // namespace warpcheck::vgpu
