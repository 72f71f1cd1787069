// An observer cannot distinguish whether a program is interpreted or runs as machine code: events,
// their order, decisions and steps are the same.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "vgpu/differential/engine.hpp"
#include "vgpu/differential/random_program.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {
namespace {

// Represents each event as a hash of all its data.
class Events final : public Observer {
 public:
  void on_access(Access& access) override {
    if (takes_rows_) return;
    begin(1, access.place);
    add(access.pc, access.mask, static_cast<std::uint64_t>(access.kind),
        static_cast<std::uint64_t>(access.pattern), static_cast<std::uint64_t>(access.order),
        static_cast<std::uint64_t>(access.scope), static_cast<std::uint64_t>(access.space),
        access.bytes, access.element_bytes, access.value_bytes, access.undefined,
        access.allocation->id);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((access.mask >> lane & 1) == 0) continue;
      add(access.offset[lane]);
      for (const std::byte* const row : access.values) {
        if (row == nullptr) continue;
        std::uint64_t value = 0;
        std::memcpy(&value, row + std::size_t{lane} * access.value_bytes, access.value_bytes);
        add(value);
      }
      std::array<std::uint64_t, 2> held{};  // before the access
      std::memcpy(held.data(), access.allocation->data + access.offset[lane], access.bytes);
      add(held[0], held[1]);
    }
    if (makes_undefined_ && access.kind == AccessKind::read && seen.size() % 7 == 3) {
      access.undefined = access.mask;
      access.origin = access.pc;
    }
  }
  bool takes_row(const RowAccess& /*row*/) override { return takes_rows_; }
  [[nodiscard]] bool watches_accesses_of(const Program& /*program*/) const override {
    return sees_accesses_;
  }
  void on_sync(const Sync& sync) override {
    begin(2, sync.place);
    add(static_cast<std::uint64_t>(sync.kind));
  }
  void on_fence(const Fence& fence) override {
    begin(3, fence.place);
    add(fence.pc, fence.mask);
  }
  void on_meeting(const Meeting& meeting) override {
    begin(4, meeting.place);
    for (const WarpLanes& lanes : meeting.released) add(lanes.warp, lanes.lanes);
  }
  [[nodiscard]] bool watches_collectives() const override { return true; }
  void on_collective(const Collective& event) override {
    begin(5, event.place);
    add(event.pc, event.mask, event.members);
  }
  void on_undefined_use(const UndefinedUse& use) override {
    begin(6, use.place);
    add(use.pc, use.lanes, use.origin, static_cast<std::uint64_t>(use.kind));
  }
  void on_fault(const Fault& fault) override {
    begin(7, fault.place);
    add(fault.pc, fault.lane, fault.address);
  }
  void on_edge(std::uint32_t from, std::uint32_t to, const Program& /*program*/) override {
    begin(8, {});
    add(from, to);
  }

  std::vector<std::uint64_t> seen;
  bool makes_undefined_ = false;
  bool takes_rows_ = false;  // and counts no access: which are rows is not the same both ways
  bool sees_accesses_ = true;

 private:
  void begin(std::uint64_t kind, const WarpPlace& place) {
    seen.push_back(kind);
    add(place.block, place.warp, place.slot, place.phase);
  }
  template <class... Numbers>
  void add(Numbers... numbers) {
    ((seen.back() = (seen.back() ^ numbers) * 0x9e3779b97f4a7c15u >> 7 ^ seen.back() << 11), ...);
  }
};

struct Way {
  const char* strategy;
  std::uint32_t quantum;
  bool makes_undefined;
  bool takes_rows = false;
  bool sees_accesses = true;  // otherwise warps of a block run in rounds
};

// Runs a program both ways, under several schedules; returns the number of events.
std::size_t compare(const std::string& text, std::uint64_t seed, std::uint32_t blocks = 1,
                    std::uint32_t launches = 1) {
  const ptx::Module module = ptx::parse(text, "random");
  std::size_t events = 0;
  for (const Way& way :
       {Way{"default", 4096, false}, Way{"random", 4096, false}, Way{"pct", 37, false},
        Way{"default", 4096, true}, Way{"random", 5, true}, Way{"default", 4096, false, true},
        Way{"default", 4096, false, false, false}, Way{"default", 23, false, false, false}}) {
    for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
      if (level > host_simd_level()) continue;
      std::array<Events, 2> watched;
      std::array<Result, 2> results;
      for (const bool compiles : {false, true}) {
        watched[compiles].makes_undefined_ = way.makes_undefined;
        watched[compiles].takes_rows_ = way.takes_rows;
        watched[compiles].sees_accesses_ = way.sees_accesses;
        results[compiles] = run_on_machine(module, threads_of(text),
                                           {.level = level,
                                            .strategy = way.strategy,
                                            .seed = seed,
                                            .compiles = compiles,
                                            .quantum = way.quantum,
                                            .watches = &watched[compiles],
                                            .blocks = blocks,
                                            .launches = launches});
      }
      SCOPED_TRACE(text.substr(0, 20) + std::to_string(seed) + way.strategy);
      EXPECT_EQ(results[0].problem, results[1].problem);
      EXPECT_EQ(results[0].bytes, results[1].bytes);
      EXPECT_EQ(results[0].steps, results[1].steps);
      EXPECT_EQ(results[0].lane_steps, results[1].lane_steps);
      EXPECT_EQ(results[0].decisions, results[1].decisions);
      EXPECT_TRUE(watched[0].seen == watched[1].seen);
      events += watched[0].seen.size();
    }
  }
  return events;
}

TEST(SameEvents, OfTheInterpreterAndOfMachineCode) {
  std::size_t events = 0;
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    events += compare(random_program(seed, {}), seed);
  }
  EXPECT_GT(events, 100'000u);
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
    EXPECT_GT(compare(std::string("// threads: ") + threads + text, 1), 1'000u) << threads;
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
    EXPECT_GT(compare(std::string("// threads: ") + threads + text, 1, 8, 2), 3'000u) << threads;
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
  EXPECT_GT(compare(text, 1), 500u);
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
      EXPECT_GT(compare(replaced(text, "BYTES", bits == "64" ? "8" : "4"), 1), 100u);
    }
  }
}

// Values that live across instructions: more values than vector registers; across calls; with
// guards of no, some and all lanes; with faults; vectors that are read in halves; and results that
// replace a source.
TEST(SameEvents, OfRowsThatStayInVectors) {
  std::string text = R"(// threads: 64
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
  for (int i = 0; i < 20; ++i) {
    const std::string a = "%a" + std::to_string(i);
    text += "mad.lo.u32 " + a + ", %t, " + std::to_string(2 * i + 3) + ", %x;\n";
  }
  text += R"(
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
  for (int i = 0; i < 20; ++i) {
    const std::string a = "%a" + std::to_string(i * 7 % 20);
    text += (i % 2 == 0 ? "xor.b32 %x, %x, " : "add.u32 %x, %x, ") + a + ";\n";
  }
  text += R"(
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
  EXPECT_GT(compare(text, 1), 1'000u);
}

// Throws an exception at an access.
class Thrower final : public Observer {
 public:
  explicit Thrower(int accesses) : left_(accesses) {}
  void on_access(Access& /*access*/) override {
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
