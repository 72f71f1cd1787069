// Checks the statements of `prove --all-sizes` by runs: each pair that is proved for every size is
// run at random points of its domain, and nothing may be found.
//
//   all_sizes_runs [--points 10000] [--seed 1] [--shard K/N] [PAIR...]
//
// A point is an input that the pair draws, or a random size and block of its domain with random
// contents, under a random strategy, in the build that the proof is about.  Findings of the kinds
// that the proof excludes refute it; a wrong result is no part of the statement, and is counted
// beside.  --shard runs the pairs whose place in the list is K modulo N.  Exit 1: a statement is
// refuted.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "cli/all_sizes/all_sizes.hpp"
#include "harness/pair/registry.hpp"
#include "harness/prove/points.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {
namespace {

struct Options {
  std::uint64_t points = 10'000, seed = 1, shard = 0, shards = 1;
  std::vector<std::string_view> pairs;
};

// What the proof says there is not.
constexpr std::array kExcluded{vgpu::FindingKind::data_race, vgpu::FindingKind::out_of_bounds,
                               vgpu::FindingKind::misaligned_access,
                               vgpu::FindingKind::barrier_divergence};

// Random points of the domain: every second one of a drawn size and block, whatever the pair
// prefers to draw.
class RandomPoints {
 public:
  RandomPoints(const AnyPair& pair, std::uint64_t seed)
      : pair_(pair), points_(pair, {}), seed_(seed) {}

  [[nodiscard]] Case operator()(std::uint64_t number) {
    Case made = nth_case(pair_, "", {.build = cudart::Build::optimized}, seed_, number);
    if (number % 2 == 0) return made;
    const std::uint64_t random = mix(std::array{seed_, number});
    const auto size = static_cast<std::uint32_t>(random % 1'025);
    const auto block = static_cast<std::uint32_t>(1 + (random >> 20) % 1'024);
    auto inputs = points_.inputs(size, points_.has_blocks() ? block : 0);
    if (!inputs.empty()) made.input = inputs[(random >> 40) % inputs.size()].input;
    return made;
  }

 private:
  const AnyPair& pair_;
  Points points_;
  std::uint64_t seed_;
};

struct Counted {
  std::uint64_t points = 0, refuting = 0, wrong = 0;
  std::string first;  // what refutes
};

Counted run_points(const AnyPair& pair, const Options& options) {
  RandomPoints points(pair, options.seed);
  TrialRunner runner;
  Counted counted;
  for (std::uint64_t number = 0; number < options.points; ++number) {
    const Case one = points(number);
    const Verdict verdict = runner.run(one);
    ++counted.points;
    const auto found = std::ranges::find_if(verdict.findings, [](const vgpu::Finding& finding) {
      return finding.severity == vgpu::Severity::error &&
             std::ranges::find(kExcluded, finding.kind) != kExcluded.end();
    });
    if (found != verdict.findings.end()) {
      if (counted.refuting++ == 0) counted.first = pair.summary(one.input);
    } else if (verdict.failed()) {
      ++counted.wrong;
    }
  }
  return counted;
}

// False: refuted.
bool check_statement(const AnyPair& pair, const Options& options) {
  const std::clock_t begin = std::clock();
  const PairOfAllSizes proof = prove_all_sizes(pair);
  if (!proof.is_proved()) {
    fmt::print("| {} | not proved | | | | |\n", pair.name());
    return true;
  }
  const std::clock_t proved = std::clock();
  const Counted counted = run_points(pair, options);
  const auto seconds = [](std::clock_t ticks) {
    return static_cast<double>(ticks) / CLOCKS_PER_SEC;
  };
  fmt::print("| {} | proved | {} | {} | {} | {:.0f} + {:.0f} |\n", pair.name(), counted.points,
             counted.refuting, counted.wrong, seconds(proved - begin),
             seconds(std::clock() - proved));
  if (counted.refuting != 0) {
    fmt::print(stderr, "{} is proved for every size, and a run refutes it: {}\n", pair.name(),
               counted.first);
  }
  static_cast<void>(std::fflush(stdout));
  return counted.refuting == 0;
}

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// False: bad usage.
bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      options.pairs.push_back(word);
      continue;
    }
    if (++i == argc) return false;
    const std::string_view value = argv[i];
    const std::size_t slash = value.find('/');
    if (word == "--points" && read_number(value, options.points)) continue;
    if (word == "--seed" && read_number(value, options.seed)) continue;
    if (word == "--shard" && slash != std::string_view::npos &&
        read_number(value.substr(0, slash), options.shard) &&
        read_number(value.substr(slash + 1), options.shards) && options.shards > 0) {
      continue;
    }
    return false;
  }
  return true;
}

}  // namespace
}  // namespace warpcheck

int main(int argc, char** argv) {
  using namespace warpcheck;
  Options options;
  if (!read_options(argc, argv, options)) {
    fmt::print(stderr, "usage: all_sizes_runs [--points N] [--seed N] [--shard K/N] [PAIR...]\n");
    return 2;
  }
  fmt::print(
      "| pair | for every size | points | refuting it | with another failure | CPU seconds: proof "
      "+ "
      "runs |\n|---|---|---|---|---|---|\n");
  bool holds = true;
  std::uint64_t number = 0;
  for (const AnyPair* pair : Registry::global().pairs()) {
    const bool is_asked = options.pairs.empty() ? pair->clean()
                                                : std::ranges::find(options.pairs, pair->name()) !=
                                                      options.pairs.end();
    if (!is_asked || number++ % options.shards != options.shard % options.shards) continue;
    holds = check_statement(*pair, options) && holds;
  }
  return holds ? 0 : 1;
}
