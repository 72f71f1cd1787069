#include "cli/debug/dap/adapter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>

#include "cli/debug/dap/finding_text.hpp"
#include "cli/debug/dap/memory_requests.hpp"
#include "cli/debug/dap/thread_requests.hpp"
#include "cli/debug/dap/variable_requests.hpp"
#include "vgpu/check/finding_groups.hpp"

namespace warpcheck::dap {
namespace {

namespace fs = std::filesystem;
using debug::Stop;
using debug::StopReason;

Json capabilities() {
  return {{"supportsConfigurationDoneRequest", true},
          {"supportsFunctionBreakpoints", true},
          {"supportsConditionalBreakpoints", true},
          {"supportsHitConditionalBreakpoints", true},
          {"supportsEvaluateForHovers", true},
          {"exceptionBreakpointFilters", finding_filters()},
          {"supportsExceptionFilterOptions", true},
          {"supportsExceptionInfoRequest", true},
          {"supportsStepBack", true},
          {"supportsSteppingGranularity", true},
          {"supportsGotoTargetsRequest", true},
          {"supportsInstructionBreakpoints", true},
          {"supportsDataBreakpoints", true},
          {"supportsDataBreakpointBytes", true},
          {"supportsReadMemoryRequest", true},
          {"supportsDisassembleRequest", true},
          {"supportsValueFormattingOptions", true},
          {"supportsTerminateRequest", true},
          {"supportTerminateDebuggee", true}};
}

bool is_request(const Arrival& arrival, std::initializer_list<std::string_view> commands) {
  const auto* request = std::get_if<Request>(&arrival);
  return request && std::ranges::find(commands, request->command) != commands.end();
}

// Whether it ends or pauses what runs.
bool stops_a_run(const Arrival& arrival) {
  return std::holds_alternative<Disappearance>(arrival) ||
         is_request(arrival, {"pause", "terminate", "disconnect"});
}

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  std::string text = "0x";
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(*byte));
  }
  return text;
}

// "block (0,0,0) thread (2,0,0) writes share[2]: 0.5 becomes 1.25"
std::string typed_data_text(const debug::DataAccess& access,
                            const NumberedSession::Watched& watched, debug::Inspector& inspector) {
  const auto text_of = [&](const std::vector<std::byte>& bytes,
                           const std::vector<std::uint8_t>& unwritten) {
    return inspector.text_of_bytes(watched.value, bytes, unwritten, {access.thread, 0});
  };
  std::string text =
      fmt::format("{} {} {}", thread_name(access.thread), access.kind, watched.expression);
  if (!access.before.empty()) text += ": " + text_of(access.before, access.unwritten);
  if (access.after) {
    text += " becomes " + text_of(*access.after, std::vector<std::uint8_t>(access.after->size()));
  }
  return text;
}

std::string data_text(const debug::DataAccess& access) {
  std::string text =
      fmt::format("{} {} {}", thread_name(access.thread), access.kind, access.object);
  constexpr std::size_t kShownBytesMax = 16;
  if (access.before.empty() || access.before.size() > kShownBytesMax) return text;
  const bool is_written =
      std::ranges::all_of(access.unwritten, [](auto bits) { return bits == 0; });
  text += ": " + (is_written ? hexadecimal(access.before) : "<not written>");
  if (access.after) text += " becomes " + hexadecimal(*access.after);
  return text;
}

std::string description_of(const Stop& stop, const Breakpoints& breakpoints,
                           NumberedSession& debuggee) {
  if (stop.data) {
    // The host is at no place of a kernel, where a type could be looked at.
    const NumberedSession::Watched* const watched =
        stop.has_location ? breakpoints.watched_of(stop.breakpoints) : nullptr;
    return watched ? typed_data_text(*stop.data, *watched, debuggee.inspector())
                   : data_text(*stop.data);
  }
  if (stop.finding) return vgpu::headline_of(stop.finding->finding);
  if (stop.is_at_beginning) return "the beginning of the run";
  if (stop.reason == StopReason::end) return "the end of the run";
  return "";
}

std::string_view reason_of(const Stop& stop, const Breakpoints& breakpoints) {
  switch (stop.reason) {
    case StopReason::entry: return "entry";
    case StopReason::step: return "step";
    case StopReason::position: return "goto";
    case StopReason::breakpoint: return breakpoints.reason_of(stop.breakpoints);
    case StopReason::data_breakpoint: return "data breakpoint";
    case StopReason::finding: return "exception";
    case StopReason::pause:
    case StopReason::end: return "pause";
  }
  return "pause";
}

Answer exception_info(NumberedSession& debuggee) {
  const std::optional<debug::FoundFinding>& found = debuggee.stopped_session().stop().finding;
  if (!found) throw RequestError("the debuggee is not stopped at a finding");
  const std::string kind(vgpu::name_of(found->finding.kind));
  return Json{{"exceptionId", kind},
              {"description", finding_text(*found)},
              {"breakMode", "always"},
              {"details", {{"message", found->finding.message}, {"typeName", kind}}}};
}

}  // namespace

Adapter::Adapter(Inbox& inbox, Client& client, debug::Target target)
    : inbox_(inbox), client_(client), target_(std::move(target)) {
  add_requests();
}

void Adapter::serve() {
  while (!is_over_ && !client_.is_gone()) handle(inbox_.wait());
  prompt_.reset();
  debuggee_.end();
}

void Adapter::handle(const Arrival& arrival) {
  if (const auto* damage = std::get_if<Damage>(&arrival)) {
    client_.refuse_damaged(damage->message);
  } else if (const auto* request = std::get_if<Request>(&arrival)) {
    perform(*request);
  } else {
    is_over_ = true;
  }
}

void Adapter::perform(const Request& request) {
  const auto handler = handlers_.find(request.command);
  std::function<void()> then;
  try {
    if (!is_initialized_ && request.command != "initialize" && request.command != "disconnect") {
      throw RequestError(fmt::format("{}: the first request is `initialize`", request.command));
    }
    if (handler == handlers_.end()) {
      throw RequestError(fmt::format("warpcheck has no request `{}`", request.command));
    }
    Answer answer = handler->second(request.arguments());
    client_.respond(request, std::move(answer.body));
    then = std::move(answer.then);
  } catch (const std::exception& error) {
    client_.refuse(request, error.what());
  }
  if (then) then();
}

void Adapter::add_requests() {
  add_thread_requests(handlers_, debuggee_, sources_);
  add_variable_requests(handlers_, debuggee_);
  add_memory_requests(handlers_, debuggee_, sources_);
  sources_.add_requests(handlers_);
  breakpoints_.add_requests(handlers_);
  add_motions(handlers_, debuggee_, sources_, [this](const Motion& motion) { run(motion); });
  handlers_["evaluate"] = [this, evaluate = handlers_.at("evaluate")](const Arguments& arguments) {
    return evaluate_in_console(arguments, evaluate);
  };
  handlers_["initialize"] = [this](const Arguments& arguments) { return initialize(arguments); };
  handlers_["launch"] = [this](const Arguments& arguments) { return launch(arguments); };
  handlers_["attach"] = [](const Arguments&) -> Answer {
    throw RequestError("a run is debugged from its beginning: use `launch`");
  };
  handlers_["configurationDone"] = [this](const Arguments&) -> Answer {
    static_cast<void>(debuggee_.stopped_session());
    return {nullptr, [this] {
              const bool is_at_end = debuggee_.session().stop().reason == StopReason::end;
              if (stops_on_entry_ || is_at_end) return report_stop();
              run(forward());
            }};
  };
  handlers_["exceptionInfo"] = [this](const Arguments&) { return exception_info(debuggee_); };
  handlers_["pause"] = [this](const Arguments&) -> Answer {
    static_cast<void>(debuggee_.session());
    is_pause_asked_ = true;
    return {};
  };
  handlers_["terminate"] = [this](const Arguments&) -> Answer {
    return {nullptr, [this] { end_debuggee(); }};
  };
  handlers_["disconnect"] = [this](const Arguments&) -> Answer {
    is_over_ = true;
    return {};
  };
}

Answer Adapter::initialize(const Arguments& arguments) {
  if (is_initialized_) throw RequestError("initialize: it was sent before");
  if (arguments.text_or("pathFormat", "path") != "path") {
    arguments.refuse("pathFormat", "\"path\"");
  }
  sources_.count_lines_from(arguments.flag_or("linesStartAt1", true) ? 1 : 0);
  is_initialized_ = true;
  return capabilities();
}

debug::Target Adapter::target_of(const Arguments& arguments) const {
  debug::Target target = target_;
  const std::string case_file = arguments.text_or("case", "");
  const std::string program = arguments.text_or("program", "");
  if (!case_file.empty() && !program.empty()) {
    throw RequestError("launch: expected a case or a program, found both");
  }
  if (!case_file.empty()) {
    target.case_file = case_file;
    target.program.clear();
  } else if (!program.empty()) {
    target.case_file.clear();
    target.program = arguments.texts_if("args");
    target.program.insert(target.program.begin(), program);
  }
  if (target.case_file.empty() && target.program.empty()) {
    throw RequestError("launch: expected `case`, a case file, or `program`, found neither");
  }
  target.build = arguments.text_or("build", target.build);
  target.strategy = arguments.text_or("strategy", target.strategy);
  const std::int64_t seed = arguments.integer_or("seed", static_cast<std::int64_t>(target.seed));
  target.seed = static_cast<std::uint64_t>(seed);
  return target;
}

Answer Adapter::launch(const Arguments& arguments) {
  if (debuggee_.is_launched()) throw RequestError("launch: it was sent before");
  debug::Target target = target_of(arguments);
  stops_on_entry_ = arguments.flag_or("stopOnEntry", false);
  stops_at_end_ = arguments.flag_or("stopAtEnd", false);
  // The debuggee inherits both, and this process serves no other one.
  if (const std::string folder = arguments.text_or("cwd", ""); !folder.empty()) {
    std::error_code error;
    fs::current_path(folder, error);
    if (error) throw RequestError(fmt::format("launch: cwd: {}: {}", folder, error.message()));
  }
  if (const auto variables = arguments.object_if("env")) {
    for (const auto& [name, value] : variables->members()) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  start(std::move(target));
  return {nullptr, [this] { client_.send_event("initialized"); }};
}

void Adapter::start(debug::Target target) {
  target.output = [this](std::string_view stream, std::string_view text) { write(stream, text); };
  // A program may run for long before its first kernel.  There is nothing to stop yet.
  const Inbox::Interruption interruption(
      inbox_, [](const Arrival& arrival) { return std::holds_alternative<Disappearance>(arrival); },
      [] { ::_exit(EXIT_FAILURE); });
  debuggee_.begin(debug::DebugSession::start(std::move(target)));
  prompt_ = std::make_unique<debug::Prompt>(debuggee_.session(),
                                            [this](std::string_view text) { printed_ += text; });
}

Answer Adapter::evaluate_in_console(const Arguments& arguments, const Handler& evaluate) {
  try {
    return evaluate(arguments);
  } catch (const std::exception&) {
    const std::string line = arguments.text_or("expression", "");
    const std::string word = line.substr(0, line.find_first_of(" /"));
    const bool is_command =
        arguments.text_or("context", "") == "repl" && !debug::Prompt::completions("", word).empty();
    if (!is_command) throw;
    return execute(line);
  }
}

Answer Adapter::execute(const std::string& command) {
  const Stop before = debuggee_.stopped_session().stop();
  bool goes_on = true;
  {
    const Inbox::Interruption interruption(inbox_, stops_a_run,
                                           [this] { debuggee_.session().pause(); });
    goes_on = prompt_->execute(command);
  }
  const Stop& after = debuggee_.session().stop();
  const bool has_moved = after.position != before.position || !(after.focus == before.focus);
  return {Json{{"result", std::exchange(printed_, {})}, {"variablesReference", 0}},
          [this, goes_on, has_moved] {
            if (!goes_on) return end_debuggee();
            if (!has_moved) return;
            debuggee_.set_running(false);
            report_stop();
          }};
}

void Adapter::run(const Motion& motion) {
  debug::DebugSession& session = debuggee_.session();
  debuggee_.set_running(true);
  is_pause_asked_ = false;
  try {
    for (bool is_interrupted = true; is_interrupted;) {
      {
        const Inbox::Interruption interruption(
            inbox_,
            [&](const Arrival& arrival) { return motion.can_be_resumed || stops_a_run(arrival); },
            [&] { session.pause(); });
        motion.perform(session);
      }
      is_interrupted = session.stop().reason == StopReason::pause && motion.can_be_resumed;
      while (is_interrupted && !is_pause_asked_) {
        const std::optional<Arrival> arrival = inbox_.next();
        if (!arrival) break;
        handle(*arrival);
        if (is_over_ || !debuggee_.is_launched()) return;
      }
      if (is_pause_asked_) is_interrupted = false;
    }
  } catch (const debug::DebugError& error) {
    debuggee_.set_running(false);
    write("stderr", fmt::format("{}\n", error.what()));
    return report_stop();
  }
  debuggee_.set_running(false);
  report_stop();
}

void Adapter::report_stop() {
  const Stop& stop = debuggee_.session().stop();
  report_findings();
  breakpoints_.report_changes(client_);
  if (!stop.note.empty()) write("console", stop.note + "\n");
  if (stop.reason == StopReason::breakpoint) {
    const std::string note = debuggee_.inspector().note_of_condition();
    if (!note.empty()) write("console", note + "\n");
  }
  if (stop.reason == StopReason::end && !stops_at_end_) {
    client_.send_event("exited", {{"exitCode", stop.exit_status}});
    return end_debuggee();
  }
  Json body = {{"reason", reason_of(stop, breakpoints_)},
               {"threadId", stop.has_location ? debuggee_.number_of(stop.focus) : kNoThread},
               {"allThreadsStopped", true}};
  if (const std::string description = description_of(stop, breakpoints_, debuggee_);
      !description.empty()) {
    body["description"] = description;
    body["text"] = description;
  }
  if (!stop.breakpoints.empty()) body["hitBreakpointIds"] = stop.breakpoints;
  client_.send_event("stopped", std::move(body));
}

void Adapter::report_findings() {
  for (const debug::FoundFinding& found : debuggee_.session().findings()) {
    if (found.index < findings_reported_) continue;
    findings_reported_ = found.index + 1;
    write("console", fmt::format("finding {}: {}\n", found.index + 1, finding_text(found)));
  }
}

void Adapter::write(std::string_view category, std::string_view text) {
  client_.send_event("output", {{"category", category}, {"output", text}});
}

void Adapter::end_debuggee() {
  prompt_.reset();
  debuggee_.end();
  client_.send_event("terminated");
}

}  // namespace warpcheck::dap
