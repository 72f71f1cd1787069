// --engine gpu as a user runs it, with a fake runtime library
// (vgpu/cudart/testing/fake_runtime.cpp) and a fake compute-sanitizer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell_test_fixture.hpp"

namespace {

namespace fs = std::filesystem;

class Gpu : public ShellTest {
 protected:
  Outcome run(const std::string& arguments, const std::string& environment = "") const {
    return shell("env " + environment + " " + WARPCHECK_PROGRAM " " + arguments +
                 " --engine gpu --runtime " + WARPCHECK_FAKE_RUNTIME);
  }

  // Replaces compute-sanitizer; runs the program and writes `log`.
  std::string fake_sanitizer(const std::string& log) const {
    std::ofstream(directory_ / "log.txt") << log;
    std::ofstream(directory_ / "compute-sanitizer")
        << "#!/bin/sh\n"
           "[ \"$1 $3 $4 $5\" = '--tool --target-processes all --log-file' ] || exit 9\n"
           "log=$6; shift 6; \"$@\"; cat '"
        << (directory_ / "log.txt").string() << "' >\"$log\"\n";
    fs::permissions(directory_ / "compute-sanitizer", fs::perms::owner_all);
    return "PATH='" + directory_.string() + "':\"$PATH\"";
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kClean = "check histogram_global --trials 300";

TEST_F(Gpu, ACleanPairPassesAndTheEngineIsNamed) {
  const Outcome outcome = run(std::string(kClean) + " --json found.json");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "engine: Fake GPU (CUDA driver 13.2, runtime 13.0, "));
  EXPECT_TRUE(has(outcome.out, "PASS histogram_global   300 trials\n"));
  EXPECT_TRUE(has(outcome.out, "PASS histogram_global.order_does_not_matter   300 trials\n"));
  const auto json = nlohmann::json::parse(std::ifstream(directory_ / "found.json"));
  EXPECT_TRUE(has(json["engine"], "Fake GPU"));
  EXPECT_EQ(json["findings"].size(), 0u);
}

TEST_F(Gpu, AWrongResultIsACaseThatCanBeReplayed) {
  // The fake device does not run this kernel.
  const Outcome outcome = run("check histogram_shared --trials 100");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "FAIL histogram_shared   after "));
  EXPECT_TRUE(has(outcome.out, "  mismatch: out["));
  const std::size_t at = outcome.out.find("warpcheck replay --engine gpu ");
  ASSERT_NE(at, std::string::npos) << outcome.out;
  const std::string replay = outcome.out.substr(at + 10, outcome.out.find('\n', at) - at - 10);
  const std::string path = replay.substr(replay.rfind(' ') + 1);
  const Outcome again = run("replay " + path);
  EXPECT_EQ(again.status, 1) << again.out;
  EXPECT_TRUE(has(again.out, "in run 1 of at most 1000:\nFAIL histogram_shared"));
}

TEST_F(Gpu, StoredFailuresAreRunFirst) {
  const std::string stored = " .warpcheck/cases/histogram_shared_published";
  const std::string cases = WARPCHECK_SOURCE_DIR "/fuzz/cases/histogram_shared_published/";
  ASSERT_EQ(shell("mkdir -p" + stored + " && cp " + cases + "d31e.case" + stored).status, 0);
  const std::string check = "check histogram_shared_published --trials 1 ";
  const Outcome outcome = run(check);
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "in run 1 of at most 100:\nFAIL histogram_shared_published\n"))
      << outcome.out;
  EXPECT_TRUE(has(outcome.out, "warpcheck replay --engine gpu" + stored + "/d31e.case\n"));
  EXPECT_FALSE(has(run(check + "--no-failures").out, "in run "));
}

TEST_F(Gpu, WithoutADeviceNothingPasses) {
  const Outcome outcome = run(kClean, "FAKE_GPU=none");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out,
            "warpcheck: --engine gpu: no CUDA device can be used: cudaGetDeviceCount: "
            "cudaErrorNoDevice (no CUDA-capable device is detected)\n");
  EXPECT_EQ(run(std::string(kClean) + " --require-gpu", "FAKE_GPU=none").status, 1);
}

// In each process the fifth launch fails with it: once for each claim, and no other case is lost.
TEST_F(Gpu, AStickyErrorCostsOneCase) {
  const Outcome outcome = run(kClean, "FAKE_GPU=illegal");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(has(outcome.out, "FAIL histogram_global   after 5 trials"));
  EXPECT_TRUE(has(outcome.out,
                  "  out-of-bounds: cudaErrorIllegalAddress (an illegal memory access was "
                  "encountered)\n"))
      << outcome.out;
  EXPECT_TRUE(has(outcome.out, "FAIL histogram_global.order_does_not_matter   after "));
}

TEST_F(Gpu, ACrashCostsOneCase) {
  const Outcome outcome = run(kClean, "FAKE_GPU=crash");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(has(outcome.out, "FAIL histogram_global   after 5 trials"));
  EXPECT_TRUE(has(outcome.out, "  trap: the trial's process was killed by signal 11"));
  EXPECT_TRUE(has(outcome.out, "FAIL histogram_global.every_byte_is_counted_once   after "));
}

TEST_F(Gpu, AHangEndsAtTheTimeLimit) {
  const Outcome outcome = run("check kahan_sum --trials 20 --time-limit 0.5", "FAKE_GPU=hang");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(has(outcome.out, "  deadlock: the trial did not end within 0.5 s\n")) << outcome.out;
}

TEST_F(Gpu, ASanitizersFindingsAreInTheReport) {
  const std::string environment = fake_sanitizer(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ read of size 1 bytes\n"
      "=========     at histogram_global_kernel(const unsigned char *, unsigned int *, unsigned "
      "long)+0x70 in histogram.cu:17\n"
      "=========     by thread (3,0,0) in block (1,0,0)\n"
      "=========     Access to 0x7f0000000000 is out of bounds\n"
      "========= \n"
      "========= ERROR SUMMARY: 1 error\n");
  const Outcome outcome =
      run("check histogram_global --trials 10 --sanitizer memcheck", environment);
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_TRUE(has(outcome.out, ", under memcheck\n"));
  EXPECT_TRUE(has(outcome.out,
                  "FAIL histogram_global   after 1 trial, 0 shrinks\n"
                  "  out-of-bounds on global memory 1 bytes\n"
                  "    (1) read by block (1,0,0) thread (3,0,0)  histogram.cu:17   "
                  "(compute-sanitizer)\n"))
      << outcome.out;
}

// A line of the process that uses the GPU is a message, or an error.
TEST_F(Gpu, ALineThatIsNotUnderstoodIsQuoted) {
  std::ofstream(directory_ / "compute-sanitizer") << "#!/bin/sh\n"
                                                     "for task; do :; done\n"
                                                     "cat line.txt >\"$task.messages\"\n";
  fs::permissions(directory_ / "compute-sanitizer", fs::perms::owner_all);
  const std::string environment = "PATH='" + directory_.string() + "':\"$PATH\"";
  const std::string hello = "hello {\"version\":3}\n";
  struct Row {
    std::string text, line, reason;
  };
  const Row kRows[] = {
      {hello, R"(gpu-device {"text":)", "its fields are no JSON from byte 9 on"},
      {hello, R"(devices {"text":"Fake GPU"})", "no message has the tag 'devices'"},
      {hello, R"(remark {"text":"a"})", "it is no message of this worker"},
      {hello, R"(gpu-trial {"job":9,"trial":0})", "it is no message of this worker"},
      {hello, R"(gpu-failure {"trial":0,"launches":1,"findings":[{"kind":"new"}]})",
       R"(gpu-failure.findings[0].kind: expected a kind of finding, found "new")"},
      {"", R"(hello {"version":0})", "it speaks version 0 of the protocol, and not 3"},
      {"", R"(gpu-device {"text":"Fake GPU"})", "hello has to come first"}};
  for (const auto& [text, line, reason] : kRows) {
    std::ofstream(directory_ / "line.txt") << text << line << "\n";
    const Outcome outcome =
        run("check histogram_global --trials 10 --sanitizer memcheck", environment);
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    EXPECT_EQ(outcome.out, "warpcheck: --engine gpu: the process that uses the GPU wrote '" + line +
                               "': " + reason + "\n");
  }
}

TEST_F(Gpu, ACleanSanitizerPassesAndABrokenOneDoesNot) {
  const std::string check = "check histogram_global --trials 100 --sanitizer initcheck";
  const std::string clean = fake_sanitizer("========= ERROR SUMMARY: 0 errors\n");
  const Outcome passed = run(check, clean);
  EXPECT_EQ(passed.status, 0) << passed.out;
  EXPECT_TRUE(has(passed.out, "PASS histogram_global   100 trials\n"));
  const std::string broken = fake_sanitizer("========= Error: Device not supported\n");
  const Outcome refused = run(check, broken);
  EXPECT_EQ(refused.status, 2) << refused.out;
  EXPECT_TRUE(has(refused.out, "did not run to its end: ========= Error: Device not supported\n"));
}

TEST_F(Gpu, WhatOnlyTheVirtualGpuHasIsRefused) {
  EXPECT_EQ(run("check histogram_global --build both").status, 2);
  EXPECT_EQ(run("check histogram_global --statistics").status, 2);
  EXPECT_EQ(run("replay --expect-recorded x.case").status, 2);
  EXPECT_EQ(run("replay none.case").status, 2);
}

}  // namespace
