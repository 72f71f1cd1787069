// Proofs of pairs on the virtual GPU: what is proved, why not more, which points, and what is kept.
#include "harness/prove/prove.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace warpcheck {
namespace {

TEST(Points, BlocksAtWhichKernelsTendToBreak) {
  const std::vector<std::uint32_t> blocks = telling_blocks();
  for (const std::uint32_t block : {1u, 31u, 32u, 33u, 127u, 1'023u, 1'024u}) {
    EXPECT_TRUE(std::ranges::binary_search(blocks, block)) << block;
  }
  EXPECT_EQ(all_blocks().size(), 1'024u);
}

TEST(ProofLog, KeepsWhatIsProvedAndForgetsHalfALine) {
  const std::string path = testing::TempDir() + "prove_test.jsonl";
  std::remove(path.c_str());
  const ProvedPoint point{
      {3, 32, 1}, Proof::every_schedule, "data decides a branch", true, "a.cu:1"};
  ProofLog(path).add("key", point);
  std::ofstream(path, std::ios::app) << R"({"key": "other", "pro)";
  const ProofLog again(path);
  ASSERT_NE(again.find("key"), nullptr);
  EXPECT_EQ(*again.find("key"), point);
  EXPECT_EQ(again.find("other"), nullptr);
}

TEST(Proof, NamesComeBack) {
  for (const Proof proof : {Proof::failed, Proof::tried, Proof::every_schedule, Proof::all_data}) {
    EXPECT_EQ(proof_named(name_of(proof)), proof);
  }
}

}  // namespace
}  // namespace warpcheck
