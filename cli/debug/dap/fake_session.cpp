#include "cli/debug/dap/fake_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/debug/inspector.hpp"
#include "cli/debug/prompt.hpp"

namespace warpcheck::debug {
namespace {

std::unique_ptr<FakeRun> the_run;

void record(std::string call) { fake_run().calls.push_back(std::move(call)); }

const char* name_of(StepKind kind) {
  switch (kind) {
    case StepKind::instruction: return "instruction";
    case StepKind::line_into: return "line_into";
    case StepKind::line_over: return "line_over";
    case StepKind::out: return "out";
  }
  return "";
}

}  // namespace

FakeRun& fake_run() { return *the_run; }
void reset_fake_run() { the_run = std::make_unique<FakeRun>(); }

Stop fake_stop(StopReason reason, std::uint32_t lane, std::uint32_t line) {
  Stop stop;
  stop.reason = reason;
  stop.has_location = reason != StopReason::end;
  stop.kernel = "scan";
  stop.grid = {1, 1, 1};
  stop.block = {3, 1, 1};
  stop.focus = {{0, 0, 0}, {lane, 0, 0}};
  stop.together = stop.active = 1U << lane;
  stop.at = {.file = "/src/scan.cu", .line = line, .column = 3, .function = "scan(int*)"};
  return stop;
}

struct DebugSession::Impl {
  const Stop& run(std::string call) {
    record(std::move(call));
    FakeRun& run = fake_run();
    ++run.runs_begun;
    if (run.stops.empty()) {
      while (!run.is_pause_asked.exchange(false)) std::this_thread::yield();
      stop_.reason = StopReason::pause;
    } else {
      stop_ = run.stops.front();
      run.stops.pop_front();
      if (stop_.finding) run.findings.push_back(*stop_.finding);
    }
    return stop_;
  }
  Stop stop_ = fake_stop(StopReason::entry, 0, 10);
};

DebugSession::DebugSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DebugSession::~DebugSession() { fake_run().is_alive = false; }

std::unique_ptr<DebugSession> DebugSession::start(Target target) {
  if (!fake_run().refusal.empty()) throw DebugError(fake_run().refusal);
  fake_run().target = target;
  fake_run().is_alive = true;
  target.output("stdout", "hello\n");
  return std::unique_ptr<DebugSession>(new DebugSession(std::make_unique<Impl>()));
}

const Stop& DebugSession::stop() const { return impl_->stop_; }
void DebugSession::set_focus(const Thread& thread) {
  record(fmt::format("focus {}", thread.thread.x));
  impl_->stop_.focus = thread;
}
const Stop& DebugSession::continue_forward() { return impl_->run("continue"); }
const Stop& DebugSession::reverse_continue() { return impl_->run("reverse"); }
const Stop& DebugSession::step(StepKind kind, Direction direction) {
  return impl_->run(fmt::format("step {} {}", name_of(kind),
                                direction == Direction::forward ? "forward" : "backward"));
}
const Stop& DebugSession::go_to(std::uint64_t position) {
  return impl_->run(fmt::format("go to {}", position));
}
const Stop& DebugSession::go_to_finding(std::size_t index, unsigned side) {
  return impl_->run(fmt::format("finding {} side {}", index, side));
}
void DebugSession::pause() noexcept { fake_run().is_pause_asked = true; }

int DebugSession::add_breakpoint(Breakpoint breakpoint) {
  auto& list = fake_run().breakpoints;
  const int number = list.empty() ? 1 : list.back().number + 1;
  const bool is_verified = breakpoint.kind != Breakpoint::Kind::line || breakpoint.line < 100;
  const std::uint32_t line = breakpoint.line;
  list.push_back({number, std::move(breakpoint), 0, is_verified, line});
  return number;
}
void DebugSession::remove_breakpoint(int number) {
  record(fmt::format("remove {}", number));
  std::erase_if(fake_run().breakpoints, [&](const auto& each) { return each.number == number; });
}
std::vector<BreakpointState> DebugSession::breakpoints() { return fake_run().breakpoints; }

std::vector<Frame> DebugSession::frames(const Thread& thread) {
  if (thread.thread.x == 1) throw DebugError("the thread has left the kernel");
  Frame inlined{.at = impl_->stop_.at, .is_inlined = true};
  Frame kernel{.at = impl_->stop_.at};
  inlined.at.function = "add(int)";
  kernel.at.file.clear();
  kernel.at.ptx_line = 7;
  kernel.at.pc = 28;
  return {inlined, kernel};
}
std::vector<Register> DebugSession::registers(const Thread& thread, std::uint32_t) {
  return {{"%r1", "s32", 4, std::uint32_t(-5) - thread.thread.x, 0},
          {"%p1", "pred", 1, 1, 0},
          {"%f1", "f32", 4, 0x3fc00000, 1}};
}
Memory DebugSession::memory(const Place& place, std::uint64_t bytes) {
  record(fmt::format("memory {} {}", place.offset, bytes));
  Memory memory;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(bytes, 5); ++i) {
    memory.bytes.push_back(std::byte(i + 1));
  }
  if (bytes > 5) memory.why_short = "the allocation ends";
  return memory;
}
std::string DebugSession::function_at(std::uint64_t) { return {}; }
Place DebugSession::resolve(const Thread&, std::uint64_t generic_address) {
  return {Space::global, generic_address, {}};
}
std::vector<BlockState> DebugSession::blocks() { return fake_run().blocks; }
std::vector<FoundFinding> DebugSession::findings() { return fake_run().findings; }
const KernelText& DebugSession::kernel_text() { return fake_run().text; }
std::vector<std::string> DebugSession::source_files() { return fake_run().source_files; }

namespace {
const Type kInt{.kind = Type::Kind::integer, .name = "int", .bytes = 4};
}

class Inspector::Impl {};
Inspector::Inspector(DebugSession&) {}
Inspector::~Inspector() = default;

Inspector::Shown Inspector::evaluate(std::string_view expression, const At& at, Format format) {
  const auto value = fake_run().values.find(std::string(expression));
  if (value == fake_run().values.end()) {
    throw DebugError(fmt::format("no variable `{}`", expression));
  }
  static const Type kArray{
      .kind = Type::Kind::array, .name = "int[3]", .target = &kInt, .count = 3};
  const bool is_array = value->second.starts_with('{');
  Shown shown{};
  shown.value.name = shown.value.expression = std::string(expression);
  shown.value.value.type = is_array ? &kArray : &kInt;
  shown.type = shown.value.value.type->name;
  shown.text = value->second + (format == Format::hex ? " hex" : "");
  if (at.frame != 0) shown.text += fmt::format(" in frame {}", at.frame);
  shown.children = is_array ? 3 : 0;
  return shown;
}
std::vector<Inspector::Shown> Inspector::arguments(const At& at, Format format) {
  return {evaluate("n", at, format)};
}
std::vector<Inspector::Shown> Inspector::locals(const At& at, Format format) {
  return {evaluate("share", at, format)};
}
std::vector<Inspector::Shown> Inspector::globals(const At&, Format) { return {}; }
std::vector<Inspector::Shown> Inspector::children(const NamedValue& parent, const At&,
                                                  std::size_t first, std::size_t count, Format) {
  std::vector<Shown> list;
  for (std::size_t i = first; i < std::min<std::size_t>(first + count, 3); ++i) {
    Shown shown{};
    shown.value.name = fmt::format("[{}]", i);
    shown.value.expression = parent.expression + shown.value.name;
    shown.text = fmt::format("{}", 10 * i);
    list.push_back(std::move(shown));
  }
  return list;
}
Inspector::Range Inspector::range_of(std::string_view expression, const At&) {
  if (!expression.starts_with("share")) throw DebugError("it is in a register");
  return {{Space::shared, 4, {{0, 0, 0}, {1, 0, 0}}}, 4, {.type = &kInt}};
}
std::string Inspector::text_of_bytes(const Value& value, const std::vector<std::byte>& bytes,
                                     const std::vector<std::uint8_t>& unwritten, const At&) {
  if (std::ranges::find(unwritten, 0xff) != unwritten.end()) return "<not written>";
  return fmt::format("{} {}", value.type->name, std::to_integer<int>(bytes.at(0)));
}
std::array<Inspector::LaneValue, 32> Inspector::lanes(std::string_view, const At&, Format) {
  std::array<LaneValue, 32> lanes;
  lanes[0].text = lanes[1].text = "1";
  lanes[2].text = "3";
  lanes[3].note = "has left the kernel";
  return lanes;
}
std::function<bool(const Stop&)> Inspector::condition(std::string_view expression) {
  if (expression == "(") throw DebugError("column 2: expected a value");
  return [](const Stop&) { return true; };
}
std::string Inspector::missing_variables() { return ""; }
std::string Inspector::note_of_condition() const { return ""; }
std::vector<bool> Inspector::are_written(const std::vector<Register>& registers, const At&) {
  return std::vector<bool>(registers.size(), true);
}

Prompt::Prompt(DebugSession& session, std::function<void(std::string_view)> write)
    : session_(session), inspector_(session), write_(std::move(write)) {}
bool Prompt::execute(std::string_view line) {
  write_(fmt::format("did {}\n", line));
  if (line == "stepi") session_.step(StepKind::instruction, Direction::forward);
  return line != "quit";
}
std::vector<std::string> Prompt::completions(std::string_view, std::string_view word) {
  if (word == "stepi" || word == "quit") return {std::string(word)};
  return {};
}

}  // namespace warpcheck::debug
