// An observer cannot distinguish whether a program is interpreted or runs as machine code: events,
// their order, decisions and steps are the same.
#include "vgpu/differential/events/expect_same_events.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "vgpu/differential/engine.hpp"
#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {
namespace {

TEST(SameEvents, OfTheInterpreterAndOfMachineCode) {
  std::size_t events = 0;
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    events += compare_events(random_program(seed, {}), seed);
  }
  EXPECT_GT(events, 100'000u);
}

// Lanes call several functions through one register, and part in them.
TEST(SameEvents, OfLanesInSeveralFunctions) {
  for (const std::uint64_t seed : {52638, 52877}) compare_events(random_program(seed, {}), seed);
}

// Lanes leave a loop in different rounds, at its end and from its middle, diverge again inside it,
// and meet at barriers.  The last warp has fewer lanes.
TEST(SameEvents, OfLanesThatPartAndMeet) {
  const std::string text = R"(
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %q;
.reg .b32 %t, %n, %i, %x, %at;
.reg .b64 %out, %mine;
.shared .align 4 .b8 cells[512];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
shl.b32 %at, %t, 2;
mov.u32 %x, cells;
add.u32 %at, %at, %x;
mov.u32 %i, 0;
PHASE:
st.shared.u32 [%at], %i;
and.b32 %n, %t, 7;
setp.eq.u32 %p, %i, 2;
@%p bra UP;
DOWN:
setp.eq.u32 %p, %n, 0;
@%p bra OUT;
and.b32 %x, %n, %i;
setp.ne.u32 %q, %x, 0;
@%q bra ODD;
ld.shared.u32 %x, [%at];
add.u32 %x, %x, %n;
st.shared.u32 [%at], %x;
ODD:
sub.u32 %n, %n, 1;
bra DOWN;
UP:
ld.global.u32 %x, [%mine];
add.u32 %x, %x, %n;
st.global.u32 [%mine], %x;
sub.u32 %n, %n, 1;
setp.lt.s32 %p, %n, 0;
@!%p bra UP;
OUT:
bar.sync 0;
ld.shared.u32 %x, [%at];
st.global.u32 [%mine+4], %x;
setp.gt.u32 %q, %t, 70;
@%q ret;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 4;
@%p bra PHASE;
ret;
}
)";
  for (const char* const threads : {"96", "80", "41"}) {
    EXPECT_GT(compare_events(std::string("// threads: ") + threads + text, 1), 1'000u) << threads;
  }
}

// Lanes part eight ways in each round of a loop, and leave it in different rounds.  Some of the
// ways have stores, one has a barrier of the warp for the lanes of the way, and lanes exit from
// another.
TEST(SameEvents, OfLanesThatPartInManyWays) {
  const std::string text = R"(
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %t, %n, %x, %way;
.reg .b64 %out, %mine;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
and.b32 %n, %t, 15;
add.u32 %n, %n, 30;
mov.u32 %x, %t;
ROUND:
add.u32 %way, %x, %n;
and.b32 %way, %way, 7;
setp.gt.u32 %p, %way, 3;
@%p bra UPPER;
setp.gt.u32 %p, %way, 1;
@%p bra TWO_OR_THREE;
setp.eq.u32 %p, %way, 1;
@%p bra ONE;
add.u32 %x, %x, 3;
st.global.u32 [%mine], %x;
bra NEXT;
ONE:
shl.b32 %x, %x, 1;
bra NEXT;
TWO_OR_THREE:
setp.eq.u32 %p, %way, 3;
@%p bra THREE;
mad.lo.u32 %x, %x, 5, 1;
bra NEXT;
THREE:
ld.global.u32 %way, [%mine+4];
add.u32 %x, %x, %way;
bra NEXT;
UPPER:
setp.gt.u32 %p, %way, 5;
@%p bra SIX_OR_SEVEN;
setp.eq.u32 %p, %way, 5;
@%p bra FIVE;
xor.b32 %x, %x, 21;
bra NEXT;
FIVE:
activemask.b32 %way;
bar.warp.sync %way;
add.u32 %x, %x, %t;
bra NEXT;
SIX_OR_SEVEN:
setp.eq.u32 %p, %way, 7;
@%p bra SEVEN;
not.b32 %x, %x;
bra NEXT;
SEVEN:
add.u32 %x, %x, 11;
setp.eq.u32 %p, %n, 9;
@%p ret;
NEXT:
sub.u32 %n, %n, 1;
setp.ne.u32 %p, %n, 0;
@%p bra ROUND;
st.global.u32 [%mine+4], %x;
ret;
}
)";
  for (const char* const threads : {"96", "80", "41"}) {
    EXPECT_GT(compare_events(std::string("// threads: ") + threads + text, 1), 1'000u) << threads;
  }
}

// In the blocks of even number, warps stop only at barriers and exits, and their lanes part and
// meet.  In block 1 lanes part three ways; in block 3 a warp exits at a barrier of the others; in
// block 5 threads meet, and exit, in a function.
TEST(SameEvents, OfBlocksThatFollowEachOther) {
  const std::string text = R"(
.version 8.7
.target sm_90
.address_size 64
.func meet(.param .b64 mine)
{
.reg .b32 %x;
.reg .b64 %mine;
ld.param.b64 %mine, [mine];
bar.sync 0;
ld.global.u32 %x, [%mine];
bar.sync 0;
st.global.u32 [%mine+4], %x;
exit;
}
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %q;
.reg .b32 %t, %b, %n, %i, %x, %at;
.reg .b64 %out, %mine;
.shared .align 4 .b8 cells[512];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mov.u32 %b, %ctaid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
shl.b32 %at, %t, 2;
mov.u32 %x, cells;
add.u32 %at, %at, %x;
mov.u32 %i, 0;
PHASE:
st.shared.u32 [%at], %i;
and.b32 %n, %t, %b;
setp.gt.u32 %p, %n, 1;
@%p bra MET;
ld.shared.u32 %x, [%at];
add.u32 %x, %x, %n;
setp.eq.u32 %q, %n, %i;
@%q bra STORE;
mul.lo.u32 %x, %x, 3;
STORE:
st.shared.u32 [%at], %x;
MET:
bar.sync 0;
setp.ne.u32 %q, %b, 1;
@%q bra NEXT;
and.b32 %n, %t, 3;
setp.eq.u32 %p, %n, 1;
@%p bra FIRST;
setp.eq.u32 %p, %n, 2;
@%p bra SECOND;
st.shared.u32 [%at], %n;
FIRST:
add.u32 %n, %n, 5;
st.shared.u32 [%at], %n;
SECOND:
add.u32 %n, %n, 7;
NEXT:
setp.eq.u32 %p, %b, 3;
setp.gt.and.u32 %q, %t, 31, %p;
@%q exit;
bar.sync 0;
ld.shared.u32 %x, [%at];
ld.global.u32 %n, [%mine];
add.u32 %x, %x, %n;
st.global.u32 [%mine], %x;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 3;
@%p bra PHASE;
setp.ne.u32 %q, %b, 5;
@%q ret;
{
.param .b64 a;
st.param.b64 [a], %mine;
call meet, (a);
}
ret;
}
)";
  for (const char* const threads : {"96", "80", "64", "33"}) {
    EXPECT_GT(compare_events(std::string("// threads: ") + threads + text, 1,
                             {.blocks = 8, .launches = 2}),
              3'000u)
        << threads;
  }
}

// Scattered accesses by some lanes, of all widths; some lanes leave the allocation.
TEST(SameEvents, OfScatteredLanesOfAPartOfAWarp) {
  const std::string text = R"(// threads: 64
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %q;
.reg .b16 %h;
.reg .b32 %t, %n, %i, %x, %at;
.reg .b64 %out, %mine, %far, %w;
.shared .align 8 .b8 cells[512];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mov.u32 %x, cells;
shl.b32 %at, %t, 3;
add.u32 %at, %at, %x;
mul.wide.u32 %w, %t, 977;
st.shared.u64 [%at], %w;
bar.sync 0;
mov.u32 %i, 0;
TURN:
mad.lo.u32 %n, %t, 37, %i;
and.b32 %n, %n, 63;
setp.lt.u32 %p, %n, 40;
@!%p bra NEXT;
shl.b32 %at, %n, 3;
add.u32 %at, %at, %x;
mul.wide.u32 %mine, %n, 8;
add.u64 %mine, %mine, %out;
ld.shared.u64 %w, [%at];
st.global.u64 [%mine], %w;
ld.global.s8 %n, [%mine+1];
st.shared.u16 [%at+2], %n;
ld.shared.s16 %h, [%at+2];
cvt.s32.s16 %n, %h;
st.global.u32 [%mine+4], %n;
setp.eq.u32 %q, %i, 2;
mul.wide.u32 %far, %t, 56;
add.u64 %far, %far, %out;
@%q ld.global.u32 %n, [%far];
@%q st.shared.u32 [%at+4], %n;
NEXT:
bar.sync 0;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 5;
@%p bra TURN;
ret;
}
)";
  EXPECT_GT(compare_events(text, 1), 500u);
}

// Atomics of lanes at adjacent cells, of lanes at few common cells, and of lanes that change each
// other's results.  The old value replaces the operand or the address, or is dropped.
TEST(SameEvents, OfAtomicsThatMachineCodePerforms) {
  const std::string head = R"(// threads: 64
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .b32 %t, %i, %n, %w32, %at, %few, %unread32, %kept;
.reg .b64 %out, %mine, %own, %w64, %unread64;
.reg .pred %p;
.shared .align 8 .b8 cells[1024];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
mov.u32 %at, cells;
mad.lo.u32 %at, %t, BYTES, %at;
mad.lo.u32 %few, %t, 37, 5;
and.b32 %few, %few, 7;
mov.u32 %n, cells;
mad.lo.u32 %few, %few, BYTES, %n;
mad.lo.u32 %w32, %t, -1640531527, 12345;
mul.wide.s32 %w64, %w32, 1000003;
st.shared.bBITS [%at], %wBITS;
bar.sync 0;
mov.u32 %i, 0;
add.u32 %kept, %t, 100;
TURN:
)";
  const std::string tail = R"(
bar.sync 0;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 3;
@%p bra TURN;
ld.shared.bBITS %wBITS, [%at];
red.global.xor.bBITS [%mine], %wBITS;
mul.lo.u32 %kept, %kept, 3;
st.global.u32 [%mine+512], %kept;
ret;
}
)";
  const std::string body = R"(
atom.shared.OP %wBITS, [%few], %wBITS;
red.shared.OP [%at], %wBITS;
bar.sync 0;
atom.shared.OP %wBITS, [%at+BYTES], %wBITS;
red.shared.OP [%few+BYTES], %wBITS;
atom.global.OP %wBITS, [%mine], %wBITS;
red.global.OP [%out+8], %wBITS;
mov.b64 %own, %mine;
atom.global.xor.b64 %own, [%own], %w64;
xor.b64 %w64, %w64, %own;
)";
  const auto replaced = [](std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
      text.replace(at, what.size(), by);
    }
    return text;
  };
  for (const std::string bits : {"32", "64"}) {
    for (const std::string op : {"add.u", "and.b", "or.b", "xor.b", "min.u", "min.s", "max.u",
                                 "max.s", "exch.b", "inc.u"}) {
      if (op == "inc.u" && bits == "64") continue;
      std::string text = head + body + tail;
      text = replaced(replaced(text, "OP", op + bits), "BITS", bits);
      SCOPED_TRACE(op + bits);
      if (op == "exch.b") {  // has no form without a result
        for (const std::string space : {"shared.", "global."}) {
          const std::string what = space + op + bits + " ";
          text = replaced(text, "red." + what, "atom." + what + "%unread" + bits + ", ");
        }
      }
      EXPECT_GT(compare_events(replaced(text, "BYTES", bits == "64" ? "8" : "4"), 1), 100u);
    }
  }
}

// Values that live across instructions: more values than vector registers; across calls; with
// guards of no, some and all lanes; with faults; vectors that are read in halves; and results that
// replace a source.
constexpr std::string_view kValuesBegin = R"(// threads: 64
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %none, %some, %all, %part, %rest, %p;
.reg .b32 %t, %i, %a<20>, %x, %y, %at, %late;
.reg .b64 %out, %mine, %far, %w<6>;
.reg .f64 %d<4>;
.reg .f32 %f<4>;
.shared .align 8 .b8 cells[1024];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
shl.b32 %at, %t, 3;
mov.u32 %x, cells;
add.u32 %at, %at, %x;
st.shared.u32 [%at], %at;
mov.u32 %i, 0;
mov.u32 %x, 1;
mov.b32 %f2, %t;
mov.b64 %d2, %mine;
mov.b64 %w5, %mine;
setp.ne.u32 %part, %t, %t;
setp.eq.u32 %rest, %t, %t;
TURN:
setp.gt.u32 %none, %i, 99;
and.b32 %y, %t, 3;
setp.eq.u32 %some, %y, %i;
setp.lt.u32 %all, %i, 99;
)";
constexpr std::string_view kValuesMeet = R"(
mul.wide.s32 %w0, %a1, %a2;
cvt.s64.s32 %w1, %a19;
xor.b64 %w2, %w0, %w1;
shl.b64 %w3, %w2, %i;
div.u32 %y, %a3, 7;
add.u32 %a4, %a4, %y;
@%none add.u32 %a5, %a5, %a6;
@%some mul.lo.u32 %a7, %a8, %a9;
@%all sub.u32 %a10, %a11, %a12;
mov.u32 %late, 21;
@%some add.u32 %late, %late, %a0;
add.u32 %x, %x, %late;
@!%some mov.u32 %a11, 77;
@%none mov.u32 %a12, 78;
@%some mov.b64 %w0, %w1;
@!%some add.s64 %w1, %w2, %w0;
@%some shl.b64 %w2, %w2, 3;
@%some cvt.s64.s32 %w4, %a3;
@%some cvt.u32.u64 %a9, %w3;
@%all mul.lo.u64 %w5, %w1, %w2;
@%some mad.wide.u32 %w5, %a1, %a2, %w5;
@%some setp.lt.s32 %all, %a3, %a4;
@%all setp.gt.and.u32 %part|%rest, %a5, %a6, %some;
@!%part selp.b32 %a15, %a16, %a17, %rest;
@%rest not.b32 %a18, %a18;
@%part neg.s32 %a19, %a19;
@%some cvt.rn.f32.s32 %f2, %a3;
@%some fma.rn.f32 %f2, %f2, %f2, %f2;
@%part not.pred %rest, %some;
@%part cvt.rn.f64.s32 %d2, %a2;
@%some add.f64 %d2, %d2, %d2;
mov.b32 %y, %f2;
xor.b32 %x, %x, %y;
mov.b64 %w4, %d2;
xor.b64 %w5, %w5, %w4;
@!%some st.shared.u64 [%at+512], %w3;
@%some ld.shared.u64 %w4, [%at+512];
@!%some ld.shared.u64 %w0, [%at+520];
@%part st.global.u64 [%mine+512], %w4;
@%part ld.global.u32 %a3, [%mine+512];
xor.b64 %w5, %w5, %w0;
@%part bra PARTED;
ld.shared.u64 %w4, [%at];
st.shared.u64 [%at+512], %w4;
@%some add.u32 %a1, %a1, %a2;
@!%some mov.b64 %w2, %w3;
@%rest setp.ne.u32 %some, %a1, %a2;
@%some max.s32 %a4, %a5, %a6;
@%some mul.f32 %f2, %f2, %f2;
PARTED:
setp.eq.u32 %some, %t, %i;
mul.wide.u32 %far, %t, 4096;
mul.lo.u64 %far, %far, %w1;
add.u64 %far, %far, %mine;
mov.u32 %y, 17;
ld.global.u32 %y, [%far];
add.u32 %a13, %a13, %y;
shfl.sync.bfly.b32 %a14, %a14, 5, 31, -1;
cvt.u32.u64 %y, %w3;
cvt.rn.f64.s32 %d0, %a15;
mov.b64 %d1, %w3;
mul.f64 %d2, %d0, %d1;
sub.f64 %d3, %d2, %d2;
mov.b64 %w4, %d3;
xor.b64 %w3, %w3, %w4;
mov.b32 %f0, %a16;
fma.rn.f32 %f1, %f0, %f0, %f0;
mov.b32 %a16, %f1;
ld.shared.u32 %y, [%at];
ld.shared.u32 %y, [%y];
st.shared.u32 [%at+4], %a17;
@%some st.shared.u32 [%at+4], %a18;
ld.shared.v2.u32 {%a17, %a18}, [%at];
selp.b64 %w5, %w3, %w2, %some;
max.s32 %a0, %a0, %a18;
)";
constexpr std::string_view kValuesEnd = R"(
bar.sync 0;
ld.global.u64 %w0, [%mine];
xor.b64 %w0, %w0, %w5;
cvt.u64.u32 %w1, %x;
add.u64 %w0, %w0, %w1;
st.global.u64 [%mine], %w0;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 4;
@%p bra TURN;
ret;
}
)";

TEST(SameEvents, OfRowsThatStayInVectors) {
  std::string text(kValuesBegin);
  for (int i = 0; i < 20; ++i) {
    const std::string a = "%a" + std::to_string(i);
    text += "mad.lo.u32 " + a + ", %t, " + std::to_string(2 * i + 3) + ", %x;\n";
  }
  text += kValuesMeet;
  for (int i = 0; i < 20; ++i) {
    const std::string a = "%a" + std::to_string(i * 7 % 20);
    text += (i % 2 == 0 ? "xor.b32 %x, %x, " : "add.u32 %x, %x, ") + a + ";\n";
  }
  text += kValuesEnd;
  EXPECT_GT(compare_events(text, 1), 1'000u);
}

// Throws an exception at an access.
class Thrower final : public Observer {
 public:
  explicit Thrower(int accesses) : left_(accesses) {}
  void on_access(const Access& /*access*/) override {
    if (--left_ == 0) throw std::runtime_error("enough");
  }

 private:
  int left_;
};

TEST(SameEvents, AnObserverMayThrow) {
  const std::string text = random_program(1, {});
  const ptx::Module module = ptx::parse(text, "random");
  for (int accesses = 1; accesses < 20; ++accesses) {
    for (const bool compiles : {false, true}) {
      Thrower thrower(accesses);
      const MachineSettings settings{
          .level = host_simd_level(), .compiles = compiles, .watches = &thrower};
      EXPECT_THROW(run_on_machine(module, threads_of(text), settings), std::runtime_error);
    }
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
