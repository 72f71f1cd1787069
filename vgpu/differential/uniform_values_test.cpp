// Machine code computes values that are the same for all lanes once.  Whether they are the same
// depends on what the lanes did before.
#include <gtest/gtest.h>

#include <string>

#include "vgpu/differential/same_events.hpp"
#include "vgpu/differential/uniform_program.hpp"

namespace warpcheck::vgpu {
namespace {

TEST(UniformValues, AreTheSameBothWays) {
  std::size_t events = 0;
  for (std::uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed) {
    events += compare_events(uniform_program(seed), seed, 2);
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

}  // namespace
}  // namespace warpcheck::vgpu
