// The machine end to end: PTX text in, memory and events out.
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/program/program.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "vgpu/machine/step_filter.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// Follows the default policy except for one given decision.
class OneDecision final : public Strategy {
 public:
  OneDecision() = default;
  explicit OneDecision(Decision decision) : decision_(decision) {}
  std::uint64_t next_access(std::uint32_t, WarpId warp, std::uint64_t from) override {
    if (!decision_ || decision_->point != Decision::Point::access || warp != decision_->at ||
        from > decision_->index) {
      return UINT64_MAX;
    }
    return decision_->index;
  }
  [[nodiscard]] bool decides_stops() const override {
    return decision_ && decision_->point == Decision::Point::stop;
  }
  std::optional<Choice> decide(const SchedulePoint& point) override {
    if (point.at != decision_->at || point.index != decision_->index) return std::nullopt;
    return Choice{decision_->held, decision_->next};
  }

 private:
  std::optional<Decision> decision_;
};

class Recorder final : public Observer, private UndefinedMemory {
 public:
  [[nodiscard]] UndefinedMemory* undefined_memory() override { return answer ? this : nullptr; }
  void on_access(const Access& access) override {
    if (keeps_accesses) accesses.push_back(access);
  }
  [[nodiscard]] Watched watches() const override { return {.blocks = blocks}; }
  void on_sync(const Sync& sync) override { syncs.push_back(sync.kind); }
  void on_fault(const Fault& fault) override {
    if (faults.size() < 1'000) faults.push_back(fault);
  }
  void on_undefined_use(const UndefinedUse& use) override { uses.push_back(use); }
  void on_barrier_divergence(const BarrierDivergence& d) override { divergences.push_back(d); }
  void on_step_limit(const StepLimit& limit) override { limits.push_back(limit); }
  void on_trap(const Trap& trap) override { traps.push_back(trap); }

  std::vector<Access> accesses;
  bool keeps_accesses = true;
  std::vector<Sync::Kind> syncs;
  bool blocks = true;
  std::vector<Fault> faults;
  std::vector<UndefinedUse> uses;
  std::vector<BarrierDivergence> divergences;
  std::vector<StepLimit> limits;
  std::vector<Trap> traps;
  std::function<void(Access&)> answer;  // is called for each access, and marks what a load finds

 private:
  void read(Access& access) override { answer(access); }
  void write(const Access& access) override {
    Access store = access;
    answer(store);
  }
};

// Needs one step, and all that follow it if it says so.
class StepRecorder final : public Observer, public StepFilter {
 public:
  StepRecorder(std::uint32_t needed, bool needs_rest) : needed_(needed), needs_rest_(needs_rest) {}
  [[nodiscard]] Watched watches() const override { return {.accesses = false, .steps = true}; }
  const std::uint8_t* steps_of(const Program& program) override {
    steps_.assign(program.code.size(), 0);
    steps_[needed_] = 1;
    return steps_.data();
  }
  void on_step(const InstrStep& step) override {
    begun.push_back(step.pc);
    if (needs_rest_) std::ranges::fill(steps_, std::uint8_t{1});
  }
  void on_step_end(const InstrStep& step) override { ended.push_back(step.pc); }

  std::vector<std::uint32_t> begun, ended;

 private:
  std::uint32_t needed_;
  bool needs_rest_;
  std::vector<std::uint8_t> steps_;
};

constexpr std::string_view kHeader = ".version 8.0\n.target sm_75\n.address_size 64\n";

class MachineTest : public testing::Test {
 protected:
  // Compiles a kernel `k` whose one parameter is a pointer; `body` has %tid.x in %r1 and the
  // pointer in %rd1, and %rd2 = %rd1 + 4 * thread.
  void compile(const std::string& body, const std::string& before = "") {
    const std::string text = std::string(kHeader) + before +
                             ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n"
                             ".reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n"
                             "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
                             "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd2, %rd1, %rd3;\n" +
                             body + "\nret;\n}\n";
    program_ = decode(ptx::parse(text, "test.ptx"), "k");
    link(program_);
  }

  Outcome run(Dim3 grid, Dim3 block, std::uint32_t ints = 64) {
    if (out_ == nullptr) out_ = memory_.allocate(ints * 4);
    std::memset(out_->data, 0, out_->bytes);
    const std::uint64_t address = out_->address;
    Launch launch;
    launch.program = &program_;
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared_bytes = dynamic_shared_bytes_;
    launch.parameters = std::as_bytes(std::span(&address, 1));
    Observer* const observers[] = {other_ == nullptr ? &seen_ : other_};
    const std::span<Observer* const> watching(observers, is_watched_ ? 1 : 0);
    return machine_.run(launch, model_, strategy_, watching, limits_);
  }

  std::vector<std::uint32_t> ints(std::size_t count) {
    std::vector<std::uint32_t> values(count);
    std::memcpy(values.data(), out_->data, count * 4);
    return values;
  }

  DeviceMemory memory_;
  Machine machine_{memory_};
  Program program_;
  Allocation* out_ = nullptr;
  std::uint32_t dynamic_shared_bytes_ = 0;
  WarpModel model_ = WarpModel::independent;
  OneDecision strategy_;
  Limits limits_;
  Recorder seen_;
  bool is_watched_ = true;
  Observer* other_ = nullptr;  // in place of seen_
};

TEST_F(MachineTest, ReportsTheStepsThatAnObserverNeeds) {
  compile(
      "add.u32 %r2, %r1, 1;\nsub.u32 %r3, %r2, 2;\nadd.u32 %r4, %r3, 3;\n"
      "st.global.u32 [%rd2], %r4;");
  const auto found = std::ranges::find(program_.code, ptx::Opcode::sub_, &Instr::opcode);
  const auto needed = static_cast<std::uint32_t>(found - program_.code.begin());
  StepRecorder one(needed, false), rest(needed, true);
  other_ = &one;
  run({1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(one.begun, std::vector{needed});
  EXPECT_EQ(one.ended, std::vector{needed});
  EXPECT_EQ(ints(32)[31], 33u);
  other_ = &rest;
  run({1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(rest.begun, (std::vector{needed, needed + 1, needed + 2, needed + 3}));
  EXPECT_EQ(rest.ended, (std::vector{needed, needed + 1, needed + 2}));
}

TEST_F(MachineTest, PartialWarpsStoreOnlyTheirLanes) {
  compile("st.global.u32 [%rd2], %r1;");
  const Outcome outcome = run({1, 1, 1}, {35, 1, 1});
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  std::vector<std::uint32_t> expected(64, 0);
  for (std::uint32_t i = 0; i < 35; ++i) expected[i] = i;
  EXPECT_EQ(ints(64), expected);
  ASSERT_EQ(seen_.accesses.size(), 2u);
  EXPECT_EQ(seen_.accesses[0].mask, 0xffffffffu);
  EXPECT_EQ(seen_.accesses[0].pattern, Pattern::strided);
  EXPECT_EQ(seen_.accesses[1].mask, 7u);
  EXPECT_EQ(seen_.accesses[1].place.warp, 1u);
}

TEST_F(MachineTest, ThreeDimensionalGridsAndBlocks) {
  // out[linear thread in grid] = z * 100 + y * 10 + x of the thread, + 1000 * block z
  compile(
      "mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ctaid.z;\n"
      "mov.u32 %r5, %ntid.x; mov.u32 %r6, %ntid.y; mov.u32 %r7, %ntid.z;\n"
      "mad.lo.u32 %r8, %r3, %r6, %r2; mad.lo.u32 %r8, %r8, %r5, %r1;\n"
      "mul.lo.u32 %r9, %r5, %r6; mul.lo.u32 %r9, %r9, %r7; mad.lo.u32 %r8, %r4, %r9, %r8;\n"
      "mul.lo.u32 %r10, %r3, 100; mad.lo.u32 %r10, %r2, 10, %r10; add.u32 %r10, %r10, %r1;\n"
      "mad.lo.u32 %r10, %r4, 1000, %r10;\n"
      "mul.wide.u32 %rd4, %r8, 4; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], %r10;");
  run({1, 1, 2}, {3, 2, 2});
  EXPECT_EQ(ints(24), (std::vector<std::uint32_t>{0,    1,    2,    10,   11,   12,   100,  101,
                                                  102,  110,  111,  112,  1000, 1001, 1002, 1010,
                                                  1011, 1012, 1100, 1101, 1102, 1110, 1111, 1112}));
}

TEST_F(MachineTest, DivergedLanesMeetAgain) {
  // Each lane loops tid % 4 times; then all store together, in one access.
  compile(
      "and.b32 %r2, %r1, 3; mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
      "setp.eq.u32 %p1, %r2, 0; @%p1 bra DONE;\n"
      "LOOP: add.u32 %r3, %r3, 10; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r2;\n"
      "@%p2 bra LOOP;\n"
      "DONE: st.global.u32 [%rd2], %r3;");
  run({1, 1, 1}, {8, 1, 1});
  EXPECT_EQ(ints(8), (std::vector<std::uint32_t>{0, 10, 20, 30, 0, 10, 20, 30}));
  ASSERT_EQ(seen_.accesses.size(), 1u);
  EXPECT_EQ(seen_.accesses[0].mask, 0xffu);
}

TEST_F(MachineTest, TheClockCountsTheWarpInstructionsOfTheLaunch) {
  // Lane 1 goes around a loop once more than lane 0: two fragments, which meet again.
  compile(
      "mov.u32 %r2, %clock; mov.u32 %r3, 0;\n"
      "LOOP: add.u32 %r3, %r3, 1; setp.le.u32 %p1, %r3, %r1; @%p1 bra LOOP;\n"
      "mov.u64 %rd4, %clock64; mov.u32 %r4, %clock_hi; cvt.u32.u64 %r5, %rd4;\n"
      "sub.u32 %r6, %r5, %r2; st.global.v2.u32 [%rd2], {%r6, %r4};");
  const Outcome outcome = run({1, 1, 1}, {1, 1, 1});
  // The step after the first reading, the three instructions of the loop, and the second reading.
  EXPECT_EQ(ints(2), (std::vector<std::uint32_t>{5, 0}));
  EXPECT_EQ(outcome.steps, 15u);
  compile(
      "mov.u32 %r2, %clock; mov.u32 %r3, 0;\n"
      "LOOP: add.u32 %r3, %r3, 1; setp.le.u32 %p1, %r3, %r1; @%p1 bra LOOP;\n"
      "mov.u32 %r5, %clock; sub.u32 %r6, %r5, %r2; st.global.u32 [%rd2], %r6;");
  run({1, 1, 1}, {2, 1, 1});
  EXPECT_EQ(ints(2), (std::vector<std::uint32_t>{8, 8}));
  run({1, 1, 1}, {33, 1, 1});  // the second warp waits for its turn before its first reading
  EXPECT_EQ(ints(1), (std::vector<std::uint32_t>{98}));
}

TEST_F(MachineTest, BarriersOrderWarps) {
  // share[t] = t; barrier; out[t] = share[63 - t]
  compile(
      "mov.u32 %r2, share; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;\n"
      "st.shared.u32 [%r4], %r1; bar.sync 0;\n"
      "sub.u32 %r5, %r2, %r3; ld.shared.u32 %r6, [%r5+252]; st.global.u32 [%rd2], %r6;",
      ".shared .align 4 .b8 share[256];\n");
  run({1, 1, 1}, {64, 1, 1});
  const std::vector<std::uint32_t> out = ints(64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 63 - i);
  EXPECT_EQ(seen_.syncs, (std::vector{Sync::Kind::kernel_start, Sync::Kind::block_start,
                                      Sync::Kind::barrier_complete, Sync::Kind::block_end,
                                      Sync::Kind::kernel_end}));
  EXPECT_EQ(describe(*seen_.accesses.front().allocation, 12, 4), "share[3]");
  seen_.syncs.clear();
  seen_.blocks = false;
  run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(seen_.syncs, (std::vector{Sync::Kind::kernel_start, Sync::Kind::kernel_end}));
}

TEST_F(MachineTest, DynamicSharedMemoryByGenericAddress) {
  dynamic_shared_bytes_ = 16;
  compile(
      "mov.u32 %r2, dynamic; cvt.u64.u32 %rd4, %r2; cvta.shared.u64 %rd5, %rd4;\n"
      "add.s64 %rd6, %rd5, %rd3; st.u32 [%rd6], %r1; ld.u32 %r3, [%rd6]; st.u32 [%rd2], %r3;",
      ".extern .shared .align 16 .b8 dynamic[];\n");
  run({1, 1, 1}, {5, 1, 1});  // one thread more than fits
  EXPECT_EQ(ints(5), (std::vector<std::uint32_t>{0, 1, 2, 3, 0}));
  ASSERT_EQ(seen_.faults.size(), 2u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::out_of_bounds);
  EXPECT_EQ(seen_.faults[0].space, ptx::Space::shared);
  EXPECT_EQ(seen_.faults[0].lane, 4u);
  EXPECT_EQ(seen_.faults[0].address, 16u);
}

TEST_F(MachineTest, LocalMemoryIsPrivate) {
  compile(
      ".local .align 8 .b8 stack[16];\n"
      "mov.u64 %rd4, stack; cvta.local.u64 %rd5, %rd4; st.local.u32 [%rd4+4], %r1;\n"
      "cvt.u64.u32 %rd6, %r1; st.u64 [%rd5+8], %rd6; ld.u32 %r2, [%rd5+4];\n"
      "ld.local.u64 %rd7, [%rd4+8]; cvt.u32.u64 %r3, %rd7; add.u32 %r4, %r2, %r3;\n"
      "ld.local.u32 %r5, [%rd4+16]; st.global.u32 [%rd2], %r4;");
  run({1, 1, 1}, {33, 1, 1});
  const std::vector<std::uint32_t> out = ints(33);
  for (std::uint32_t i = 0; i < 33; ++i) EXPECT_EQ(out[i], 2 * i);
  ASSERT_EQ(seen_.faults.size(), 33u);  // [stack + 16] is beyond the frame
  EXPECT_EQ(seen_.faults[0].space, ptx::Space::local);
  EXPECT_EQ(seen_.faults[0].address, 16u);
}

TEST_F(MachineTest, CallsPassParametersAndResults) {
  compile(
      "{ .param .b32 a; .param .b64 b; .param .b32 r; st.param.b32 [a], %r1;\n"
      "cvt.u64.u32 %rd4, %r1; st.param.b64 [b], %rd4;\n"
      "call.uni (r), f, (a, b); ld.param.b32 %r2, [r]; }\n"
      "st.global.u32 [%rd2], %r2;",
      ".func (.param .b32 result) f(.param .b32 x, .param .b64 y)\n{\n.reg .b32 %r<5>;\n"
      ".reg .b64 %rd<3>;\n.reg .pred %p;\n"
      "ld.param.u32 %r1, [x]; ld.param.u64 %rd1, [y]; cvt.u32.u64 %r2, %rd1;\n"
      "setp.lt.u32 %p, %r1, 2; @%p bra SMALL; mad.lo.u32 %r3, %r1, 100, %r2;\n"
      "st.param.b32 [result], %r3; ret;\nSMALL: mov.u32 %r4, 7; st.param.b32 [result], %r4; ret;\n"
      "}\n");
  run({1, 1, 1}, {4, 1, 1});
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{7, 7, 202, 303}));
  ASSERT_EQ(seen_.accesses.size(), 1u);
  EXPECT_EQ(seen_.accesses[0].mask, 0xfu);
}

TEST_F(MachineTest, AtomicsTakeLanesInOrder) {
  compile(
      "atom.global.add.u32 %r2, [%rd1], 2; red.global.max.s32 [%rd1+4], %r1;\n"
      "st.global.u32 [%rd2+16], %r2;");
  run({1, 1, 1}, {4, 1, 1});
  EXPECT_EQ(ints(8), (std::vector<std::uint32_t>{8, 3, 0, 0, 0, 2, 4, 6}));
  EXPECT_EQ(seen_.accesses[0].kind, AccessKind::atomic);
  EXPECT_EQ(seen_.accesses[0].pattern, Pattern::uniform);
}

TEST_F(MachineTest, NarrowAndVectorAccesses) {
  compile(
      "mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd1, %rd4;\n"
      "add.u32 %r2, %r1, 250; st.global.v2.u32 [%rd5], {%r1, %r2};\n"
      "ld.global.u8 %r3, [%rd5+4]; ld.global.s8 %r4, [%rd5+4];\n"
      "add.u32 %r5, %r3, %r4; st.global.u16 [%rd5+2], %r5;");
  run({1, 1, 1}, {8, 1, 1});
  const std::vector<std::uint32_t> out = ints(16);
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t byte = (i + 250) & 0xff;
    const std::uint32_t sum = byte + static_cast<std::uint32_t>(static_cast<std::int8_t>(byte));
    EXPECT_EQ(out[2 * i], i | (sum & 0xffff) << 16) << i;
    EXPECT_EQ(out[2 * i + 1], i + 250) << i;
  }
}

// The offsets that the other lanes use must not depend on whether an observer was called.
TEST_F(MachineTest, OneLaneLoadsAVectorUnwatched) {
  is_watched_ = false;
  compile(
      "mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd1, %rd4;\n"
      "add.u32 %r2, %r1, 250; st.global.v2.u32 [%rd5], {%r1, %r2};\n"
      "setp.eq.u32 %p1, %r1, 5; mov.u32 %r3, 1; mov.u32 %r4, 2;\n"
      "@%p1 ld.global.v2.u32 {%r3, %r4}, [%rd5];\n"
      "st.global.v2.u32 [%rd5], {%r4, %r3};");
  run({1, 1, 1}, {8, 1, 1});
  EXPECT_EQ(ints(16),
            (std::vector<std::uint32_t>{2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 255, 5, 2, 1, 2, 1}));
}

// Seen on an H200.
TEST_F(MachineTest, TheBitsOfANanAreCutOffToTf32) {
  compile(
      "cvt.rna.tf32.f32 %r2, 0f7FEB1BDC; st.global.u32 [%rd1], %r2;\n"
      "cvt.rna.satfinite.tf32.f32 %r2, 0fFFFFFFFF; st.global.u32 [%rd1+4], %r2;\n"
      "cvt.rna.satfinite.tf32.f32 %r2, 0f7F802000; st.global.u32 [%rd1+8], %r2;\n"
      "cvt.rna.tf32.f32 %r2, 0f7F7FF000; st.global.u32 [%rd1+12], %r2;\n"
      "cvt.rna.satfinite.tf32.f32 %r2, 0f7F7FF000; st.global.u32 [%rd1+16], %r2;\n"
      "cvt.rna.tf32.f32 %r2, 0f3F801000; st.global.u32 [%rd1+20], %r2;");
  run({1, 1, 1}, {1, 1, 1});
  EXPECT_EQ(ints(6), (std::vector<std::uint32_t>{0x7feb0000, 0xffffc000, 0x7f800000, 0x7f800000,
                                                 0x7f7fe000, 0x3f802000}));
}

// Seen on an H200: what is lost in rounding loses its sign.
TEST_F(MachineTest, AProductOfMatricesTooSmallForItsTypeIsPositiveZero) {
  compile(
      "mov.u32 %r2, 0x80018001; mov.u32 %r3, 0x00010001; mov.u32 %r4, 0x80000000;\n"
      "mov.u32 %r5, 0x80018001; mov.u32 %r6, 0x34003400;\n"
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r7, %r8}, {%r2, %r5}, {%r3}, "
      "{%r4, %r6};\n"
      "st.global.v2.u32 [%rd1], {%r7, %r8};\n"
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r7, %r8}, {%r2, %r5}, {%r6}, "
      "{%r4, %r4};\n"
      "st.global.v2.u32 [%rd1+8], {%r7, %r8};");
  run({1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{0, 0x34003400, 0x80028002, 0x80028002}));
  compile(
      "mov.u32 %r2, 0x80018001; mov.u32 %r3, 0x00010001; mov.u32 %r4, 0x80000000;\n"
      "mov.u32 %r9, 0;\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%r5, %r6, %r7, %r8}, {%r2, %r2}, {%r3}, "
      "{%r4, %r9, %r4, %r9};\n"
      "st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r8};");
  run({1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{0, 0, 0, 0}));
}

TEST_F(MachineTest, FaultsAreReportedAndDropped) {
  compile(
      "ld.global.u32 %r2, [%rd2]; add.u32 %r2, %r2, 5; st.global.u32 [%rd2+1], %r2;\n"
      "st.global.u32 [%rd2+4], %r2;");
  run({1, 1, 1}, {4, 1, 1}, 4);
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{0, 5, 5, 5}));
  ASSERT_EQ(seen_.faults.size(), 5u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::misaligned);
  EXPECT_EQ(seen_.faults[4].kind, Fault::Kind::out_of_bounds);
  EXPECT_EQ(seen_.faults[4].lane, 3u);
  EXPECT_EQ(seen_.faults[4].nearest, out_);
}

TEST_F(MachineTest, UndefinedValuesAreFollowedToTheirUse) {
  seen_.answer = [](Access& access) {
    if (access.kind == AccessKind::read) access.undefined = 2, access.origin = access.pc;
  };
  compile(
      "ld.global.u32 %r2, [%rd2]; add.u32 %r3, %r2, 1; st.global.u32 [%rd2], %r3;\n"
      "setp.eq.u32 %p1, %r3, 0; @%p1 bra L; mov.u32 %r4, 1;\nL: st.global.u32 [%rd2], %r1;");
  run({1, 1, 1}, {4, 1, 1});
  ASSERT_EQ(seen_.accesses.size(), 3u);
  EXPECT_EQ(seen_.accesses[1].undefined, 2u);
  EXPECT_EQ(seen_.accesses[1].origin, seen_.accesses[0].pc);
  EXPECT_EQ(seen_.accesses[2].undefined, 0u);
  ASSERT_EQ(seen_.uses.size(), 1u);
  EXPECT_EQ(seen_.uses[0].kind, UndefinedUse::Kind::branch);
  EXPECT_EQ(seen_.uses[0].lanes, 2u);
}

// Lane 1 of %r2 is undefined; every use shows the lanes for which the branch still depends on it.
TEST_F(MachineTest, AnOperandThatDecidesAloneMakesTheResultDefined) {
  seen_.answer = [](Access& access) {
    if (access.kind == AccessKind::read) access.undefined = 6, access.origin = access.pc;
  };
  const auto uses_of = [&](const std::string& result) {
    seen_.uses.clear();
    compile("ld.global.u32 %r2, [%rd2]; setp.ne.u32 %p1, %r2, 77; setp.ne.u32 %p2, %r1, 1;\n" +
            result + "@%p3 bra L; mov.u32 %r4, 1;\nL: st.global.u32 [%rd2], %r1;");
    run({1, 1, 1}, {4, 1, 1});
    return seen_.uses.size() == 1 ? seen_.uses[0].lanes : 0u;
  };
  EXPECT_EQ(uses_of("mov.pred %p3, %p1;\n"), 6u);
  EXPECT_EQ(uses_of("and.pred %p3, %p1, %p2;\n"), 4u) << "%p2 is false in lane 1";
  EXPECT_EQ(uses_of("and.pred %p3, %p2, %p1;\n"), 4u);
  EXPECT_EQ(uses_of("or.pred %p3, %p1, %p2;\n"), 2u) << "%p2 is true in lane 2";
  EXPECT_EQ(uses_of("xor.pred %p3, %p1, %p2;\n"), 6u);
  EXPECT_EQ(uses_of("setp.lt.and.u32 %p3, %r2, 9, %p2;\n"), 4u);
  EXPECT_EQ(uses_of("setp.lt.or.u32 %p3, %r2, 9, %p2;\n"), 2u);
  EXPECT_EQ(uses_of("selp.u32 %r3, -1, 0, %p2; and.b32 %r3, %r3, %r2; setp.eq.u32 %p3, %r3, 5;\n"),
            4u);
  EXPECT_EQ(uses_of("selp.u32 %r3, -1, 0, %p2; or.b32 %r3, %r2, %r3; setp.eq.u32 %p3, %r3, 5;\n"),
            2u);
  EXPECT_EQ(uses_of("and.pred %p3, %p1, %p1;\n"), 6u);
}

TEST_F(MachineTest, ADecisionHoldsLanesBack) {
  // Lane 2 reads what lane 1 writes.
  compile(
      "mov.u32 %r2, share; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;\n"
      "st.shared.u32 [%r4], 0; bar.sync 0; ld.shared.u32 %r5, [%r4+-4]; st.shared.u32 [%r4], 9;\n"
      "bar.sync 0; st.global.u32 [%rd2], %r5;",
      ".shared .align 4 .b8 pad[4];\n.shared .align 4 .b8 share[256];\n");
  run({1, 1, 1}, {3, 1, 1});
  EXPECT_EQ(ints(3)[2], 0u);
  const Decision decision{0, {0, 0}, Decision::Point::access, 1, 1u << 2, {0, 0}};
  strategy_ = OneDecision(decision);
  const Outcome outcome = run({1, 1, 1}, {3, 1, 1});
  EXPECT_EQ(ints(3)[2], 9u);
  EXPECT_EQ(outcome.decisions, std::vector{decision});
  model_ = WarpModel::lockstep;  // which never splits warps in this way
  EXPECT_TRUE(run({1, 1, 1}, {3, 1, 1}).decisions.empty());
  EXPECT_EQ(ints(3)[2], 0u);
}

TEST_F(MachineTest, ADecisionHoldsDivergedLanesBack) {
  // Only lane 0 writes what lane 1 reads next, and no synchronisation orders the two.
  compile(
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra NEXT;\n"
      "st.global.u32 [%rd1+4], 9;\n"
      "NEXT: ld.global.u32 %r5, [%rd2]; st.global.u32 [%rd2+8], %r5;");
  run({1, 1, 1}, {2, 1, 1});
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{0, 9, 0, 9}));
  const Decision decision{0, {0, 0}, Decision::Point::access, 0, 1, {0, 0}};
  strategy_ = OneDecision(decision);
  EXPECT_EQ(run({1, 1, 1}, {2, 1, 1}).decisions, std::vector{decision});
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{0, 9, 0, 0}));
  // No other thread can run instead.
  EXPECT_TRUE(run({1, 1, 1}, {1, 1, 1}).decisions.empty());
  model_ = WarpModel::lockstep;  // which always orders these lanes
  EXPECT_TRUE(run({1, 1, 1}, {2, 1, 1}).decisions.empty());
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{0, 9, 0, 9}));
}

TEST_F(MachineTest, MemoryOfABlockDoesNotRememberTheOneBefore) {
  compile(
      ".shared .align 4 .b8 s[4]; .local .align 4 .b8 l[4];\n"
      "mov.u32 %r9, %ctaid.x; mul.wide.u32 %rd9, %r9, 8; add.s64 %rd9, %rd9, %rd1;\n"
      "ld.shared.u32 %r2, [s]; ld.local.u32 %r3, [l];\n"
      "st.global.u32 [%rd9], %r2; st.global.u32 [%rd9+4], %r3;\n"
      "mov.u32 %r4, 7; st.shared.u32 [s], %r4; st.local.u32 [l], %r4;");
  for (int launch = 0; launch < 2; ++launch) {
    run({2, 1, 1}, {1, 1, 1});
    EXPECT_EQ(ints(4), std::vector<std::uint32_t>(4, 0xa5a5a5a5)) << launch;
  }
}

TEST_F(MachineTest, ADecisionPreemptsAWarp) {
  compile("st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2+4], %r2;");
  run({1, 1, 1}, {64, 1, 1}, 80);
  EXPECT_EQ(ints(2)[1], 31u);
  // Warp 1 runs between warp 0's store and its load.
  const Decision decision{0, {0, 0}, Decision::Point::access, 1, ~0u, {0, 1}};
  strategy_ = OneDecision(decision);
  EXPECT_EQ(run({1, 1, 1}, {64, 1, 1}).decisions, std::vector{decision});
  EXPECT_EQ(ints(2)[1], 63u);
}

TEST_F(MachineTest, ADecisionAtAStopChoosesTheNextWarp) {
  compile("st.global.u32 [%rd1], %r1;");
  run({1, 1, 1}, {96, 1, 1});
  EXPECT_EQ(ints(1)[0], 95u);
  const Decision decision{0, {0, 0}, Decision::Point::stop, 0, 0, {0, 2}};
  strategy_ = OneDecision(decision);
  EXPECT_EQ(run({1, 1, 1}, {96, 1, 1}).decisions, std::vector{decision});
  EXPECT_EQ(ints(1)[0], 63u);
}

TEST_F(MachineTest, BarrierDivergenceIsReportedAndTheTrialGoesOn) {
  compile(
      "setp.lt.u32 %p1, %r1, 2; @%p1 bra A; bar.sync 0; bra B;\nA: bar.sync 0;\n"
      "B: st.global.u32 [%rd2], 1;");
  EXPECT_EQ(run({1, 1, 1}, {4, 1, 1}).end, Outcome::End::completed);
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{1, 1, 1, 1}));
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, BarrierDivergence::Reason::different_barriers);
  EXPECT_NE(seen_.divergences[0].pc, seen_.divergences[0].other_pc);
}

TEST_F(MachineTest, AThreadThatExitedDoesNotReachTheBarrier) {
  compile("setp.eq.u32 %p1, %r1, 3; @%p1 ret; bar.sync 0; st.global.u32 [%rd2], 1;");
  EXPECT_EQ(run({1, 1, 1}, {4, 1, 1}).end, Outcome::End::completed);
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{1, 1, 1, 0}));
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, BarrierDivergence::Reason::exited);
  EXPECT_EQ(seen_.divergences[0].other_lane, 3u);
}

TEST_F(MachineTest, LongLoopsEndAtTheStepLimit) {
  limits_.steps_max = 10'000;
  compile("L: add.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;");
  EXPECT_EQ(run({1, 1, 1}, {4, 1, 1}).end, Outcome::End::step_limit);
  ASSERT_EQ(seen_.limits.size(), 1u);
  EXPECT_GE(seen_.limits[0].steps, 10'000u);
}

TEST_F(MachineTest, SpinningLanesDoNotStarveTheirOwnWarp) {
  // Lane 0 waits for what lane 1 writes.
  compile(
      "setp.eq.u32 %p1, %r1, 0; @!%p1 bra W;\nS: ld.volatile.global.u32 %r2, [%rd1];\n"
      "setp.eq.u32 %p2, %r2, 0; @%p2 bra S; bra E;\nW: st.volatile.global.u32 [%rd1], 1;\nE:");
  EXPECT_EQ(run({1, 1, 1}, {2, 1, 1}).end, Outcome::End::completed);
  EXPECT_EQ(ints(1)[0], 1u);
}

TEST_F(MachineTest, SpinningBlocksDoNotStarveOthers) {
  compile(
      "mov.u32 %r3, %ctaid.x; setp.ne.u32 %p1, %r3, 0; @%p1 bra W;\n"
      "S: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra S; bra E;\n"
      "W: st.volatile.global.u32 [%rd1], 1;\nE:");
  EXPECT_EQ(run({2, 1, 1}, {1, 1, 1}).end, Outcome::End::completed);
}

TEST_F(MachineTest, TrapEndsTheLaunch) {
  compile("trap;");
  EXPECT_EQ(run({1, 1, 1}, {4, 1, 1}).end, Outcome::End::trap);
  EXPECT_EQ(seen_.traps.size(), 1u);
}

// A loop over an array from its end with an unsigned index.
TEST_F(MachineTest, FaultsThatDoNotEndStopTheLaunch) {
  limits_.steps_max = kNoLimit;
  seen_.keeps_accesses = false;
  const std::string walk =
      "mov.u32 %r3, 10;\nS: sub.u32 %r3, %r3, 1; mul.wide.u32 %rd4, %r3, 4;\n"
      "add.s64 %rd4, %rd4, %rd1; st.global.u32 [%rd4], %r3; setp.ne.u32 %p1, %r3, ";
  compile(walk + "77; @%p1 bra S;");
  const Outcome outcome = run({1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(outcome.end, Outcome::End::trap);
  EXPECT_EQ(outcome.cause, Trap::Cause::faults);
  EXPECT_GE(outcome.faults, std::uint64_t{1} << 22);
  EXPECT_EQ(seen_.traps.size(), 1u);
  // This number of bad accesses is large but finite.
  compile(walk + "4294867296; @%p1 bra S;");
  EXPECT_EQ(run({1, 1, 1}, {32, 1, 1}).end, Outcome::End::completed);
}

TEST_F(MachineTest, FaultsStopTheLaunchBeforeALowLimitOfStepsDoes) {
  limits_.steps_max = 10'000;
  compile("S: st.global.u32 [%rd1+1000000], %r3; bra S;");
  const Outcome outcome = run({1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(outcome.end, Outcome::End::trap);
  EXPECT_EQ(outcome.cause, Trap::Cause::faults);
  EXPECT_GE(outcome.faults, 2'000u);
  EXPECT_LT(outcome.steps, 10'000u);
}

TEST_F(MachineTest, WhoHasSeenEnoughEndsTheLaunch) {
  bool enough = false;
  limits_.enough = &enough;
  compile("bar.sync 0; st.global.u32 [%rd2], %r1;");
  seen_.answer = [&](const Access&) { enough = true; };
  EXPECT_EQ(run({3, 1, 1}, {64, 1, 1}).end, Outcome::End::enough);
  ASSERT_EQ(seen_.accesses.size(), 1u);  // of six warps, only one has run
  EXPECT_EQ(seen_.accesses[0].kind, AccessKind::write);
  // executes nothing, but is reported to observers
  const Outcome next = run({3, 1, 1}, {64, 1, 1});
  EXPECT_EQ(next.end, Outcome::End::enough);
  EXPECT_EQ(next.steps, 0u);
  EXPECT_EQ(seen_.accesses.size(), 1u);
  EXPECT_EQ(std::ranges::count(seen_.syncs, Sync::Kind::kernel_start), 2);
  EXPECT_EQ(std::ranges::count(seen_.syncs, Sync::Kind::kernel_end), 2);
  enough = false;
  seen_.answer = nullptr;
  EXPECT_EQ(run({3, 1, 1}, {64, 1, 1}).end, Outcome::End::completed);
}

TEST_F(MachineTest, CountsThreadInstructions) {
  compile("st.global.u32 [%rd2], %r1;");  // 6 instructions with ret
  const Outcome outcome = run({1, 1, 1}, {40, 1, 1});
  EXPECT_EQ(outcome.steps, 12u);
  EXPECT_EQ(outcome.lane_steps, 240u);
}

TEST_F(MachineTest, RefusesByName) {
  const auto message = [&](const std::string& body) -> std::string {
    try {
      compile(body);
    } catch (const Refusal& refusal) {
      return refusal.what();
    }
    return "accepted";
  };
  EXPECT_NE(message("frobnicate.b32 %r1, %r1;").find("frobnicate.b32"), std::string::npos);
  EXPECT_NE(message("bar.cluster.arrive;").find("'.cluster'"), std::string::npos);
}

}  // namespace
}  // namespace warpcheck::vgpu
