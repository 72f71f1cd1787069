#include "vgpu/program/flow/dependence.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpcheck::vgpu {
namespace {

// A program with one load from `s`, shuffles, and one store to `s`.
class DependenceTest : public testing::Test {
 protected:
  void program_of(const std::string& body) {
    program_ = decode(ptx::parse(".version 8.0\n.target sm_75\n.address_size 64\n"
                                 ".shared .align 4 .b8 s[256];\n"
                                 ".visible .entry k()\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n" +
                                     body + "ret;\n}\n",
                                 "test.ptx"),
                      "k");
    flow_.emplace(program_);
    ASSERT_TRUE(flow_->is_known());
  }
  [[nodiscard]] std::uint32_t only(InstrKind kind) const {
    std::uint32_t found = ptx::kNone;
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      if (program_.code[pc].kind == kind) found = pc;
    }
    return found;
  }
  // Returns whether the last shuffle waits for all loads since the shuffle before it.
  [[nodiscard]] bool waits_for_load() const {
    const std::uint32_t shuffle = only(InstrKind::warp_sync);
    const Dependence dependence(*flow_, only(InstrKind::load), MemoryOperand::value, shuffle);
    const auto reads = flow_->reads(shuffle);
    return dependence.covers_all(shuffle, {reads.begin(), reads.end()});
  }
  // Returns whether the store waits for the latest shuffle.
  [[nodiscard]] bool store_waits() const {
    const std::uint32_t store = only(InstrKind::store);
    const Dependence dependence(*flow_, only(InstrKind::warp_sync));
    const auto reads = flow_->reads(store);
    return dependence.covers_latest(store, {reads.begin(), reads.end()});
  }

  Program program_;
  std::optional<RegisterFlow> flow_;
};

constexpr const char* kShuffle = "shfl.sync.up.b32 %r3, %r2, 1, 0, -1;\n";

TEST_F(DependenceTest, ALoadedValueThatIsShuffledAndStored) {
  program_of(std::string("ld.shared.u32 %r1, [s];\nadd.u32 %r2, %r1, 1;\n") + kShuffle +
             "st.shared.u32 [s+4], %r3;\n");
  EXPECT_TRUE(waits_for_load());
  EXPECT_TRUE(store_waits());
}

TEST_F(DependenceTest, OtherValues) {
  program_of(std::string("ld.shared.u32 %r1, [s];\nmov.u32 %r2, 1;\n") + kShuffle +
             "st.shared.u32 [s+4], %r1;\n");
  EXPECT_FALSE(waits_for_load());
  EXPECT_FALSE(store_waits());
}

TEST_F(DependenceTest, AnAddressOrAGuardWaitsToo) {
  program_of(std::string("ld.shared.u32 %r2, [s];\n") + kShuffle + "st.shared.u32 [%r3], 1;\n");
  EXPECT_TRUE(store_waits());
  program_of(std::string("ld.shared.u32 %r2, [s];\n") + kShuffle +
             "setp.eq.u32 %p1, %r3, 0;\n@%p1 st.shared.u32 [s+4], 1;\n");
  EXPECT_TRUE(store_waits());
}

TEST_F(DependenceTest, ALoadUnderItsGuard) {
  program_of(std::string("mov.u32 %r2, 0;\nsetp.eq.u32 %p1, %r5, 0;\n"
                         "@%p1 ld.shared.u32 %r2, [s];\n") +
             kShuffle + "st.shared.u32 [s+4], %r3;\n");
  EXPECT_TRUE(waits_for_load());
}

TEST_F(DependenceTest, OnOneOfTwoPathsIsNotEnough) {
  program_of(std::string("ld.shared.u32 %r1, [s];\nmov.u32 %r2, %r1;\nsetp.eq.u32 %p1, %r5, 0;\n"
                         "@%p1 bra S;\nmov.u32 %r2, 5;\nS: ") +
             kShuffle + "@%p1 mov.u32 %r3, 6;\nst.shared.u32 [s+4], %r3;\n");
  EXPECT_FALSE(waits_for_load());
  EXPECT_FALSE(store_waits());
}

TEST_F(DependenceTest, ASumCoversAllLoadsOfALoop) {
  const std::string loop =
      "mov.u32 %r2, 0;\nmov.u32 %r4, 8;\nL: ld.shared.u32 %r1, [s];\n{sum}\n"
      "sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra L;\n";
  const auto with = [&](const std::string& sum) {
    std::string text = loop;
    return text.replace(text.find("{sum}"), 5, sum) + kShuffle + "st.shared.u32 [s+4], %r3;\n";
  };
  program_of(with("add.u32 %r2, %r2, %r1;"));
  EXPECT_TRUE(waits_for_load());
  program_of(with("mov.u32 %r2, %r1;"));  // only the last load
  EXPECT_FALSE(waits_for_load());
}

TEST_F(DependenceTest, EachRoundByItself) {
  const std::string head = "mov.u32 %r4, 8;\nmov.u32 %r6, 0;\nL: ld.shared.u32 %r2, [s];\n";
  const std::string tail = "sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra L;\n";
  program_of(head + kShuffle + "st.shared.u32 [s+4], %r3;\n" + tail);
  EXPECT_TRUE(waits_for_load());
  EXPECT_TRUE(store_waits());
  // The store writes the result of the previous round's shuffle.
  program_of(head + kShuffle + "st.shared.u32 [s+4], %r6;\nmov.u32 %r6, %r3;\n" + tail);
  EXPECT_TRUE(waits_for_load());
  EXPECT_FALSE(store_waits());
}

TEST_F(DependenceTest, AShuffleThatSomeLanesLeaveOutEndsNothing) {
  program_of(std::string("mov.u32 %r4, 8;\nL: ld.shared.u32 %r2, [s];\n"
                         "setp.eq.u32 %p2, %r4, %r5;\n@%p2 ") +
             kShuffle +
             "sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra L;\n"
             "st.shared.u32 [s+4], %r3;\n");
  EXPECT_FALSE(waits_for_load());
}

TEST_F(DependenceTest, RecursionIsNotFollowed) {
  program_ = decode(ptx::parse(".version 8.0\n.target sm_75\n.address_size 64\n"
                               ".func f()\n{\ncall f;\nret;\n}\n"
                               ".visible .entry k()\n{\ncall f;\nret;\n}\n",
                               "test.ptx"),
                    "k");
  EXPECT_FALSE(RegisterFlow(program_).is_known());
}

}  // namespace
}  // namespace warpcheck::vgpu
