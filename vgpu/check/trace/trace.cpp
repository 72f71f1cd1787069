#include "vgpu/check/trace/trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <utility>

#include "vgpu/check/finding_groups.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/program/dim3_text.hpp"

namespace warpcheck::vgpu {
namespace {

// As many accesses are searched for the first side of a race.
constexpr std::size_t kRecentMax = 4'096;

WarpId warp_of(const WarpPlace& place) { return {place.block, place.warp}; }

// "share[1]" of "share[1], 4 bytes".
std::string object_of(const Access& access, unsigned lane) {
  const std::string element = describe_element(access, lane);
  return element.substr(0, element.rfind(", "));
}

std::string who_of(const AccessSide& side) {
  if (side.ptx.empty()) return side.role;
  return fmt::format("{} by block {} thread {}", side.role, triple(side.block),
                     triple(side.thread));
}

// The tracks of a process that is not the first to write have numbers of their own.
std::uint64_t first_number(const TraceFile& file) {
  constexpr std::uint64_t kTracksMax = 1'000'000;
  return file.has_lines() ? static_cast<std::uint64_t>(::getpid()) * kTracksMax : 0;
}

void for_each_lane(std::uint32_t lanes, auto&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

}  // namespace

Trace::Trace(const TraceOptions& options, std::string path)
    : options_(options),
      file_(std::move(path), options.bytes_max),
      printer_(options.format == TraceFormat::chrome
                   ? chrome_printer(options.accesses, first_number(file_))
                   : text_printer()) {}

// A full file has no part of what its printer has told last, so nothing more is printed: what is
// open can then still be closed at the end.
template <typename Print>
bool Trace::write(Print print) {
  if (file_.is_full()) return false;
  const std::string lines = print();
  return lines.empty() || file_.add(lines);  // a picture has no line of its own for each step
}

void Trace::show_threads_of(const Finding& finding) {
  for (const AccessSide& side : finding.accesses) {
    if (!side.ptx.empty()) threads_.push_back({side.block, side.thread});
  }
}

InstrText& Trace::text_of(const Program& program) {
  return texts_.try_emplace(&program, program).first->second;
}

bool Trace::shows(const InstrStep& step) {
  if (!is_launch_shown_) return false;
  if (options_.block && *options_.block != step.place.block) return false;
  if (options_.warp && *options_.warp != step.place.warp) return false;
  if (options_.file.empty()) return true;
  const auto [at, is_new] = line_shown_.try_emplace({step.program, step.pc});
  if (is_new) at->second = shows_line(options_, *step.program, step.pc);
  return at->second;
}

std::uint32_t Trace::shown_lanes(const InstrStep& step) const {
  // At a branch, lanes whose guard is false matter as well.
  const InstrKind kind = step.program->code[step.pc].kind;
  const std::uint32_t active = kind == InstrKind::branch ? step.mask : step.active;
  if (options_.lanes != 0) return options_.lanes & active;
  const std::uint32_t lanes = active & -active;
  if (threads_.empty()) return lanes;
  std::uint32_t of_finding = 0;
  for (const Thread& one : threads_) {
    const std::uint32_t thread = block_.linear(one.thread);
    if (grid_.linear(one.block) == step.place.block && thread / kWarpLanes == step.place.warp) {
      of_finding |= 1u << thread % kWarpLanes;
    }
  }
  of_finding &= active;
  return of_finding != 0 ? of_finding : lanes;
}

// Reports that lanes which were apart are together, or the other way round.
void Trace::note_lanes(const InstrStep& step) {
  std::vector<std::uint32_t>& groups = groups_[warp_of(step.place)];
  std::vector<std::uint32_t> joined;
  std::uint32_t unknown = step.mask;
  for (std::uint32_t& group : groups) {
    const std::uint32_t common = group & step.mask;
    if (common == 0) continue;
    unknown &= ~common;
    joined.push_back(common);
    if (group != common) {
      add_event(TraceEvent::Kind::diverge, warp_of(step.place),
                fmt::format("{} without {} from here", counted_lanes(common),
                            counted_lanes(group & ~common)));
    }
    group &= ~common;
  }
  if (unknown != 0) joined.push_back(unknown);
  std::erase(groups, 0u);
  groups.push_back(step.mask);
  if (joined.size() < 2) return;
  std::string text;
  for (const std::uint32_t lanes : joined) {
    text += (text.empty() ? "" : " and ") + counted_lanes(lanes);
  }
  add_event(TraceEvent::Kind::meet, warp_of(step.place),
            fmt::format("{} meet at {}", text, step.pc));
}

void Trace::note_branch(const InstrStep& step) {
  const Instr& instr = step.program->code[step.pc];
  if (instr.kind != InstrKind::branch) return;
  open_->step.lanes = step.mask;
  const std::uint32_t stay = step.mask & ~step.active;
  if (step.active == 0 || stay == 0) return;
  std::vector<std::uint32_t>& groups = groups_[warp_of(step.place)];
  std::erase(groups, step.mask);
  groups.push_back(step.active);
  groups.push_back(stay);
  open_->step.note = fmt::format("{} to {}, {} to {}", counted_lanes(step.active), instr.target,
                                 counted_lanes(stay), step.pc + 1);
}

void Trace::leave_lanes(const WarpId& warp, std::uint32_t lanes) {
  std::vector<std::uint32_t>& groups = groups_[warp];
  for (std::uint32_t& group : groups) group &= ~lanes;
  std::erase(groups, 0u);
}

void Trace::on_step(const InstrStep& step) {
  close(false);
  ++totals_.steps;
  ++number_;
  // A program that is killed leaves what ran.
  constexpr std::uint64_t kFlushEvery = 1 << 15;
  if (totals_.steps % kFlushEvery == 0) file_.flush();
  const bool is_visible = shows(step);
  totals_.shown += is_visible ? 1 : 0;
  if (!is_launch_shown_ || file_.is_full()) return;
  note_lanes(step);
  open_.emplace();
  open_->instr = step;
  open_->is_visible = is_visible;
  TraceStep& line = open_->step;
  line.number = number_;
  line.time = totals_.steps;
  line.warp = warp_of(step.place);
  line.lanes = step.active;
  const Instr& instr = step.program->code[step.pc];
  note_branch(step);
  const bool is_kernel = step.program->function_of(step.pc) == 0;
  if (instr.kind == InstrKind::exit || (instr.kind == InstrKind::ret && is_kernel)) {
    leave_lanes(line.warp, step.active);
    line.note = "exits";
  }
  if (!is_visible) return;
  const ptx::SourceLocation& at = step.program->user_location(step.pc);
  if (at.file < step.program->files.size()) {
    line.file = std::filesystem::path(step.program->files[at.file]).filename().string();
    line.line = at.line;
  }
  InstrText& text = text_of(*step.program);
  line.instruction = text.of(step.pc);
  open_->shown = shown_lanes(step);
  open_->operands = text.operands_of(step.pc);
  for_each_lane(open_->shown, [&](unsigned lane) {
    std::string values;
    for (const InstrText::Operand& operand : open_->operands) {
      if (operand.is_written) continue;
      values += fmt::format("{}{}={}", values.empty() ? "" : " ", operand.name,
                            InstrText::value(*step.registers, operand, lane));
    }
    line.values.emplace_back(lane, std::move(values));
  });
}

void Trace::on_access(const Access& access) {
  if (!open_) return;
  const InstrStep& step = open_->instr;
  const bool is_own = step.pc == access.pc && warp_of(step.place) == warp_of(access.place) &&
                      step.program == access.program;
  if (!is_own) return;
  TraceStep& line = open_->step;
  const std::string verb = access.kind == AccessKind::read    ? "reads"
                           : access.kind == AccessKind::write ? "writes"
                                                              : "updates";
  if (access.space == ptx::Space::shared || access.space == ptx::Space::global) {
    Recent recent{line.number, line.time, line.warp, access.pc, access.mask, {}};
    for_each_lane(access.mask,
                  [&](unsigned lane) { recent.objects.push_back(describe_element(access, lane)); });
    recent_.push_back(std::move(recent));
    if (recent_.size() > kRecentMax) recent_.pop_front();
  }
  if (!open_->is_visible) return;
  for (auto& [lane, values] : line.values) {
    if ((access.mask >> lane & 1u) == 0) continue;
    values += fmt::format("{}{} {}", values.empty() ? "" : " ", verb, object_of(access, lane));
  }
  if (line.access.empty()) line.access = verb + " " + object_of(access, access.first_lane());
}

void Trace::on_step_end(const InstrStep& step) {
  if (!open_) return;
  for (auto& [lane, values] : open_->step.values) {
    for (const InstrText::Operand& operand : open_->operands) {
      if (!operand.is_written) continue;
      values += fmt::format("{}{}:={}", values.empty() ? "" : " ", operand.name,
                            InstrText::value(*step.registers, operand, lane));
    }
  }
  close(true);
}

// Writes the open step, and what was found during it.
void Trace::close(bool is_done) {
  if (!open_) return;
  const Open open = std::move(*open_);
  open_.reset();
  if (open.is_visible) {
    TraceStep line = open.step;
    const InstrKind kind = open.instr.program->code[open.instr.pc].kind;
    if (!is_done && kind == InstrKind::warp_sync) line.note = "waits";
    std::erase_if(line.values, [](const auto& one) { return one.second.empty(); });
    if (write([&] { return printer_->step(line); })) ++totals_.written;
  }
  for (const TraceFinding& finding : std::exchange(found_, {})) {
    write([&] { return printer_->finding(finding); });
  }
}

void Trace::add_event(TraceEvent::Kind kind, const WarpId& warp, std::string text) {
  const bool is_shown = is_launch_shown_ && (!options_.block || *options_.block == warp.block) &&
                        (!options_.warp || *options_.warp == warp.warp) && options_.file.empty();
  if (!is_shown) return;
  TraceEvent event{.kind = kind, .time = totals_.steps, .warp = warp, .text = std::move(text)};
  write([&] { return printer_->event(event); });
}

void Trace::on_sync(const Sync& sync) {
  using Kind = Sync::Kind;
  close(false);
  switch (sync.kind) {
    case Kind::kernel_start: {
      TraceLaunch launch;
      launch.number = static_cast<std::uint32_t>(totals_.launches++);
      launch.kernel = short_kernel_name(kernel_name(sync.program->kernel));
      launch.grid = triple(sync.grid);
      launch.block = triple(sync.block);
      number_ = 0;
      grid_ = sync.grid;
      block_ = sync.block;
      groups_.clear();
      recent_.clear();
      note_kernel(launch.kernel, *sync.program);
      is_launch_shown_ = shows_kernel(options_, sync.program->kernel);
      if (is_launch_shown_) write([&] { return printer_->launch(launch); });
      return;
    }
    case Kind::kernel_end:
      if (is_launch_shown_) write([&] { return printer_->launch_end(); });
      is_launch_shown_ = false;
      file_.flush();
      return;
    case Kind::barrier_complete: {
      if (!is_launch_shown_ || (options_.block && *options_.block != sync.place.block)) return;
      TraceEvent event{.kind = TraceEvent::Kind::barrier,
                       .time = totals_.steps,
                       .warp = {sync.place.block, 0},
                       .of_block = true,
                       .phase = sync.place.phase,
                       .text = fmt::format("barrier {} is complete", sync.place.phase)};
      write([&] { return printer_->event(event); });
      return;
    }
    case Kind::block_start:
    case Kind::block_end:
      groups_.erase(groups_.lower_bound({sync.place.block, 0}),
                    groups_.lower_bound({sync.place.block + 1, 0}));
      return;
  }
}

void Trace::on_meeting(const Meeting& meeting) {
  if (meeting.released.empty()) return;
  std::string text = "released:";
  for (const WarpLanes& one : meeting.released) {
    text += fmt::format(" warp {} lanes {}", one.warp, text_of_lanes(one.lanes));
  }
  add_event(TraceEvent::Kind::barrier, {meeting.place.block, meeting.released.front().warp},
            std::move(text));
}

void Trace::on_print(const Print& print) {
  std::string text(print.text);
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  add_event(TraceEvent::Kind::print, warp_of(print.place),
            fmt::format("lane {} prints {}", print.lane, text));
}

void Trace::decided(const Decision& decision) {
  // What an access finds is decided while its step is executed; everything else between steps.
  if (decision.point != Decision::Point::past) close(false);
  if (!is_launch_shown_) return;
  TraceEvent event{.kind = TraceEvent::Kind::decision,
                   .time = totals_.steps,
                   .warp = decision.at,
                   .text = to_string(decision)};
  write([&] { return printer_->event(event); });
}

// The latest access of that thread at that place to the finding's object.
TraceFinding::Side Trace::side_of(const Finding& finding, const AccessSide& side) const {
  TraceFinding::Side answer;
  answer.who = who_of(side);
  if (side.ptx.empty()) return answer;
  const std::uint32_t thread = block_.linear(side.thread);
  const unsigned lane = thread % kWarpLanes;
  answer.warp = {grid_.linear(side.block), thread / kWarpLanes};
  if (open_ && open_->instr.pc == side.instruction && open_->step.warp == answer.warp &&
      (open_->instr.active >> lane & 1u) != 0) {
    answer.number = open_->step.number;
    answer.time = open_->step.time;
    return answer;
  }
  for (auto recent = recent_.rbegin(); recent != recent_.rend(); ++recent) {
    if (recent->warp != answer.warp || recent->pc != side.instruction) continue;
    if ((recent->mask >> lane & 1u) == 0) continue;
    const std::uint32_t before = recent->mask & ((1u << lane) - 1);
    const std::string& object = recent->objects[static_cast<std::size_t>(std::popcount(before))];
    if (object != finding.object) continue;
    answer.number = recent->number;
    answer.time = recent->time;
    break;
  }
  return answer;
}

TraceFinding Trace::of(const Finding& finding) const {
  TraceFinding answer;
  answer.what = headline_of(finding);
  answer.message = finding.message;
  for (const AccessSide& side : finding.accesses) answer.sides.push_back(side_of(finding, side));
  answer.time = totals_.steps;
  if (open_) answer.warp = open_->step.warp;
  return answer;
}

void Trace::note_kernel(const std::string& name, const Program& program) {
  constexpr std::size_t kKernelsMax = 8;
  if (totals_.shown != 0) return;
  if (!totals_.kernels.contains(name) && totals_.kernels.size() == kKernelsMax) return;
  TracedKernel& kernel = totals_.kernels[name];
  kernel.blocks = std::max(kernel.blocks, static_cast<std::uint32_t>(grid_.count()));
  kernel.warps = std::max(
      kernel.warps, static_cast<std::uint32_t>((block_.count() + kWarpLanes - 1) / kWarpLanes));
  const ptx::SourceLocation& first = program.user_location(0);
  std::uint32_t from = first.line, to = first.line;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const ptx::SourceLocation& at = program.user_location(pc);
    if (at.file != first.file || at.line == 0) continue;
    from = std::min(from, at.line);
    to = std::max(to, at.line);
  }
  if (first.file >= program.files.size() || from == 0) return;
  const std::string& path = program.files[first.file];
  kernel.lines = fmt::format("{}:{}-{}", path.substr(path.rfind('/') + 1), from, to);
}

void Trace::found(const Finding& finding) {
  if (!is_launch_shown_ && !options_.kernel.empty()) return;
  TraceFinding what = of(finding);
  if (open_) {
    found_.push_back(std::move(what));
  } else {
    write([&] { return printer_->finding(what); });
  }
}

void Trace::end() {
  if (std::exchange(has_ended_, true)) return;
  close(false);
  file_.add_mark(printer_->end(totals_, options_.bytes_max));
}

}  // namespace warpcheck::vgpu
