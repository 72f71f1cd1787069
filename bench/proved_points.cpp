// Points proved a second compared with trials a second, for the same sizes and launches, in one
// run: `proved_points [PAIR...]`.
//
// A trial is what `check` runs: a case is drawn and run in one configuration (a build and a warp
// model) with all checkers, under one schedule of the search, its result compared with the
// reference's.  A point is what `prove` says about one size and launch: both builds and both warp
// models, so four configurations, including making the input.  Both have the same inputs: a trial
// draws one of its pair and then runs that of a point.  In brackets: with trials that draw nothing.
// One column is for the optimised build alone (`prove --build optimized`): a trial is still one of
// two warp models, and a point is both.
//
// The last columns measure the commands that users run: `prove` with two processes, including the
// parent, compared with trials of the same sizes in one process, as `check` runs them.  Seconds are
// CPU seconds, so other work on the machine does not matter: a point that takes the time of 1.5
// trials needs 1.5 cores for as many points as trials.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "harness/pair/registry.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/prove/plan.hpp"
#include "harness/prove/points.hpp"
#include "harness/prove/prove.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {
namespace {

constexpr std::array kSizes{0u, 1u, 7u, 16u, 31u, 33u, 64u, 100u, 255u, 256u, 513u, 700u, 1'024u};
constexpr std::array kBlocks{1u, 32u, 33u, 64u, 128u, 256u, 512u, 1'024u};
constexpr std::uint64_t kPlannedMax = 4'000;
constexpr unsigned kProcesses = 2;
constexpr double kNever = std::numeric_limits<double>::max();
constexpr int kPasses = 5;  // trials and points by turns; the best counts
constexpr std::array kBuilds{cudart::Build::optimized, cudart::Build::unoptimized};
constexpr std::array kModels{vgpu::WarpModel::independent, vgpu::WarpModel::lockstep};

template <class Visit>
void for_each_point(Points& points, Visit visit) {
  for (const std::uint32_t size : kSizes) {
    for (const std::uint32_t block : points.blocks()) {
      for (const Points::Input& point : points.inputs(size, block)) visit(point.input);
    }
  }
}

// CPU seconds of the process.
template <class Body>
double time_of(Body body) {
  const std::clock_t begin = std::clock();
  body();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

using Builds = std::span<const cudart::Build>;

struct Trial {
  Settings settings;
  AnyInput input;
};

// Trial `number` of a search: it draws an input and a schedule, and then runs the input of a point.
Case drawn(const AnyPair& pair, const Trial& trial, std::uint64_t number) {
  Case a_case = nth_case(pair, "", trial.settings, 1, number);
  a_case.input = trial.input;
  return a_case;
}

// One configuration after the other, as a search that is split into configurations runs them.
std::vector<Trial> trials_of(Points& points, Builds builds) {
  std::vector<Trial> trials;
  for (const cudart::Build build : builds) {
    for (const vgpu::WarpModel model : kModels) {
      for_each_point(points, [&](const AnyInput& input) {
        trials.push_back({{.build = build, .warp_model = model}, input});
      });
    }
  }
  return trials;
}

struct Proved {
  std::uint64_t points = 0, for_all_data = 0, for_every_schedule = 0;
};
Proved prove_points(const AnyPair& pair, Points& points, Certifier& certifier, Builds builds) {
  Proved count;
  for_each_point(points, [&](const AnyInput& input) {
    Proof proof = Proof::all_data;
    for (const cudart::Build build : builds) {
      const Case a_case{.pair = &pair,
                        .property = {},
                        .input = input,
                        .schedule = vgpu::Schedule{},
                        .settings = {.build = build},
                        .tape = {}};
      proof = std::min(proof, certifier.certify(a_case).proof);
    }
    ++count.points;
    count.for_all_data += proof == Proof::all_data ? 1 : 0;
    count.for_every_schedule += proof >= Proof::every_schedule ? 1 : 0;
  });
  return count;
}

struct Rates {
  Proved proved;
  double trial_seconds = kNever, drawing_seconds = kNever, seconds = kNever;
  double trials = 0, points = 0;
  [[nodiscard]] double trials_a_second() const { return trials / trial_seconds; }
  [[nodiscard]] double points_a_second() const { return points / seconds; }
  // "1.20 (1.02)"
  [[nodiscard]] std::string points_a_trial() const {
    const double a_point = seconds / points;
    return fmt::format("{:.2f} ({:.2f})", trial_seconds / trials / a_point,
                       (trial_seconds - drawing_seconds) / trials / a_point);
  }
};
Rates rates_of(const AnyPair& pair, Points& points, Builds builds) {
  const std::vector<Trial> trials = trials_of(points, builds);
  TrialRunner runner;
  const auto run_all = [&] {
    std::uint64_t number = 0;
    for (const Trial& trial : trials) static_cast<void>(runner.run(drawn(pair, trial, number++)));
  };
  const auto draw_all = [&] {
    std::uint64_t number = 0;
    for (const Trial& trial : trials) static_cast<void>(drawn(pair, trial, number++));
  };
  Certifier certifier;
  Rates rates;
  const auto prove_all = [&] { rates.proved = prove_points(pair, points, certifier, builds); };
  // Warms up before timing: code is compiled and analysed.
  run_all();
  prove_all();
  for (int pass = 0; pass < kPasses; ++pass) {
    rates.trial_seconds = std::min(rates.trial_seconds, time_of(run_all));
    rates.seconds = std::min(rates.seconds, time_of(prove_all));
    rates.drawing_seconds = std::min(rates.drawing_seconds, time_of(draw_all));
  }
  rates.trials = static_cast<double>(trials.size());
  rates.points = static_cast<double>(rates.proved.points);
  return rates;
}

// CPU seconds of this process and of its children that have ended.
template <class Body>
double time_of_all(Body body) {
  const auto now = [] {
    double seconds = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage used{};
      ::getrusage(who, &used);
      for (const timeval& part : {used.ru_utime, used.ru_stime}) {
        seconds += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
      }
    }
    return seconds;
  };
  const double begin = now();
  body();
  return now() - begin;
}

// Trials a second of the sizes of a plan, in the configurations of `builds`, in turn.
double trials_of_plan(const AnyPair& pair, Points& points, const ProveOptions& options) {
  std::vector<Trial> trials;
  for (const auto& [size, block] : plan(points, options.points.size_max, options.points_max)) {
    for (const Points::Input& point : points.inputs(size, block)) {
      const std::uint64_t number = trials.size(), builds = options.builds.size();
      trials.push_back({{.build = options.builds[number % builds],
                         .warp_model = kModels[number / builds % kModels.size()]},
                        point.input});
    }
  }
  TrialRunner runner;
  const double seconds = time_of_all([&] {
    std::uint64_t number = 0;
    for (const Trial& trial : trials) static_cast<void>(runner.run(drawn(pair, trial, number++)));
  });
  return static_cast<double>(trials.size()) / seconds;
}

double points_of_plan(const AnyPair& pair, const ProveOptions& options) {
  const AnyPair* const pairs[] = {&pair};
  ProofLog log("");
  std::vector<PairProof> proofs;
  const double seconds = time_of_all([&] { proofs = prove_pairs(pairs, options, log); });
  return static_cast<double>(proofs.front().points.size()) / seconds;
}

PointOptions point_options() {
  return {.size_max = kSizes.back(), .blocks = {kBlocks.begin(), kBlocks.end()}};
}

// "points/s | cores for as many points as trials" of both builds, and of one.  Points first:
// otherwise the worker processes would inherit the code that trials compile in this process.
std::string by_processes(const AnyPair& pair, Points& points) {
  std::array<ProveOptions, 2> options;
  for (ProveOptions& one : options) {
    one.points = point_options();
    one.points_max = kPlannedMax;
    one.jobs = kProcesses;
  }
  options[1].builds.resize(1);
  const std::array proved{points_of_plan(pair, options[0]), points_of_plan(pair, options[1])};
  std::string cells;
  for (std::size_t i = 0; i < options.size(); ++i) {
    cells += fmt::format(" {:.0f} | {:.2f} |", proved[i],
                         trials_of_plan(pair, points, options[i]) / proved[i]);
  }
  return cells;
}

void compare(const AnyPair& pair) {
  Points points(pair, point_options());
  const std::string of_processes = by_processes(pair, points);
  const Rates both = rates_of(pair, points, kBuilds);
  if (both.points == 0) return;
  const Rates one = rates_of(pair, points, Builds(kBuilds).first(1));
  fmt::print("| {} | {} | {} | {} | {:.0f} | {:.0f} | {} | {:.2f} | {} |{}\n", pair.name(),
             both.proved.points, both.proved.for_all_data, both.proved.for_every_schedule,
             both.trials_a_second(), both.points_a_second(), both.points_a_trial(),
             both.trial_seconds / both.seconds, one.points_a_trial(), of_processes);
  static_cast<void>(std::fflush(stdout));
}

}  // namespace
}  // namespace warpcheck

int main(int argc, char** argv) {
  using warpcheck::Registry;
  const std::span names(argv + 1, static_cast<std::size_t>(argc - 1));
  fmt::print(
      "| pair | points | all data | every schedule | trials/s | points/s | points a trial | "
      "points in the time of their four trials | of one build, points a trial | `prove`, points/s "
      "of "
      "a core | cores for as many points as trials | of one build, points/s of a core | cores |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const warpcheck::AnyPair* pair : Registry::global().pairs()) {
    const bool is_asked = names.empty() || std::ranges::find(names, pair->name()) != names.end();
    if (is_asked && pair->clean()) warpcheck::compare(*pair);
  }
}
