// What observers are told of stores is the same for the interpreter and for machine code.
#include <gtest/gtest.h>

#include <string>

#include "vgpu/differential/events/expect_same_events.hpp"

namespace warpcheck::vgpu {
namespace {

// All lanes store to one place: of shared and of global memory, one element or several.
TEST(StoreEvents, OfStoresToOnePlace) {
  const std::string text = R"(// threads: 64
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %t, %i, %at;
.reg .b64 %out, %w, %x;
.shared .align 16 .b8 cells[512];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %w, %t, 977;
mov.u32 %i, 0;
TURN:
and.b32 %at, %t, %i;
shl.b32 %at, %at, 4;
cvt.u64.u32 %x, %at;
add.u64 %x, %x, %out;
st.global.u64 [%x], %w;
st.global.v2.u32 [%x+8], {%t, %i};
mov.u32 %t, cells;
add.u32 %at, %at, %t;
mov.u32 %t, %tid.x;
st.shared.u32 [%at], %t;
st.shared.v2.u64 [%at+256], {%w, %x};
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 4;
@%p bra TURN;
ret;
}
)";
  EXPECT_GT(compare_events(text, 1), 100u);
}

// A sign extends the values of 16-bit registers to more bits than they have.  What an observer is
// told of a store contains all of them.
TEST(StoreEvents, OfCopiesOfNarrowRegisters) {
  const std::string text = R"(// threads: 64
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b16 %h<8>;
.reg .b32 %t;
.reg .b64 %mine;
ld.param.u64 %mine, [out];
mov.u32 %t, %tid.x;
mad.wide.u32 %mine, %t, 16, %mine;
setp.gt.u32 %p, %t, 20;
ld.global.v4.s8 {%h0, %h1, %h2, %h3}, [%mine];
mov.b16 %h4, %h0;
selp.b16 %h5, %h1, %h2, %p;
@%p mov.b16 %h3, %h1;
ld.global.s8 %h6, [%mine+5];
mov.b16 %h7, %h6;
st.global.u16 [%mine], %h4;
st.global.u16 [%mine+2], %h5;
st.global.u16 [%mine+4], %h3;
st.global.u8 [%mine+6], %h7;
ret;
}
)";
  EXPECT_GT(compare_events(text, 1), 50u);
}

}  // namespace
}  // namespace warpcheck::vgpu
