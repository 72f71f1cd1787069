#include "vgpu/machine/native/flow/shared_addresses.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace warpcheck::vgpu::native {
namespace {

// Returns what the accesses of a straight kernel share, by the number of the access.
std::map<std::uint32_t, SharedAddresses::Share> shares_in(const std::string& body) {
  const Program program =
      decode(ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n"
                        ".visible .entry k()\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n"
                        ".reg .b64 %rd<16>;\n" +
                            body + "ret;\n}\n",
                        "test.ptx"),
             "k");
  SharedAddresses shared;
  shared.begin_block(program.code, 0, static_cast<std::uint32_t>(program.code.size()));
  std::map<std::uint32_t, SharedAddresses::Share> found;
  std::map<std::uint32_t, std::uint32_t> numbers;  // by pc
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const InstrKind kind = program.code[pc].kind;
    if (kind != InstrKind::load && kind != InstrKind::store) continue;
    const auto number = static_cast<std::uint32_t>(numbers.size());
    numbers[pc] = number;
    std::optional<SharedAddresses::Share> share = shared.find(pc);
    if (!share) continue;
    share->first = numbers.at(share->first);
    found[number] = *share;
  }
  return found;
}

TEST(SharedAddresses, AnAccessAloneSharesNothing) {
  EXPECT_TRUE(shares_in("ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd2];\n").empty());
}

TEST(SharedAddresses, DistancesAreOfTheFirst) {
  const auto found = shares_in(
      "ld.global.u32 %r1, [%rd1+8];\nld.global.u32 %r2, [%rd1+20];\nld.global.u32 %r3, [%rd1];\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found.at(0), (SharedAddresses::Share{0, 0, 0, -8, 20, true}));
  EXPECT_EQ(found.at(1), (SharedAddresses::Share{0, 0, 12, -8, 20, true}));
  EXPECT_EQ(found.at(2), (SharedAddresses::Share{0, 0, -8, -8, 20, true}));
}

TEST(SharedAddresses, ADefinitionEndsAGroup) {
  const auto found = shares_in(
      "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\nadd.u64 %rd1, %rd1, 4;\n"
      "ld.global.u32 %r3, [%rd1];\nld.global.u32 %r4, [%rd1+4];\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found.at(1).first, 0u);
  EXPECT_EQ(found.at(2).first, 2u);
  EXPECT_EQ(found.at(3).first, 2u);
}

TEST(SharedAddresses, ALoadOfTheAddressItselfEndsIt) {
  const auto found = shares_in(
      "ld.global.u64 %rd1, [%rd1];\nld.global.u64 %rd2, [%rd1+8];\n"
      "ld.global.u64 %rd1, [%rd1+16];\nld.global.u64 %rd3, [%rd1];\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at(1).first, 1u);
  EXPECT_EQ(found.at(2).first, 1u);
}

TEST(SharedAddresses, AGuardedDefinitionEndsItToo) {
  EXPECT_TRUE(shares_in("ld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n"
                        "@%p1 add.u64 %rd1, %rd1, 4;\nld.global.u32 %r2, [%rd1];\n")
                  .empty());
}

TEST(SharedAddresses, SizesKindsSpacesAndGuardsSeparate) {
  EXPECT_TRUE(shares_in("ld.global.u32 %r1, [%rd1];\nld.global.u64 %rd2, [%rd1+8];\n"
                        "st.global.u32 [%rd1+4], %r1;\nld.u32 %r2, [%rd1+12];\n"
                        "ld.volatile.global.u32 %r3, [%rd1+16];\nsetp.eq.u32 %p1, %r1, 0;\n"
                        "@%p1 ld.global.u32 %r2, [%rd1+4];\n")
                  .empty());
}

TEST(SharedAddresses, FarAndMisalignedAccessesShareOnlyHowTheyLie) {
  const auto found = shares_in(
      "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+2];\n"
      "ld.global.u32 %r3, [%rd1+65540];\nld.global.u32 %r4, [%rd1+65536];\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found.at(1), (SharedAddresses::Share{0, 0, 0, 0, 65536, false}));
  EXPECT_EQ(found.at(2), (SharedAddresses::Share{0, 0, 0, 0, 65536, false}));
  EXPECT_EQ(found.at(3), (SharedAddresses::Share{0, 0, 65536, 0, 65536, true}));
}

TEST(SharedAddresses, MoreGroupsThanPlacesShareNothing) {
  std::string loads;
  for (const char* const offset : {"", "+4"}) {
    for (int base = 1; base <= 5; ++base) {
      loads += "ld.global.u32 %r1, [%rd" + std::to_string(base) + offset + "];\n";
    }
  }
  const auto found = shares_in(loads);
  EXPECT_EQ(found.size(), 2 * SharedAddresses::kPlaces);
  EXPECT_FALSE(found.contains(4));
  EXPECT_EQ(found.at(8).place, 3u);
}

}  // namespace
}  // namespace warpcheck::vgpu::native
