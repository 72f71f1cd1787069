// Proofs of pairs by several processes give the same results as by one, whatever happens to them.
#include "harness/input/json.hpp"
#include "harness/prove/prove.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/shared_memory.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/prove/points.hpp"
#include "harness/prove/prove_report.hpp"
#include "harness/testing/fake_engine.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

// Shared with forked processes: whether kernels misbehave, and how often.
struct Mishap {
  std::atomic<int> crashes;  // remaining ones
  std::atomic<bool> waits;
};
const SharedMemory<Mishap> kMishap;

// As many threads as elements; from 13 elements on something happens.
FakeInput draw_sized(Draw& draw) {
  const auto n = static_cast<std::size_t>(draw.between(1, 100));
  FakeInput in{.values = {}, .launch = {.grid = 1, .block = n}};
  for (std::size_t i = 0; i < n; ++i) in.values.push_back(static_cast<int>(draw.between(0, 9)));
  return in;
}
bool is_sized(const FakeInput& in) {
  return in.launch.grid == Dim3{1} && in.launch.block.x >= in.values.size();
}

}  // namespace

struct ScalarInput {
  int value = 0;
};
FIELDS(ScalarInput, value);
KERNEL_PAIR(fake_scalar, ScalarInput, int) = {
    .family = "fake",
    .arbitrary = [](Draw& draw) { return ScalarInput{static_cast<int>(draw.between(0, 9))}; },
    .kernel = [](Device&, const ScalarInput& in) { return in.value; },
    .reference = [](const ScalarInput& in) { return in.value; },
};

// A matrix of a row for each of n elements, where they begin, and as many coefficients for each n.
struct RowsInput {
  std::vector<int> coefficients{};
  int n = 0;
  std::vector<int> begins{}, elements{};
};
FIELDS(RowsInput, coefficients, n, begins, elements);
KERNEL_PAIR(fake_rows, RowsInput, int) = {
    .family = "fake",
    .domain =
        [](const RowsInput& in) {
          const auto n = static_cast<std::size_t>(in.n);
          return in.n >= 0 && in.n <= 50 && in.coefficients.size() == 7 &&
                 in.begins.size() == n + 1 && in.elements.size() == 3 * n + 2;
        },
    .arbitrary =
        [](Draw& draw) {
          const auto n = static_cast<std::size_t>(draw.between(0, 50));
          return RowsInput{std::vector<int>(7, 1), static_cast<int>(n), std::vector<int>(n + 1, 2),
                           std::vector<int>(3 * n + 2, 3)};
        },
    .kernel = [](Device&, const RowsInput& in) { return in.n; },
    .reference = [](const RowsInput& in) { return in.n; },
};

#define SIZED_KERNEL_PAIR(name, does)                             \
  KERNEL_PAIR(name, FakeInput, std::vector<int>) = {              \
      .family = "fake",                                           \
      .domain = is_sized,                                         \
      .arbitrary = draw_sized,                                    \
      .kernel =                                                   \
          [](Device&, const FakeInput& in) {                      \
            if (in.values.size() >= 13) does;                     \
            return in.values;                                     \
          },                                                      \
      .reference = [](const FakeInput& in) { return in.values; }, \
  }
SIZED_KERNEL_PAIR(crashes_from_13_on, std::raise(SIGKILL));
SIZED_KERNEL_PAIR(crashes_so_often, kMishap->crashes-- > 0 ? std::raise(SIGKILL) : 0);
SIZED_KERNEL_PAIR(waits_from_13_on, in.values.size() < 40 && kMishap->waits ? ::pause() : 0);
SIZED_KERNEL_PAIR(refused_from_13_on, FakeEngine::current().refuse("kernel k: wmma.load"));

namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The proofs of these pairs by several processes, and their log if a path is given.
struct Proofs {
  std::vector<PairProof> of{};
  std::string text{};  // of all proofs
  std::string log{};
};
Proofs proofs_of(const std::vector<const char*>& names, unsigned jobs, const std::string& path = "",
                 bool stops = false) {
  std::vector<const AnyPair*> pairs;
  for (const char* const name : names) pairs.push_back(Registry::global().find(name));
  volatile std::sig_atomic_t stop = 0;
  ProveOptions options;
  options.points = {.size_max = 40, .blocks = {8, 16, 32, 40}};
  options.jobs = jobs;
  options.stop = &stop;
  options.on_wait = [&](const ProveProgress& progress) {
    if (stops && progress.done != 0) stop = 1;
  };
  ProofLog log(path);
  FakeEngine engine;
  Proofs proofs;
  const auto on_proved = [&](const PairProof& proof) {
    proofs.text += prove_text(proof);
    for (const Case& failure : proof.failures)
      proofs.text += failure.pair->to_json(failure.input).dump() + "\n";
  };
  proofs.of = prove_pairs(pairs, options, log, on_proved, engine);
  proofs.text += prove_json(proofs.of).dump() + prove_html(proofs.of);
  proofs.log = file_text(path);
  return proofs;
}

// Counted in the order of the plan of proofs_of().
std::uint64_t points_before(std::uint32_t size) {
  std::uint64_t count = 0;
  for (const std::uint32_t block : {8u, 16u, 32u, 40u}) count += std::min(size, block + 1);
  return count;
}

// One clean pair, one that fails for two reasons, and one that ends early.
TEST(ProvePairs, TellTheSameHoweverManyProcesses) {
  const TemporaryDirectory temporary;
  const std::string path = temporary.path() / "proofs.jsonl";
  const std::vector<const char*> pairs{"fake_clean", "fake_two_bugs", "refused_from_13_on",
                                       "waits_from_13_on"};
  const Proofs one = proofs_of(pairs, 1, path);
  ASSERT_EQ(one.of.size(), 4u);
  EXPECT_EQ(one.of[0].points.size(), points_before(41));
  EXPECT_EQ(one.of[0].worst(), Proof::all_data);
  ASSERT_EQ(one.of[1].failures.size(), 2u);
  EXPECT_EQ(one.of[1].failures[0].pair->size_of(one.of[1].failures[0].input).elements, 5u);
  EXPECT_EQ(one.of[2].errors, std::vector<std::string>{"cannot run: kernel k: wmma.load"});
  EXPECT_NE(one.log, "");
  for (const unsigned jobs : {2u, 3u, 7u}) {
    std::remove(path.c_str());
    const Proofs other = proofs_of(pairs, jobs, path);
    EXPECT_EQ(other.text, one.text) << jobs;
    EXPECT_EQ(other.log, one.log) << jobs;
    // Known results are not written again, and are the same.
    const Proofs again = proofs_of(pairs, jobs, path);
    EXPECT_EQ(again.text, one.text) << jobs;
    EXPECT_EQ(again.log, one.log) << jobs;
  }
}

// Lengths are sums of a multiple of the size and a constant, or the same for all sizes.
TEST(ProvePairs, ListsOfOneLengthAreNoSize) {
  Points points(*Registry::global().find("fake_rows"), {.size_max = 60, .blocks = {}});
  for (const std::uint32_t size : {0u, 1u, 17u, 50u}) {
    const auto found = points.inputs(size, 0);
    ASSERT_EQ(found.size(), 1u) << size;
    const Json input = Registry::global().find("fake_rows")->to_json(found[0].input);
    EXPECT_EQ(input.at("n"), size);
    EXPECT_EQ(input.at("coefficients").size(), 7u);
    EXPECT_EQ(input.at("begins").size(), size + 1);
    EXPECT_EQ(input.at("elements").size(), 3 * size + 2);
  }
  EXPECT_EQ(points.inputs(51, 0).size(), 0u);
}

TEST(ProvePairs, AnInputWithoutListsHasNoSize) {
  FakeEngine engine;
  const std::array builds{cudart::Build::optimized};
  const auto sizes_of = [&](std::string_view pair) {
    return prove_sample(*Registry::global().find(pair), 1, builds, engine).sizes;
  };
  EXPECT_EQ(sizes_of("fake_scalar"), std::vector<std::uint64_t>{});
  EXPECT_EQ(sizes_of("fake_clean").size(), kSampleInputs);
}

// The first point of the plan that kills its worker is named, and all points before it are proved.
TEST(ProvePairs, ACrashIsToldWithItsSize) {
  const Proofs one = proofs_of({"crashes_from_13_on", "fake_clean"}, 1);
  const PairProof& proof = one.of.at(0);
  EXPECT_EQ(proof.errors,
            std::vector<std::string>{"size 15, block 16: killed by signal 9 (Killed)"});
  EXPECT_FALSE(proof.interrupted);
  EXPECT_EQ(one.of.at(1).points.size(), points_before(41));
  for (const unsigned jobs : {2u, 3u, 7u}) {
    EXPECT_EQ(proofs_of({"crashes_from_13_on", "fake_clean"}, jobs).text, one.text) << jobs;
  }
}

TEST(ProvePairs, ACrashThatDoesNotHappenAgainIsToldToo) {
  for (const unsigned jobs : {1u, 3u}) {
    kMishap->crashes = 1;
    const PairProof proof = proofs_of({"crashes_so_often"}, jobs).of.at(0);
    EXPECT_EQ(proof.errors, std::vector<std::string>{"killed by signal 9 (Killed)"});
    EXPECT_EQ(proof.points.size(), points_before(41));
    EXPECT_EQ(proof.worst(), Proof::all_data);
  }
}

// Results until then are kept; the rest comes later, and the total is as without an interruption.
TEST(ProvePairs, AreResumedWhereTheyWereInterrupted) {
  const TemporaryDirectory temporary;
  const std::string path = temporary.path() / "proofs.jsonl";
  const std::string whole = proofs_of({"waits_from_13_on", "fake_clean"}, 2).text;
  for (const unsigned jobs : {1u, 3u}) {
    std::remove(path.c_str());
    kMishap->waits = true;
    const Proofs begun = proofs_of({"waits_from_13_on", "fake_clean"}, jobs, path, true);
    kMishap->waits = false;
    EXPECT_TRUE(begun.of.at(0).interrupted);
    const std::uint64_t proved = begun.of.at(0).points.size();
    EXPECT_GT(proved, 0u);
    EXPECT_LT(proved, points_before(41));
    EXPECT_GE(static_cast<std::uint64_t>(std::ranges::count(begun.log, '\n')), 2 * proved);
    const Proofs resumed = proofs_of({"waits_from_13_on", "fake_clean"}, 2, path);
    EXPECT_EQ(resumed.text, whole);
    EXPECT_TRUE(resumed.log.starts_with(begun.log));
    EXPECT_EQ(std::ranges::count(resumed.log, '\n'), 4 * points_before(41));
  }
}

}  // namespace
}  // namespace warpcheck
