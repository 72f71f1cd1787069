// Every execution of pairs that communicate: their number, and the one that fails.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/executions/executions.hpp"
#include "harness/prove/prove.hpp"
#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

struct CountedIdiom {
  std::string name;
  Json input;
  std::uint64_t executions;  // of the idiom with fences
};

// Threads may reach a lock, a queue and a last block in any order; passing a value on has one
// order.
const std::vector<CountedIdiom> kCountedIdioms{
    {"message_passing", {{"in", {5, 7}}}, 1},
    {"look_back_scan", {{"in", {1, 2, 3}}}, 1},
    {"ticket_lock", {{"in", {1, 2}}}, 2},
    {"ticket_lock", {{"in", {1, 2, 3}}}, 6},
    {"last_block", {{"in", {1, 2}}}, 2},
    {"last_block", {{"in", {1, 2, 3}}}, 6},
    {"work_queue", {{"in", {1, 2}}, {"consumers", 1}}, 2},
    {"work_queue", {{"in", {1, 2}}, {"consumers", 2}}, 16},
};

TEST(EveryExecution, OfTheIdiomsWithFencesAgrees) {
  for (const CountedIdiom& idiom : kCountedIdioms) {
    for (const cudart::Build build : {cudart::Build::optimized, cudart::Build::unoptimized}) {
      SCOPED_TRACE(idiom.name + idiom.input.dump());
      const Executions found =
          try_every_execution(case_of(idiom.name, idiom.input, {.build = build}), {});
      EXPECT_TRUE(found.all) << text_of(found);
      EXPECT_EQ(found.count, idiom.executions);
    }
  }
}

TEST(EveryExecution, OfTheIdiomsWithoutFencesHasOneThatFails) {
  for (const CountedIdiom& idiom : kCountedIdioms) {
    for (const cudart::Build build : {cudart::Build::optimized, cudart::Build::unoptimized}) {
      SCOPED_TRACE(idiom.name + idiom.input.dump());
      const Executions found =
          try_every_execution(case_of(idiom.name + "_unfenced", idiom.input, {.build = build}), {});
      ASSERT_TRUE(found.failed) << text_of(found);
      EXPECT_FALSE(found.all);
      const Verdict again = run_case(*found.failed);
      EXPECT_EQ(kinds_of(again), "mismatch");
      EXPECT_EQ(again.decisions_ignored, 0U);
      EXPECT_EQ(again.findings, found.verdict.findings);
    }
  }
}

TEST(EveryExecution, IsSaidInWords) {
  const Case queue = case_of("work_queue", {{"in", {1, 2}}, {"consumers", 2}});
  EXPECT_EQ(text_of(try_every_execution(queue, {})), "all 16 executions agree");
  const Executions cut = try_every_execution(queue, {.runs = 3});
  EXPECT_EQ(text_of(cut), "3 executions tried; the search was cut at 3 runs");
  EXPECT_FALSE(cut.all);
  const Executions steps = try_every_execution(queue, {.steps = 1});
  EXPECT_EQ(text_of(steps), "1 execution tried; the search was cut at 1 warp instructions");
  const Executions events = try_every_execution(queue, {.events = 10});
  EXPECT_EQ(text_of(events), "1 execution tried; the search was cut at 10 events");
  const Executions many = try_every_execution(queue, {.threads = 2});
  EXPECT_EQ(text_of(many), "0 executions tried; more threads than are followed");
  EXPECT_FALSE(many.all);
  EXPECT_EQ(text_of(Executions{.count = 3'412, .all = true}), "all 3,412 executions agree");
}

PairProof proof_of(const char* pair, std::uint64_t runs, unsigned jobs = 1,
                   std::uint32_t size_max = 2) {
  ProofLog log("");
  ProveOptions options;
  options.points.size_max = size_max;
  options.jobs = jobs;
  options.builds = {cudart::Build::optimized};
  options.executions.runs = runs;
  const AnyPair* const pairs[] = {Registry::global().find(pair)};
  return prove_pairs(pairs, options, log).front();
}

TEST(EveryExecution, ProvesWhatCertificatesDoNot) {
  const PairProof proof = proof_of("ticket_lock", 100);
  ASSERT_EQ(proof.points.size(), 2U);  // with 1 and 2 blocks
  EXPECT_EQ(proof.worst(), Proof::every_execution);
  EXPECT_EQ(proof.executions(), 3U);

  const PairProof cut = proof_of("ticket_lock", 1);
  ASSERT_EQ(cut.points.size(), 2U);
  EXPECT_EQ(cut.points[1].proof, Proof::tried);
  EXPECT_NE(cut.points[1].reason.find("; 1 execution tried; the search was cut at 1 run"),
            std::string::npos)
      << cut.points[1].reason;

  const PairProof failed = proof_of("ticket_lock_unfenced", 100);
  EXPECT_EQ(failed.worst(), Proof::failed);
  ASSERT_EQ(failed.failures.size(), 1U);
  EXPECT_EQ(kinds_of(run_case(failed.failures.front())), "mismatch");
}

// Points larger than one that was cut are not tried, whichever worker cut it; if a worker tried one
// before it could know, the result is dropped.
TEST(EveryExecution, IsCutAtTheSamePointsHoweverManyProcesses) {
  for (const char* const pair : {"ticket_lock", "last_block"}) {
    for (const std::uint64_t runs : {2u, 20u}) {
      const PairProof one = proof_of(pair, runs, 1, 12);
      EXPECT_GT(std::ranges::count(one.points, true, &ProvedPoint::cut), 0) << pair;
      EXPECT_LT(std::ranges::count(one.points, true, &ProvedPoint::cut),
                std::ranges::ssize(one.points))
          << pair;
      for (const unsigned jobs : {2u, 3u, 5u}) {
        EXPECT_EQ(proof_of(pair, runs, jobs, 12).points, one.points) << pair << ' ' << jobs;
      }
    }
  }
}

}  // namespace
}  // namespace warpcheck
