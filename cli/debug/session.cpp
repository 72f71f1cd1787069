#include "cli/debug/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cli/debug/session_impl.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::debug {

using nlohmann::json;

DebugSession::DebugSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DebugSession::~DebugSession() {
  if (impl_->has_ended && !impl_->debuggee.original().is_gone) impl_->debuggee.let_end();
}

std::unique_ptr<DebugSession> DebugSession::start(Target target) {
  auto impl = std::make_unique<Impl>(std::move(target));
  impl->start();
  return std::unique_ptr<DebugSession>(new DebugSession(std::move(impl)));
}

const Stop& DebugSession::stop() const { return impl_->stop; }

void DebugSession::set_focus(const Thread& thread) {
  static_cast<void>(frames(thread));  // it must be there
  impl_->stop.focus = thread;
}

const Stop& DebugSession::continue_forward() {
  impl_->debuggee.forget_pauses();
  if (impl_->stop.reason == StopReason::entry && impl_->stops_at_entry()) return impl_->stop;
  return impl_->run_on({});
}
const Stop& DebugSession::go_to(std::uint64_t position) { return impl_->go_to(position); }
void DebugSession::pause() noexcept { impl_->debuggee.pause(); }

const Stop& DebugSession::step(StepKind kind, Direction direction) {
  impl_->debuggee.forget_pauses();
  return direction == Direction::forward ? impl_->step_forward(kind) : impl_->step_backward(kind);
}

const Stop& DebugSession::reverse_continue() {
  impl_->debuggee.forget_pauses();
  return impl_->go_to_last_of(impl_->search(1, impl_->stop.position, {}));
}

const Stop& DebugSession::go_to_finding(std::size_t index, unsigned side) {
  Impl& impl = *impl_;
  if (index >= impl.findings.size()) {
    const std::size_t count = impl.findings.size();
    const std::string found = count == 0 ? "none" : counted(count, "finding");
    const std::string_view hint =
        impl.has_ended ? "" : "; the run goes on to the next one with: continue";
    throw DebugError(fmt::format("no finding {}: so far, {}{}", index + 1, found, hint));
  }
  FoundFinding& found = impl.findings[index];
  const std::vector<vgpu::AccessSide>& sides = found.finding.accesses;
  if (side == 0 || side > sides.size()) {
    throw DebugError(fmt::format("the finding has no side {}: it has {}", side, sides.size()));
  }
  const vgpu::AccessSide& wanted = sides[side - 1];
  if (wanted.ptx.empty()) {
    throw DebugError(fmt::format("side {} is an action of the host ({})", side, wanted.role));
  }
  std::uint64_t& position = found.side_positions[side - 1];
  if (position == 0) position = impl.find_side(found, side - 1);
  impl.go_to(position);
  impl.stop.focus = {wanted.block, wanted.thread};
  return impl.stop;
}

std::string DebugSession::checkpoints() {
  return fmt::format("{}, {} MiB", counted(impl_->debuggee.checkpoints().size(), "checkpoint"),
                     impl_->debuggee.checkpoint_bytes() >> 20);
}

void DebugSession::Impl::start() {
  debuggee.on_finding([this](const json& message) { found(message); });
  debuggee.on_debug_info([this](Process& process, const json& message) {
    send_inlined_calls(process, message.at("program"));
  });
  set_stop(run(debuggee.original(), {.until = 1, .has_rules = false}));
  if (stop.reason == StopReason::position) stop.reason = StopReason::entry;
}

// Lets a process run, and returns where it stops; none: it has ended.
std::optional<json> DebugSession::Impl::run(Process& process, const Run& run) {
  const bool is_at_stop = !run.test_here;
  json request{{"do", "run"},
               {"until", run.until},
               {"ends_by_itself", has_original_crashed()},
               {"records", run.is_search},
               {"rules", run.has_rules ? rules() : json::array()},
               {"test_here", run.test_here},
               {"data_seen", is_at_stop && stop.reason == StopReason::data_breakpoint},
               {"findings_seen", is_at_stop && stop.finding ? stop.finding->index + 1 : 0}};
  if (!run.follow.is_null()) request["follow"] = run.follow;
  if (!run.side.is_null()) request["side"] = run.side;
  debuggee.send(process, request);
  std::optional<json> message = debuggee.wait_for_stop(process);
  if (message) note_lines(*message);
  if (&process != &debuggee.original()) return message;
  if (message) {
    original_stop = *message;
    if (message->at("reason") != "end") return message;
  }
  has_ended = true;
  end = message ? message->at("position").get<std::uint64_t>() : debuggee.last_told() + 1;
  return message;
}

// Runs on to the next stop, in the past as far as the original process has come.
const Stop& DebugSession::Impl::run_on(Run wanted) {
  while (true) {
    const bool is_past = is_in_past();
    Run now = wanted;
    const std::uint64_t furthest = stop.position_max;
    if (is_past) now.until = wanted.until == 0 ? furthest : std::min(wanted.until, furthest);
    const std::optional<json> message = run(here(), now);
    wanted.test_here = false;
    debuggee.thin(stop.position);
    const bool has_arrived =
        is_past && (!message || message->at("position").get<std::uint64_t>() >= furthest);
    if (has_arrived) {
      const bool is_there =
          !message || message->at("reason") == "position" || message->at("reason") == "end";
      if (is_there && arrive_at_original()) return stop;
      debuggee.drop_copy();
      if (is_there) continue;
    }
    set_stop(message);
    if (!message || !message->contains("now")) return stop;
    if (accepts(message->at("now"), true)) return stop;
  }
}

// The original process waits where it has stopped.  Returns whether those who come from the past
// stop there, too: at the end, and where it has stopped within an instruction.
bool DebugSession::Impl::arrive_at_original() {
  debuggee.drop_copy();
  if (has_ended && debuggee.original().is_gone) {
    set_stop(std::nullopt);
    return true;
  }
  set_stop(original_stop);
  if (stop.reason == StopReason::end) return true;
  const bool is_within =
      stop.reason == StopReason::finding || stop.reason == StopReason::data_breakpoint;
  if (is_within && accepts(original_stop.at("now"), true)) return true;
  stop.reason = StopReason::position;
  return false;
}

const Stop& DebugSession::Impl::go_to(std::uint64_t position) {
  const std::uint64_t furthest = stop.position_max;
  position = std::max<std::uint64_t>(position, 1);
  const bool has_moved = std::exchange(copy_has_moved, false);
  if (position == stop.position && !has_moved) {
    stop.is_at_beginning = position == 1;
    return stop;
  }
  if (position >= furthest) {
    if (is_in_past()) static_cast<void>(arrive_at_original());
    if (position == furthest || stop.reason == StopReason::end) return stop;
    return set_stop(run(here(), {.until = position, .has_rules = false}));
  }
  if (!is_in_past() || has_moved || stop.position > position) {
    debuggee.wake(position);
  }
  const std::optional<json> message =
      run(*debuggee.copy(), {.until = position, .has_rules = false, .test_here = true});
  debuggee.thin(position);
  if (!message) throw DebugError("a copy of the process ended before it came to the position");
  set_stop(message);
  if (position == 1) {
    stop.reason = StopReason::entry;
    stop.is_at_beginning = true;
  }
  return stop;
}

// Finds the latest place before `until` at which rules apply, or a side is.
DebugSession::Impl::Place DebugSession::Impl::search(std::uint64_t from, std::uint64_t until,
                                                     Run wanted) {
  const Stop present = stop;
  try {
    return search_from_checkpoints(from, until, std::move(wanted));
  } catch (const DebugError&) {
    go_to(present.position);
    stop = present;
    throw;
  }
}

DebugSession::Impl::Place DebugSession::Impl::search_from_checkpoints(std::uint64_t from,
                                                                      std::uint64_t until,
                                                                      Run wanted) {
  std::vector<std::uint64_t> checkpoints = debuggee.checkpoints();
  const Thread focus = stop.focus;
  wanted.is_search = true;
  copy_has_moved = true;
  while (!checkpoints.empty() && until > from) {
    const std::uint64_t checkpoint = checkpoints.back();
    checkpoints.pop_back();
    if (checkpoint >= until) continue;
    Process& copy = debuggee.wake(checkpoint);
    Place best;
    wanted.until = until;
    wanted.test_here = true;
    while (true) {
      const std::optional<json> message = run(copy, wanted);
      wanted.test_here = false;
      if (!message && !has_original_crashed()) {
        throw DebugError(fmt::format("the search was given up before position {}", until));
      }
      if (!message) break;
      if (message->at("reason") == "pause") throw DebugError("the search was interrupted");
      const std::uint64_t last = message->at("last");
      if (last > best.position) best = {last, message->value("hit", json())};
      if (!message->contains("now")) break;
      // A condition, which needs the state there.
      set_stop(message);
      keep_focus(focus);
      if (accepts(message->at("now"), false)) {
        best = {message->at("position").get<std::uint64_t>(), message->at("now")};
      }
      stop.reason = StopReason::data_breakpoint;  // its access has been seen, too
    }
    debuggee.thin(until);
    if (best.position != 0) return best;
    until = checkpoint;
  }
  return {};
}

const Stop& DebugSession::Impl::go_to_last_of(const Place& found) {
  if (found.position == 0) return go_to(1);
  const Thread focus = stop.focus;
  go_to(found.position);
  keep_focus(focus);
  if (!found.hit.is_null()) accepts(found.hit, false);
  return stop;
}

// Returns whether a breakpoint is at the entry, where none has been looked at yet.
bool DebugSession::Impl::stops_at_entry() {
  const bool has_points = std::ranges::any_of(points, [](const BreakpointState& point) {
    return point.breakpoint.kind != Breakpoint::Kind::finding;
  });
  if (!has_points) return false;
  const Place found = search(1, 2, {});
  go_to(1);
  return !found.hit.is_null() && accepts(found.hit, true);
}

json DebugSession::Impl::follow_of(StepKind kind) {
  const Linear focus = linear_of(stop.focus);
  json follow = debuggee.ask(here(), question("key", stop.focus));
  follow["kind"] = static_cast<int>(kind);
  follow["block"] = focus.block;
  follow["thread"] = focus.thread;
  return follow;
}

const Stop& DebugSession::Impl::step_forward(StepKind kind) {
  if (stop.reason == StopReason::end)
    throw DebugError("the run has ended; only going back is left");
  const Thread focus = stop.focus;
  run_on({.follow = follow_of(kind)});
  if (stop.reason == StopReason::step) keep_focus(focus);
  return stop;
}

const Stop& DebugSession::Impl::step_backward(StepKind kind) {
  const Thread focus = stop.focus;
  const std::uint64_t position = stop.position;
  json follow;
  if (place.is_null()) {
    const Linear thread = linear_of(focus);
    follow = {{"program", program},
              {"depth", std::numeric_limits<std::uint32_t>::max()},
              {"file", 0},
              {"line", 0},
              {"is_in_library", false},
              {"kind", static_cast<int>(kind)},
              {"block", thread.block},
              {"thread", thread.thread}};
  } else {
    follow = follow_of(kind);
  }
  std::vector<std::uint64_t> checkpoints = debuggee.checkpoints();
  copy_has_moved = true;
  while (!checkpoints.empty()) {
    const std::uint64_t checkpoint = checkpoints.back();
    checkpoints.pop_back();
    if (checkpoint >= position) continue;
    Process& copy = debuggee.wake(checkpoint);
    const std::optional<json> message = run(copy, {.until = position,
                                                   .has_rules = false,
                                                   .test_here = true,
                                                   .is_search = true,
                                                   .follow = follow});
    debuggee.thin(position);
    if (message && message->at("reason") == "pause") {
      go_to(position);
      stop.focus = focus;
      throw DebugError("the step back was interrupted");
    }
    if (!message) continue;
    const std::uint64_t began = message->at("step_began");
    if (began == 0 || (message->at("is_first_seen").get<bool>() && checkpoint > 1)) continue;
    go_to(began);
    stop.focus = focus;
    stop.reason = StopReason::step;
    return stop;
  }
  return go_to(1);
}

std::uint64_t DebugSession::Impl::find_side(const FoundFinding& finding, std::size_t side) {
  const json& about = sides[finding.index][side];
  if (!about.contains("thread")) throw DebugError("where that side is, is not known");
  const vgpu::AccessSide& wanted = finding.finding.accesses[side];
  // The object is that of the access which showed the finding.  The other side touches one of its
  // bytes, perhaps with another size or from another place on.
  const std::uint64_t until = finding.position + 1;
  const Place object =
      finding.finding.object.empty()
          ? Place{}
          : search(finding.position, until,
                   {.has_rules = false, .side = {{"object", finding.finding.object}}});
  const json asked{{"object", ""},
                   {"block", about["block"]},
                   {"thread", about["thread"]},
                   {"pc", wanted.instruction},
                   {"place", object.position == 0 ? json() : object.hit.at("place")}};
  const Place found = search(1, until, {.has_rules = false, .side = asked});
  if (found.position == 0) {
    throw DebugError(fmt::format("side {} was not found again in the run", side + 1));
  }
  return found.position;
}

const Stop& DebugSession::Impl::set_stop(const std::optional<json>& message) {
  const Thread focus = stop.focus;
  const std::uint64_t furthest = stop.position_max;
  stop = {};
  stop.focus = focus;
  place = nullptr;
  if (!message) {
    stop.reason = StopReason::end;
    stop.position = end;
    stop.exit_status = debuggee.status();
    stop.note = "the process has ended by itself";
  } else {
    const std::string reason = message->at("reason");
    stop.reason = reason == "position"     ? StopReason::position
                  : reason == "step"       ? StopReason::step
                  : reason == "left"       ? StopReason::step
                  : reason == "breakpoint" ? StopReason::breakpoint
                  : reason == "data"       ? StopReason::data_breakpoint
                  : reason == "finding"    ? StopReason::finding
                  : reason == "pause"      ? StopReason::pause
                                           : StopReason::end;
    stop.position = message->at("position");
    if (reason == "left") stop.note = "the thread has left the kernel";
    if (message->contains("place")) set_location(message->at("place"));
  }
  stop.position_max = std::max(furthest, stop.position);
  return stop;
}

void DebugSession::Impl::note_lines(const json& message) {
  if (!message.contains("lines")) return;
  for (const json& line : message["lines"]) {
    for (BreakpointState& point : points) {
      if (point.number != line.at(0).get<int>()) continue;
      point.is_verified = true;
      point.actual_line = line.at(1);
    }
  }
}

}  // namespace warpcheck::debug
