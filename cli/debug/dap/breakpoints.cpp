#include "cli/debug/dap/breakpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include "cli/debug/dap/memory_requests.hpp"

namespace warpcheck::dap {
namespace {

constexpr const char* kNotes = "note";  // the filter of findings that are no errors
constexpr std::uint32_t kWatchedBytesMax = 1u << 20;

std::vector<std::string> kinds_of_findings() {
  return {
#define FINDING_KIND(enumerator, name, checker) name,
#include "vgpu/check/finding_kinds.def"
#undef FINDING_KIND
  };
}

// Those that need a run's end, or several runs, are made outside a run.
bool is_made_in_a_run(std::string_view kind) {
  return kind != "mismatch" && kind != "schedule-dependent" && kind != "leak";
}

std::pair<debug::Place, std::uint32_t> watched(const Arguments& asked) {
  const std::string id = asked.text("dataId");
  const std::size_t slash = id.find('/');
  std::uint32_t bytes = 0;
  if (slash != id.npos) std::from_chars(id.data() + slash + 1, id.data() + id.size(), bytes);
  if (bytes == 0) asked.refuse("dataId", "a place, as `dataBreakpointInfo` names it");
  if (bytes > kWatchedBytesMax) {
    throw RequestError(fmt::format("{} bytes; {} at most can be watched", bytes, kWatchedBytesMax));
  }
  return {place_of(id.substr(0, slash)), bytes};
}

}  // namespace

std::uint64_t ignored_hits(std::string_view condition) {
  std::string_view rest = condition;
  const auto skip_spaces = [&] {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  };
  skip_spaces();
  const bool is_at_least = rest.starts_with(">=");
  const bool is_more = !is_at_least && rest.starts_with('>');
  rest.remove_prefix(is_at_least ? 2 : is_more ? 1 : 0);
  skip_spaces();
  std::uint64_t hits = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), hits);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  skip_spaces();
  if (error != std::errc{} || !rest.empty() || (hits == 0 && !is_more)) {
    throw RequestError(
        fmt::format("a condition on hits: expected N, >= N or > N, found \"{}\"", condition));
  }
  return is_more ? hits : hits - 1;
}

Json finding_filters() {
  Json filters = Json::array();
  for (const std::string& kind : kinds_of_findings()) {
    if (!is_made_in_a_run(kind)) continue;
    filters.push_back({{"filter", kind}, {"label", kind}, {"default", true}});
  }
  filters.push_back({{"filter", kNotes},
                     {"label", "notes of these kinds"},
                     {"description", "Findings that are no errors"},
                     {"default", false}});
  return filters;
}

void Breakpoints::describe(Entry& entry, const debug::BreakpointState& state) const {
  entry.is_verified = state.is_verified;
  entry.answer = {{"id", state.number}, {"verified", state.is_verified}};
  if (state.breakpoint.kind == Kind::instruction) {
    entry.answer["instructionReference"] = code_reference(state.breakpoint.pc);
  }
  if (state.breakpoint.kind != Kind::line) return;
  if (state.is_verified) {
    entry.answer["line"] = sources_.to_client(state.actual_line);
    entry.answer["source"] = sources_.source_of(state.breakpoint.file);
  } else {
    entry.answer["message"] = "no kernel that was loaded has code there yet";
    entry.answer["reason"] = "pending";
  }
}

void Breakpoints::set(Entry& entry, const Arguments& asked,
                      const std::function<debug::Breakpoint(const Arguments&)>& make) {
  debug::DebugSession& session = debuggee_.session();
  try {
    debug::Breakpoint breakpoint = make(asked);
    if (const std::string condition = asked.text_or("condition", ""); !condition.empty()) {
      breakpoint.condition = debuggee_.inspector().condition(condition);
    }
    if (const std::string hits = asked.text_or("hitCondition", ""); !hits.empty()) {
      breakpoint.ignore = ignored_hits(hits);
    }
    const Kind kind = breakpoint.kind;
    entry.number = session.add_breakpoint(std::move(breakpoint));
    kinds_[entry.number] = kind;
  } catch (const RequestError& error) {
    entry.answer = {{"verified", false}, {"message", error.what()}, {"reason", "failed"}};
  } catch (const debug::DebugError& error) {
    entry.answer = {{"verified", false}, {"message", error.what()}, {"reason", "failed"}};
  }
}

Answer Breakpoints::replace(Entries& entries, const std::vector<Arguments>& asked,
                            const Json& documents,
                            const std::function<debug::Breakpoint(const Arguments&)>& make) {
  debug::DebugSession& session = debuggee_.session();
  Entries old = std::exchange(entries, {});
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto same = std::ranges::find(old, documents[i], &Entry::asked);
    if (same != old.end() && same->number != 0) {
      entries.push_back(std::move(*same));
      old.erase(same);
    } else {
      entries.push_back({.asked = documents[i], .answer = {}});
    }
  }
  for (const Entry& each : old) {
    if (each.number == 0) continue;
    session.remove_breakpoint(each.number);
    kinds_.erase(each.number);
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (entries[i].number == 0) set(entries[i], asked[i], make);
  }
  Json answers = Json::array();
  const std::vector<debug::BreakpointState> states = session.breakpoints();
  for (Entry& each : entries) {
    const auto state = std::ranges::find(states, each.number, &debug::BreakpointState::number);
    if (state != states.end()) describe(each, *state);
    answers.push_back(each.answer);
  }
  return Json{{"breakpoints", std::move(answers)}};
}

Answer Breakpoints::set_lines(const Arguments& arguments) {
  const std::string path = arguments.object("source").text_or("path", "");
  if (path.empty()) {
    throw RequestError("setBreakpoints: source.path: breakpoints are set in files");
  }
  const std::string file = Sources::recorded_file(path, debuggee_.session().source_files());
  return replace(lines_[path], arguments.objects_if("breakpoints"), arguments.list("breakpoints"),
                 [&](const Arguments& asked) {
                   const std::uint32_t line = sources_.from_client(asked.integer("line"));
                   if (line == 0) asked.refuse("line", "the number of a line");
                   return debug::Breakpoint{.kind = Kind::line, .file = file, .line = line};
                 });
}

Answer Breakpoints::set_functions(const Arguments& arguments) {
  return replace(functions_, arguments.objects_if("breakpoints"), arguments.list("breakpoints"),
                 [](const Arguments& asked) {
                   return debug::Breakpoint{.kind = Kind::function, .kernel = asked.text("name")};
                 });
}

// References are those of the kernel that runs now.
Answer Breakpoints::set_instructions(const Arguments& arguments) {
  return replace(
      instructions_, arguments.objects_if("breakpoints"), arguments.list("breakpoints"),
      [&](const Arguments& asked) {
        const debug::KernelText& kernel = debuggee_.stopped_session().kernel_text();
        const std::int64_t pc =
            instruction_in(asked, "instructionReference") + asked.integer_or("offset", 0);
        if (pc < 0 || pc >= static_cast<std::int64_t>(kernel.instructions.size())) {
          throw RequestError(fmt::format("the kernel has {} instructions, and none at {}",
                                         kernel.instructions.size(), code_reference(pc)));
        }
        return debug::Breakpoint{
            .kind = Kind::instruction, .kernel = kernel.name, .pc = static_cast<std::uint32_t>(pc)};
      });
}

Answer Breakpoints::set_data(const Arguments& arguments) {
  return replace(data_, arguments.objects_if("breakpoints"), arguments.list("breakpoints"),
                 [](const Arguments& asked) {
                   const auto [place, bytes] = watched(asked);
                   const std::string access = asked.text_or("accessType", "write");
                   const bool is_both = access == "readWrite";
                   if (!is_both && access != "read" && access != "write") {
                     asked.refuse("accessType", "read, write or readWrite");
                   }
                   return debug::Breakpoint{.kind = Kind::data,
                                            .place = place,
                                            .bytes = bytes,
                                            .reads = is_both || access == "read",
                                            .writes = is_both || access == "write"};
                 });
}

Answer Breakpoints::set_findings(const Arguments& arguments) {
  debug::DebugSession& session = debuggee_.session();
  std::vector<std::string> filters = arguments.texts_if("filters");
  for (const Arguments& each : arguments.objects_if("filterOptions")) {
    filters.push_back(each.text("filterId"));
  }
  std::set<vgpu::FindingKind> kinds;
  bool with_notes = false;
  Json answers = Json::array();
  for (const std::string& filter : filters) {
    vgpu::FindingKind kind{};
    const bool is_known = filter == kNotes || vgpu::find_kind(filter, kind);
    answers.push_back({{"verified", is_known}});
    if (!is_known) {
      answers.back()["message"] = fmt::format("no kind of finding is called \"{}\"", filter);
    } else if (filter == kNotes) {
      with_notes = true;
    } else {
      kinds.insert(kind);
    }
  }
  if (findings_ != 0) {
    session.remove_breakpoint(findings_);
    kinds_.erase(std::exchange(findings_, 0));
  }
  if (!kinds.empty()) {
    debug::Breakpoint breakpoint{.kind = Kind::finding};
    breakpoint.condition = [kinds, with_notes](const debug::Stop& stop) {
      if (!stop.finding) return false;
      const vgpu::Finding& finding = stop.finding->finding;
      return kinds.contains(finding.kind) &&
             (with_notes || finding.severity != vgpu::Severity::note);
    };
    findings_ = session.add_breakpoint(std::move(breakpoint));
    kinds_[findings_] = Kind::finding;
  }
  return Json{{"breakpoints", std::move(answers)}};
}

void Breakpoints::report_changes(Client& client) {
  const std::vector<debug::BreakpointState> states = debuggee_.session().breakpoints();
  const auto report = [&](Entries& entries) {
    for (Entry& each : entries) {
      const auto state = std::ranges::find(states, each.number, &debug::BreakpointState::number);
      if (state == states.end() || state->is_verified == each.is_verified) continue;
      describe(each, *state);
      client.send_event("breakpoint", {{"reason", "changed"}, {"breakpoint", each.answer}});
    }
  };
  for (auto& [path, entries] : lines_) report(entries);
  report(functions_);
  report(instructions_);
}

std::string_view Breakpoints::reason_of(const std::vector<int>& numbers) const {
  const auto are_all = [&](Kind wanted) {
    return !numbers.empty() && std::ranges::all_of(numbers, [&](int number) {
      const auto kind = kinds_.find(number);
      return kind != kinds_.end() && kind->second == wanted;
    });
  };
  if (are_all(Kind::function)) return "function breakpoint";
  return are_all(Kind::instruction) ? "instruction breakpoint" : "breakpoint";
}

const NumberedSession::Watched* Breakpoints::watched_of(const std::vector<int>& numbers) const {
  for (const Entry& each : data_) {
    if (each.number == 0 || std::ranges::find(numbers, each.number) == numbers.end()) continue;
    const std::string id = each.asked.value("dataId", "");
    if (const NumberedSession::Watched* const watched = debuggee_.watched_of(id)) return watched;
  }
  return nullptr;
}

void Breakpoints::add_requests(Handlers& handlers) {
  const auto add = [&](const char* name, Answer (Breakpoints::*perform)(const Arguments&)) {
    handlers[name] = [this, perform](const Arguments& arguments) {
      return (this->*perform)(arguments);
    };
  };
  add("setBreakpoints", &Breakpoints::set_lines);
  add("setFunctionBreakpoints", &Breakpoints::set_functions);
  add("setInstructionBreakpoints", &Breakpoints::set_instructions);
  add("setDataBreakpoints", &Breakpoints::set_data);
  add("setExceptionBreakpoints", &Breakpoints::set_findings);
}

}  // namespace warpcheck::dap
