// Certificates a second beside trials a second, of the same sizes, launches and builds, in one run:
// `proved_points [PAIR...]`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "harness/pair/registry.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/prove/points.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {
namespace {

constexpr std::uint32_t kSizeStep = 93, kSizeMost = 1'024;
constexpr std::array kBuilds{cudart::Build::optimized, cudart::Build::unoptimized};

// Inputs of a pair with each build.
std::vector<Case> cases_of(const AnyPair& pair) {
  Points points(pair, {.size_max = kSizeMost, .blocks = {}});
  std::vector<Case> cases;
  for (std::uint32_t size = 0; size <= kSizeMost; size += kSizeStep) {
    for (const std::uint32_t block : points.blocks()) {
      for (const Points::Input& point : points.inputs(size, block)) {
        for (const cudart::Build build : kBuilds) {
          Case a_case = nth_case(pair, "", {.build = build}, 1, cases.size());
          a_case.input = point.input;
          cases.push_back(std::move(a_case));
        }
      }
    }
  }
  return cases;
}

// So many a second of the process's time.
template <class Body>
double rate_of(const std::vector<Case>& cases, Body body) {
  const std::clock_t begin = std::clock();
  for (const Case& a_case : cases) body(a_case);
  const auto seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return static_cast<double>(cases.size()) / seconds;
}

void compare(const AnyPair& pair) {
  const std::vector<Case> cases = cases_of(pair);
  // Code is compiled, and hot, before anything is timed.
  TrialRunner runner;
  for (const Case& a_case : cases) static_cast<void>(runner.run(a_case));
  const double trials =
      rate_of(cases, [&](const Case& a_case) { static_cast<void>(runner.run(a_case)); });
  Certifier certifier;
  std::uint64_t proved = 0;
  const double certificates = rate_of(cases, [&](const Case& a_case) {
    proved += certifier.certify(a_case).proof == Proof::all_data ? 1 : 0;
  });
  fmt::print("| {} | {} | {} | {:.0f} | {:.0f} | {:.2f} |\n", pair.name(), cases.size(), proved,
             trials, certificates, certificates / trials);
}

}  // namespace
}  // namespace warpcheck

int main(int argc, char** argv) {
  using warpcheck::Registry;
  fmt::print("| pair | runs | proved for all data | trials/s | certificates/s | ratio |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  for (const warpcheck::AnyPair* pair : Registry::global().pairs()) {
    const bool is_asked = argc < 2 || std::find(argv + 1, argv + argc, pair->name()) != argv + argc;
    if (is_asked && pair->clean()) warpcheck::compare(*pair);
  }
}
