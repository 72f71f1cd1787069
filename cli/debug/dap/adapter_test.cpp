// What the adapter answers a client, on a session that only records what it is asked.
#include "cli/debug/dap/adapter.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/debug/dap/fake_session.hpp"
#include "cli/debug/dap/frames.hpp"
#include "cli/debug/dap/inbox.hpp"

namespace warpcheck::dap {
namespace {

using debug::fake_run;
using debug::fake_stop;
using debug::StopReason;

using Calls = std::vector<std::string>;

class DapAdapter : public testing::Test {
 protected:
  DapAdapter() {
    debug::reset_fake_run();
    debug::BlockState block{.block = {0, 0, 0}};
    debug::LaneState at_barrier{.kind = debug::LaneState::Kind::at_barrier, .barrier = 0};
    at_barrier.at = {.file = "/src/scan.cu", .line = 13};
    block.warps = {{0, 7, {{3, {}}, {4, at_barrier}}}};
    fake_run().blocks = {block};
    fake_run().source_files = {"/build/src/scan.cu", "/build/src/other.cu"};
    fake_run().values = {{"n", "3"}, {"share", "{1, 2, 3}"}};
    EXPECT_EQ(::pipe(to_us_.data()), 0);
    EXPECT_EQ(::pipe(from_us_.data()), 0);
    adapter_ = std::thread([this] {
      Inbox inbox(to_us_[0]);
      Client client(from_us_[1]);
      Adapter(inbox, client, {}).serve();
      ::close(from_us_[1]);
    });
  }
  ~DapAdapter() override {
    hang_up();
    ::close(to_us_[0]);
    ::close(from_us_[0]);
  }
  void hang_up() {
    if (to_us_[1] >= 0) ::close(std::exchange(to_us_[1], -1));
    if (adapter_.joinable()) adapter_.join();
  }

  void send(const char* command, const char* arguments = "{}") {
    const std::string message = framed(Json{
        {"type", "request"},
        {"seq", ++seq_},
        {"command", command},
        {"arguments",
         Json::parse(arguments)}}.dump());
    EXPECT_EQ(::write(to_us_[1], message.data(), message.size()),
              static_cast<ssize_t>(message.size()));
  }
  // The next message of the adapter.
  Json message() {
    for (;;) {
      if (const auto text = reader_.next()) return Json::parse(*text);
      std::array<char, 4096> bytes{};
      const ssize_t count = ::read(from_us_[0], bytes.data(), bytes.size());
      if (count <= 0) return nullptr;
      reader_.add({bytes.data(), static_cast<std::size_t>(count)});
    }
  }
  // The answer to a request; events before it are kept.
  Json answer(const char* command, const char* arguments = "{}") {
    send(command, arguments);
    for (;;) {
      Json next = message();
      if (next.is_null() || next["type"] == "response") return next;
      events_.push_back(std::move(next));
    }
  }
  Json body(const char* command, const char* arguments = "{}") {
    const Json response = answer(command, arguments);
    EXPECT_EQ(response["success"], true) << response;
    return response.value("body", Json());
  }
  std::string refusal(const char* command, const char* arguments = "{}") {
    const Json response = answer(command, arguments);
    EXPECT_EQ(response["success"], false) << response;
    return response["message"];
  }
  // The body of the next event of that name.
  Json event(const char* name) {
    for (;;) {
      Json next = nullptr;
      if (events_.empty()) {
        next = message();
      } else {
        next = std::move(events_.front());
        events_.pop_front();
      }
      if (next.is_null() || next.value("event", "") == name) {
        return next.is_null() ? next : next.value("body", Json());
      }
    }
  }
  // Until the debuggee is stopped before its first instruction.
  void launch(const char* arguments = R"({"case":"a.case","stopOnEntry":true})") {
    body("initialize");
    body("launch", arguments);
    body("configurationDone");
  }
  void launch_and_stop() {
    launch();
    EXPECT_EQ(event("stopped")["reason"], "entry");
  }

  std::array<int, 2> to_us_{}, from_us_{};
  std::thread adapter_;
  FrameReader reader_;
  int seq_ = 0;
  std::deque<Json> events_;
};

TEST_F(DapAdapter, ALaunchHasTheOrderOfTheProtocol) {
  EXPECT_EQ(refusal("threads"), "threads: the first request is `initialize`");
  const Json capabilities = body("initialize", R"({"adapterID":"warpcheck"})");
  for (const char* each : {"supportsStepBack", "supportsDataBreakpoints",
                           "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints",
                           "supportsReadMemoryRequest", "supportsDisassembleRequest",
                           "supportsExceptionInfoRequest", "supportsEvaluateForHovers"}) {
    EXPECT_EQ(capabilities[each], true) << each;
  }
  EXPECT_EQ(capabilities["exceptionBreakpointFilters"][0],
            Json::parse(R"({"filter":"data-race","label":"data-race","default":true})"));
  EXPECT_EQ(refusal("initialize"), "initialize: it was sent before");
  EXPECT_EQ(refusal("threads"), "nothing is being debugged: send `launch` first");
  EXPECT_EQ(refusal("attach"), "a run is debugged from its beginning: use `launch`");
  body("launch", R"({"program":"a.out","args":["1"],"seed":7})");
  EXPECT_EQ(fake_run().target.program, (Calls{"a.out", "1"}));
  EXPECT_EQ(fake_run().target.seed, 7u);
  EXPECT_EQ(event("output")["output"], "hello\n");
  EXPECT_EQ(event("initialized"), nullptr);
  fake_run().stops = {fake_stop(StopReason::breakpoint, 2, 14)};
  body("configurationDone");
  EXPECT_EQ(event("stopped")["reason"], "breakpoint");
  EXPECT_EQ(fake_run().calls, Calls{"continue"});
}

TEST_F(DapAdapter, WrongArgumentsOfALaunchAreNamed) {
  EXPECT_EQ(refusal("initialize", R"({"pathFormat":"uri"})"),
            "initialize: pathFormat: expected \"path\", found \"uri\"");
  body("initialize");
  EXPECT_EQ(refusal("launch"), "launch: expected `case`, a case file, or `program`, found neither");
  EXPECT_EQ(refusal("launch", R"({"case":"a","program":"b"})"),
            "launch: expected a case or a program, found both");
  EXPECT_EQ(refusal("launch", R"({"case":1})"), "launch: case: expected a text, found 1");
  EXPECT_EQ(refusal("launch", R"({"case":"a","cwd":"/no/such"})"),
            "launch: cwd: /no/such: No such file or directory");
  EXPECT_EQ(refusal("launch", R"({"case":"a","env":{"A":1}})"),
            "launch: env.A: expected a text, found 1");
  fake_run().refusal = "a.case is damaged";
  EXPECT_EQ(refusal("launch", R"({"case":"a.case"})"), "a.case is damaged");
  EXPECT_EQ(refusal("nonsense"), "warpcheck has no request `nonsense`");
}

TEST_F(DapAdapter, ThreadsAreThoseOfTheWarpWithTheFocusFirst) {
  launch_and_stop();
  fake_run().stops = {fake_stop(StopReason::step, 2, 14)};
  body("next", R"({"threadId":1})");
  EXPECT_EQ(event("stopped"), Json::parse(R"({"reason":"step","threadId":2,
      "allThreadsStopped":true})"));
  EXPECT_EQ(body("threads")["threads"], Json::parse(R"([
      {"id":2,"name":"block (0,0,0) thread (2,0,0), active"},
      {"id":1,"name":"block (0,0,0) thread (0,0,0), at "},
      {"id":3,"name":"block (0,0,0) thread (1,0,0), at "}])"));
}

TEST_F(DapAdapter, StacksNameFilesAndPtx) {
  fake_run().text = {.name = "_Z4scanPi", .ptx = ".version 8.0\n"};
  launch_and_stop();
  const Json frames = body("stackTrace", R"({"threadId":1})")["stackFrames"];
  EXPECT_EQ(frames[0], Json::parse(R"json({"id":1,"name":"add(int) (inlined)","column":3,
      "source":{"name":"scan.cu","path":"/src/scan.cu"},"line":10,
      "instructionPointerReference":"0x0"})json"));
  EXPECT_EQ(frames[1]["source"]["name"], "scan.ptx");
  EXPECT_EQ(frames[1]["line"], 7);
  EXPECT_EQ(body("source", R"({"sourceReference":1})")["content"], ".version 8.0\n");
  EXPECT_EQ(body("stackTrace", R"({"threadId":1,"startFrame":1,"levels":1})")["totalFrames"], 2);
  EXPECT_EQ(refusal("stackTrace", R"({"threadId":9})"), "thread 9 does not exist at this stop");
  EXPECT_EQ(refusal("source", R"({"sourceReference":5})"), "there is no source 5");
}

TEST_F(DapAdapter, ScopesHaveVariablesRegistersLanesTheLaunchAndFindings) {
  launch_and_stop();
  body("stackTrace", R"({"threadId":1})");
  const Json scopes = body("scopes", R"({"frameId":1})")["scopes"];
  std::vector<std::string> names;
  for (const Json& each : scopes) names.push_back(each["name"]);
  EXPECT_EQ(names, (Calls{"Variables", "Registers", "Lanes", "Launch", "Globals", "Findings"}));
  EXPECT_EQ(body("variables", R"({"variablesReference":1})")["variables"], Json::parse(R"([
      {"name":"n","value":"3","evaluateName":"n","type":"int","variablesReference":0},
      {"name":"share","value":"{1, 2, 3}","evaluateName":"share","type":"int[3]",
       "variablesReference":7,"indexedVariables":3,
       "memoryReference":"shared:0x4:0,0,0:1,0,0"}])"));
  EXPECT_EQ(body("variables",
                 R"({"variablesReference":7,"start":1,"count":1})")["variables"][0]["evaluateName"],
            "share[1]");
  const Json registers = body("variables", R"({"variablesReference":2})")["variables"];
  EXPECT_EQ(registers[0]["value"], "-5 (0xfffffffb)");
  EXPECT_EQ(registers[1]["value"], "true");
  EXPECT_EQ(registers[2]["value"], "1.5 (0x3fc00000), from what was never written");
  const Json lanes = body("variables", R"({"variablesReference":3})")["variables"][0];
  EXPECT_EQ(lanes["name"], "n");
  EXPECT_EQ(lanes["value"], "0-1: 1, 2: 3");
  EXPECT_EQ(lanes["namedVariables"], 4);
  const Json launch = body("variables", R"({"variablesReference":4})")["variables"];
  EXPECT_EQ(launch[0]["value"], "(0,0,0)");
  EXPECT_EQ(launch[2]["value"], "(3,1,1)");
  EXPECT_EQ(refusal("variables", R"({"variablesReference":99})"),
            "variablesReference 99 does not exist at this stop");
}

TEST_F(DapAdapter, NumbersOfFramesEndWithTheStop) {
  launch_and_stop();
  body("stackTrace", R"({"threadId":1})");
  fake_run().stops = {fake_stop(StopReason::step, 0, 11)};
  body("next", R"({"threadId":1})");
  event("stopped");
  EXPECT_EQ(refusal("scopes", R"({"frameId":1})"), "frame 1 does not exist at this stop");
}

TEST_F(DapAdapter, ExpressionsAreEvaluatedInTheirFrame) {
  launch_and_stop();
  body("stackTrace", R"({"threadId":1})");
  EXPECT_EQ(body("evaluate", R"({"expression":"n"})")["result"], "3");
  EXPECT_EQ(body("evaluate", R"({"expression":"n","frameId":2,"format":{"hex":true}})")["result"],
            "3 hex in frame 1");
  EXPECT_EQ(refusal("evaluate", R"({"expression":"x"})"), "no variable `x`");
  EXPECT_EQ(refusal("setVariable", R"({"variablesReference":1,"name":"n","value":"4"})"),
            "values cannot be changed: going back repeats the run as it was");
}

TEST_F(DapAdapter, TheConsoleTakesCommandsOfThePrompt) {
  launch_and_stop();
  EXPECT_EQ(body("evaluate", R"({"expression":"n","context":"repl"})")["result"], "3");
  EXPECT_EQ(refusal("evaluate", R"({"expression":"stepi"})"), "no variable `stepi`");
  EXPECT_EQ(refusal("evaluate", R"({"expression":"jump","context":"repl"})"), "no variable `jump`");
  fake_run().stops = {fake_stop(StopReason::step, 2, 14)};
  EXPECT_EQ(body("evaluate", R"({"expression":"stepi","context":"repl"})")["result"],
            "did stepi\n");
  EXPECT_EQ(event("stopped")["reason"], "step");
  EXPECT_EQ(fake_run().calls, Calls{"step instruction forward"});
  body("evaluate", R"({"expression":"quit","context":"repl"})");
  EXPECT_EQ(event("terminated"), nullptr);
}

TEST_F(DapAdapter, BreakpointsOfAFileAreReplacedAndThoseThatStayKeepTheirNumber) {
  launch_and_stop();
  Json list = body("setBreakpoints", R"({"source":{"path":"/home/src/scan.cu"},"breakpoints":[
      {"line":14,"condition":"n == 3","hitCondition":">= 3"},{"line":15,"condition":"("},
      {"line":16,"hitCondition":"often"},{"line":120}]})")["breakpoints"];
  EXPECT_EQ(list[0]["id"], 1);
  EXPECT_EQ(list[0]["verified"], true);
  EXPECT_EQ(list[0]["line"], 14);
  EXPECT_EQ(list[1]["message"], "column 2: expected a value");
  EXPECT_EQ(list[2]["message"], "a condition on hits: expected N, >= N or > N, found \"often\"");
  EXPECT_EQ(list[3]["reason"], "pending");
  const debug::BreakpointState first = fake_run().breakpoints.at(0);
  EXPECT_EQ(first.breakpoint.file, "/build/src/scan.cu");
  EXPECT_EQ(first.breakpoint.ignore, 2u);
  list = body("setBreakpoints", R"({"source":{"path":"/home/src/scan.cu"},"breakpoints":[
      {"line":9},{"line":120}]})")["breakpoints"];
  EXPECT_EQ(list[0]["id"], 3);
  EXPECT_EQ(list[1]["id"], 2);
  EXPECT_EQ(fake_run().calls, Calls{"remove 1"});
  fake_run().breakpoints.at(0).is_verified = true;
  fake_run().stops = {fake_stop(StopReason::step, 0, 11)};
  body("next", R"({"threadId":1})");
  const Json changed = event("breakpoint");
  EXPECT_EQ(changed["reason"], "changed");
  EXPECT_EQ(changed["breakpoint"]["id"], 2);
}

TEST_F(DapAdapter, FindingsStopByTheirKind) {
  launch_and_stop();
  const Json list =
      body("setExceptionBreakpoints", R"({"filters":["data-race","no-such"]})")["breakpoints"];
  EXPECT_EQ(list[1]["message"], "no kind of finding is called \"no-such\"");
  debug::Stop stop = fake_stop(StopReason::finding, 2, 14);
  stop.finding = debug::FoundFinding{.index = 0};
  stop.finding->finding = {.kind = vgpu::FindingKind::data_race,
                           .space = "shared",
                           .object = "share[1], 4 bytes",
                           .message = "no barrier"};
  stop.finding->finding.accesses = {
      {.role = "write", .thread = {1, 0, 0}, .file = "/src/scan.cu", .line = 14, .ptx = "st"}};
  const auto& condition = fake_run().breakpoints.at(0).breakpoint.condition;
  EXPECT_TRUE(condition(stop));
  stop.finding->finding.kind = vgpu::FindingKind::trap;
  EXPECT_FALSE(condition(stop));
  stop.finding->finding.kind = vgpu::FindingKind::data_race;
  EXPECT_EQ(refusal("exceptionInfo", R"({"threadId":1})"),
            "the debuggee is not stopped at a finding");
  fake_run().stops = {stop};
  body("continue", R"({"threadId":1})");
  EXPECT_EQ(event("output")["output"],
            "finding 1: data-race on shared memory share[1], 4 bytes\n  (1) write by block (0,0,0) "
            "thread (1,0,0), /src/scan.cu:14, st\n  no barrier\n");
  const Json stopped = event("stopped");
  EXPECT_EQ(stopped["reason"], "exception");
  EXPECT_EQ(stopped["description"], "data-race on shared memory share[1], 4 bytes");
  EXPECT_EQ(body("exceptionInfo", R"({"threadId":3})")["exceptionId"], "data-race");
  const Json targets =
      body("gotoTargets", R"({"source":{"path":"/src/scan.cu"},"line":14})")["targets"];
  EXPECT_EQ(targets[0]["label"], "finding 1: (1) write by block (0,0,0) thread (1,0,0)");
  fake_run().stops = {fake_stop(StopReason::position, 1, 14)};
  body("goto", R"({"threadId":2,"targetId":0})");
  EXPECT_EQ(event("stopped")["reason"], "goto");
  EXPECT_EQ(fake_run().calls.back(), "finding 0 side 1");
}

TEST_F(DapAdapter, DataBreakpointsWatchAPlace) {
  launch_and_stop();
  body("stackTrace", R"({"threadId":1})");
  body("scopes", R"({"frameId":1})");
  body("variables", R"({"variablesReference":1})");
  const Json info = body("dataBreakpointInfo", R"({"variablesReference":7,"name":"[1]"})");
  EXPECT_EQ(info["dataId"], "shared:0x4:0,0,0:1,0,0/4/share[1]");
  EXPECT_EQ(info["description"], "share[1], 4 bytes");
  EXPECT_EQ(body("dataBreakpointInfo", R"({"name":"n"})")["dataId"], nullptr);
  EXPECT_EQ(body("dataBreakpointInfo", R"({"name":"n"})")["description"], "it is in a register");
  EXPECT_EQ(body("dataBreakpointInfo", R"({"name":"0x10","asAddress":true,"bytes":8})")["dataId"],
            "global:0x10/8");
  const Json list = body("setDataBreakpoints", R"({"breakpoints":[
      {"dataId":"shared:0x4:0,0,0:1,0,0/4","accessType":"readWrite"},{"dataId":"what"}]})")
      ["breakpoints"];
  EXPECT_EQ(list[0]["verified"], true);
  EXPECT_EQ(list[1]["verified"], false);
  const debug::Breakpoint& watched = fake_run().breakpoints.at(0).breakpoint;
  EXPECT_EQ(watched.place.offset, 4u);
  EXPECT_EQ(watched.place.thread.thread.x, 1u);
  EXPECT_TRUE(watched.reads && watched.writes);
  debug::Stop stop = fake_stop(StopReason::data_breakpoint, 1, 14);
  stop.data = debug::DataAccess{"writes",
                                "share[1]",
                                stop.focus,
                                {std::byte(1), std::byte(0)},
                                std::vector{std::byte(2), std::byte(1)}};
  fake_run().stops = {stop};
  body("reverseContinue", R"({"threadId":1})");
  const Json stopped = event("stopped");
  EXPECT_EQ(stopped["reason"], "data breakpoint");
  EXPECT_EQ(stopped["description"],
            "block (0,0,0) thread (1,0,0) writes share[1]: 0x0001 becomes 0x0102");
  EXPECT_EQ(fake_run().calls, Calls{"reverse"});
}

TEST_F(DapAdapter, ADataBreakpointShowsAValueOfItsType) {
  launch_and_stop();
  const auto watch = [&](const Json& asked) {
    const Json info = body("dataBreakpointInfo", asked.dump().c_str());
    const Json list = {{"breakpoints", {{{"dataId", info["dataId"]}}}}};
    const Json answer = body("setDataBreakpoints", list.dump().c_str());
    debug::Stop stop = fake_stop(StopReason::data_breakpoint, 1, 14);
    stop.breakpoints = {answer["breakpoints"][0]["id"].get<int>()};
    stop.data = debug::DataAccess{
        "writes", "share[1]", stop.focus, {std::byte(1)}, std::vector{std::byte(2)}};
    return stop;
  };
  const auto description_at = [&](const debug::Stop& stop) {
    fake_run().stops = {stop};
    body("continue", R"({"threadId":1})");
    return event("stopped")["description"];
  };
  debug::Stop stop = watch({{"name", "share[1]"}});
  EXPECT_EQ(description_at(stop),
            "block (0,0,0) thread (1,0,0) writes share[1]: int 1 becomes int 2");
  stop.data->unwritten = {0xff};
  EXPECT_EQ(description_at(stop),
            "block (0,0,0) thread (1,0,0) writes share[1]: <not written> becomes int 2");
  // A part of a value has no type.
  EXPECT_EQ(description_at(watch({{"name", "share[1]"}, {"bytes", 2}})),
            "block (0,0,0) thread (1,0,0) writes share[1]: 0x01 becomes 0x02");
  stop.has_location = false;  // the host writes
  EXPECT_EQ(description_at(stop),
            "block (0,0,0) thread (1,0,0) writes share[1]: <not written> becomes 0x02");
}

TEST_F(DapAdapter, MemoryAndCodeAreRead) {
  debug::KernelText text{.name = "k"};
  text.instructions.resize(2);
  text.instructions[1].at = {.file = "/src/scan.cu", .line = 9, .instruction = "ret"};
  fake_run().text = text;
  launch_and_stop();
  const Json memory =
      body("readMemory", R"({"memoryReference":"global:0x10","offset":4,"count":8})");
  EXPECT_EQ(memory, Json::parse(R"({"address":"0x14","data":"AQIDBAU=","unreadableBytes":3})"));
  EXPECT_EQ(fake_run().calls, Calls{"memory 20 8"});
  EXPECT_NE(refusal("readMemory", R"({"memoryReference":"shared:0x10","count":8})")
                .find("expected the place of a variable"),
            std::string::npos);
  const Json code = body("disassemble", R"({"memoryReference":"0x1","instructionOffset":-2,
      "instructionCount":4})")["instructions"];
  ASSERT_EQ(code.size(), 4u);
  EXPECT_EQ(code[0]["presentationHint"], "invalid");
  EXPECT_EQ(code[2], Json::parse(R"({"address":"0x1","instruction":"ret",
      "location":{"name":"scan.cu","path":"/src/scan.cu"},"line":9})"));
  EXPECT_EQ(code[3]["presentationHint"], "invalid");
}

TEST_F(DapAdapter, BreakpointsMayBeAtInstructions) {
  fake_run().text.name = "_Z4scanPi";
  fake_run().text.instructions.resize(8);
  launch_and_stop();
  const Json list = body("setInstructionBreakpoints", R"({"breakpoints":[
      {"instructionReference":"0x2","offset":3},{"instructionReference":"0x8"},
      {"instructionReference":"main"}]})")["breakpoints"];
  EXPECT_EQ(list[0], Json::parse(R"({"id":1,"verified":true,"instructionReference":"0x5"})"));
  EXPECT_EQ(list[1]["message"], "the kernel has 8 instructions, and none at 0x8");
  EXPECT_EQ(list[2]["verified"], false);
  const debug::Breakpoint& one = fake_run().breakpoints.at(0).breakpoint;
  EXPECT_EQ(one.kind, debug::Breakpoint::Kind::instruction);
  EXPECT_EQ(one.kernel, "_Z4scanPi");
  EXPECT_EQ(one.pc, 5u);
  debug::Stop stop = fake_stop(StopReason::breakpoint, 0, 14);
  stop.breakpoints = {1};
  fake_run().stops = {stop};
  body("continue", R"({"threadId":1})");
  EXPECT_EQ(event("stopped")["reason"], "instruction breakpoint");
}

TEST_F(DapAdapter, StepsHaveAGranularityAndAThread) {
  launch_and_stop();
  body("threads");
  for (int i = 0; i < 5; ++i) fake_run().stops.push_back(fake_stop(StopReason::step, 0, 11));
  for (const auto& [command, arguments] :
       {std::pair{"next", R"({"threadId":1})"},
        {"stepIn", R"({"threadId":1})"},
        {"stepOut", R"({"threadId":1})"},
        {"stepBack", R"({"threadId":1})"},
        {"stepBack", R"({"threadId":3,"granularity":"instruction"})"}}) {
    body(command, arguments);
    event("stopped");
  }
  EXPECT_EQ(fake_run().calls,
            (Calls{"step line_over forward", "step line_into forward", "step out forward",
                   "step line_over backward", "focus 2", "step instruction backward"}));
  EXPECT_EQ(refusal("next", R"({"threadId":1,"granularity":"page"})"),
            "next: granularity: expected statement, line or instruction, found \"page\"");
}

TEST_F(DapAdapter, APauseStopsWhatRunsAndOtherRequestsDoNot) {
  launch_and_stop();
  body("continue", R"({"threadId":1})");
  EXPECT_EQ(body("setFunctionBreakpoints",
                 R"({"breakpoints":[{"name":"scan"}]})")["breakpoints"][0]["verified"],
            true);
  EXPECT_EQ(refusal("stackTrace", R"({"threadId":1})"), "notStopped");
  EXPECT_EQ(refusal("next", R"({"threadId":1})"), "notStopped");
  EXPECT_EQ(body("threads")["threads"][0]["name"], "the run");
  body("pause", R"({"threadId":1})");
  EXPECT_EQ(event("stopped")["reason"], "pause");
  body("next", R"({"threadId":1})");
  body("pause", R"({"threadId":1})");
  EXPECT_EQ(event("stopped")["reason"], "pause");
}

TEST_F(DapAdapter, TheEndOfTheRunIsToldAndThenNothingIsDebugged) {
  debug::Stop end = fake_stop(StopReason::end, 0, 0);
  end.exit_status = 3;
  fake_run().stops = {end};
  launch(R"({"case":"a.case"})");
  EXPECT_EQ(event("exited")["exitCode"], 3);
  EXPECT_EQ(event("terminated"), nullptr);
  EXPECT_FALSE(fake_run().is_alive);
  EXPECT_EQ(refusal("threads"), "nothing is being debugged: send `launch` first");
  body("disconnect");
  EXPECT_EQ(message(), nullptr);
}

TEST_F(DapAdapter, TheEndCanBeAStopToGoBackFrom) {
  fake_run().stops = {fake_stop(StopReason::end, 0, 0), fake_stop(StopReason::breakpoint, 1, 14)};
  launch(R"({"case":"a.case","stopAtEnd":true})");
  const Json stopped = event("stopped");
  EXPECT_EQ(stopped["description"], "the end of the run");
  const Json threads = body("threads")["threads"];
  EXPECT_EQ(threads[0]["id"], stopped["threadId"]);
  EXPECT_EQ(body("stackTrace", R"({"threadId":1000000000})")["totalFrames"], 0);
  body("reverseContinue", R"({"threadId":1000000000})");
  EXPECT_EQ(event("stopped")["reason"], "breakpoint");
}

TEST_F(DapAdapter, WhoTerminatesEndsTheDebuggee) {
  launch_and_stop();
  body("continue", R"({"threadId":1})");
  body("terminate");
  EXPECT_EQ(event("terminated"), nullptr);
  EXPECT_FALSE(fake_run().is_alive);
}

TEST_F(DapAdapter, AClientThatDisappearsEndsTheDebuggee) {
  launch_and_stop();
  body("continue", R"({"threadId":1})");
  while (fake_run().runs_begun == 0) std::this_thread::yield();
  hang_up();
  EXPECT_FALSE(fake_run().is_alive);
}

TEST_F(DapAdapter, LinesCountFromWhereTheClientCounts) {
  body("initialize", R"({"linesStartAt1":false})");
  body("launch", R"({"case":"a.case","stopOnEntry":true})");
  const Json list = body("setBreakpoints", R"({"source":{"path":"/src/scan.cu"},"breakpoints":[
      {"line":13}]})")["breakpoints"];
  EXPECT_EQ(list[0]["line"], 13);
  EXPECT_EQ(fake_run().breakpoints.at(0).breakpoint.line, 14u);
}

}  // namespace
}  // namespace warpcheck::dap
