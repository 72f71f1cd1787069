// Proofs of every pair, including specimens, checked by trials: a proof for every schedule has no
// finding under any schedule, and a proof for all data has none for other data.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "harness/input/json.hpp"
#include "harness/pair/registry.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/prove/points.hpp"
#include "harness/prove/prove.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {

struct ProofItem {
  int key = 0;
  float value = 0;
};
FIELDS(ProofItem, key, value);

namespace {

constexpr std::uint64_t kCases = 3, kSchedules = 3;

void expect_nothing(const Case& a_case) {
  TrialRunner runner;
  const Verdict verdict = runner.run(a_case);
  for (const vgpu::Finding& finding : verdict.findings) {
    const bool is_of_result = finding.kind == vgpu::FindingKind::mismatch;
    EXPECT_TRUE(is_of_result) << a_case.title() << ": " << finding.message;
  }
}

// Tries other data under the same schedule.
void expect_nothing_of_other_data(const Case& proved) {
  for (const InputEdit::Data data : kOtherData) {
    Case other = proved;
    other.input = with_other_data(*proved.pair, proved.input, data);
    if (other.input != nullptr) expect_nothing(other);
  }
}

TEST(OtherData, IsOfStructsToo) {
  std::vector<ProofItem> items{{1, 0.5f}, {2, 0.25f}};
  apply({.data = InputEdit::Data::reversed}, items);
  EXPECT_EQ(items, (std::vector<ProofItem>{{2, 0.25f}, {1, 0.5f}}));
  apply({.data = InputEdit::Data::last_everywhere}, items);
  EXPECT_EQ(items, (std::vector<ProofItem>{{1, 0.5f}, {1, 0.5f}}));
  apply({.data = InputEdit::Data::zeros}, items);
  EXPECT_EQ(items, std::vector<ProofItem>(2));
}

// The reverse of zeros, and zeros, are no other data: then there are ones.
TEST(OtherData, IsThereForZeros) {
  const AnyPair& pair = *Registry::global().find("scan_tree");
  Case a_case = nth_case(pair, "", {}, 7, 60);
  a_case.input = with_other_data(pair, a_case.input, InputEdit::Data::zeros);
  ASSERT_NE(a_case.input, nullptr);
  for (const InputEdit::Data data : kOtherData) {
    EXPECT_EQ(with_other_data(pair, a_case.input, data), nullptr);
  }
  EXPECT_NE(with_other_data(pair, a_case.input, InputEdit::Data::ones), nullptr);
  const Certificate certificate = Certifier().certify(a_case);
  EXPECT_EQ(certificate.proof, Proof::all_data) << certificate.reason;
}

// A proof for equal elements would say little.
TEST(PointsOfPairs, HaveVariedData) {
  for (const char* name : {"scan_tree", "histogram_shared", "radix_sort", "reduce_max_float"}) {
    const AnyPair& pair = *Registry::global().find(name);
    Points points(pair, {.size_max = 64, .blocks = {64}});
    const std::vector<Points::Input> inputs = points.inputs(64, 64);
    ASSERT_FALSE(inputs.empty()) << name;
    std::set<std::string> elements;
    for (const auto& field : pair.to_json(inputs[0].input)) {
      if (!field.is_array()) continue;
      for (const Json& element : field) elements.insert(element.dump());
    }
    EXPECT_GE(elements.size(), 8u) << name;
  }
}

// Sizes are numbers of elements, or the number that they follow from; widths are launches, or
// numbers.
TEST(PointsOfPairs, HaveTheirSizesAndBlocks) {
  const auto json_of = [](const char* name, std::uint32_t size, std::uint32_t block) {
    const AnyPair& pair = *Registry::global().find(name);
    return pair.to_json(Points(pair, {.blocks = {block}}).inputs(size, block).at(0).input);
  };
  const Json product = json_of("kahan_matmul", 6, 0);
  EXPECT_EQ(product.at("n"), 6);
  EXPECT_EQ(product.at("a").size(), 36u);
  EXPECT_EQ(product.at("b").size(), 36u);
  // Of tiles, with 256 elements each.
  const Json tiles = json_of("half_product", 2, 0);
  EXPECT_EQ(tiles.at("m"), 2);
  EXPECT_EQ(tiles.at("n"), 2);
  EXPECT_EQ(tiles.at("a").size(), 1'024u);
  EXPECT_EQ(tiles.at("b").size(), 1'024u);
  const Json sum = json_of("kahan_sum", 1'000, 96);
  EXPECT_EQ(sum.at("in").size(), 1'000u);
  EXPECT_EQ(sum.at("launch").at("block"), (Json{96, 1, 1}));
  const Json maximum = json_of("reduce_max", 0, 96);
  EXPECT_EQ(maximum.at("in").size(), 0u);
  EXPECT_EQ(maximum.at("block"), 96);
}

TEST(ProofsOfPairs, HoldUnderOtherSchedulesAndForOtherData) {
  std::uint64_t for_every_schedule = 0, for_all_data = 0;
  for (const AnyPair* pair : Registry::global().pairs()) {
    for (std::uint64_t i = 1; i <= kCases; ++i) {
      Case a_case = nth_case(*pair, "", {}, 7, 30 * i);
      const Certificate certificate = Certifier().certify(a_case);
      if (certificate.proof < Proof::every_schedule || !certificate.same_bytes) continue;
      ++for_every_schedule;
      for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
        a_case.schedule = StrategyChoice{.name = seed == 0 ? "pct" : "random", .seed = seed};
        expect_nothing(a_case);
      }
      if (certificate.proof != Proof::all_data) continue;
      ++for_all_data;
      expect_nothing_of_other_data(a_case);
    }
  }
  EXPECT_GT(for_every_schedule, 100u);
  EXPECT_GT(for_all_data, 60u);
}

// A certifier that knows where data decides gives the same results as one that follows values.
TEST(ProofsOfPairs, AreTheSameWhereDecisionsAreKnown) {
  for (const std::string_view name : {"histogram_shared", "radix_sort"}) {
    const AnyPair& pair = *Registry::global().find(std::string(name));
    Certifier knowing;
    for (std::uint64_t i = 0; i < 2 * kCases; ++i) {
      Case a_case = nth_case(pair, "", {}, 5, 9 * i);
      a_case.settings.build = i % 2 == 0 ? cudart::Build::optimized : cudart::Build::unoptimized;
      const Certificate known = knowing.certify(a_case), fresh = Certifier().certify(a_case);
      EXPECT_EQ(known.proof, fresh.proof) << a_case.title();
      EXPECT_EQ(known.reason, fresh.reason) << a_case.title();
    }
  }
}

// The line that prevents a proof does not depend on the process that proves.
TEST(ProofsOfPairs, AreTheSameHoweverManyProcesses) {
  const std::array<const AnyPair*, 3> pairs{Registry::global().find("radix_sort"),
                                            Registry::global().find("histogram_shared"),
                                            Registry::global().find("scan_tree")};
  const auto proofs_of = [&](unsigned jobs) {
    ProofLog log("");
    ProveOptions options;
    options.points = {.size_max = 40, .blocks = {1, 32, 33}};
    options.jobs = jobs;
    return prove_pairs(pairs, options, log);
  };
  const std::vector<PairProof> one = proofs_of(1);
  for (const unsigned jobs : {2u, 3u}) {
    const std::vector<PairProof> others = proofs_of(jobs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_GT(one.at(i).points.size(), 40u);
      EXPECT_EQ(others.at(i).points, one.at(i).points) << pairs[i]->name();
    }
  }
}

// At sizes with a race nothing is proved.
TEST(ProofsOfPairs, NoneWhereASpecimenRaces) {
  int specimens = 0;
  for (const AnyPair* pair : Registry::global().pairs()) {
    if (std::ranges::count(pair->expects(), vgpu::FindingKind::data_race) == 0) continue;
    bool races = false;
    for (std::uint64_t i = 9; i < 1000 && !races; ++i) {
      Case a_case = nth_case(*pair, "", {}, 3, i);
      // The optimiser may remove a race.
      a_case.settings.build = i % 2 == 0 ? cudart::Build::optimized : cudart::Build::unoptimized;
      const auto kinds = failure_kinds(TrialRunner().run(a_case));
      races = std::ranges::count(kinds, vgpu::FindingKind::data_race) != 0;
      if (races) {
        EXPECT_LT(Certifier().certify(a_case).proof, Proof::every_schedule) << pair->name();
      }
    }
    EXPECT_TRUE(races) << pair->name();
    ++specimens;
  }
  EXPECT_GE(specimens, 4);
}

// The result of a run does not depend on earlier runs.
TEST(ProofsOfPairs, NoneWhereASpecimenRacesWhateverRanBefore) {
  const AnyPair& pair = *Registry::global().find("scan_hillis_steele_published");
  Points points(pair, {.size_max = 40, .blocks = {32, 64}});
  const auto case_of = [&](std::uint32_t size, std::uint32_t block) {
    Case a_case = nth_case(pair, "", {}, 7, 1);
    a_case.schedule = vgpu::Schedule{};
    a_case.input = points.inputs(size, block).at(0).input;
    return a_case;
  };
  TrialRunner runner;
  for (const auto& [size, block] : {std::pair{40u, 64u}, {0u, 32u}, {3u, 32u}, {0u, 64u}}) {
    EXPECT_EQ(runner.run(case_of(size, block)).failed(), size != 0) << size;
  }
}

}  // namespace
}  // namespace warpcheck
