// Proofs of pairs on the virtual GPU: results, reasons, points, and the log.
#include "harness/prove/prove.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "harness/case/atomic_file.hpp"
#include "harness/input/json.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

TEST(Points, BlocksAtWhichKernelsTendToBreak) {
  const std::vector<std::uint32_t> blocks = revealing_blocks();
  for (const std::uint32_t block : {1u, 31u, 32u, 33u, 127u, 1'023u, 1'024u}) {
    EXPECT_TRUE(std::ranges::binary_search(blocks, block)) << block;
  }
  EXPECT_EQ(all_blocks().size(), 1'024u);
}

TEST(ProofLog, KeepsWhatIsProvedAndForgetsHalfALine) {
  const TemporaryDirectory temporary;
  const std::string path = temporary.path() / "proofs.jsonl";
  const ProvedPoint point{
      {3, 32, 1}, Proof::every_schedule, "data decides a branch", true, "a.cu:1"};
  ProofLog(path).add(line_of("key", point));
  std::ofstream(path, std::ios::app) << R"({"key": "other", "pro)";
  ProofLog again(path);
  ASSERT_NE(again.find("key"), nullptr);
  EXPECT_EQ(*again.find("key"), point);
  EXPECT_EQ(again.find("other"), nullptr);
  again.add(line_of("next", point));
  again.add(line_of("last", point));
  const ProofLog third(path);
  for (const char* const key : {"key", "next", "last"}) EXPECT_NE(third.find(key), nullptr) << key;
}

std::string error_of_log(const std::string& path) {
  try {
    const ProofLog log(path);
  } catch (const CaseFileError& error) {
    return error.what();
  }
  return "it was read";
}

// A damaged line, or a line edited by hand, is an error, not a point that nobody has proved.
TEST(ProofLog, ALineThatIsNotUnderstoodIsNamed) {
  const TemporaryDirectory temporary;
  const std::string path = temporary.path() / "proofs.jsonl";
  const std::string good = line_of("key", {{3, 32, 1}, Proof::all_data});
  const std::string no_line =
      ": this is no line of `warpcheck prove`; remove it, and its point is proved again";
  for (const char* const bad : {"{\"key\": \"other\", \"pro{}", "[]", "{\"proof\":\"all-data\"}",
                                "{\"key\":\"a\",\"proof\":\"all-data\",\"n\":\"three\"}"}) {
    std::ofstream(path, std::ios::trunc) << good << bad << '\n' << good;
    EXPECT_EQ(error_of_log(path), path + ":2" + no_line) << bad;
  }
}

TEST(ProofLog, WhatCannotBeReadOrWrittenIsAnError) {
  const TemporaryDirectory temporary;
  const std::string directory = temporary.path();
  EXPECT_EQ(error_of_log(directory), "cannot read " + directory + ": Is a directory");
  ProofLog log(directory + "/none/proofs.jsonl");
  try {
    log.add("{}\n");
    ADD_FAILURE() << "it was written";
  } catch (const CaseFileError& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot write " + directory + "/none/proofs.jsonl: No such file or directory");
  }
}

// An unknown value, of a later release or edited by hand, is an error, not a weaker proof.
TEST(ProofLog, AnUnknownProofIsAnError) {
  const TemporaryDirectory temporary;
  const std::string path = temporary.path() / "proofs.jsonl";
  std::ofstream(path) << R"({"key":"a","proof":"most"})" << '\n';
  EXPECT_EQ(
      error_of_log(path),
      path +
          ":1: proof: expected one of failed, tried, every-execution, every-schedule, all-data, "
          "found \"most\"");
}

TEST(SampleProof, SaysWhatItRestsOn) {
  EXPECT_EQ(text_of(SampleProof{Proof::all_data, {0, 33, 1'000}, ""}),
            "proved for all data and schedules at 3 of its sizes (n = 0, 33, 1000)");
  EXPECT_EQ(text_of(SampleProof{Proof::every_schedule, {7}, "data decides a branch: a.cu:1"}),
            "proved for this data and all schedules at 1 of its sizes (n = 7): data decides a "
            "branch: a.cu:1");
  EXPECT_EQ(text_of(SampleProof{Proof::all_data, {}, ""}),
            "proved for all data and schedules for 4 of its inputs");
  EXPECT_EQ(text_of(SampleProof{Proof::tried, {7}, "a fence: a.cu:1"}),
            "tried only: a fence: a.cu:1");
  EXPECT_EQ((BeyondTrials{12, SampleProof{Proof::all_data, {5}, ""}}.text()),
            ", 12 trials for every schedule, proved for all data and schedules at 1 of its sizes "
            "(n = 5)");
  EXPECT_EQ(BeyondTrials{}.text(), "");
}

TEST(Proof, NamesComeBack) {
  const FieldPath path("proof");
  for (const Proof proof : {Proof::failed, Proof::tried, Proof::every_execution,
                            Proof::every_schedule, Proof::all_data}) {
    Json json;
    FieldTraits<Proof>::write(json, proof);
    EXPECT_EQ(FieldTraits<Proof>::read(json, path), proof);
  }
  EXPECT_THROW(FieldTraits<Proof>::read(Json("most"), path), FieldError);
}

}  // namespace
}  // namespace warpcheck
