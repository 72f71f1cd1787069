// `warpcheck debug` as a user types it: sessions with a case and with a program.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cli/shell_test_fixture.hpp"

namespace {

constexpr const char* kCase =
    WARPCHECK_SOURCE_DIR "/fuzz/cases/scan_hillis_steele_published/cc66.case";

class PromptTest : public ShellTest {
 protected:
  // What a session prints after each of its commands; the first entry is what it prints before.
  std::vector<std::string> session(const std::string& target,
                                   const std::vector<std::string>& commands) const {
    std::ofstream script(directory_ / "script");
    constexpr const char* kMark = "zz";  // no command has this name
    for (const std::string& command : commands) script << kMark << '\n' << command << '\n';
    script << kMark << "\nquit\n";
    script.close();
    const Outcome outcome = run("debug " + target + " < script");
    EXPECT_EQ(outcome.status, 0) << outcome.out;
    const std::string mark =
        std::string("error: unknown command '") + kMark + "'; all are listed by: help\n";
    std::vector<std::string> answers;
    std::size_t begin = 0;
    for (std::size_t end; (end = outcome.out.find(mark, begin)) != std::string::npos;) {
      answers.push_back(outcome.out.substr(begin, end - begin));
      begin = end + mark.size();
    }
    answers.resize(commands.size() + 1);
    return answers;
  }
  static std::string list_of_numbers(int count) {
    std::string text = "0";
    for (int i = 1; i < count; ++i) text += "," + std::to_string(i * 7919 % 10'007);
    return text;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

#define EXPECT_HAS(text, part) EXPECT_TRUE(has(text, part)) << text

TEST_F(PromptTest, TheRaceOfTheScanIsUnderstoodInTenCommands) {
  const auto said = session(kCase, {"continue", "finding 1 1", "print %r18", "x/dw shared 4",
                                    "stepi", "x/dw shared 4", "thread 2", "print %r18"});
  EXPECT_HAS(said[0], "the run begins\nposition 1 of 1: ");
  EXPECT_HAS(said[1], "finding 1: data-race on shared memory share[1], 4 bytes\n");
  EXPECT_HAS(said[1], "position 34 of 34: ");
  // Thread 1 is about to write share[1], in the round with distance 1.
  EXPECT_HAS(said[2], "position 28 of 34: ");
  EXPECT_HAS(said[2], "thread (1,0,0), warp 0 lanes 1\n");
  EXPECT_HAS(said[2], "st.shared.u32 [%r2], %r16\n");
  EXPECT_EQ(said[3], "%r18     b32   1 (0x1)\n");
  EXPECT_EQ(said[4], "0x4: 0\n");
  EXPECT_HAS(said[5], "position 29 of 34: ");
  EXPECT_EQ(said[6], "0x4: 1\n");
  // Thread 2 has not read it, in the same round.
  EXPECT_HAS(said[7], "ld.shared.u32 %r14, [%r2]\n");
  EXPECT_EQ(said[8], "%r18     b32   1 (0x1)\n");
}

TEST_F(PromptTest, WhoWroteThisLastIsAskedBackwards) {
  const auto said = session(kCase, {"continue", "watch shared 4 4", "reverse-continue",
                                    "reverse-continue", "reverse-continue", "continue"});
  EXPECT_HAS(said[3], "thread (1,0,0) writes share[1]: 0 -> 1\nposition 28 of 34: ");
  EXPECT_HAS(said[4], "thread (1,0,0) writes share[1]: ");
  EXPECT_HAS(said[4], " -> 0\n");
  EXPECT_HAS(said[5], "the run begins\nposition 1 of 34: ");
  EXPECT_HAS(said[6], " -> 0\n");
}

TEST_F(PromptTest, StepsBackLeadToWhereStepsCameFrom) {
  const auto said = session(kCase, {"stepi 5", "reverse-stepi", "stepi", "reverse-stepi 5",
                                    "break 14", "continue", "continue", "next", "reverse-next"});
  EXPECT_HAS(said[1], "position 6 of 6: ");
  EXPECT_HAS(said[2], "position 5 of 6: ");
  EXPECT_EQ(said[3], said[1]);
  EXPECT_HAS(said[4], "position 1 of 6: ");
  EXPECT_HAS(said[6], "breakpoint 2\nposition 19 of 19: ");
  EXPECT_HAS(said[7], "finding 1: ");
  EXPECT_HAS(said[9], "scan_hillis_steele.cu:14  ");
}

TEST_F(PromptTest, ConditionsChooseTheThread) {
  const auto said = session(kCase, {"break scan_hillis_steele.cu:14 if threadIdx.x == 2",
                                    "continue", "print threadIdx.x", "info breakpoints"});
  EXPECT_HAS(said[2], "breakpoint 2\n");
  EXPECT_HAS(said[2], "thread (2,0,0), warp 0 lanes 0-2\n");
  EXPECT_EQ(said[3], "2\n");
  EXPECT_EQ(said[4],
            "catchpoint 1: findings\n"
            "breakpoint 2: scan_hillis_steele.cu:14 if threadIdx.x == 2, hit 1 time\n");
}

TEST_F(PromptTest, ThreadsAreShownWithTheirStates) {
  const auto said = session(kCase, {"continue", "info warps", "thread 1", "info threads"});
  EXPECT_EQ(said[2],
            "block (0,0,0), 1 barrier passed\n"
            "* warp 0: lanes 0-1 wait at barrier 0; lanes 2 can run\n");
  EXPECT_HAS(said[3], "block (0,0,0) thread (1,0,0)\nscan_hillis_steele.cu:13  ");
  EXPECT_HAS(said[4],
             "* block (0,0,0) thread (0,0,0) to (1,0,0)  warp 0 lanes 0-1: wait at barrier 0");
}

TEST_F(PromptTest, TheEndIsToldAndGoingBackWorksThere) {
  const auto said =
      session(kCase, {"continue", "continue", "continue", "reverse-continue", "reverse-continue"});
  EXPECT_HAS(said[2], "finding 2: mismatch\n");
  EXPECT_HAS(said[3], "the run has ended\n");
  EXPECT_HAS(said[4], "finding 2: mismatch\n");
  EXPECT_HAS(said[5], "finding 1: data-race");
}

TEST_F(PromptTest, WrongInputIsAnErrorThatSaysWhatToDo) {
  const auto said = session(kCase, {"frobnicate", "print %r99", "finding 7", "goto x", "thread 77",
                                    "block 5", "info foo", "delete 8", "break 14 unless"});
  EXPECT_EQ(said[1], "error: unknown command 'frobnicate'; all are listed by: help\n");
  EXPECT_EQ(said[2],
            "error: column 1: the function has no register %r99; `info registers` lists them\n");
  EXPECT_EQ(said[3],
            "error: no finding 7: so far, none; the run goes on to the next one with: continue\n");
  EXPECT_EQ(said[4], "error: a position must be a number, not 'x'\n");
  EXPECT_EQ(said[5], "error: there is no thread 77: there are (3,1,1)\n");
  EXPECT_EQ(said[6], "error: there is no block 5: there are (1,1,1)\n");
  EXPECT_HAS(said[7], "error: there is no info about 'foo'; there is about threads, warps, ");
  EXPECT_EQ(said[8], "error: there is no breakpoint 8\n");
  EXPECT_EQ(said[9], "error: expected 'if EXPR' after 14, not 'unless'\n");
  expect_one_line_error(run("debug no_such.case"), "no_such.case");
  std::ofstream(directory_ / "scan.cu") << "__global__ void scan() {}";
  expect_one_line_error(run("debug scan.cu"), "warpcheck kernel ./scan.cu");
  expect_one_line_error(run("debug -- ./no_such_program"), "no_such_program");
}

TEST_F(PromptTest, CommandsOfCudaGdbWork) {
  const auto said =
      session(kCase, {"cuda kernel block thread", "info cuda kernels", "info lanes", "info blocks",
                      "cuda block(0, 0, 0), thread (1, 0, 0)", "thread"});
  EXPECT_EQ(said[1],
            "launch 0: scan_hillis_steele_published_kernel, grid (1,1,1) block (3,1,1)\n"
            "block (0,0,0) thread (0,0,0), warp 0 lane 0\n");
  EXPECT_EQ(said[2],
            "* launch 0: scan_hillis_steele_published_kernel, grid (1,1,1) block (3,1,1); 1 block "
            "resident\n");
  EXPECT_HAS(said[3], "* lane  0 thread (0,0,0): can run at scan_hillis_steele.cu:9  ld.param.u64");
  EXPECT_HAS(said[3], "\n  lane  2 thread (2,0,0): can run at scan_hillis_steele.cu:9  ");
  EXPECT_EQ(said[4], "* block (0,0,0), 0 barriers passed: 3 threads can run\n");
  EXPECT_HAS(said[5], "block (0,0,0) thread (1,0,0)\nscan_hillis_steele.cu:9  ");
  EXPECT_HAS(said[6], "block (0,0,0) thread (1,0,0), warp 0 lane 1\n");
}

TEST_F(PromptTest, WhatStopsShowIsChosen) {
  const auto said =
      session(kCase, {"display share[1]", "advance 14", "continue", "undisplay 1", "info display",
                      "info registers %r18 %r1", "info functions", "x/2dw share", "x/2i $pc",
                      "list 9,10", "list -", "break 14", "clear 14", "run", "cuda kernel 1",
                      "delete", "info breakpoints"});
  EXPECT_EQ(said[1], "1: share[1] = <not written>\n");
  EXPECT_HAS(said[2],
             "temporary breakpoint 2: scan_hillis_steele.cu:14\nbreakpoint 2\nposition 19 of 19: ");
  EXPECT_TRUE(said[2].ends_with("\n1: share[1] = 0\n")) << said[2];
  EXPECT_HAS(said[3], "finding 1: data-race");
  EXPECT_TRUE(said[3].ends_with("ld.shared.u32 %r15, [%r13]\n1: share[1] = 1\n")) << said[3];
  EXPECT_HAS(said[5], "nothing is displayed");
  EXPECT_EQ(said[6], "%r1      b32   2 (0x2)\n%r18     b32   1 (0x1)\n");
  EXPECT_EQ(said[7], "scan_hillis_steele_published_kernel at scan_hillis_steele.cu:9\n");
  EXPECT_EQ(said[8], "0x0: 1\n0x4: 1\n");
  EXPECT_HAS(said[9], "=>    25  ld.shared.u32 %r15, [%r13]\n");
  EXPECT_HAS(said[9], "\n      26  ");
  EXPECT_HAS(said[10], "     10    const int t = static_cast<int>(threadIdx.x);\n");
  EXPECT_TRUE(said[11].starts_with("      1  ")) << said[11];
  EXPECT_EQ(said[13], "removed breakpoint 3\n");
  EXPECT_HAS(said[14], "finding 1: data-race");
  EXPECT_EQ(said[15], "error: launch 0 is running: others have ended, or have not begun\n");
  EXPECT_EQ(said[17], "no breakpoints\n");
}

TEST_F(PromptTest, WhatOtherDebuggersHaveIsAnsweredWithWhatToType) {
  const auto said = session(kCase, {"set var share[1] = 3", "start", "layout src", "checkpoint",
                                    "!ls", "thread apply all bt", "print $r1", "backtrce",
                                    "disable", "info breakpoints", "info", "list 99", "cuda sm 1"});
  EXPECT_HAS(said[1], "error: there is no 'set': the run cannot be changed");
  EXPECT_EQ(said[2], "error: there is no 'start': the beginning is a position, too: goto start\n");
  EXPECT_HAS(said[3], "error: there is no 'layout': the source is shown by: list");
  EXPECT_HAS(said[4], "goto POSITION\n");
  EXPECT_HAS(said[5], "error: there is no '!ls': ");
  EXPECT_HAS(said[6], "lanes EXPR\n");
  EXPECT_HAS(said[7], "error: column 1: expected a register as PTX names it, such as %r1");
  EXPECT_EQ(said[8],
            "error: unknown command 'backtrce' (is it 'backtrace'?); all are listed by: help\n");
  EXPECT_EQ(said[10], "catchpoint 1: findings, disabled\n");
  EXPECT_HAS(said[11], "error: info of what? threads, warps, lanes, ");
  EXPECT_EQ(said[12], "error: scan_hillis_steele.cu has 22 lines\n");
  EXPECT_HAS(said[13], "error: block, thread, warp or lane, not 'sm': ");
}

// Checkpoints are made and dropped on the way; the answers are those of the positions.
TEST_F(PromptTest, ALongCaseIsSearchedBackwards) {
  std::ofstream(directory_ / "long.case") << R"({"warpcheck_case": 1, "pair": "radix_sort_lists",
    "input": {"in": [)" << list_of_numbers(2'000)
                                          << R"(],
      "launch": {"grid": [1, 1, 1], "block": [1, 1, 1], "shared_bytes": 0}},
    "schedule": [], "settings": {"build": "optimized", "warp_model": "independent",
      "checkers": ["bounds"], "steps_max": 20000000, "quantum": 4096, "resident_blocks": 32},
    "expected": {"kinds": [], "classes": []}})";
  const auto said = session((directory_ / "long.case").string(),
                            {"continue", "reverse-stepi", "reverse-stepi", "stepi",
                             "break radix_sort_lists", "reverse-continue", "goto end"});
  const auto position = [&](std::size_t answer) {
    const std::size_t at = said[answer].find("position ");
    return at == std::string::npos ? 0 : std::stoll(said[answer].substr(at + 9));
  };
  const long long end = position(1);
  EXPECT_GT(end, 500'000);
  EXPECT_EQ(position(2), end - 1);
  EXPECT_EQ(position(3), end - 2);
  EXPECT_EQ(position(4), end - 1);
  EXPECT_EQ(position(6), 1);
  EXPECT_EQ(position(7), end);
}

TEST_F(PromptTest, ABreakpointMayBeAtAnInstruction) {
  const auto said =
      session(kCase, {"break *27", "continue", "info breakpoints", "break *99999", "tbreak *x"});
  EXPECT_HAS(said[1], "breakpoint 2: instruction 27 of scan_hillis_steele_published_kernel\n");
  EXPECT_HAS(said[2], "breakpoint 2\nposition ");
  EXPECT_HAS(said[2], "=> 27  st.shared.u32 [%r2], %r16\n");
  EXPECT_HAS(said[3], ", hit 1 time\n");
  EXPECT_HAS(said[4], "error: the kernel has instructions 0 to ");
  EXPECT_HAS(said[5], "error: ");
}

#ifdef WARPCHECK_DEBUGGED_PROGRAMS
TEST_F(PromptTest, SharedMemoryIsWatchedForOtherBlocksOfTheClusterToo) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/cluster",
                            {"watch shared 0 4", "continue", "continue", "continue"});
  EXPECT_HAS(said[2], "thread (0,0,0) writes from_other[0]: ");
  EXPECT_HAS(said[2], ": exchange block (0,0,0) thread (0,0,0), warp 0 lanes 0\n");
  EXPECT_HAS(said[3], "thread (3,0,0) writes from_other[0]: 0 -> 71\n");
  EXPECT_HAS(said[3], ": exchange block (1,0,0) thread (3,0,0), warp 0 lanes 3\n");
  EXPECT_HAS(said[4], "the run has ended\n");
}

TEST_F(PromptTest, SharedMemoryOfOtherBlocksIsReadByItsAddress) {
  const auto said =
      session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/cluster",
              {"watch shared 0 4", "continue", "continue", "stepi", "x/dw 0xd0010000000",
               "x/dw 0xd0011000000", "x/dw 0xd0012000000", "print *(int*)0xd0010000000"});
  // Thread 3 of block 1 has written what block 0 has.
  EXPECT_HAS(said[4], ": exchange block (1,0,0) thread (3,0,0)");
  EXPECT_EQ(said[5], "0x0: 71\n");
  EXPECT_EQ(said[6], "0x0: 0\n");
  EXPECT_EQ(said[7], "error: block 2 of the cluster has no shared memory now\n");
  EXPECT_EQ(said[8], "71\n");
}

TEST_F(PromptTest, CalledFunctionsAreBreakpointsBehindTheirPrologues) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
                            {"break leaf", "break Ring::push", "break outer", "break nothing",
                             "continue", "print value", "backtrace"});
  EXPECT_EQ(said[1], "breakpoint 2: leaf\n");
  EXPECT_EQ(said[2], "breakpoint 3: Ring::push\n");
  EXPECT_EQ(said[4], "breakpoint 5: nothing, not in the kernels so far\n");
  EXPECT_HAS(said[5], "breakpoint 3\n");
  EXPECT_EQ(said[6], "32\n");
  EXPECT_EQ(said[7],
            "* #0 Ring<int, 4>::push at functions.cu:24\n  #1 shapes at functions.cu:56\n");
}

TEST_F(PromptTest, AKernelIsABreakpointBehindItsPrologue) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
                            {"break shapes", "run", "print mode", "backtrace"});
  EXPECT_HAS(said[2], "breakpoint 2\n");
  EXPECT_HAS(said[2], ": shapes block (0,0,0) thread (0,0,0), warp 0 lanes 0-31\n");
  EXPECT_EQ(said[3], "kScaled\n");
  EXPECT_EQ(said[4], "* #0 shapes at functions.cu:47\n");
}

// Of a function on one line, and of a kernel.
TEST_F(PromptTest, ConditionsOfFunctionsKnowTheirParameters) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
                            {"tbreak shapes if mode == 5", "break twice if value == 40", "continue",
                             "print mode", "continue", "print value"});
  EXPECT_HAS(said[3], "breakpoint 2\nposition ");
  EXPECT_EQ(said[4], "kScaled\n");
  EXPECT_HAS(said[5], "breakpoint 3\nposition ");
  EXPECT_EQ(said[6], "40\n");
}

TEST_F(PromptTest, TheFirstInstructionIsABreakpointOfTheFirstWarpToo) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/two_kernels",
                            {"break first", "run", "continue", "goto start", "continue"});
  for (const std::size_t answer : {2, 5}) {
    EXPECT_HAS(said[answer], "breakpoint 2\n");
    EXPECT_HAS(said[answer], "position 1 of ");
    EXPECT_HAS(said[answer], ": first block (0,0,0) thread (0,0,0), warp 0 lanes 0-31\n");
  }
  EXPECT_HAS(said[3], "the run has ended\n");
}

TEST_F(PromptTest, StepsPassCalledFunctionsOver) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
                            {"tbreak 56", "continue", "nexti 4", "backtrace", "reverse-nexti 4",
                             "until", "reverse-next"});
  for (const std::size_t answer : {2, 3, 5, 6}) EXPECT_HAS(said[answer], ": shapes block ");
  EXPECT_HAS(said[4], "* #0 shapes at functions.cu:");
  const auto place = [](const std::string& text) {
    return text.substr(text.find("functions.cu:"));
  };
  EXPECT_EQ(place(said[5]), place(said[2]));
}

// A step into a function ends where its parameters have values; finish leaves the chosen frame.
TEST_F(PromptTest, FunctionsAreEnteredBehindTheirProloguesAndLeftByTheirFrames) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
                            {"tbreak 56", "continue", "step", "print value", "finish", "backtrace",
                             "tbreak leaf", "continue", "up", "reverse-finish", "backtrace",
                             "reverse-finish", "tbreak leaf", "continue", "up", "finish"});
  EXPECT_HAS(said[3], "functions.cu:24");
  EXPECT_EQ(said[4], "32\n");
  EXPECT_EQ(said[6], "* #0 shapes at functions.cu:57\n");
  EXPECT_HAS(said[9], "#1 outer<long long> at functions.cu:37");
  EXPECT_HAS(said[10], "  call.uni long long outer<long long>(");
  EXPECT_EQ(said[11], "* #0 shapes at functions.cu:63\n");
  EXPECT_HAS(said[12], "error: this is the kernel, which no function calls; ");
  EXPECT_HAS(said[16], ": shapes block (0,0,0) thread (32,0,0)");
}

TEST_F(PromptTest, InlinedFunctionsHaveNamesAndFramesOfTheirOwn) {
  const auto said =
      session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
              {"break nudged if value == 40", "continue", "backtrace", "print more", "print bits",
               "next", "print more", "finish", "backtrace", "step 2", "up", "print bits.low"});
  EXPECT_HAS(said[2], "breakpoint 2\n");
  EXPECT_EQ(said[3], "* #0 nudged (inlined) at functions.cu:41\n  #1 shapes at functions.cu:64\n");
  EXPECT_EQ(said[4], "<not written>\n");
  EXPECT_HAS(said[5], "error: column 1: no variable `bits` in scope;");
  EXPECT_EQ(said[7], "41\n");
  EXPECT_EQ(said[9], "* #0 shapes at functions.cu:64\n");
}

TEST_F(PromptTest, InlinedFunctionsOfOptimizedCodeHaveNames) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/two_kernels",
                            {"break raised", "continue", "backtrace", "up", "info breakpoints"});
  EXPECT_EQ(said[1], "breakpoint 2: raised, not in the kernels so far\n");
  EXPECT_HAS(said[2], "breakpoint 2\n");
  EXPECT_EQ(said[3],
            "* #0 raised (inlined) at two_kernels.cu:12\n  #1 second at two_kernels.cu:15\n");
  EXPECT_HAS(said[4], "#1 second at two_kernels.cu:15");
  EXPECT_HAS(said[5], "breakpoint 2: raised, hit 1 time\n");
}

TEST_F(PromptTest, GlobalsThatOtherKernelsUseHaveValues) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/two_kernels", {"print limit"});
  EXPECT_EQ(said[1], "7\n");
}

// At the end no kernel runs that says where thread 7 is in its grid.
TEST_F(PromptTest, AThreadGoesBackFromTheEnd) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/two_kernels",
                            {"break second if blockIdx.y == 1", "continue", "thread 7", "continue",
                             "reverse-stepi", "print %laneid", "print blockIdx.y"});
  EXPECT_HAS(said[2], ": second block (0,1,0) thread (0,0,0)");
  EXPECT_HAS(said[4], "the run has ended\n");
  EXPECT_HAS(said[5], ": second block (0,1,0) thread (7,0,0), warp 0 lanes 0-31\n");
  EXPECT_HAS(said[5], "ret");
  EXPECT_EQ(said[6], "7\n");
  EXPECT_EQ(said[7], "1\n");
}

TEST_F(PromptTest, WhatHasNoValueIsSaid) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
                            {"break 54 if tile[7] > 1", "continue", "lanes nothing",
                             "x/3ub ring.items", "x/wx part", "whatis mode"});
  EXPECT_HAS(said[2], "breakpoint 2\nthe condition `tile[7] > 1` has no value here: column 1: ");
  EXPECT_HAS(said[3], "error: column 1: no variable `nothing` in scope;");
  EXPECT_EQ(said[3].find("lane"), std::string::npos);
  EXPECT_EQ(said[5], "error: `part`: the pointer is not written\n");
  EXPECT_HAS(said[6], "enum Mode {kPlain");
}

TEST_F(PromptTest, AFindingHasItsThreadAndBothSidesAlsoOfOtherSizes) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
                            {"continue", "finding 1 1", "print tile[2]", "continue", "continue",
                             "reverse-continue", "print %tid.x", "print color == Color::green",
                             "print mode == kScaled", "print kPlain", "print Color::blue", "up"});
  EXPECT_HAS(said[1], "finding 1: data-race on shared memory tile[0], 16 bytes\n");
  EXPECT_HAS(said[1], ": shapes block (0,0,0) thread (0,0,0), warp 0 lanes 0\n");
  EXPECT_HAS(said[2], ": shapes block (0,0,0) thread (33,0,0), warp 1 lanes 1\n");
  EXPECT_EQ(said[3], "0.5\n");
  EXPECT_HAS(said[6], "finding 1: data-race");
  EXPECT_HAS(said[6], " block (0,0,0) thread (0,0,0), warp 0 lanes 0\n");
  EXPECT_EQ(said[7], "0\n");
  EXPECT_EQ(said[8], "true\n");
  EXPECT_EQ(said[9], "true\n");
  EXPECT_EQ(said[10], "kPlain\n");
  EXPECT_HAS(said[11], "error: column 1: no variable `Color::blue` in scope;");
  EXPECT_EQ(said[12], "error: this is the outermost frame\n");
}

// A row of the machine is wider than a register of 16 bits, and neg.s16 leaves its sign there.
TEST_F(PromptTest, ARegisterOfSixteenBitsHasNoOtherBits) {
  const auto said =
      session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
              {"break 73", "delete 1", "continue", "print below", "print /x below",
               "info registers %rs3", "display %rs3", "print change", "ptype change"});
  EXPECT_HAS(said[3], ": narrow block (0,0,0) thread (0,0,0)");
  EXPECT_EQ(said[4], "-1\n");
  EXPECT_EQ(said[5], "0xffff\n");
  EXPECT_EQ(said[6], "%rs3     b16   -1 (0xffff)\n");
  EXPECT_EQ(said[7], "1: %rs3     b16   -1 (0xffff)\n");
  EXPECT_HAS(said[8], " (twice)\n");
  EXPECT_EQ(said[9], "int (*)(int)\n");
}

TEST_F(PromptTest, WatchedValuesAreShownByTheirType) {
  const auto said = session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/functions",
                            {"tbreak 54", "continue", "watch tile[2]", "continue", "break leaf",
                             "continue", "watch bits.middle", "continue", "up", "up",
                             "print whole.id", "print whole.side", "ptype whole"});
  EXPECT_EQ(said[11], "3\n");
  EXPECT_EQ(said[12], "2\n");
  EXPECT_HAS(said[13], "struct Whole : Part {\n");
  EXPECT_HAS(said[4], "thread (2,0,0) writes tile[2]: <not written> -> 0.5\n");
  EXPECT_HAS(said[6], "breakpoint 4\n");
  EXPECT_HAS(said[8], " writes bits.middle: -3 -> 32\n");
}

TEST_F(PromptTest, AProgramGoesBackOverItsLaunchesAndWritesOnce) {
  const auto said =
      session("-- " WARPCHECK_DEBUGGED_PROGRAMS "/two_kernels",
              {"break second if blockIdx.y == 0", "continue", "continue", "reverse-continue",
               "watch shared 20 4", "reverse-continue", "goto end", "print %r1", "reverse-stepi"});
  EXPECT_HAS(said[0], "begin\n");
  EXPECT_HAS(said[2], "between\n");
  EXPECT_HAS(said[2], "breakpoint 2\n");
  EXPECT_HAS(said[2], ": second block (0,0,0) thread (0,0,0), warp 0 lanes 0-31\n");
  EXPECT_HAS(said[3], "sum 4\n");
  EXPECT_HAS(said[3], "the run has ended\n");
  EXPECT_HAS(said[4], "breakpoint 2\n");
  EXPECT_FALSE(has(said[4], "between")) << said[4];
  EXPECT_HAS(said[6], "thread (5,0,0) writes share[5]: ");
  EXPECT_HAS(said[6], ": first block (0,0,0) thread (5,0,0)");
  EXPECT_HAS(said[7], "the run has ended\n");
  EXPECT_EQ(said[8], "error: no kernel is running\n");
  EXPECT_HAS(said[9], ": second block (0,0,0) thread (5,0,0)");
  std::string all;
  for (const std::string& text : said) all += text;
  EXPECT_EQ(all.find("sum 4"), all.rfind("sum 4"));
}
#endif

TEST_F(PromptTest, VariablesOfUnoptimizedCode) {
  const auto said = session(std::string(kCase) + " --build unoptimized",
                            {"break 14 if t == 2", "continue", "print t", "print n * 2 + distance",
                             "print share", "print *in @ 3", "lanes t - distance", "print &t"});
  EXPECT_HAS(said[2], "thread (2,0,0), warp 0 lanes 0-2\n");
  EXPECT_EQ(said[3], "2\n");
  EXPECT_EQ(said[4], "7\n");
  EXPECT_EQ(said[5], "{1, 0, 0}\n");
  EXPECT_EQ(said[6], "{1, 0, 0}\n");
  EXPECT_EQ(said[7], "lane  0: -1\nlane  1: 0\nlane  2: 1\n");
  EXPECT_EQ(said[8], "error: column 1: `t` is in the register %r1 and has no address\n");
}

TEST_F(PromptTest, OptimizedCodeDescribesNoVariables) {
  const auto said = session(kCase, {"break 14", "continue", "print n", "print share", "info locals",
                                    "goto start", "print %r1"});
  EXPECT_HAS(said[3], "error: column 1: `n` is not described in the optimised build;");
  EXPECT_EQ(said[4], "{1, 0, 0}\n");
  EXPECT_HAS(said[5], "param 2 = 3\n");
  EXPECT_EQ(said[7], "%r1      b32   <not written>\n");
}

}  // namespace
