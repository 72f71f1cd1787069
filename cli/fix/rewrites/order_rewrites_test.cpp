// Wider scopes, waits for a phase, moved barriers.
#include "cli/fix/rewrites/order_rewrites.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warpcheck {
namespace {

std::string patched(const SourceTree& tree, const Patch& patch) {
  return edited_text(tree.text(), patch.files.at("k.cu"));
}

TEST(WiderScopes, AreTriedAloneAndTogether) {
  const SourceTree tree(
      "void f() {\n  // __threadfence_block .cta.\n  __threadfence_block();\n"
      "  asm(\"st.release.cta.global.u32 [%0], 1;\");\n}\n");
  const std::vector<Patch> patches = wider_scopes("k.cu", tree, false);
  ASSERT_EQ(patches.size(), 3U);
  EXPECT_NE(patched(tree, patches[0]).find("  __threadfence();\n"), std::string::npos);
  EXPECT_NE(patched(tree, patches[1]).find("st.release.gpu.global"), std::string::npos);
  EXPECT_EQ(patches[2].what,
            (std::vector<std::string>{"the scope of the device for all fences and atomics"}));
  EXPECT_EQ(patched(tree, patches[2]).find("_block()"), std::string::npos);
}

TEST(WiderScopes, OfTheSystem) {
  const SourceTree tree("void f(int* a) {\n  atomicAdd(a, 1);\n}\n");
  const std::vector<Patch> patches = wider_scopes("k.cu", tree, true);
  ASSERT_EQ(patches.size(), 1U);
  EXPECT_NE(patched(tree, patches[0]).find("atomicAdd_system(a, 1);"), std::string::npos);
}

TEST(WiderMasks, NameAllLanes) {
  const SourceTree tree(
      "void f(int v) {\n  __syncwarp(0xff << 8);\n  __syncwarp();\n"
      "  v = __shfl_xor_sync(kHalf, v, 1) + __shfl_sync(0xffffffff, v, 2);\n"
      "  __ballot_sync(__activemask(), v);\n}\n");
  const std::vector<Patch> patches = wider_masks("k.cu", tree, 0);
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_NE(patched(tree, patches[0]).find("{\n  __syncwarp();\n  __syncwarp();\n"),
            std::string::npos);
  EXPECT_NE(patched(tree, patches[1]).find("v = __shfl_xor_sync(0xffffffff, v, 1) +"),
            std::string::npos);
}

TEST(PhaseWaits, NameTheBarrierOfInlinePtx) {
  const SourceTree tree(
      "void f() {\n  asm(\"mbarrier.init.shared.b64 [%0], 1;\" ::\"r\"(place(&bar)));\n}\n");
  const std::vector<std::string> waits = phase_waits(tree, 0);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_NE(waits[0].find("p, [%1], 0;"), std::string::npos) << waits[0];
  EXPECT_NE(waits[1].find("\"r\"(place(&bar))"), std::string::npos) << waits[1];
}

TEST(MovedBarriers, GoAroundWhatContainsThem) {
  const SourceTree tree(
      "void f() {\n  if (t < n) {\n    a[t] = 1;\n    __syncthreads();\n  }\n  b();\n}\n");
  const std::vector<std::size_t> found = tree.statements_at(4);
  ASSERT_FALSE(found.empty());
  const std::vector<Patch> patches = moved_barriers("k.cu", tree, found.back());
  ASSERT_EQ(patches.size(), 3U);
  EXPECT_EQ(patched(tree, patches[0]),
            "void f() {\n  if (t < n) {\n    a[t] = 1;\n  }\n  __syncthreads();\n  b();\n}\n");
  EXPECT_EQ(patched(tree, patches[1]),
            "void f() {\n  __syncthreads();\n  if (t < n) {\n    a[t] = 1;\n  }\n  b();\n}\n");
  EXPECT_EQ(patched(tree, patches[2]),
            "void f() {\n  if (t < n) {\n    a[t] = 1;\n  }\n  b();\n}\n");
  EXPECT_TRUE(moved_barriers("k.cu", tree, tree.statements_at(3).back()).empty());
}

TEST(ExchangedHandovers, GoToTheOtherSide) {
  const SourceTree tree(
      "void f() {\n  asm volatile(\"bar.arrive 1, 64;\");\n  s[t] = 1;  // written\n"
      "  if (r > 0) empty.arrive_and_wait();\n}\n");
  const std::vector<Patch> patches =
      exchanged_handovers("k.cu", tree, tree.statements_at(3).back());
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_EQ(patched(tree, patches[0]),
            "void f() {\n  s[t] = 1;  // written\n  asm volatile(\"bar.arrive 1, 64;\");\n"
            "  if (r > 0) empty.arrive_and_wait();\n}\n");
  EXPECT_EQ(patches[0].what, (std::vector<std::string>{"line 2 moved behind line 3"}));
  EXPECT_EQ(patched(tree, patches[1]),
            "void f() {\n  asm volatile(\"bar.arrive 1, 64;\");\n"
            "  if (r > 0) empty.arrive_and_wait();\n  s[t] = 1;  // written\n}\n");
  // A token is used behind it.
  const SourceTree token("void f() {\n  auto token = bar.arrive();\n  s[t] = 1;\n}\n");
  EXPECT_TRUE(exchanged_handovers("k.cu", token, token.statements_at(3).back()).empty());
}

TEST(LibraryWaits, AreForWhatTheFunctionAnnounces) {
  const SourceTree tree(
      "void f() {\n  init(&bar, 32);\n  auto token = bar.arrive();\n  "
      "pipe.producer_commit();\n}\n");
  EXPECT_EQ(library_waits(tree, 0),
            (std::vector<std::string>{"bar.wait(cuda::std::move(token));", "bar.arrive_and_wait();",
                                      "pipe.consumer_wait();"}));
  EXPECT_TRUE(library_waits(SourceTree("void f() {\n  init(bar);\n}\n"), 0).empty());
}

TEST(GroupSyncs, StandWhereTheGroupIsMade) {
  const SourceTree tree(
      "void f() {\n  if (x) {\n    auto g = cg::coalesced_threads();\n    s[0] = 1;\n    y = "
      "s[0];\n"
      "  }\n}\n");
  const std::string file = "k.cu";
  const std::vector<Patch> patches = group_syncs({&file, &tree, tree.statements_at(5).back()});
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_NE(patched(tree, patches[0]).find("    s[0] = 1;\n    g.sync();\n    y = s[0];\n"),
            std::string::npos);
  EXPECT_TRUE(group_syncs({&file, &tree, tree.statements_at(3).back()}).size() < 2U);
}

TEST(OtherCounts, OfABarrierAreThoseOfItsThreads) {
  const SourceTree tree("void f() {\n  if (t == 0) init(&bar, blockDim.x + 1);\n}\n");
  const std::vector<Patch> patches = other_counts("k.cu", tree, 0);
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_NE(patched(tree, patches[0]).find("init(&bar, blockDim.x);"), std::string::npos);
}

}  // namespace
}  // namespace warpcheck
