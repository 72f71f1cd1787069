// Accesses that share their addresses (native/flow/shared_addresses.hpp) produce the events of the
// interpreter: at the edges of memory, across them, and whatever stands between them.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "vgpu/differential/events/expect_same_events.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns a program that computes the addresses %s (shared, in `cells`) and %g (global, in the
// buffer) of its lanes, and executes `body` several times.  %t is the thread, %u half of it.
std::string program(const std::string& addresses, const std::string& body) {
  return R"(// threads: 64
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %q;
.reg .b32 %t, %u, %i, %s, %x<8>;
.reg .b64 %out, %g, %w<4>;
.shared .align 16 .b8 cells[1024];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mov.u32 %i, %tid.y;
mad.lo.u32 %t, %i, 16, %t;
shr.u32 %u, %t, 1;
mov.u32 %i, 0;
mov.u32 %x7, cells;
shl.b32 %x6, %t, 2;
add.u32 %x6, %x6, %x7;
st.shared.u32 [%x6], %t;
bar.sync 0;
TURN:
)" + addresses +
         R"(
cvt.u64.u32 %g, %x5;
add.u64 %g, %g, %out;
add.u32 %s, %x5, %x7;
)" + body +
         R"(
xor.b32 %x0, %x0, %x1;
xor.b32 %x2, %x2, %x3;
xor.b32 %x0, %x0, %x2;
mul.wide.u32 %w0, %t, 4;
add.u64 %w0, %w0, %out;
st.global.u32 [%w0], %x0;
bar.sync 0;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 4;
@%p bra TURN;
ret;
}
)";
}

// Addresses by lane: consecutive, equal, of two rows, in reverse, in pairs, and in disorder.
constexpr std::array kAddresses = {
    "shl.b32 %x5, %t, 2;", "mov.u32 %x5, 64;", "shr.u32 %x5, %t, 4;\nshl.b32 %x5, %x5, 6;",
    "shl.b32 %x5, %t, 2;\nsub.u32 %x5, 256, %x5;", "shl.b32 %x5, %u, 3;",
    "mul.lo.u32 %x5, %t, 28;\nand.b32 %x5, %x5, 252;",
    // By the turn: consecutive, equal, or scattered.
    "mul.lo.u32 %x5, %t, %i;\nshl.b32 %x5, %x5, 2;\nand.b32 %x5, %x5, 252;"};

// Compares `body` with all addresses; with `stores`, only where no store of all lanes is to one
// place.
void compare(const std::string& body, bool stores = false) {
  for (const char* const addresses : kAddresses) {
    if (stores && (addresses == kAddresses[1] || addresses == kAddresses.back())) continue;
    SCOPED_TRACE(std::string(addresses) + "\n" + body);
    const std::string text = program(addresses, body);
    for (const std::uint32_t row : {0u, 16u}) {
      EXPECT_GT(compare_events(text, 1, {.row = row}), 100u);
    }
  }
}

TEST(SharedAddressEvents, OfLoadsAtSeveralDistances) {
  compare(
      "ld.shared.u32 %x0, [%s];\nld.shared.u32 %x1, [%s+4];\nld.shared.u32 %x2, [%s+64];\n"
      "ld.shared.u32 %x3, [%s+8];\n");
  compare(
      "ld.global.u32 %x0, [%g+16];\nld.global.u32 %x1, [%g];\nld.global.u32 %x2, [%g+4];\n"
      "ld.global.u32 %x3, [%g+12];\n");
  compare("ld.shared.v2.u32 {%x0, %x1}, [%s];\nld.shared.v2.u32 {%x2, %x3}, [%s+16];\n");
  compare(
      "ld.shared.u8 %x0, [%s];\nld.shared.u8 %x1, [%s+1];\nld.shared.s8 %x2, [%s+2];\n"
      "ld.shared.u8 %x3, [%s+3];\n");
}

TEST(SharedAddressEvents, AtTheEdgesOfMemory) {
  // Before the beginning, beyond the end, and around the end of the addresses.
  compare(
      "ld.shared.u32 %x0, [%s];\nld.shared.u32 %x1, [%s+-4];\nld.shared.u32 %x2, [%s+-128];\n"
      "ld.shared.u32 %x3, [%s+8];\n");
  compare(
      "ld.shared.u32 %x0, [%s+700];\nld.shared.u32 %x1, [%s+768];\n"
      "ld.shared.u32 %x2, [%s+900];\nld.shared.u32 %x3, [%s+1020];\n");
  compare(
      "ld.global.u32 %x0, [%g];\nld.global.u32 %x1, [%g+-4];\n"
      "ld.global.u32 %x2, [%g+60000];\nld.global.u32 %x3, [%g+1000000];\n");
  compare(
      "ld.shared.u32 %x0, [%s+4];\nsub.u32 %s, %s, %s;\nsub.u32 %s, %s, 8;\n"
      "ld.shared.u32 %x1, [%s];\nld.shared.u32 %x2, [%s+12];\nld.shared.u32 %x3, [%s+16];\n");
}

TEST(SharedAddressEvents, OfMisalignedAccesses) {
  compare(
      "ld.shared.u32 %x0, [%s];\nld.shared.u32 %x1, [%s+2];\nld.shared.u32 %x2, [%s+4];\n"
      "ld.shared.u32 %x3, [%s+5];\n");
  compare(
      "ld.shared.u32 %x0, [%s+2];\nld.shared.u32 %x1, [%s];\nld.shared.u32 %x2, [%s+6];\n"
      "ld.shared.u32 %x3, [%s+4];\n");
}

TEST(SharedAddressEvents, WhateverStandsBetween) {
  // Stores to the same bytes.
  compare(
      "ld.shared.u32 %x0, [%s];\nst.shared.u32 [%s+4], %x0;\nld.shared.u32 %x1, [%s+4];\n"
      "st.shared.u32 [%s+8], %x1;\nld.shared.u32 %x2, [%s+8];\nst.shared.u32 [%s+4], %t;\n"
      "ld.shared.u32 %x3, [%s+4];\n",
      true);
  // The address is defined anew, also by a load and for some lanes.
  compare(
      "ld.shared.u32 %x0, [%s];\nld.shared.u32 %x1, [%s+4];\nadd.u32 %s, %s, 8;\n"
      "ld.shared.u32 %x2, [%s];\nld.shared.u32 %x3, [%s+4];\n");
  compare(
      "ld.shared.u32 %x0, [%s];\nsetp.gt.u32 %q, %t, 9;\n@%q add.u32 %s, %s, 16;\n"
      "ld.shared.u32 %x1, [%s];\nld.shared.u32 %x2, [%s+4];\n@%q ld.shared.u32 %x3, [%s+8];\n"
      "ld.shared.u32 %x3, [%s+12];\nmov.u32 %s, %x7;\n");
  // Other groups, and stores of others.
  compare(
      "ld.shared.u32 %x0, [%s];\nld.global.u32 %x1, [%g];\nld.u32 %x2, [%g+4];\n"
      "st.global.u32 [%g+512], %x0;\nst.global.u32 [%g+516], %x1;\nld.shared.u32 %x3, [%s+4];\n"
      "ld.global.u32 %x1, [%g+8];\nld.u32 %x0, [%g+8];\n",
      true);
}

TEST(SharedAddressEvents, OfLanesThatPart) {
  compare(
      "ld.shared.u32 %x0, [%s];\nsetp.gt.u32 %q, %t, 9;\n@%q bra OVER;\n"
      "ld.shared.u32 %x1, [%s+4];\nld.shared.u32 %x2, [%s+8];\nOVER:\n"
      "ld.shared.u32 %x3, [%s+12];\nld.shared.u32 %x2, [%s+16];\n");
}

}  // namespace
}  // namespace warpcheck::vgpu
