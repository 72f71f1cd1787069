// Calls, jump tables and stacks of the machine, in PTX that nvcc rarely generates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/program/refusal.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::vgpu {
namespace {

class Watcher final : public Observer {
 public:
  void on_trap(const Trap& trap) override {
    traps.push_back(trap);
    details.emplace_back(trap.detail);
  }
  [[nodiscard]] Watched watches() const override { return {.frames = true}; }
  void on_fault(const Fault& fault) override { faults.push_back(fault); }
  void on_frame_end(const FrameEnd& frame) override {
    if (frame.mask == ~0u) ended_bytes += frame.bytes;
  }
  void on_allocate(const Allocation& allocation) override {
    if (allocation.space == ptx::Space::local) local_bytes += allocation.bytes / kWarpLanes;
  }

  std::vector<Trap> traps;
  std::vector<std::string> details;
  std::vector<Fault> faults;
  std::uint64_t local_bytes = 0;
  std::uint64_t ended_bytes = 0;  // of frames that a whole warp gives back, for each lane
};

// A kernel `k` whose one parameter is a pointer; `body` has %tid.x in %r1 and %rd2 = the pointer
// + 4 * thread.
class MachineCalls : public testing::Test {
 protected:
  Outcome run(const std::string& functions, const std::string& body, std::uint32_t stack = 1024) {
    program_ = decode(ptx::parse(".version 8.0\n.target sm_75\n.address_size 64\n" + functions +
                                     ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n"
                                     ".reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n"
                                     "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
                                     "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd2, %rd1, %rd3;\n" +
                                     body + "\nret;\n}\n",
                                 "test.ptx"),
                      "k");
    link(program_);
    out_ = memory_.allocate(64 * 4);
    std::memset(out_->data, 0, out_->bytes);
    const std::uint64_t address = out_->address;
    Launch launch;
    launch.program = &program_;
    launch.block = {64, 1, 1};
    launch.stack_bytes = stack;
    launch.parameters = std::as_bytes(std::span(&address, 1));
    Observer* const observers[] = {&seen_};
    return machine_.run(launch, WarpModel::independent, policy_, observers, {});
  }
  void expect(const std::function<std::uint32_t(std::uint32_t)>& value) {
    std::vector<std::uint32_t> found(64), expected;
    std::memcpy(found.data(), out_->data, 64 * 4);
    for (std::uint32_t i = 0; i < 64; ++i) expected.push_back(value(i));
    EXPECT_EQ(found, expected);
  }

  DeviceMemory memory_;
  Machine machine_{memory_};
  Program program_;
  Allocation* out_ = nullptr;
  DefaultPolicy policy_;
  Watcher seen_;
};

constexpr const char* kJumpTable =
    "and.b32 %r2, %r1, 3;\ntargets: .branchtargets A, B, C, A;\nbrx.idx %r2, targets;\n"
    "A: mov.u32 %r3, 10;\nbra.uni END;\nB: add.u32 %r3, %r1, 100;\n"  // B falls through to C
    "C: add.u32 %r3, %r3, 1000;\nEND: activemask.b32 %r4;\npopc.b32 %r5, %r4;\n"
    "mad.lo.u32 %r6, %r5, 10000, %r3;\nst.global.u32 [%rd2], %r6;\n";

TEST_F(MachineCalls, LanesOfAJumpTableMeetAgain) {
  EXPECT_EQ(run("", kJumpTable).end, Outcome::End::completed);
  expect([](std::uint32_t i) {
    const std::uint32_t values[] = {10, i + 1100, 1000, 10};
    return 320000 + values[i % 4];
  });
}

TEST_F(MachineCalls, AnIndexBeyondTheTableIsNamed) {
  EXPECT_EQ(run("", "targets: .branchtargets A;\nbrx.idx %r1, targets;\nA: nop;\n").end,
            Outcome::End::trap);
  ASSERT_EQ(seen_.traps.size(), 1u);
  EXPECT_EQ(seen_.traps[0].cause, Trap::Cause::bad_index);
  EXPECT_EQ(seen_.traps[0].lanes, 2u);
  EXPECT_EQ(seen_.details[0], "(1) jumps to label 1 of a list of 1");
}

constexpr const char* kTwo =
    ".func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [x];\n"
    "add.u32 %r2, %r1, 1;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".func (.param .b32 r) g(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [x];\n"
    "frob.b32 %r1, %r1;\nmul.lo.u32 %r2, %r1, 3;\nst.param.b32 [r], %r2;\nret;\n}\n";
constexpr const char* kCall =
    "mov.u64 %rd4, f;\nmov.u64 %rd5, g;\n@%p1 mov.u64 %rd4, %rd5;\n"
    "{\n.param .b32 a;\n.param .b32 q;\nst.param.b32 [a], %r1;\nlist: .calltargets f, g;\n"
    "call (q), %rd4, (a), list;\nld.param.b32 %r2, [q];\n}\nst.global.u32 [%rd2], %r2;\n";

TEST_F(MachineCalls, WhatCannotRunStopsOnlyTheLaunchThatReachesIt) {
  EXPECT_EQ(run(kTwo, kCall).end, Outcome::End::completed);
  expect([](std::uint32_t i) { return i + 1; });
  const Outcome outcome = run(kTwo, std::string("setp.eq.u32 %p1, %r1, 40;\n") + kCall);
  EXPECT_EQ(outcome.end, Outcome::End::refused);
  EXPECT_EQ(outcome.refusal,
            "test.ptx:16: 'frob.b32' in function 'g' is not supported: unknown instruction "
            "'frob.b32'");
}

TEST_F(MachineCalls, AllocaGivesEachFrameItsOwnAndFreesItWhenItReturns) {
  const Outcome outcome = run(
      ".func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n"
      ".reg .pred %p<3>;\nld.param.b32 %r1, [x];\ncvt.u64.u32 %rd1, %r1;\nadd.u64 %rd1, %rd1, 4;\n"
      "alloca.u64 %rd2, %rd1, 64;\nst.local.u32 [%rd2], %r1;\nmov.u32 %r3, 0;\n"
      "setp.lt.u32 %p1, %r1, 2;\n@%p1 bra END;\nsub.u32 %r2, %r1, 2;\n"
      "{\n.param .b32 a;\n.param .b32 q;\nst.param.b32 [a], %r2;\ncall (q), f, (a);\n"
      "ld.param.b32 %r3, [q];\n}\n"
      "END: ld.local.u32 %r4, [%rd2];\nadd.u32 %r5, %r3, %r4;\ncvt.u32.u64 %r6, %rd2;\n"
      "and.b32 %r6, %r6, 63;\nadd.u32 %r5, %r5, %r6;\nst.param.b32 [r], %r5;\nret;\n}\n",
      "and.b32 %r2, %r1, 15;\n{\n.param .b32 a;\n.param .b32 q;\nst.param.b32 [a], %r2;\n"
      "call (q), f, (a);\ncall (q), f, (a);\nld.param.b32 %r2, [q];\n}\n"
      "st.global.u32 [%rd2], %r2;\n",
      2048);
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  expect([](std::uint32_t i) {
    std::uint32_t sum = 0;
    for (std::uint32_t n = i % 16;; n -= 2) {
      sum += n;
      if (n < 2) return sum;
    }
  });
}

TEST_F(MachineCalls, StackrestoreGivesBackWhatAllocaTook) {
  EXPECT_EQ(run("",
                "mov.u32 %r2, 0;\nLOOP:\nstacksave.u64 %rd4;\nmov.u64 %rd5, 400;\n"
                "alloca.u64 %rd6, %rd5;\nst.local.u32 [%rd6+396], %r2;\n"
                "ld.local.u32 %r3, [%rd6+396];\nstackrestore.u64 %rd4;\nadd.u32 %r2, %r3, 1;\n"
                "setp.lt.u32 %p1, %r2, 50;\n@%p1 bra LOOP;\nst.global.u32 [%rd2], %r2;\n")
                .end,
            Outcome::End::completed);
  expect([](std::uint32_t) { return 50; });
  EXPECT_TRUE(seen_.faults.empty());
  EXPECT_EQ(seen_.ended_bytes, 2u * 50 * 400);
}

TEST_F(MachineCalls, AllocaBeyondTheStackIsAnOverflow) {
  EXPECT_EQ(run("", "mov.u64 %rd5, 2000;\nalloca.u64 %rd6, %rd5;\n").end, Outcome::End::trap);
  ASSERT_EQ(seen_.traps.size(), 1u);
  EXPECT_EQ(seen_.traps[0].cause, Trap::Cause::stack_overflow);
  EXPECT_EQ(seen_.details[0],
            "stack overflow: (1) needs 2000 bytes of a stack of 1024 (cudaLimitStackSize)");
  EXPECT_EQ(run("", "mov.u64 %rd5, -1;\nalloca.u64 %rd6, %rd5;\n").cause,
            Trap::Cause::stack_overflow);
}

// Each call takes 20 registers and 32 bytes of local memory.
constexpr const char* kDeep =
    ".func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 %r<20>;\n.reg .pred %p<2>;\n"
    ".local .align 4 .b8 here[32];\nld.param.b32 %r1, [x];\nst.local.u32 [here+28], %r1;\n"
    "mov.u32 %r3, 0;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\nsub.u32 %r2, %r1, 1;\n"
    "{\n.param .b32 a;\n.param .b32 q;\nst.param.b32 [a], %r2;\ncall (q), f, (a);\n"
    "ld.param.b32 %r3, [q];\n}\nEND: ld.local.u32 %r4, [here+28];\nadd.u32 %r5, %r3, %r4;\n"
    "st.param.b32 [r], %r5;\nret;\n}\n";
constexpr const char* kCallDeep =
    "add.u32 %r2, %r1, 900;\n{\n.param .b32 a;\n.param .b32 q;\nst.param.b32 [a], %r2;\n"
    "call (q), f, (a);\nld.param.b32 %r2, [q];\n}\nst.global.u32 [%rd2], %r2;\n";

TEST_F(MachineCalls, StacksGrowAsCallsNeedThem) {
  EXPECT_EQ(run(kDeep, kCallDeep, 1 << 20).end, Outcome::End::completed);
  expect([](std::uint32_t i) { return (i + 900) * (i + 901) / 2; });
  EXPECT_GE(seen_.local_bytes, 2 * 964 * 48u);  // of two warps
  // less than the maximum that the warps might need
  EXPECT_LT(seen_.local_bytes, 2 * 2 * 1000 * 48u);
  EXPECT_TRUE(seen_.faults.empty());
}

// At each depth a bit of the thread's number selects one of two functions to call.  The calls of
// one group grow the register file, which also holds the address of the other group's function.
TEST_F(MachineCalls, LanesCallDifferentFunctionsWhileStacksGrow) {
  const auto function = [](const char* name) {
    return fmt::format(
        ".func (.param .b32 r) {}(.param .b32 x)\n{{\n.reg .b32 %r<40>;\n.reg .pred %p<3>;\n"
        ".reg .b64 %rd<20>;\nld.param.b32 %r1, [x];\nmov.u32 %r3, 0;\n"
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\nsub.u32 %r2, %r1, 1;\nmov.u32 %r5, %tid.x;\n"
        "rem.u32 %r6, %r1, 5;\nshr.u32 %r5, %r5, %r6;\nand.b32 %r5, %r5, 1;\n"
        "setp.eq.u32 %p2, %r5, 0;\nmov.u64 %rd5, d;\nmov.u64 %rd6, e;\n"
        "selp.u64 %rd7, %rd5, %rd6, %p2;\n{{\n.param .b32 a;\n.param .b32 q;\n"
        "st.param.b32 [a], %r2;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (q), %rd7, (a), proto;\nld.param.b32 %r3, [q];\n}}\n"
        "END: add.u32 %r4, %r3, %r1;\nst.param.b32 [r], %r4;\nret;\n}}\n",
        name);
  };
  const std::string declared =
      ".func (.param .b32 r) d(.param .b32 x);\n.func (.param .b32 r) e(.param .b32 x);\n";
  const std::string body =
      "mov.u32 %r2, 12;\n{\n.param .b32 a;\n.param .b32 q;\nst.param.b32 [a], %r2;\n"
      "call (q), d, (a);\nld.param.b32 %r2, [q];\n}\nst.global.u32 [%rd2], %r2;\n";
  EXPECT_EQ(run(declared + function("d") + function("e"), body, 1 << 20).end,
            Outcome::End::completed);
  expect([](std::uint32_t) { return 78u; });
}

// Parameters and results are registers, of all sizes; arguments are registers, constants and
// variables.  The first return is taken by some lanes only; the second function runs off its end.
TEST_F(MachineCalls, ParametersAndResultsAreRegisters) {
  const std::string functions =
      ".func (.reg .u32 r, .reg .f64 s) f(.reg .u32 a, .reg .u64 b, .reg .f32 c, .reg .s16 h)\n{\n"
      ".reg .pred p;\n.reg .u32 t;\ncvt.u32.u64 t, b;\nadd.u32 r, a, t;\ncvt.f64.f32 s, c;\n"
      "setp.lt.u32 p, a, 8;\n@p ret;\ncvt.s32.s16 t, h;\nadd.u32 r, r, t;\nret;\n}\n"
      ".func (.reg .b128 r) g(.reg .v2 .u32 v, .reg .b128 q)\n{\n.reg .b64 lo, hi, w;\n"
      "mov.b128 {lo, hi}, q;\nmov.b64 w, {v.x, v.y};\nadd.u64 lo, lo, w;\n"
      "mov.b128 r, {lo, hi};\n}\n";
  const std::string body =
      ".reg .f64 d;\n.reg .f32 c;\n.reg .b16 h;\n.reg .b128 q;\n.reg .v2 .u32 v;\n"
      "mov.u64 %rd4, 100;\nmov.f32 c, 0f40400000;\nmov.b16 h, -2;\n"
      "call (%r2, d), f, (%r1, %rd4, c, h);\ncvt.rzi.u32.f64 %r3, d;\n"  // i + 100 [- 2], 3
      "call (%r4, _), f, (%r1, 1000, 1.5, 7);\n"                         // i + 1000 [+ 7]
      "mov.u64 %rd5, f;\n"
      "shape: .callprototype (.reg .b32 _, .reg .b64 _) _ (.reg .b32 _, .reg .b64 _,"
      " .reg .b32 _, .reg .b16 _);\n"
      "{\n.param .b32 a;\n.param .b64 z;\nst.param.b32 [a], 9;\n"
      "call (%r5, z), %rd5, (a, %rd4, c, h), shape;\nld.param.b64 %rd6, [z];\n}\n"  // 107, 3.0
      "shr.u64 %rd6, %rd6, 51;\ncvt.u32.u64 %r6, %rd6;\n"
      "mov.b64 %rd7, 5;\nmov.b128 q, {%rd4, %rd7};\nmov.u32 v.x, %r1;\nmov.u32 v.y, 1;\n"
      "call (q), g, (v, q);\nmov.b128 {%rd8, %rd9}, q;\ncvt.u32.u64 %r7, %rd8;\n"  // i + 100
      "shr.u64 %rd8, %rd8, 32;\ncvt.u32.u64 %r8, %rd8;\ncvt.u32.u64 %r9, %rd9;\n"  // 1, 5
      "mad.lo.u32 %r2, %r3, 1000, %r2;\nmad.lo.u32 %r2, %r4, 3, %r2;\n"
      "mad.lo.u32 %r2, %r5, 5, %r2;\nmad.lo.u32 %r2, %r6, 7, %r2;\n"
      "mad.lo.u32 %r2, %r7, 11, %r2;\nmad.lo.u32 %r2, %r8, 13, %r2;\n"
      "mad.lo.u32 %r2, %r9, 17, %r2;\nst.global.u32 [%rd2], %r2;\n";
  EXPECT_EQ(run(functions, body).end, Outcome::End::completed);
  expect([](std::uint32_t i) {
    const std::uint32_t first = i < 8 ? i + 100 : i + 98, second = i < 8 ? i + 1000 : i + 1007;
    return 3 * 1000 + first + 3 * second + 5 * 107 + 7 * 0x801 + 11 * (i + 100) + 13 + 5 * 17;
  });
  EXPECT_TRUE(seen_.faults.empty());
}

TEST_F(MachineCalls, RegisterParametersOfEachDepthAreItsOwn) {
  const std::string functions =
      ".func (.reg .u32 r) f(.reg .u32 a)\n{\n.reg .pred p;\n.reg .u32 t;\nmov.u32 r, 0;\n"
      "setp.eq.u32 p, a, 0;\n@p ret;\nsub.u32 t, a, 1;\ncall (r), f, (t);\nadd.u32 r, r, a;\n"
      "ret;\n}\n";
  EXPECT_EQ(run(functions, "call (%r2), f, (%r1);\nst.global.u32 [%rd2], %r2;\n", 1 << 20).end,
            Outcome::End::completed);
  expect([](std::uint32_t i) { return i * (i + 1) / 2; });
}

// A result is the next call's argument, at another position; an argument is stored before another
// call, and given twice.
TEST_F(MachineCalls, VariablesLastAcrossCalls) {
  const std::string functions =
      ".func (.param .u32 r) f(.param .u32 a, .param .u32 b)\n{\n.reg .u32 x, y;\n"
      "ld.param.u32 x, [a];\nld.param.u32 y, [b];\nmad.lo.u32 x, x, 10, y;\n"
      "st.param.u32 [r], x;\nret;\n}\n";
  const std::string body =
      "{\n.param .u32 p, q, r, s;\nst.param.u32 [p], %r1;\nst.param.u32 [s], 3;\n"
      "st.param.u32 [q], 1;\ncall (r), f, (p, q);\n"  // 10 i + 1
      "call (q), f, (r, p);\n"                        // 10 (10 i + 1) + i
      "call (p), f, (s, q);\n"                        // 30 + that
      "ld.param.u32 %r2, [p];\nld.param.u32 %r3, [r];\n}\nadd.u32 %r2, %r2, %r3;\n"
      "st.global.u32 [%rd2], %r2;\n";
  EXPECT_EQ(run(functions, body).end, Outcome::End::completed);
  expect([](std::uint32_t i) { return 30 + 10 * (10 * i + 1) + i + 10 * i + 1; });
}

TEST_F(MachineCalls, ArgumentsOfAnotherSizeAreRefused) {
  const auto refusal_of = [&](const std::string& call) -> std::string {
    try {
      run(".func (.reg .u32 r) f(.reg .u32 a)\n{\nmov.u32 r, a;\nret;\n}\n", call);
    } catch (const Refusal& refusal) {
      return refusal.what();
    }
    return "none";
  };
  const auto ends_with = [&](const std::string& call, std::string_view why) {
    const std::string refusal = refusal_of(call);
    EXPECT_TRUE(refusal.ends_with(why)) << refusal;
  };
  const std::string_view kNone = "an argument that is no .param variable, register or constant";
  ends_with("call (%r2), f, (%rd1);\n", "a register of 8 bytes for a parameter of 4 of 'f'");
  ends_with("call (%r2), f, (_);\n", kNone);
  ends_with("call (%r2), f, (%clock);\n", kNone);
  EXPECT_EQ(refusal_of("call (_), f, (7);\n"), "none");
}

TEST_F(MachineCalls, AStackThatIsTooSmallOverflowsWhereItIsFull) {
  EXPECT_EQ(run(kDeep, kCallDeep, 48 * 100).end, Outcome::End::trap);
  ASSERT_EQ(seen_.traps.size(), 1u);
  EXPECT_EQ(seen_.traps[0].cause, Trap::Cause::stack_overflow);
  EXPECT_EQ(program_.source_of(seen_.traps[0].pc).text, "call");
  EXPECT_EQ(seen_.details[0],
            "stack overflow: (1) needs 4848 bytes of a stack of 4800 (cudaLimitStackSize)");
}

}  // namespace
}  // namespace warpcheck::vgpu
