// `warpcheck prove --all-sizes` as a user runs it: clean pairs are proved, published defects are
// refuted by a case that replays.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell_test_fixture.hpp"

namespace {

using AllSizes = ShellTest;

TEST_F(AllSizes, ACleanScanIsProvedForEverySizeAndBlock) {
  const Outcome proof = run("prove scan_hillis_steele --all-sizes --json proof.json");
  EXPECT_EQ(proof.status, 0) << proof.out;
  const nlohmann::json pair = nlohmann::json::parse(read("proof.json")).at("pairs").at(0);
  EXPECT_EQ(pair.at("proved"), true);
  const nlohmann::json& kernel = pair.at("kernels").at(0);
  EXPECT_EQ(kernel.at("answer"), "proved");
  EXPECT_EQ(kernel.at("domain").dump(),
            R"(["arg2 = 0 .. 1024","blockDim.x = 1 .. 1024","gridDim.x = 1"])");
  EXPECT_EQ(kernel.at("memory").at(2), "dynamic shared memory has 8 * blockDim.x bytes");
}

TEST_F(AllSizes, APublishedRaceIsRefutedByACaseThatReplays) {
  const Outcome proof = run("prove scan_hillis_steele_published --all-sizes");
  EXPECT_EQ(proof.status, 1) << proof.out;
  EXPECT_NE(proof.out.find("refuted by a run because of scan_hillis_steele.cu:14"),
            std::string::npos)
      << proof.out;
  EXPECT_NE(proof.out.find("data-race on shared memory"), std::string::npos) << proof.out;
  EXPECT_NE(proof.out.find("input: n=3,"), std::string::npos) << proof.out;
  EXPECT_EQ(
      shell(WARPCHECK_PROGRAM " replay fuzz/cases/scan_hillis_steele_published/*.case").status, 1);
}

TEST_F(AllSizes, AHostThatCopiesTooMuchIsRefutedAlthoughItsKernelIsProved) {
  const Outcome proof = run("prove reduce_max_host_finish_published --all-sizes --json proof.json");
  EXPECT_EQ(proof.status, 1) << proof.out;
  const nlohmann::json pair = nlohmann::json::parse(read("proof.json")).at("pairs").at(0);
  EXPECT_EQ(pair.at("proved"), false);
  EXPECT_EQ(pair.at("refuted"), true);
  EXPECT_EQ(pair.at("kernels").at(0).at("answer"), "proved");
}

}  // namespace
