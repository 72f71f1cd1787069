#include "harness/trial/trial_log.hpp"

#include <algorithm>

#include "harness/pair/source_path.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck {
namespace {

using vgpu::FindingKind;
using vgpu::kWarpLanes;

// Whether the sides of these findings are faults, that is, accesses that were not performed.
bool is_fault_kind(FindingKind kind) {
  return kind == FindingKind::out_of_bounds || kind == FindingKind::misaligned_access ||
         kind == FindingKind::use_after_free;
}

bool is_watched(ptx::Space space) {
  return space == ptx::Space::shared || space == ptx::Space::global;
}

}  // namespace

// A side is the first step that matches it.  The sides of a race must touch the same bytes: side
// (1) is the last matching access that overlaps side (2).
struct TrialLog::Target {
  // An access that could be side (1) of a race.
  struct Earlier {
    LogPoint at;
    std::uint32_t allocation = 0, begin = 0, end = 0;  // bytes
  };
  struct Side {
    bool on_device = false;
    std::uint32_t block = 0, thread = 0;  // linear; known once its kernel is launched
    std::optional<LogPoint> found;
  };

  explicit Target(const vgpu::Finding& described)
      : finding(&described), sides(described.accesses.size()) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      sides[i].on_device = !described.accesses[i].ptx.empty();
    }
  }

  [[nodiscard]] bool is_race() const {
    return finding->kind == FindingKind::data_race && sides.size() == 2;
  }

  void begin_launch(const vgpu::Sync& sync) {
    in_its_kernel = finding->kernel == vgpu::kernel_name(sync.program->kernel);
    earlier.clear();
    for (std::size_t i = 0; i < sides.size(); ++i) {
      sides[i].block = sync.grid.linear(finding->accesses[i].block);
      sides[i].thread = sync.block.linear(finding->accesses[i].thread);
    }
  }

  // The lane that is side `index` of the finding at this instruction, if there is one.
  [[nodiscard]] std::optional<unsigned> lane_of(std::size_t index, const LogStep& step) const {
    const Side& side = sides[index];
    if (!in_its_kernel || !side.on_device || step.warp.block != side.block ||
        step.warp.warp != side.thread / kWarpLanes ||
        (step.lanes >> side.thread % kWarpLanes & 1) == 0) {
      return std::nullopt;
    }
    const vgpu::AccessSide& wanted = finding->accesses[index];
    const vgpu::AccessSide here = vgpu::side_at("", {.program = step.program, .pc = step.pc});
    if (here.line != wanted.line || here.ptx != wanted.ptx ||
        repository_path(here.file) != wanted.file) {
      return std::nullopt;
    }
    return side.thread % kWarpLanes;
  }

  void look_at(const LogStep& step, std::size_t number) {
    if (is_race()) return;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const bool wants_fault = i == 0 && is_fault_kind(finding->kind);
      if (sides[i].found || (wants_fault && step.kind != LogStep::Kind::fault)) continue;
      if (const auto lane = lane_of(i, step)) sides[i].found = LogPoint{number, *lane};
    }
  }

  void look_for_race(const vgpu::Access& access, const LogStep& step, std::size_t number) {
    if (!is_race() || sides[1].found) return;
    if (const auto lane = lane_of(0, step)) {
      const std::uint32_t begin = access.offset[*lane];
      earlier.push_back({{number, *lane}, access.allocation->id, begin, begin + access.bytes});
    }
    const auto lane = lane_of(1, step);
    if (!lane || vgpu::describe_element(access, *lane) != finding->object) return;
    const std::uint32_t begin = access.offset[*lane], end = begin + access.bytes;
    const auto first = std::find_if(earlier.rbegin(), earlier.rend(), [&](const Earlier& other) {
      return other.allocation == access.allocation->id && other.begin < end && begin < other.end;
    });
    if (first == earlier.rend()) return;
    sides[0].found = first->at;
    sides[1].found = LogPoint{number, *lane};
  }

  const vgpu::Finding* finding;
  std::vector<Side> sides;
  std::vector<Earlier> earlier;
  bool in_its_kernel = false;
};

TrialLog::TrialLog(const std::vector<vgpu::Finding>& findings, std::size_t steps_max)
    : steps_max_(steps_max) {
  for (const vgpu::Finding& finding : findings) targets_.emplace_back(finding);
}

TrialLog::~TrialLog() = default;

std::uint32_t TrialLog::lanes_of(std::uint32_t launch, std::uint32_t warp) const {
  const std::uint32_t threads = threads_of_launch_.at(launch);
  const std::uint32_t first = warp * kWarpLanes;
  const std::uint32_t count = std::min(threads - std::min(threads, first), kWarpLanes);
  return count == kWarpLanes ? ~0u : (1u << count) - 1;
}

std::vector<std::optional<LogPoint>> TrialLog::sides_of(std::size_t finding) const {
  std::vector<std::optional<LogPoint>> points;
  for (const Target::Side& side : targets_[finding].sides) points.push_back(side.found);
  return points;
}

std::optional<std::size_t> TrialLog::add(LogStep step) {
  step.launch =
      threads_of_launch_.empty() ? 0 : static_cast<std::uint32_t>(threads_of_launch_.size() - 1);
  // The faulting lanes of one instruction are reported one by one.
  if (!steps_.empty() && step.kind == LogStep::Kind::fault) {
    LogStep& last = steps_.back();
    if (last.kind == step.kind && last.program == step.program && last.pc == step.pc &&
        last.launch == step.launch && last.warp == step.warp && (last.lanes & step.lanes) == 0) {
      last.lanes |= step.lanes;
      return steps_.size() - 1;
    }
  }
  if (steps_.size() == steps_max_) return std::nullopt;
  steps_.push_back(step);
  return steps_.size() - 1;
}

void TrialLog::add_event(const vgpu::Program& program, const vgpu::WarpPlace& place,
                         std::uint32_t pc, std::uint32_t lanes) {
  const LogStep step{.kind = LogStep::Kind::event,
                     .warp = {place.block, place.warp},
                     .lanes = lanes,
                     .program = &program,
                     .pc = pc};
  const auto number = add(step);
  if (!number) return;
  for (Target& target : targets_) target.look_at(step, *number);
}

void TrialLog::add_decision(const vgpu::Decision& decision) {
  using Point = vgpu::Decision::Point;
  decisions_.push_back(decision);
  const bool is_start = decision.point == Point::start;
  add({.kind = LogStep::Kind::decision,
       .warp = is_start ? decision.next : decision.at,
       .lanes = is_start             ? 0
                : decision.held != 0 ? decision.held
                                     : ~0u,
       .decision = static_cast<std::uint32_t>(decisions_.size() - 1)});
}

void TrialLog::on_sync(const vgpu::Sync& sync) {
  if (sync.kind == vgpu::Sync::Kind::kernel_start) {
    grid_ = sync.grid;
    block_ = sync.block;
    threads_of_launch_.push_back(static_cast<std::uint32_t>(sync.block.count()));
    for (Target& target : targets_) target.begin_launch(sync);
  } else if (sync.kind == vgpu::Sync::Kind::barrier_complete) {
    add({.kind = LogStep::Kind::barrier, .warp = {sync.place.block, 0}, .lanes = ~0u});
  }
}

void TrialLog::on_access(const vgpu::Access& access) {
  if (!is_watched(access.space)) return;
  const LogStep step{.kind = LogStep::Kind::access,
                     .access = access.kind,
                     .warp = {access.place.block, access.place.warp},
                     .lanes = access.mask,
                     .program = access.program,
                     .pc = access.pc};
  const auto number = add(step);
  if (!number) return;
  for (Target& target : targets_) {
    target.look_at(step, *number);
    target.look_for_race(access, step, *number);
  }
}

void TrialLog::on_fault(const vgpu::Fault& fault) {
  const LogStep step{.kind = LogStep::Kind::fault,
                     .access = fault.access,
                     .warp = {fault.place.block, fault.place.warp},
                     .lanes = 1u << fault.lane,
                     .program = fault.program,
                     .pc = fault.pc};
  const auto number = add(step);
  if (!number) return;
  for (Target& target : targets_) target.look_at(step, *number);
}

void TrialLog::on_undefined_use(const vgpu::UndefinedUse& use) {
  add_event(*use.program, use.place, use.pc, use.lanes);
}

void TrialLog::on_barrier_divergence(const vgpu::BarrierDivergence& divergence) {
  const vgpu::Program& program = *divergence.program;
  vgpu::WarpPlace other = divergence.place;
  other.warp = divergence.other_warp;
  if (divergence.other_block != ptx::kNone) other.block = divergence.other_block;
  if (divergence.other_pc != ptx::kNone) {
    add_event(program, other, divergence.other_pc, 1u << divergence.other_lane);
  }
  add_event(program, divergence.place, divergence.pc, 1u << divergence.lane);
}

void TrialLog::on_deadlock(const vgpu::Deadlock& deadlock) {
  for (const vgpu::Waiting& waiting : deadlock.waiting) {
    add_event(*deadlock.program, waiting.place, waiting.pc, waiting.lanes);
  }
}

void TrialLog::on_step_limit(const vgpu::StepLimit& limit) {
  add_event(*limit.program, limit.place, limit.pc, 1u << limit.lane);
}

void TrialLog::on_trap(const vgpu::Trap& trap) {
  add_event(*trap.program, trap.place, trap.pc, trap.lanes);
}

void TrialLog::on_heap_free(const vgpu::HeapFree& free) {
  add_event(*free.program, free.place, free.pc, 1u << free.lane);
}

void TrialLog::on_allocate(const vgpu::Allocation& allocation) {
  const vgpu::CodePlace& at = allocation.allocated_at;
  if (at.program == nullptr) return;
  const std::uint32_t thread = block_.linear(at.thread);
  vgpu::WarpPlace place;
  place.block = grid_.linear(at.block);
  place.warp = thread / kWarpLanes;
  add_event(*at.program, place, at.pc, 1u << thread % kWarpLanes);
}

}  // namespace warpcheck
