// A trace in the Trace Event Format, for ui.perfetto.dev and chrome://tracing.
//
// Of each warp: slices between barriers, in them slices of consecutive steps of one source line,
// and in them, if wanted, one for each access; findings, decisions of the schedule, and the parting
// and meeting of lanes are marks.  Every event is on a line of its own.  Slices are complete
// events: Chromium's own viewer pairs separate begins and ends across tracks.  Of two that are
// equally long the outer one is written first.  Marks have the letter that Chromium writes, I,
// because that viewer does not read i.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "vgpu/check/trace/trace_printer.hpp"

namespace warpcheck::vgpu {
namespace {

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

class ChromePrinter final : public TracePrinter {
 public:
  ChromePrinter(bool accesses, std::uint64_t first)
      : accesses_(accesses), first_(first), threads_(first) {}

  std::string launch(const TraceLaunch& launch) override {
    launch_ = launch;
    tracks_.clear();
    return {};
  }
  // A warp's last slice ends where the warp does.  The tracks stay for what is found after the
  // launch.
  std::string launch_end() override {
    std::string text;
    for (auto& [key, track] : tracks_) text += close_phase(track, track.last + 1);
    return text;
  }

  std::string step(const TraceStep& step) override {
    std::string text;
    Track& track = track_of(step.warp, text);
    if (!track.is_open) track.phase_begin = step.time;
    track.is_open = true;
    const std::string place =
        step.file.empty() ? std::string("?") : fmt::format("{}:{}", step.file, step.line);
    if (track.place != place || track.line_end != step.time) {
      text += close_line(track);
      track.place = place;
      track.line_begin = step.time;
    } else {
      text += std::exchange(track.first_access, {});
    }
    track.line_end = step.time + 1;
    track.last = step.time;
    if (accesses_ && !step.access.empty()) {
      std::string values;
      for (const auto& [lane, value] : step.values) {
        values += fmt::format(R"(,"lane {}":{})", lane, json_text(value));
      }
      std::string& to = track.line_begin == step.time ? track.first_access : text;
      to += event(track, "X", step.time,
                  fmt::format(R"("dur":1,"name":{},"cat":"access","args":{{"instruction":{},)"
                              R"("step":{},"lanes":{}{}}})",
                              json_text(step.access), json_text(step.instruction), step.number,
                              json_text(text_of_lanes(step.lanes)), values));
    }
    return text;
  }

  std::string event(const TraceEvent& event) override {
    std::string text;
    if (event.kind == TraceEvent::Kind::barrier && event.of_block) {
      for (auto& [key, track] : tracks_) {
        if (key.block != event.warp.block) continue;
        text += close_phase(track, event.time + 1);
        track.phase = event.phase;
      }
      return text;
    }
    Track& track = track_of(event.warp, text);
    return text + mark(track, event.time, event.text, category_of(event.kind));
  }

  std::string finding(const TraceFinding& finding) override {
    std::string text;
    ++findings_;
    std::vector<const TraceFinding::Side*> known;
    for (std::size_t i = 0; i < finding.sides.size(); ++i) {
      const TraceFinding::Side& side = finding.sides[i];
      if (side.number == 0) continue;
      known.push_back(&side);
      Track& track = track_of(side.warp, text);
      text +=
          event(track, "I", side.time,
                fmt::format(R"x("s":"t","name":{},"cat":"finding","args":{{"side":{},)x"
                            R"x("message":{}}})x",
                            json_text(fmt::format("({}) {}: {}", i + 1, finding.what, side.who)),
                            i + 1, json_text(finding.message)));
    }
    if (known.empty()) {
      last_ = std::max(last_, finding.time);
      return fmt::format(
          "{{\"ph\":\"I\",\"s\":\"g\",\"pid\":0,\"tid\":0,\"ts\":{},\"name\":{},"
          "\"cat\":\"finding\"}},\n",
          finding.time, json_text(finding.what + ": " + finding.message));
    }
    return text + flow(std::move(known));
  }

  std::string end(const TraceTotals& totals, std::uint64_t bytes_max) override {
    return launch_end() +
           fmt::format(
               "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,"
               "\"args\":{{\"name\":\"whole run\"}}}},\n"
               "{{\"ph\":\"I\",\"s\":\"g\",\"pid\":0,\"tid\":0,\"ts\":{},\"name\":{},"
               "\"cat\":\"end\",\"args\":{{\"shown\":{},\"written\":{}}}}},\n",
               last_ + 1, json_text(text_of_end(totals, bytes_max)), totals.shown, totals.written);
  }

 private:
  struct Track {
    std::uint64_t process = 0, thread = 0;
    bool is_open = false;  // a slice between barriers
    std::uint32_t phase = 0;
    std::uint64_t phase_begin = 0;
    std::string place;         // of the consecutive steps of a line; empty: there are none
    std::string first_access;  // of a line's first step, which may be its only one
    std::uint64_t line_begin = 0, line_end = 0, last = 0;
  };

  static std::string_view category_of(TraceEvent::Kind kind) {
    switch (kind) {
      case TraceEvent::Kind::barrier: return "barrier";
      case TraceEvent::Kind::decision: return "decision";
      case TraceEvent::Kind::print: return "print";
      case TraceEvent::Kind::diverge:
      case TraceEvent::Kind::meet: break;
    }
    return "lanes";
  }

  // Returns the track of a warp of the running launch; adds its names to `text` if it is new.
  Track& track_of(const WarpId& warp, std::string& text) {
    const auto [at, is_new] = tracks_.try_emplace(warp);
    Track& track = at->second;
    if (!is_new) return track;
    const auto [process, is_new_block] =
        processes_.try_emplace({launch_.number, warp.block}, first_ + processes_.size() + 1);
    track.process = process->second;
    track.thread = ++threads_;
    if (is_new_block) {
      text +=
          name(track, "process_name",
               fmt::format("launch {} {} block {}", launch_.number, launch_.kernel, warp.block));
    }
    text += name(track, "thread_name", fmt::format("warp {}", warp.warp));
    return track;
  }
  static std::string name(const Track& track, std::string_view what, std::string_view name) {
    return fmt::format(
        "{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}},\n", what,
        track.process, track.thread, json_text(name));
  }
  // rest: further members
  std::string event(const Track& track, std::string_view phase, std::uint64_t time,
                    std::string_view rest) {
    last_ = std::max(last_, time);
    return fmt::format("{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}{}{}}},\n", phase,
                       track.process, track.thread, time, rest.empty() ? "" : ",", rest);
  }
  // An arrow from the earliest of the sides to the latest; viewers drop one that has no two ends in
  // the order of time.
  std::string flow(std::vector<const TraceFinding::Side*> sides) {
    if (sides.size() < 2) return {};
    std::ranges::stable_sort(sides, {}, &TraceFinding::Side::time);
    std::string text;
    for (const TraceFinding::Side* const side : {sides.front(), sides.back()}) {
      const bool is_first = side == sides.front();
      text += event(track_of(side->warp, text), is_first ? "s" : "f", side->time,
                    fmt::format(R"("id":{},"name":"finding","cat":"finding"{})", findings_,
                                is_first ? "" : R"(,"bp":"e")"));
    }
    return text;
  }
  std::string mark(const Track& track, std::uint64_t time, std::string_view name,
                   std::string_view category) {
    return event(track, "I", time,
                 fmt::format(R"("s":"t","name":{},"cat":"{}")", json_text(name), category));
  }
  std::string slice(const Track& track, std::uint64_t begin, std::uint64_t end,
                    std::string_view name, std::string_view category) {
    return event(
        track, "X", begin,
        fmt::format(R"("dur":{},"name":{},"cat":"{}")", end - begin, json_text(name), category));
  }
  std::string close_line(Track& track) {
    if (track.place.empty()) return {};
    const std::string text = slice(track, track.line_begin, track.line_end, track.place, "line");
    track.place.clear();
    return text + std::exchange(track.first_access, {});
  }
  std::string close_phase(Track& track, std::uint64_t time) {
    if (!track.is_open) return {};
    track.is_open = false;
    const std::string name =
        track.phase == 0 ? "start" : fmt::format("after barrier {}", track.phase);
    return slice(track, track.phase_begin, time, name, "phase") + close_line(track);
  }

  bool accesses_;
  std::uint64_t first_, threads_;
  TraceLaunch launch_;
  std::map<WarpId, Track> tracks_;  // of the running launch
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>
      processes_;  // by launch and block
  std::uint32_t findings_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace

std::unique_ptr<TracePrinter> chrome_printer(bool accesses, std::uint64_t first) {
  return std::make_unique<ChromePrinter>(accesses, first);
}

}  // namespace warpcheck::vgpu
