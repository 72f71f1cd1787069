#include "cli/debug/dap/thread_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <vector>

#include "cli/debug/dap/memory_requests.hpp"
#include "vgpu/program/dim3_text.hpp"

namespace warpcheck::dap {
namespace {

using debug::LaneState;
using debug::Thread;

constexpr std::uint32_t kLanesOfWarp = 32;
constexpr std::size_t kListedMax = 256;

std::string text_of(const debug::CodeLocation& at) {
  if (at.file.empty()) return at.instruction;
  return fmt::format("{}:{}", std::filesystem::path(at.file).filename().string(), at.line);
}

// What a thread that is not about to run does, behind its name.
std::string text_of(const LaneState& state) {
  switch (state.kind) {
    case LaneState::Kind::ready: return "at " + text_of(state.at);
    case LaneState::Kind::at_barrier:
      return fmt::format("waits at barrier {}, {}", state.barrier, text_of(state.at));
    case LaneState::Kind::at_warp_operation:
      return "waits for lanes of its warp at " + text_of(state.at);
    case LaneState::Kind::at_cluster_barrier:
      return "waits for its cluster at " + text_of(state.at);
    case LaneState::Kind::exited: return "has left the kernel";
  }
  return "";
}

class ThreadList {
 public:
  ThreadList(NumberedSession& debuggee, const debug::Stop& stop)
      : debuggee_(debuggee), stop_(stop) {}

  Json list() {
    blocks_ = debuggee_.session().blocks();
    add(stop_.focus);
    add_warp_of_focus();
    for (const debug::FoundFinding& found : debuggee_.session().findings()) {
      for (const vgpu::AccessSide& side : found.finding.accesses) {
        if (side.instruction != 0 || !side.ptx.empty()) add({side.block, side.thread});
      }
    }
    // Those of stops before, which have their numbers already.
    const std::vector<Thread> before = debuggee_.numbered_threads();
    for (const Thread& each : before) add(each);
    return threads_;
  }

 private:
  // One that is not resident is not listed.
  void add(const Thread& thread) {
    if (threads_.size() >= kListedMax) return;
    const auto block = std::ranges::find(blocks_, thread.block, &debug::BlockState::block);
    if (block == blocks_.end()) return;
    const std::uint32_t linear = stop_.block.linear(thread.thread);
    const auto warp =
        std::ranges::find(block->warps, linear / kLanesOfWarp, &debug::WarpState::warp);
    if (warp == block->warps.end() || !(warp->lanes >> linear % kLanesOfWarp & 1)) return;
    const std::int64_t number = debuggee_.number_of(thread);
    if (!listed_.insert(number).second) return;
    threads_.push_back({{"id", number}, {"name", name_of(thread, *warp, linear % kLanesOfWarp)}});
  }

  void add_warp_of_focus() {
    for (std::uint32_t lane = 0; lane < kLanesOfWarp; ++lane) {
      const std::uint32_t linear = stop_.warp * kLanesOfWarp + lane;
      if (linear < stop_.block.count()) add({stop_.focus.block, stop_.block.position_of(linear)});
    }
  }

  [[nodiscard]] std::string name_of(const Thread& thread, const debug::WarpState& warp,
                                    std::uint32_t lane) const {
    const std::string name = thread_name(thread);
    if (thread.block == stop_.focus.block && warp.warp == stop_.warp) {
      if (stop_.active >> lane & 1) return name + ", active";
      if (stop_.together >> lane & 1) return name + ", its guard is false";
    }
    for (const debug::LaneGroup& group : warp.groups) {
      if (group.lanes >> lane & 1) return name + ", " + text_of(group.state);
    }
    return name;
  }

  NumberedSession& debuggee_;
  const debug::Stop& stop_;
  std::vector<debug::BlockState> blocks_;
  std::set<std::int64_t> listed_;
  Json threads_ = Json::array();
};

Answer threads(NumberedSession& debuggee) {
  const debug::Stop& stop = debuggee.session().stop();
  // Where no thread stands, clients need one to go on or back from.
  if (debuggee.is_running() || !stop.has_location) {
    return Json{{"threads", Json::array({{{"id", kNoThread}, {"name", "the run"}}})}};
  }
  return Json{{"threads", ThreadList(debuggee, stop).list()}};
}

Answer stack_trace(NumberedSession& debuggee, Sources& sources, const Arguments& arguments) {
  debug::DebugSession& session = debuggee.stopped_session();
  const std::int64_t number = arguments.integer("threadId");
  if (number == kNoThread) return Json{{"stackFrames", Json::array()}, {"totalFrames", 0}};
  const Thread thread = debuggee.thread_of(number);
  const std::int64_t start = std::max<std::int64_t>(arguments.integer_or("startFrame", 0), 0);
  std::int64_t levels = arguments.integer_or("levels", 0);
  if (levels <= 0) levels = std::numeric_limits<std::int32_t>::max();
  const std::vector<debug::Frame> frames = session.frames(thread);
  Json list = Json::array();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto level = static_cast<std::int64_t>(i);
    if (level < start || level >= start + levels) continue;
    Json frame = {{"id", debuggee.add_frame({thread, i, frames[i].physical})},
                  {"name", frame_name(frames[i])}};
    sources.place(frame, frames[i].at, session);
    frame["instructionPointerReference"] = code_reference(frames[i].at.pc);
    list.push_back(std::move(frame));
  }
  return Json{{"stackFrames", std::move(list)}, {"totalFrames", frames.size()}};
}

}  // namespace

std::string thread_name(const Thread& thread) {
  return fmt::format("block {} thread {}", triple(thread.block), triple(thread.thread));
}

void add_thread_requests(Handlers& handlers, NumberedSession& debuggee, Sources& sources) {
  handlers["threads"] = [&](const Arguments&) { return threads(debuggee); };
  handlers["stackTrace"] = [&](const Arguments& arguments) {
    return stack_trace(debuggee, sources, arguments);
  };
}

}  // namespace warpcheck::dap
