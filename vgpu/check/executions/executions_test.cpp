// The number of executions of small kernels, and a check that none of them is missed.
//
// If all events conflict with each other, there are as many executions as interleavings that
// preserve the order of each thread, whether the threads are lanes, warps or blocks.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "vgpu/check/executions/execution_run.hpp"
#include "vgpu/check/executions/execution_search.hpp"
#include "vgpu/check/weak/write_histories.hpp"
#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/schedule/replay.hpp"

namespace warpcheck::vgpu {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kRunsMax = 60;

class ExecutionsTest : public SyncTest {
 protected:
  struct Explored {
    std::uint64_t executions = 0, runs = 0;
    std::set<Words> results;
    std::string gap;
    bool is_cut = false, has_deadlock = false;
  };

  // %r2: the block; %r3: the number of the thread in the launch, whose blocks have %r4 threads.
  void compile_kernel(const std::string& body, const std::string& before = "") {
    compile(
        "mov.u32 %r2, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r3, %r2, %r4, %r1;\n"
        "mul.wide.u32 %rd5, %r3, 4; add.s64 %rd6, %rd1, %rd5;\n" +
            body,
        before);
  }

  Outcome run_one(Strategy& strategy, Observer* observer, Dim3 grid, Dim3 block) {
    if (out_ == nullptr) out_ = memory_.allocate(1024 * 4);
    std::memset(out_->data, 0, out_->bytes);
    const std::uint64_t address = out_->address;
    Launch launch;
    launch.program = &program_;
    launch.grid = grid;
    launch.block = block;
    launch.parameters = std::as_bytes(std::span(&address, 1));
    std::vector<Observer*> observers;
    if (observer != nullptr) observers.push_back(observer);
    WriteHistories histories(model_);
    if (strategy.chooses_past(0) && WriteHistories::concern(program_)) {
      launch.weak_memory = &histories;
      observers.push_back(&histories);
    }
    return machine_.run(launch, model_, strategy, observers, limits_);
  }

  // Collects the first `words` words of memory of each execution.  Every execution is also replayed
  // from its decisions.
  Explored explore(std::uint32_t blocks, std::uint32_t threads, std::size_t words, bool is_weak) {
    Explored explored;
    CoveredPrograms programs;
    ExecutionSearch search;
    while (const auto begin = search.next()) {
      explored.is_cut = search.runs() == kRunsMax;
      if (explored.is_cut) break;
      ExecutionRun run(*begin, {.is_weak = is_weak}, programs);
      const Outcome outcome = run_one(run, &run, {blocks, 1, 1}, {threads, 1, 1});
      explored.has_deadlock |= outcome.end == Outcome::End::deadlock;
      const Words result = ints(words);
      explored.results.insert(result);
      const ExecutionTrace trace = run.take_trace();
      EXPECT_FALSE(trace.strayed);
      explored.gap = trace.gap;
      if (!trace.gap.empty()) break;
      search.add(trace);
      Replay replay({outcome.decisions});
      EXPECT_EQ(run_one(replay, nullptr, {blocks, 1, 1}, {threads, 1, 1}).decisions,
                outcome.decisions);
      EXPECT_EQ(ints(words), result);
      EXPECT_EQ(replay.ignored(), 0u);
    }
    explored.executions = search.executions();
    explored.runs = search.runs();
    return explored;
  }

  // Tries the threads as lanes of a warp, as warps of a block, as blocks, and as blocks of lanes.
  // Threads whose number %r3 is below `threads`, which is even, execute `body`.
  void expect_executions(std::uint32_t threads, std::uint64_t executions, std::size_t results,
                         const std::string& body) {
    struct Shape {
      std::string number;  // puts the thread's number into %r3; other threads exit
      std::uint32_t blocks, width;
    };
    const Shape shapes[] = {
        {"", 1, threads},
        {"and.b32 %r5, %r1, 31; setp.ne.u32 %p8, %r5, 0; @%p8 ret; shr.u32 %r3, %r1, 5;\n", 1,
         32 * threads},
        {"", threads, 1},
        {"", 2, threads / 2}};
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(std::to_string(shape.blocks) + " blocks of " + std::to_string(shape.width));
      compile_kernel(shape.number + body);
      const Explored explored = explore(shape.blocks, shape.width, 16, false);
      EXPECT_EQ(explored.executions, executions);
      EXPECT_EQ(explored.runs, executions);
      EXPECT_EQ(explored.results.size(), results);
    }
  }
};

// The last thread reads: there are (n + 1)! orders, n + 1 values to read and n values to be left in
// memory.
TEST_F(ExecutionsTest, OfWritersAndAReader) {
  expect_executions(4, 24, 4 * 3,
                    "setp.eq.u32 %p1, %r3, 3; @%p1 bra R;\n"
                    "add.u32 %r6, %r3, 1; st.volatile.global.u32 [%rd1], %r6; ret;\n"
                    "R: ld.volatile.global.u32 %r7, [%rd1]; st.global.u32 [%rd1+4], %r7;");
}

TEST_F(ExecutionsTest, OfTicketsAndOfSums) {
  const std::string keep =
      "mul.wide.u32 %rd7, %r3, 4; add.s64 %rd8, %rd1, %rd7; st.global.u32 [%rd8+4], %r7;";
  expect_executions(4, 24, 24, "atom.global.add.u32 %r7, [%rd1], 1;" + keep);
  expect_executions(4, 1, 1, "atom.global.add.u32 %r7, [%rd1], 1;");
  expect_executions(4, 1, 1, "red.global.add.u32 [%rd1], 1;");
}

// Threads allocate places in an array: the assignment depends on the schedule, but all places are
// used.
TEST_F(ExecutionsTest, OfAnAllocator) {
  compile_kernel(
      "atom.global.add.u32 %r7, [%rd1], 1; add.u32 %r8, %r3, 1;\n"
      "mul.wide.u32 %rd7, %r7, 4; add.s64 %rd8, %rd1, %rd7; st.global.u32 [%rd8+4], %r8;");
  const Explored explored = explore(2, 2, 5, false);
  EXPECT_EQ(explored.executions, 24u);
  EXPECT_EQ(explored.results.size(), 24u);
  for (Words result : explored.results) {
    std::ranges::sort(result);
    EXPECT_EQ(result, (Words{1, 2, 3, 4, 4}));  // the first word is the count
  }
}

// 4! / (2! 2!) interleavings.
TEST_F(ExecutionsTest, OfTwoThreadsThatExchangeTwice) {
  expect_executions(2, 6, 6,
                    "add.u32 %r6, %r3, 1; atom.global.exch.b32 %r7, [%rd1], %r6;\n"
                    "add.u32 %r6, %r3, 3; atom.global.exch.b32 %r8, [%rd1], %r6;\n"
                    "mul.wide.u32 %rd7, %r3, 8; add.s64 %rd8, %rd1, %rd7;\n"
                    "st.global.u32 [%rd8+4], %r7; st.global.u32 [%rd8+8], %r8;");
}

// Store buffering: each thread writes its own word and reads the other's.
TEST_F(ExecutionsTest, OfStoreBuffering) {
  const std::string text =
      "xor.b32 %r6, %r3, 1; mul.wide.u32 %rd7, %r6, 4; add.s64 %rd8, %rd1, %rd7;\n"
      "st.relaxed.gpu.global.u32 [%rd6], 1; FENCE ld.relaxed.gpu.global.u32 %r7, [%rd8];\n"
      "st.global.u32 [%rd6+8], %r7;";
  const auto with = [&](const std::string& fence) {
    std::string body = text;
    return body.replace(body.find("FENCE"), 5, fence);
  };
  compile_kernel(with(""));
  EXPECT_EQ(explore(2, 1, 4, false).results.size(), 3u);
  EXPECT_EQ(explore(2, 1, 4, true).results.size(), 4u);
  EXPECT_EQ(explore(2, 1, 4, true).executions, 4u);
  compile_kernel(with("fence.sc.gpu;"));
  EXPECT_EQ(explore(2, 1, 4, true).executions, 3u);
}

// A fence after the flag is too late: the message may be missing between the two.
TEST_F(ExecutionsTest, OfAFenceThatComesTooLate) {
  const auto passing = [&](const std::string& first, const std::string& second) {
    compile_kernel(
        "setp.eq.u32 %p1, %r2, 1; @%p1 bra R;\n"
        "st.volatile.global.u32 [%rd1], 7;" +
        first + "st.volatile.global.u32 [%rd1+4], 1;" + second +
        "ret;\n"
        "R: ld.volatile.global.u32 %r7, [%rd1+4]; setp.eq.u32 %p2, %r7, 0; @%p2 bra R;\n"
        "membar.gl; ld.volatile.global.u32 %r8, [%rd1]; st.global.u32 [%rd1+8], %r8;");
    return explore(2, 1, 3, true);
  };
  EXPECT_EQ(passing("membar.gl;", "").results, (std::set<Words>{{7, 1, 7}}));
  EXPECT_EQ(passing("", "membar.gl;").results, (std::set<Words>{{7, 1, 0}, {7, 1, 7}}));
}

// The lock may be held by another lane of the same warp.
TEST_F(ExecutionsTest, OfALockThatLanesTake) {
  const std::string take =
      "S: atom.global.cas.b32 %r5, [%rd1], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra S;\n";
  const std::string body =
      "ld.volatile.global.u32 %r6, [%rd1+4]; mul.lo.u32 %r6, %r6, 2; add.u32 %r6, %r6, %r3;\n"
      "st.volatile.global.u32 [%rd1+4], %r6; membar.gl; atom.global.exch.b32 %r7, [%rd1], 0;";
  compile_kernel(take + "membar.gl;" + body);
  const Explored two = explore(1, 2, 2, true);
  EXPECT_EQ(two.executions, 2u);
  EXPECT_EQ(two.results, (std::set<Words>{{0, 1}, {0, 2}}));
  const Explored three = explore(1, 3, 2, true);
  EXPECT_EQ(three.executions, 6u);
  EXPECT_EQ(three.results.size(), 6u);
  EXPECT_FALSE(three.is_cut);
}

// An await may wait for a value that is soon overwritten.
TEST_F(ExecutionsTest, OfAnAwaitThatMayMissItsValue) {
  compile_kernel(
      "setp.eq.u32 %p1, %r2, 1; @%p1 bra R;\n"
      "st.volatile.global.u32 [%rd1], 1; st.volatile.global.u32 [%rd1], 2;\n"
      "st.volatile.global.u32 [%rd1], 3; ret;\n"
      "R: ld.volatile.global.u32 %r7, [%rd1]; and.b32 %r8, %r7, 1; setp.eq.u32 %p2, %r8, 0;\n"
      "@%p2 bra R; st.global.u32 [%rd1+4], %r7;");
  const Explored sequential = explore(2, 1, 2, false);
  EXPECT_EQ(sequential.results, (std::set<Words>{{3, 1}, {3, 3}}));
  EXPECT_EQ(sequential.executions, 2u);
  EXPECT_FALSE(sequential.has_deadlock);
}

// Rounds that only increment a counter which is not a result are the same wait.  If the count is a
// result, the number of executions is unlimited, and completeness is not claimed.
TEST_F(ExecutionsTest, OfAWaitThatCounts) {
  const auto waiting = [&](const std::string& result) {
    compile_kernel(
        "setp.eq.u32 %p1, %r2, 1; @%p1 bra W;\nst.volatile.global.u32 [%rd1], 1; ret;\n"
        "W: mov.u32 %r9, 0;\nS: add.u32 %r9, %r9, 1; nanosleep.u32 %r9;\n"
        "ld.volatile.global.u32 %r7, [%rd1]; setp.eq.u32 %p2, %r7, 0; @%p2 bra S;\n" +
        result);
    return explore(2, 1, 2, false);
  };
  const Explored silent = waiting("st.global.u32 [%rd1+4], %r7;");
  EXPECT_EQ(silent.executions, 1u);
  EXPECT_FALSE(silent.is_cut);
  const Explored counted = waiting("st.global.u32 [%rd1+4], %r9;");
  EXPECT_TRUE(counted.is_cut);
}

// Accesses that a barrier orders are no choice.
TEST_F(ExecutionsTest, OfAccessesThatABarrierOrders) {
  compile_kernel(
      "cvt.u64.u32 %rd7, 0; mul.lo.u32 %r5, %r1, 4; mov.u32 %r6, s; add.u32 %r6, %r6, %r5;\n"
      "st.shared.u32 [%r6], %r1; bar.sync 0; mov.u32 %r6, s; ld.shared.u32 %r7, [%r6+4];\n"
      "bar.sync 0; atom.shared.exch.b32 %r8, [s], %r1; st.global.u32 [%rd6], %r7;",
      ".shared .align 4 .b8 s[64];\n");
  const Explored explored = explore(1, 3, 3, false);
  EXPECT_EQ(explored.executions, 6u);  // the executions of the exchanges alone
  EXPECT_EQ(explored.results, (std::set<Words>{{1, 1, 1}}));
}

TEST_F(ExecutionsTest, AreNotCountedWhereTheTimeDecides) {
  compile_kernel("mov.u32 %r5, %clock; st.global.u32 [%rd6], %r5;");
  EXPECT_EQ(explore(1, 1, 1, false).gap, "mov.u32 reads when or where a thread runs");
}

}  // namespace
}  // namespace warpcheck::vgpu
