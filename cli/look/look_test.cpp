// `warpcheck trace`, `show` and `exec --trace` as a user runs them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell_test_fixture.hpp"

namespace {

constexpr const char* kCase =
    WARPCHECK_SOURCE_DIR "/fuzz/cases/scan_hillis_steele_published/cc66.case";

class Look : public ShellTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
  }
};

constexpr const char* kTwoKernels = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry first(.param .u64 p, .param .u32 n)
{
.reg .pred %p<2>;
.reg .b32 %r<4>;
.reg .b64 %rd<5>;
.shared .align 4 .b8 tile[128];
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
setp.gt.u32 %p1, %r1, 3;
@%p1 bra DONE;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.u32 %r2, [%rd3];
mov.u32 %r3, tile;
st.shared.u32 [%r3], %r2;
DONE:
ret;
}
.visible .entry second()
{
ret;
}
)";

constexpr const char* kTwoKernelsShown = R"(kernel first
  2 parameters, 12 bytes; local memory: 0 bytes a thread
  shared tile at 0: 128 bytes
  known: no value from memory decides an address, a branch, a guard or a size: threads make the same accesses for all data
  known: no instruction shows the order of threads: without a race, every schedule gives the same result
  known: only barriers of the whole block order threads
  known: no thread can pass a barrier by
  known: no variable in a register is known to be read before it is written
  known: no instruction tells apart where or when a block runs

block 0 -> 1, 2; lanes that part meet again at block 2
       0  ld.param.u64 %rd1, [parameter 0]
       1  mov.u32 %r1, %tid.x
       2  setp.gt.u32 %p1, %r1, 3
       3  @%p1 bra -> 9

block 1 -> 2
       4  mul.wide.u32 %rd2, %r1, 4
       5  add.s64 %rd3, %rd1, %rd2
       6  ld.global.u32 %r2, [%rd3]                     touches global: parameter 0
       7  mov.u32 %r3, 0
       8  st.shared.u32 [%r3], %r2                      touches shared: tile

block 2 -> end
       9  ret

kernel second
  0 parameters, 0 bytes; local memory: 0 bytes a thread
  known: no value from memory decides an address, a branch, a guard or a size: threads make the same accesses for all data
  known: no instruction shows the order of threads: without a race, every schedule gives the same result
  known: only barriers of the whole block order threads
  known: no thread can pass a barrier by
  known: no variable in a register is known to be read before it is written
  known: no instruction tells apart where or when a block runs

block 0 -> end
       0  ret
)";

TEST_F(Look, TheTraceOfACaseShowsTheRaceInItsOrder) {
  const Outcome trace = run(std::string("trace ") + kCase);
  EXPECT_EQ(trace.status, 0);
  const std::size_t decision =
      trace.out.find("-- launch 0: block 0 warp 0 access 2: hold lanes 0x4");
  const std::size_t finding = trace.out.find("!! data-race on shared memory share[1], 4 bytes\n");
  const std::size_t first = trace.out.find("(1) write by block (0,0,0) thread (1,0,0): step ");
  const std::size_t second = trace.out.find("(2) read by block (0,0,0) thread (2,0,0): step ");
  const std::size_t mismatch = trace.out.find("!! mismatch");
  ASSERT_NE(decision, std::string::npos) << trace.out;
  ASSERT_NE(mismatch, std::string::npos) << trace.out;
  EXPECT_LT(decision, finding);
  EXPECT_LT(finding, first);
  EXPECT_LT(first, second);
  EXPECT_LT(second, mismatch);
  EXPECT_NE(trace.out.find("writes share[1]"), std::string::npos);
  EXPECT_NE(trace.out.find("reads share[1]"), std::string::npos);
  EXPECT_EQ(run(std::string("trace ") + kCase).out, trace.out);
}

TEST_F(Look, ATraceForTheViewersIsChosenByItsName) {
  EXPECT_EQ(run(std::string("trace ") + kCase + " -o scan.json --accesses").out, "");
  const auto trace = nlohmann::json::parse(read("scan.json"));
  EXPECT_EQ(trace.back()["name"], "trace_end");
  EXPECT_EQ(run(std::string("trace ") + kCase + " -o scan.txt --format chrome").out, "");
  EXPECT_FALSE(nlohmann::json::parse(read("scan.txt")).empty());
}

TEST_F(Look, WhatCannotBeTracedIsOneLine) {
  expect_one_line_error(run("trace none.case"), "none.case");
  const std::string trace = std::string("trace ") + kCase;
  expect_one_line_error(run(trace + " --lanes 40"), "'40' is no list of lanes");
  expect_one_line_error(run(trace + " --lines scan.cu:9-3"), "names no lines; expected FILE");
  expect_one_line_error(run(trace + " --trace-limit much"), "much is not a size");
  expect_one_line_error(run(trace + " -o /dev/full"),
                        "cannot write to /dev/full: No space left on device");
  expect_one_line_error(shell("(" WARPCHECK_PROGRAM " " + trace + " > /dev/full)"),
                        "cannot write to standard output: No space left on device");
  expect_one_line_error(run("exec --kernel k -- true"), "--kernel needs --trace FILE");
  expect_one_line_error(run("exec --trace /dev/full -- true"),
                        "cannot write to /dev/full: No space left on device");
}

TEST_F(Look, APtxFileIsListed) {
  write("two.ptx", kTwoKernels);
  const Outcome all = run("show two.ptx");
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(all.out, kTwoKernelsShown);
}

TEST_F(Look, AKernelIsChosenByItsName) {
  write("two.ptx", kTwoKernels);
  const Outcome second = run("show two.ptx second");
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(second.out.find("kernel first"), std::string::npos);
  EXPECT_EQ(second.out.find("kernel second"), 0U) << second.out;
  EXPECT_EQ(run("show two.ptx --json two.json").out, "");
  const auto json = nlohmann::json::parse(read("two.json"));
  EXPECT_EQ(json["schema"], "warpcheck-show/1");
  ASSERT_EQ(json["kernels"].size(), 2U);
  EXPECT_EQ(json["kernels"][0]["kernel"], "first");
  EXPECT_EQ(json["kernels"][0]["functions"][0]["blocks"][0]["meets"], 2);
}

// A call of a function that calls itself, not what comes before it.
TEST_F(Look, ValuesThatAreNotFollowedAreSaidToBe) {
  write("calls.ptx", R"(.version 8.0
.target sm_75
.address_size 64
.func (.param .b32 out) down(.param .b32 in)
{
.reg .b32 %r<3>;
ld.param.u32 %r1, [in];
.param .b32 more;
.param .b32 less;
st.param.b32 [more], %r1;
call (less), down, (more);
ld.param.b32 %r2, [less];
st.param.b32 [out], %r2;
ret;
}
.visible .entry calls(.param .u64 p)
{
.reg .b32 %r<3>;
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [p];
ld.global.u32 %r1, [%rd1];
.param .b32 from;
.param .b32 to;
st.param.b32 [from], %r1;
call (to), down, (from);
ret;
}
)");
  const Outcome shown = run("show calls.ptx");
  EXPECT_EQ(shown.status, 0) << shown.out;
  EXPECT_NE(shown.out.find("  known: values are not followed, so one from memory may decide "
                           "something: "),
            std::string::npos)
      << shown.out;
  const std::size_t note = shown.out.find("values are not followed behind this");
  ASSERT_NE(note, std::string::npos) << shown.out;
  const std::size_t line = shown.out.rfind('\n', shown.out.rfind('\n', note) - 1);
  EXPECT_NE(shown.out.substr(line, note - line).find("call"), std::string::npos) << shown.out;
}

// Lanes that leave a loop at its head wait behind it, and those that leave it in its middle too.
TEST_F(Look, LanesThatLeaveALoopMeetBehindIt) {
  write("loop.ptx", R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry loop(.param .u32 n)
{
.reg .pred %p<3>;
.reg .b32 %r<4>;
.reg .b64 %rd<3>;
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
HEAD:
setp.ge.u32 %p1, %r2, %r1;
@%p1 bra BEHIND;
add.u32 %r2, %r2, 1;
setp.eq.u32 %p2, %r2, 7;
@%p2 bra BEHIND;
cvt.u64.u32 %rd1, %r2;
shl.b64 %rd2, %rd1, 2;
bra HEAD;
BEHIND:
ret;
}
)");
  EXPECT_EQ(run("show loop.ptx --json loop.json").out, "");
  const auto blocks =
      nlohmann::json::parse(read("loop.json"))["kernels"][0]["functions"][0]["blocks"];
  ASSERT_EQ(blocks.size(), 5U);
  EXPECT_EQ(blocks[1]["successors"], (std::vector<int>{2, 4}));
  EXPECT_EQ(blocks[1]["meets"], 4);
  EXPECT_EQ(blocks[2]["meets"], 4);
  EXPECT_EQ(blocks[3]["code"][1]["text"], "shl.b64 %rd2, %rd1, 2");
}

TEST_F(Look, ACaseIsListedInItsBuildOrTheOther) {
  const Outcome optimized = run(std::string("show ") + kCase);
  EXPECT_EQ(optimized.status, 0);
  EXPECT_NE(optimized.out.find("kernel scan_hillis_steele_published_kernel, optimized build\n"),
            std::string::npos)
      << optimized.out;
  EXPECT_NE(optimized.out.find("scan_hillis_steele.cu:14  if (t >= distance && t < n) share[t] += "
                               "share[t - distance];\n"),
            std::string::npos);
  EXPECT_NE(optimized.out.find("touches shared: share\n"), std::string::npos);
  const Outcome other = run(std::string("show --build unoptimized ") + kCase);
  EXPECT_NE(other.out.find(", unoptimized build\n"), std::string::npos) << other.out;
}

TEST_F(Look, TheKernelsOfAProgramAreListedWithoutARun) {
  const Outcome own = run("show " WARPCHECK_PROGRAM " scan_hillis_steele_published_kernel");
  EXPECT_EQ(own.status, 0) << own.out;
  EXPECT_NE(own.out.find("kernel scan_hillis_steele_published_kernel\n"), std::string::npos);
}

TEST_F(Look, WhatCannotBeShownIsOneLine) {
  write("two.ptx", kTwoKernels);
  write("bad.ptx", ".version 8.0\n.target sm_75\nnonsense\n");
  write("text", "hello\n");
  expect_one_line_error(run("show none.ptx"), "cannot read none.ptx: No such file or directory");
  expect_one_line_error(run("show ."), "a directory; expected a PTX file, a program or a case");
  expect_one_line_error(run("show text"), "text: neither PTX (`nvcc -ptx`)");
  expect_one_line_error(run("show bad.ptx"), "bad.ptx:3");
  expect_one_line_error(run("show /bin/true"), "/bin/true contains no kernels as PTX");
  expect_one_line_error(run("show two.ptx third"),
                        "two.ptx has no kernel with 'third' in its name; it has first, second");
  expect_one_line_error(run("show two.ptx --build optimized"), "--build needs a case");
}

}  // namespace
