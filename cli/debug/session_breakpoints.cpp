// The breakpoints of a session.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "cli/debug/session_impl.hpp"

namespace warpcheck::debug {
namespace {

using nlohmann::json;

std::vector<std::byte> bytes_of_hex(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

BreakpointState& point_of(std::vector<BreakpointState>& points, int number) {
  const auto found = std::ranges::find(points, number, &BreakpointState::number);
  if (found == points.end()) throw DebugError(fmt::format("there is no breakpoint {}", number));
  return *found;
}

}  // namespace

int DebugSession::add_breakpoint(Breakpoint breakpoint) {
  using Kind = Breakpoint::Kind;
  if (breakpoint.kind == Kind::data && breakpoint.bytes == 0) {
    throw DebugError("a data breakpoint needs at least one byte");
  }
  BreakpointState point{.number = impl_->next_number++, .breakpoint = std::move(breakpoint)};
  point.is_verified = point.breakpoint.kind == Kind::data || point.breakpoint.kind == Kind::finding;
  if (point.breakpoint.kind == Kind::data) {
    impl_->owners[point.number] = impl_->linear_of(point.breakpoint.place.thread);
  }
  impl_->points.push_back(std::move(point));
  impl_->verify();
  return impl_->points.back().number;
}

void DebugSession::remove_breakpoint(int number) {
  const BreakpointState& point = point_of(impl_->points, number);
  impl_->points.erase(impl_->points.begin() + (&point - impl_->points.data()));
}

void DebugSession::enable_breakpoint(int number, bool is_enabled) {
  point_of(impl_->points, number).breakpoint.is_enabled = is_enabled;
}

void DebugSession::set_condition(int number, std::function<bool(const Stop&)> condition) {
  point_of(impl_->points, number).breakpoint.condition = std::move(condition);
}

void DebugSession::set_ignore(int number, std::uint64_t hits) {
  point_of(impl_->points, number).breakpoint.ignore = hits;
}

std::vector<BreakpointState> DebugSession::breakpoints() { return impl_->points; }

// Learns where the running kernel has code for them.
void DebugSession::Impl::verify() {
  if (place.is_null()) return;
  note_lines({{"lines", debuggee.ask(here(), {{"do", "lines"}, {"rules", rules()}})}});
}

json DebugSession::Impl::rules() const {
  json all = json::array();
  for (const BreakpointState& point : points) {
    const Breakpoint& one = point.breakpoint;
    if (!one.is_enabled) continue;
    const auto owner = owners.find(point.number);
    const Linear thread = owner == owners.end() ? Linear{} : owner->second;
    all.push_back({{"number", point.number},
                   {"kind", static_cast<int>(one.kind)},
                   {"conditional", one.condition != nullptr},
                   {"file", one.file},
                   {"line", one.line},
                   {"kernel", one.kernel},
                   {"pc", one.pc},
                   {"space", name_of(one.place.space)},
                   {"block", thread.block},
                   {"thread", thread.thread},
                   {"offset", one.place.offset},
                   {"bytes", one.bytes},
                   {"reads", one.reads},
                   {"writes", one.writes}});
  }
  return all;
}

void DebugSession::Impl::describe_hit(const json& hit) {
  const std::string reason = hit.at("reason");
  stop.reason = reason == "data"      ? StopReason::data_breakpoint
                : reason == "finding" ? StopReason::finding
                                      : StopReason::breakpoint;
  stop.breakpoints = hit.at("rules").get<std::vector<int>>();
  const json& data = hit.at("data");
  if (stop.reason == StopReason::finding) {
    const auto index = data.at("finding").get<std::size_t>();
    if (index < findings.size()) stop.finding = findings[index];
  } else if (stop.reason == StopReason::data_breakpoint) {
    DataAccess access{.kind = data.at("kind"), .object = data.at("object")};
    access.thread = thread_of(data.at("block"), data.at("thread"));
    access.before = bytes_of_hex(data.at("before"));
    for (const std::byte bits : bytes_of_hex(data.at("unwritten"))) {
      access.unwritten.push_back(std::to_integer<std::uint8_t>(bits));
    }
    if (data.contains("after")) access.after = bytes_of_hex(data["after"]);
    stop.data = std::move(access);
  }
}

// The thread whose access shows the finding.
void DebugSession::Impl::focus_on_finding() {
  if (!stop.finding || !stop.has_location) return;
  for (const json& side : sides[stop.finding->index]) {
    if (!side.contains("thread") || side.at("block") != place.at("block")) continue;
    const std::uint32_t thread = side.at("thread");
    const bool is_there =
        thread / kWarpLanes == stop.warp && (stop.active >> thread % kWarpLanes & 1u) != 0;
    if (is_there) stop.focus = thread_of(side.at("block"), thread);
  }
}

// Of the threads that are there, the condition is asked for the focus first.
bool DebugSession::Impl::accepts(const json& hit, bool counts) {
  describe_hit(hit);
  if (stop.data && stop.has_location) stop.focus = stop.data->thread;
  focus_on_finding();
  std::vector<Thread> threads{stop.focus};
  if (stop.reason == StopReason::breakpoint) {
    const Linear focus = linear_of(stop.focus);
    const std::uint32_t number = place.at("block");
    for (std::uint32_t lanes = stop.active != 0 ? stop.active : stop.together; lanes != 0;
         lanes &= lanes - 1) {
      const std::uint32_t thread =
          stop.warp * kWarpLanes + static_cast<std::uint32_t>(std::countr_zero(lanes));
      if (thread != focus.thread) threads.push_back(thread_of(number, thread));
    }
  }
  std::optional<Thread> chosen;
  std::vector<int> accepted;
  for (const int number : std::exchange(stop.breakpoints, {})) {
    const auto at = std::ranges::find(points, number, &BreakpointState::number);
    if (at == points.end()) continue;
    std::optional<Thread> thread;
    for (const Thread& each : threads) {
      stop.focus = each;
      const auto condition = at->breakpoint.condition;  // may change the breakpoints
      if (condition && !condition(stop)) continue;
      thread = each;
      break;
    }
    if (!thread) continue;
    if (counts) {
      ++at->hits;
      if (at->breakpoint.ignore != 0) {
        --at->breakpoint.ignore;
        continue;
      }
    }
    if (!chosen) chosen = thread;
    accepted.push_back(number);
  }
  stop.focus = chosen.value_or(threads.front());
  for (const int number : accepted) {
    stop.breakpoints.push_back(number);
    if (counts && point_of(points, number).breakpoint.is_temporary) {
      std::erase_if(points, [&](const BreakpointState& each) { return each.number == number; });
    }
  }
  return !accepted.empty();
}

}  // namespace warpcheck::debug
