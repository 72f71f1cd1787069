// Traces of small kernels, from the machine's events to the bytes of the file.
#include "vgpu/check/trace/trace.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/schedule/logged.hpp"
#include "vgpu/schedule/replay.hpp"

namespace warpcheck::vgpu {
namespace {

// The published scan with one round, for blocks of three threads: nothing orders the read of
// share[t - 1] and the write of that element by its owner.
constexpr std::string_view kScan = R"(.version 8.0
.target sm_75
.address_size 64
.file 1 "/home/user/scan.cu"
.visible .entry _Z4scanPi(.param .u64 p)
{
.reg .pred %p<3>;
.reg .b32 %r<8>;
.shared .align 4 .b8 share[12];
.loc 1 4 0
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, share;
add.s32 %r4, %r3, %r2;
st.shared.u32 [%r4], %r1;
.loc 1 6 0
bar.sync 0;
.loc 1 7 0
setp.eq.s32 %p1, %r1, 0;
@%p1 bra DONE;
ld.shared.u32 %r5, [%r4+-4];
ld.shared.u32 %r6, [%r4];
add.s32 %r7, %r5, %r6;
st.shared.u32 [%r4], %r7;
DONE:
.loc 1 9 0
ret;
}
)";

// Lane 0 takes the branch and waits at its target, lane 2 is held, so lane 1 writes share[1] before
// lane 2 reads it.
constexpr std::string_view kScanTrace =
    R"(launch 0: scan  grid (1,1,1) block (3,1,1)
     1 b0 w0 0-2    scan.cu:4              mov.u32 %r1, %tid.x                 lane 1: %r1:=1  lane 2: %r1:=2
     2 b0 w0 0-2    scan.cu:4              shl.b32 %r2, %r1, 2                 lane 1: %r1=1 %r2:=4  lane 2: %r1=2 %r2:=8
     3 b0 w0 0-2    scan.cu:4              mov.u32 %r3, 0                      lane 1: %r3:=0  lane 2: %r3:=0
     4 b0 w0 0-2    scan.cu:4              add.s32 %r4, %r3, %r2               lane 1: %r3=0 %r2=4 %r4:=4  lane 2: %r3=0 %r2=8 %r4:=8
     5 b0 w0 0-2    scan.cu:4              st.shared.u32 [%r4], %r1            lane 1: %r4=0x4 %r1=1 writes share[1]  lane 2: %r4=0x8 %r1=2 writes share[2]
     6 b0 w0 0-2    scan.cu:6              bar.sync 0
    -- block 0: barrier 1 is complete
     7 b0 w0 0-2    scan.cu:7              setp.eq.s32 %p1, %r1, 0             lane 1: %r1=1 %p1:=false  lane 2: %r1=2 %p1:=false
     8 b0 w0 0-2    scan.cu:7              @%p1 bra -> 12                      lane 1: %p1=false  lane 2: %p1=false  lane 0 to 12, lanes 1-2 to 8
    -- launch 0: block 0 warp 0 access 1: hold lanes 0x4, run block 0 warp 0
    -- block 0 warp 0: lane 1 without lane 2 from here
     9 b0 w0 1      scan.cu:7              ld.shared.u32 %r5, [%r4+-4]         lane 1: %r4=0x4 reads share[0] %r5:=0
    10 b0 w0 1      scan.cu:7              ld.shared.u32 %r6, [%r4]            lane 1: %r4=0x4 reads share[1] %r6:=1
    11 b0 w0 1      scan.cu:7              add.s32 %r7, %r5, %r6               lane 1: %r5=0 %r6=1 %r7:=1
    12 b0 w0 1      scan.cu:7              st.shared.u32 [%r4], %r7            lane 1: %r4=0x4 %r7=1 writes share[1]
    -- block 0 warp 0: lane 0 and lane 1 meet at 12
    13 b0 w0 0-1    scan.cu:9              ret                                 exits
    14 b0 w0 2      scan.cu:7              ld.shared.u32 %r5, [%r4+-4]         lane 2: %r4=0x8 reads share[1] %r5:=1
    !! data-race on shared memory share[1], 4 bytes
       (1) write by block (0,0,0) thread (1,0,0): step 12
       (2) read by block (0,0,0) thread (2,0,0): step 14
       lanes of one warp are not ordered without __syncwarp()
    15 b0 w0 2      scan.cu:7              ld.shared.u32 %r6, [%r4]            lane 2: %r4=0x8 reads share[2] %r6:=2
    16 b0 w0 2      scan.cu:7              add.s32 %r7, %r5, %r6               lane 2: %r5=1 %r6=2 %r7:=3
    17 b0 w0 2      scan.cu:7              st.shared.u32 [%r4], %r7            lane 2: %r4=0x8 %r7=3 writes share[2]
    18 b0 w0 2      scan.cu:9              ret                                 exits
launch ends
# 18 steps of 1 launch
# end of the file
)";

class TraceTest : public testing::Test {
 protected:
  ~TraceTest() override { ::close(memory_); }

  // Runs the scan with its race on share[1]: lane 2 is held before its read.
  std::string run(const TraceOptions& options, bool is_ended = true) {
    EXPECT_EQ(TraceFile::begin(file_, options.format), 0);
    Program program = decode(module_, "_Z4scanPi");
    link(program);
    Trace trace(options, file_);
    if (shows_threads_) trace.show_threads_of(race());
    Checkers checkers({}, WarpModel::independent);
    checkers.on_new_finding([&](std::size_t number) { trace.found(checkers.findings()[number]); });
    ObserverList observers(checkers.observers());
    observers.add(trace);
    Schedule schedule;
    schedule.decisions.push_back({.launch = 0,
                                  .at = {0, 0},
                                  .point = Decision::Point::access,
                                  .index = 1,
                                  .held = 4,
                                  .next = {0, 0}});
    Replay replay(schedule);
    LoggedStrategy strategy(replay, [&](const Decision& decision) { trace.decided(decision); });
    DeviceMemory memory;
    Machine machine(memory);
    const std::uint64_t parameter = 0;
    Launch launch;
    launch.program = &program;
    launch.grid = {grid_, 1, 1};
    launch.block = {3, 1, 1};
    launch.parameters = std::as_bytes(std::span(&parameter, 1));
    Limits limits;
    limits.compile = Compile::at_once;
    EXPECT_EQ(machine.run(launch, WarpModel::independent, strategy, observers, limits).end,
              Outcome::End::completed);
    if (is_ended) {
      trace.end();
      EXPECT_EQ(TraceFile::end(file_, options.format), 0);
    }
    error_ = trace.error();
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  static Finding race() {
    Finding finding;
    for (const std::uint32_t thread : {1u, 2u}) {
      AccessSide side;
      side.thread = {thread, 0, 0};
      side.ptx = "st.shared.u32";
      finding.accesses.push_back(side);
    }
    return finding;
  }

  ptx::Module module_ = ptx::parse(kScan, "scan.ptx");
  int memory_ = ::memfd_create("trace", 0);  // a file without a name
  std::string file_ = "/proc/self/fd/" + std::to_string(memory_);
  std::uint32_t grid_ = 1;
  bool shows_threads_ = true;
  int error_ = 0;
};

// The steps of a text, by number.
std::vector<std::uint64_t> steps_in(const std::string& text) {
  std::vector<std::uint64_t> steps;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::uint64_t step = 0;
    if (line.starts_with("   ") && std::istringstream(line) >> step) steps.push_back(step);
  }
  return steps;
}

TEST_F(TraceTest, TheRaceOfTheScanReadsAsItHappens) {
  const std::string text = run({});
  const std::size_t begin = text.find("launch 0");
  EXPECT_EQ(text.substr(begin), kScanTrace);
}

TEST_F(TraceTest, FiltersShowTheSameSteps) {
  TraceOptions options;
  options.file = "scan.cu";
  options.line_first = options.line_last = 6;
  EXPECT_EQ(steps_in(run(options)), std::vector<std::uint64_t>{6});
  options.file = "can.cu";
  EXPECT_EQ(steps_in(run(options)), std::vector<std::uint64_t>{});
  options = {};
  options.warp = 1;
  EXPECT_EQ(steps_in(run(options)), std::vector<std::uint64_t>{});
  options = {};
  options.kernel = "no_such_kernel";
  EXPECT_EQ(run(options).find("launch 0"), std::string::npos);
  options.kernel = "sca";
  EXPECT_EQ(steps_in(run(options)).size(), 18U);
  options = {};
  options.block = 1;
  grid_ = 2;
  const std::string second = run(options);
  EXPECT_NE(second.find(" b1 w0 "), std::string::npos) << second;
  EXPECT_EQ(second.find(" b0 w0 "), std::string::npos) << second;
}

// A register has the bits that it was declared with, whatever is beside them in its row, and is
// shown by the type of the instruction.
TEST_F(TraceTest, NarrowAndWideValuesAreShownByTheirRegisters) {
  module_ = ptx::parse(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z4scanPi(.param .u64 p)
{
.reg .b16 %rs<6>;
.reg .b32 %r<6>;
.reg .b64 %rd<3>;
mov.u32 %r1, %tid.x;
cvt.u16.u32 %rs1, %r1;
neg.s16 %rs2, %rs1;
or.b16 %rs3, %rs2, %rs1;
mul.wide.u16 %r2, %rs2, %rs2;
mov.u16 %rs4, 300;
mul.wide.s16 %r3, %rs4, %rs4;
mov.u32 %r4, 1073741824;
mul.wide.s32 %rd1, %r4, 4;
mov.b16 %rs5, 0x3E00;
add.f16 %rs5, %rs5, %rs5;
mov.b32 %r5, {%rs5, %rs2};
mov.b32 %r5, {%rs5, %rs5};
add.f16x2 %r5, %r5, %r5;
ret;
}
)",
                       "narrow.ptx");
  const std::string text = run({});
  for (const std::string_view values :
       {"lane 1: %rs1=1 %rs2:=-1 ", "lane 1: %rs2=65535 %rs1=1 %rs3:=65535 ",
        "lane 1: %rs2=65535 %r2:=4294836225 ", "lane 1: %rs4=300 %r3:=90000 ",
        "lane 1: %r4=1073741824 %rd1:=0x100000000 ", "lane 1: %rs5=1.5 %rs5:=3 ",
        "lane 1: %r5={3, 3} %r5:={6, 6} "}) {
    EXPECT_NE(text.find(values), std::string::npos) << values << "\n" << text;
  }
}

TEST_F(TraceTest, ShowsTheChosenLanes) {
  shows_threads_ = false;
  const std::string first = run({});
  EXPECT_NE(first.find("%tid.x                 lane 0: %r1:=0\n"), std::string::npos) << first;
  TraceOptions options;
  options.lanes = lanes_of_text("0,2");
  const std::string both = run(options);
  EXPECT_NE(both.find("%tid.x                 lane 0: %r1:=0  lane 2: %r1:=2\n"), std::string::npos)
      << both;
}

TEST_F(TraceTest, TheEndSaysHowMuchTheLimitLeavesOut) {
  TraceOptions options;
  options.bytes_max = 1'000;
  const std::string text = run(options);
  const std::size_t written = steps_in(text).size();
  EXPECT_GT(written, 0U);
  EXPECT_NE(text.find("# " + std::to_string(18 - written) +
                      " of 18 steps are left out: the limit of 1000 bytes is reached "
                      "(--trace-limit)\n# end of the file\n"),
            std::string::npos)
      << text;
  EXPECT_LT(text.size(), 1'200U);
}

TEST_F(TraceTest, AFilterThatShowsNothingSaysWhatThereWas) {
  TraceOptions options;
  options.block = 7;
  const std::string text = run(options);
  EXPECT_TRUE(steps_in(text).empty());
  EXPECT_NE(text.find("# 18 steps of 1 launch, 0 shown; there were: "), std::string::npos) << text;
  EXPECT_NE(text.find(" with 1 block of 1 warp"), std::string::npos) << text;
}

TEST_F(TraceTest, AKilledProgramLeavesWholeLines) {
  const std::string text = run({}, false);
  EXPECT_EQ(steps_in(text).size(), 18U);
  EXPECT_TRUE(text.ends_with("launch ends\n")) << text;
}

TEST_F(TraceTest, AFullDiskIsAnError) {
  Trace trace({}, "/dev/full");
  trace.end();
  EXPECT_EQ(trace.error(), ENOSPC);
  EXPECT_EQ(TraceFile::begin("/dev/full", TraceFormat::text), ENOSPC);
  EXPECT_EQ(TraceFile::begin("/no/such/directory/trace", TraceFormat::text), ENOENT);
}

using Json = nlohmann::json;

std::vector<Json> events_of(const Json& trace, std::string_view phase, std::string_view category) {
  std::vector<Json> events;
  for (const Json& event : trace) {
    if (event["ph"] == phase && event.value("cat", "") == category) events.push_back(event);
  }
  return events;
}

using Interval = std::pair<std::uint64_t, std::uint64_t>;

Interval interval_of(const Json& slice) {
  const std::uint64_t begin = slice["ts"];
  return {begin, begin + slice["dur"].get<std::uint64_t>()};
}

// Of each track, the slices between barriers; expects every other slice to lie within one.
std::map<int, std::vector<Interval>> phases_of(const Json& trace) {
  std::map<int, std::vector<Interval>> phases;
  for (const Json& phase : events_of(trace, "X", "phase")) {
    phases[phase["tid"]].push_back(interval_of(phase));
  }
  for (const Json& event : trace) {
    if (event["ph"] != "X") continue;
    const Interval slice = interval_of(event);
    EXPECT_TRUE(std::ranges::any_of(phases[event["tid"]], [&](const Interval& phase) {
      return phase.first <= slice.first && slice.second <= phase.second;
    })) << event;
  }
  return phases;
}

TEST_F(TraceTest, TheViewersGetATrackAWarpWithNestedSlices) {
  TraceOptions options;
  options.format = TraceFormat::chrome;
  options.accesses = true;
  grid_ = 2;
  const Json trace = Json::parse(run(options));
  std::vector<std::string> names;
  for (const Json& event : trace) {
    if (event["ph"] == "M" && event["args"].contains("name"))
      names.push_back(event["args"]["name"]);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"launch 0 scan block 0", "warp 0",
                                             "launch 0 scan block 1", "warp 0", "whole run"}));
  const auto phases = phases_of(trace);
  for (const int track : {1, 2}) {
    ASSERT_EQ(phases.at(track).size(), 2U) << "before the barrier, and after it";
    EXPECT_LT(phases.at(track)[0].first, phases.at(track)[0].second);
    EXPECT_LE(phases.at(track)[0].second, phases.at(track)[1].first);
  }
  EXPECT_EQ(events_of(trace, "X", "access").front()["name"], "writes share[0]");
  const std::vector<Json> marks = events_of(trace, "I", "finding");
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0]["name"],
            "(1) data-race on shared memory share[1], 4 bytes: write by block (0,0,0) thread "
            "(1,0,0)");
  EXPECT_LT(marks[0]["ts"], marks[1]["ts"]);
  EXPECT_EQ(events_of(trace, "I", "decision").size(), 1U);
  EXPECT_EQ(trace.back()["name"], "trace_end");
  const std::vector<Json> ends = events_of(trace, "I", "end");
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0]["args"]["written"], ends[0]["args"]["shown"]) << ends[0];
}

TEST_F(TraceTest, TheLimitLeavesOutNoPhaseOfALine) {
  TraceOptions options;
  options.format = TraceFormat::chrome;
  for (options.bytes_max = 100; options.bytes_max < 4'000; options.bytes_max += 150) {
    SCOPED_TRACE(options.bytes_max);
    phases_of(Json::parse(run(options)));
  }
}

TEST_F(TraceTest, AKilledProgramLeavesJsonButForItsEnd) {
  TraceOptions options;
  options.format = TraceFormat::chrome;
  std::string text = run(options, false);
  ASSERT_TRUE(text.ends_with(",\n")) << text;
  text.resize(text.size() - 2);
  EXPECT_FALSE(Json::parse(text + "]").empty());
}

// A viewer would show a warp that has left long ago at work until the whole launch ends.
TEST(ChromeTraceTest, AWarpsLastSliceEndsWithItsLastStep) {
  const auto printer = chrome_printer(false, 0);
  std::string text = "[" + printer->launch({.kernel = "k"});
  for (const std::uint64_t time : {1, 2, 9}) {
    TraceStep step{.number = time, .time = time, .file = "k.cu", .line = 3};
    step.warp = {0, time == 9 ? 1u : 0u};
    text += printer->step(step);
  }
  text += printer->launch_end() + "null]";
  std::vector<std::pair<int, int>> slices;
  for (const Json& event : Json::parse(text)) {
    if (event.is_null() || event["ph"] != "X" || event["cat"] != "phase") continue;
    slices.emplace_back(event["ts"], event["dur"]);
  }
  EXPECT_EQ(slices, (std::vector<std::pair<int, int>>{{1, 2}, {9, 1}}));
}

TEST(ChromeTraceTest, ArrowsHaveTwoEndsInTheOrderOfTime) {
  const auto events = [](std::vector<TraceFinding::Side> sides) {
    TraceFinding finding{.what = "race", .message = "of two", .sides = std::move(sides), .time = 9};
    const std::string text = chrome_printer(false, 0)->finding(finding);
    std::vector<std::string> phases;
    for (const Json& event : Json::parse("[" + text + "null]")) {
      if (event.is_null() || event["ph"] == "M") continue;
      phases.push_back(event["ph"].get<std::string>() + std::to_string(event["ts"].get<int>()));
    }
    return phases;
  };
  const TraceFinding::Side late{.who = "late", .number = 5, .time = 5, .warp = {0, 1}},
      early{.who = "early", .number = 2, .time = 2, .warp = {0, 0}}, unknown{.who = "host copy"};
  using Phases = std::vector<std::string>;
  EXPECT_EQ(events({late, early}), (Phases{"I5", "I2", "s2", "f5"}));
  EXPECT_EQ(events({early, unknown}), Phases{"I2"});
  EXPECT_EQ(events({unknown, late}), Phases{"I5"});
  EXPECT_EQ(events({unknown}), Phases{"I9"});
  EXPECT_EQ(events({}), Phases{"I9"});
}

TEST(TraceOptionsTest, WordsAreReadOrRefused) {
  EXPECT_EQ(lanes_of_text("0,5-7"), 0xe1U);
  EXPECT_EQ(text_of_lanes(0xe1), "0,5-7");
  EXPECT_EQ(text_of_lanes(~0u), "0-31");
  for (const char* const bad : {"", "32", "7-5", "1,", "a", "1-"}) {
    EXPECT_THROW(static_cast<void>(lanes_of_text(bad)), TraceOptionError) << bad;
  }
  TraceOptions options;
  set_lines(options, "a/scan.cu:10-20");
  EXPECT_EQ(options.file, "a/scan.cu");
  EXPECT_EQ(options.line_first, 10U);
  EXPECT_EQ(options.line_last, 20U);
  for (const char* const bad : {"", ":3", "scan.cu:", "scan.cu:0", "scan.cu:9-3", "scan.cu:x"}) {
    EXPECT_THROW(set_lines(options, bad), TraceOptionError) << bad;
  }
  options = {.format = TraceFormat::chrome, .bytes_max = 7, .kernel = "k", .file = "f"};
  options.block = 3;
  options.lanes = 5;
  const auto back = trace_options_of(to_text(options));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_text(*back), to_text(options));
  EXPECT_EQ(back->warp, std::nullopt);
  EXPECT_EQ(trace_options_of("no options"), std::nullopt);
}

}  // namespace
}  // namespace warpcheck::vgpu
