// Machine code computes values that are the same for all lanes once.  Whether they are the same
// depends on what the lanes did before.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <regex>
#include <string>

#include "vgpu/differential/events/expect_same_events.hpp"
#include "vgpu/differential/events/uniform_program.hpp"
#include "vgpu/differential/random/random_program.hpp"

namespace warpcheck::vgpu {
namespace {

TEST(UniformValues, AreTheSameBothWays) {
  std::size_t events = 0;
  for (std::uint64_t seed = 0; seed < 240 && !HasFailure(); ++seed) {
    const std::string text = uniform_program(seed);
    events += compare_events(text, seed, uniform_shape(text, seed));
  }
  EXPECT_GT(events, 100'000u);
}

// No branch says that all lanes may meet at MEET with two values: some lanes may take a third way.
TEST(UniformValues, MayDifferWhereLanesMeet) {
  const std::string text = R"(// threads: 32
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %low, %high;
.reg .b32 %t, %n, %u, %x;
.reg .b64 %out, %mine;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
setp.lt.u32 %low, %t, 16;
setp.ge.u32 %high, %t, 16;
mov.u32 %n, 0;
TURN:
@%low bra LOW;
@%high bra HIGH;
mov.u32 %u, 3;
bra LAST;
LOW:
mov.u32 %u, 1;
bra MEET;
HIGH:
mov.u32 %u, 2;
MEET:
add.u32 %u, %u, 5;
mul.lo.u32 %x, %u, %u;
st.global.u32 [%mine], %x;
LAST:
st.global.u32 [%mine+4], %u;
add.u32 %n, %n, 1;
setp.lt.u32 %low, %n, 9;
@!%low bra END;
setp.lt.u32 %low, %t, 16;
bra TURN;
END:
ret;
}
)";
  EXPECT_GT(compare_events(text, 1), 100u);
}

// Lanes part in a call of `skip`, and those that return first go on through the loop: they meet the
// others in a function, in another round of the loop.  There, only a parameter shows the round.
TEST(UniformValues, MayDifferInAFunctionThatLanesMeetIn) {
  const std::string text = R"(// threads: 64
.version 8.7
.target sm_90
.address_size 64
.func (.param .b32 out) count(.param .b32 turns)
{
.reg .pred %p;
.reg .b32 %turns, %i, %sum;
ld.param.b32 %turns, [turns];
and.b32 %turns, %turns, 7;
mov.u32 %i, 0;
mov.u32 %sum, 0;
AGAIN:
setp.ge.u32 %p, %i, %turns;
@%p bra DONE;
mad.lo.u32 %sum, %sum, 3, %i;
add.u32 %i, %i, 1;
bra AGAIN;
DONE:
st.param.b32 [out], %sum;
ret;
}
.func (.param .b32 out) skip(.param .b32 least, .param .b32 value)
{
.reg .pred %p;
.reg .b32 %least, %value;
ld.param.b32 %least, [least];
ld.param.b32 %value, [value];
setp.gt.s32 %p, %least, %value;
@%p bra DONE;
{
.param .b32 a;
.param .b32 b;
st.param.b32 [a], %value;
call.uni (b), count, (a);
ld.param.b32 %value, [b];
}
DONE:
st.param.b32 [out], %value;
ret;
}
.func (.param .b32 out) square(.param .b32 in)
{
.reg .b32 %x;
ld.param.b32 %x, [in];
mul.lo.u32 %x, %x, %x;
st.param.b32 [out], %x;
ret;
}
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %t, %i, %v, %x, %y;
.reg .b64 %out, %mine;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 4;
add.u64 %mine, %mine, %out;
mul.lo.u32 %v, %t, 77;
mov.u32 %i, 0;
TURN:
{
.param .b32 a;
.param .b32 b;
st.param.b32 [a], %i;
call.uni (b), square, (a);
ld.param.b32 %x, [b];
}
and.b32 %y, %v, 255;
{
.param .b32 a;
.param .b32 c;
.param .b32 b;
st.param.b32 [a], 60;
st.param.b32 [c], %y;
call.uni (b), skip, (a, c);
ld.param.b32 %y, [b];
}
and.b32 %v, %v, 32766;
mul.lo.u32 %v, %v, %x;
sub.u32 %v, %v, %y;
add.u32 %v, %v, %t;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, TURNS;
@%p bra TURN;
{
.param .b32 a;
.param .b32 c;
.param .b32 b;
st.param.b32 [a], 1;
st.param.b32 [c], %v;
call.uni (b), skip, (a, c);
ld.param.b32 %x, [b];
}
st.global.u32 [%mine], %v;
ret;
}
)";
  for (const std::string turns : {"12", "40"}) {
    EXPECT_GT(compare_events(std::regex_replace(text, std::regex("TURNS"), turns), 1), 1000u);
  }
}

// Words that ascend, but exceed the range of their type on the way, do not ascend as 64-bit values.
TEST(UniformValues, MayExceedTheirRange) {
  for (const std::string sign : {"s", "u"}) {
    const std::string begin = sign == "s" ? "2147483632" : "4294967280";  // 16 below the end
    const std::string text = R"(// threads: 64
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %t, %i, %x, %n;
.reg .b64 %out, %w, %v;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
add.u32 %i, %t, BEGIN;
mov.u32 %n, 0;
cvt.s64.S32 %w, %i;
sub.s64 %w, %w, BEGIN;
shl.b64 %w, %w, 3;
add.s64 %w, %w, %out;
setp.eq.u32 %p, %n, 1;
@%p bra TURN;
ld.global.u64 %v, [%w];
st.global.u64 [%w], %v;
TURN:
cvt.s64.S32 %w, %i;
sub.s64 %w, %w, BEGIN;
shl.b64 %w, %w, 3;
add.s64 %w, %w, %out;
ld.global.u32 %x, [%w];
mul.wide.S32 %v, %i, 4;
add.s64 %v, %v, %out;
sub.s64 %v, %v, BEGIN;
sub.s64 %v, %v, BEGIN;
sub.s64 %v, %v, BEGIN;
sub.s64 %v, %v, BEGIN;
st.global.u32 [%v], %x;
add.u32 %i, %i, 8;
add.u32 %n, %n, 1;
setp.lt.u32 %p, %n, 4;
@%p bra TURN;
ret;
}
)";
    const std::string with_begin = std::regex_replace(text, std::regex("BEGIN"), begin);
    EXPECT_GT(compare_events(std::regex_replace(with_begin, std::regex("S32"), sign + "32"), 1),
              500u);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
