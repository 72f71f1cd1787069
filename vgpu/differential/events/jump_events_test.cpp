// Jumps by a table, in which lanes stay together, or part many ways at once, have the same events
// whether a program is interpreted or runs as machine code.
#include <gtest/gtest.h>

#include <string>

#include "vgpu/differential/events/expect_same_events.hpp"

namespace warpcheck::vgpu {
namespace {

// In even rounds all lanes jump to one label.  In odd rounds they jump to several, two of which are
// the same place; lanes of one way exit in the last rounds.
std::string jumps(const std::string& threads, const std::string& last_index) {
  return "// threads: " + threads + R"(
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %odd, %last;
.reg .b32 %t, %n, %x, %way, %bit;
.reg .b64 %out, %mine;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
mov.u32 %n, 41;
mov.u32 %x, %t;
ROUND:
shr.u32 %way, %n, 1;
and.b32 %bit, %n, 1;
setp.ne.u32 %odd, %bit, 0;
@%odd add.u32 %way, %x, %n;
and.b32 %way, %way, 7;
setp.eq.u32 %last, %n, 1;
@%last mov.u32 %way, )" +
         last_index + R"(;
targets: .branchtargets A, B, C, D, A, E, C, F;
brx.idx %way, targets;
A:
add.u32 %x, %x, 3;
st.global.u32 [%mine], %x;
bra NEXT;
B:
shl.b32 %x, %x, 1;
C:
mad.lo.u32 %x, %x, 5, 1;
bra NEXT;
D:
ld.global.u32 %way, [%mine+4];
add.u32 %x, %x, %way;
bra NEXT;
E:
activemask.b32 %way;
bar.warp.sync %way;
add.u32 %x, %x, %way;
bra NEXT;
F:
xor.b32 %x, %x, 21;
setp.lt.u32 %p, %n, 6;
@%p ret;
NEXT:
sub.u32 %n, %n, 1;
setp.ne.u32 %p, %n, 0;
@%p bra ROUND;
st.global.u32 [%mine+4], %x;
ret;
}
)";
}

TEST(JumpEvents, OfTheInterpreterAndOfMachineCode) {
  for (const char* const threads : {"96", "80", "41"}) {
    EXPECT_GT(compare_events(jumps(threads, "%way"), 1), 1'000u) << threads;
  }
}

TEST(JumpEvents, BeyondTheTable) { EXPECT_GT(compare_events(jumps("96", "%t"), 1), 1'000u); }

}  // namespace
}  // namespace warpcheck::vgpu
