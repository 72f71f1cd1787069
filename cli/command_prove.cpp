// warpcheck prove: what is proved for pairs, for every size and launch of their domains.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/all_sizes/all_sizes.hpp"
#include "cli/cli.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/case/case_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/progress.hpp"
#include "harness/process/workers.hpp"
#include "harness/prove/prove.hpp"
#include "harness/prove/prove_report.hpp"
#include "harness/shrink/shrink.hpp"

namespace warpcheck {
namespace {

struct ProveArguments {
  std::vector<std::string> pairs;
  std::uint32_t size_max = PointOptions{}.size_max;
  std::vector<std::uint32_t> blocks;
  bool every_block = false;
  bool all_sizes = false, limits = false;
  std::uint64_t points = ProveOptions{}.points_max;
  std::uint64_t executions = ExecutionLimits{}.runs;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  std::string build = std::string(kBoth);
  CompileOption compile;
  std::string state, json, html, smt;
  std::string cases = "fuzz/cases";
};

std::vector<cudart::Build> builds_of_prove(const ProveArguments& arguments) {
  std::vector<cudart::Build> builds;
  for (const auto& [build, name] : kBuildNames) {
    if (arguments.build == kBoth || arguments.build == name) builds.push_back(build);
  }
  return builds;
}

// If none is named, all clean pairs: specimens fail by design.
std::vector<const AnyPair*> pairs_to_prove(const std::vector<std::string>& names) {
  std::vector<const AnyPair*> pairs = pairs_named(names);
  if (names.empty()) std::erase_if(pairs, [](const AnyPair* pair) { return !pair->clean(); });
  return pairs;
}

// Explains failed points as `check` does: a process shrinks each, and this process runs the result
// for its verdict.  False: one was not shrunk, or its case could not be written.
bool show_failures(const std::vector<Case>& failures, const ProveArguments& arguments,
                   const volatile std::sig_atomic_t* stop) {
  const auto shrink_one = [&](std::size_t i, const Emit& emit) {
    TrialRunner runner;
    const ShrunkCase shrunk = shrunk_failure(failures[i], runner);
    emit(FailureMessage{.case_text = case_text(record_of(shrunk.a_case, shrunk.verdict)),
                        .path = {},
                        .trials = 1,
                        .shrinks = shrunk.shrinks,
                        .complete = shrunk.complete});
  };
  bool all = true;
  for (const TaskResult& task : run_tasks(failures.size(), arguments.jobs, shrink_one, stop)) {
    if (!task.finished) complain(task.failure.empty() ? "a failure was not shrunk" : task.failure);
    all = all && task.finished;
    for (const Message& message : task.messages) {
      const auto& failure = std::get<FailureMessage>(message);
      Case a_case = parse_case(failure.case_text, "a failure", Registry::global()).a_case;
      Verdict verdict = TrialRunner().run(a_case);
      Report report{.a_case = std::move(a_case),
                    .verdict = std::move(verdict),
                    .search = Report::Search{.trials = failure.trials,
                                             .shrinks = failure.shrinks,
                                             .complete = failure.complete},
                    .replay_path = {}};
      all = save_case(report, arguments.cases) && all;
      print(report_text(report));
    }
  }
  return all;
}

ProveOptions options_of(const ProveArguments& arguments) {
  ProveOptions options;
  options.points = {.size_max = arguments.size_max,
                    .blocks = arguments.every_block ? all_blocks() : arguments.blocks};
  options.points_max = arguments.points;
  options.executions.runs = arguments.executions;
  options.builds = builds_of_prove(arguments);
  options.jobs = arguments.jobs;
  options.stop = watch_interrupts();
  return options;
}

// Each kernel for every size, from its code alone.
int run_all_sizes(const ProveArguments& arguments) {
  const volatile std::sig_atomic_t* const stop = watch_interrupts();
  std::vector<PairOfAllSizes> proofs;
  const AllSizesOptions options{.limits = arguments.limits,
                                .on_question = question_files(arguments.smt)};
  bool failed = false, cannot = false;
  for (const AnyPair* pair : pairs_to_prove(arguments.pairs)) {
    if (*stop != 0) return kInterrupted;
    proofs.push_back(prove_all_sizes(*pair, {}, options));
    print(all_sizes_text(proofs.back()));
    cannot |= !keep_limits(proofs.back(), arguments.cases);
    if (!proofs.back().failure) continue;
    failed = true;
    cannot |= !show_failures({*proofs.back().failure}, arguments, stop);
  }
  if (!arguments.json.empty()) {
    write_file_atomically(arguments.json, all_sizes_json(proofs).dump(1) + "\n");
  }
  if (cannot) return kCannot;
  return failed ? kFindings : kNothingFound;
}

int run_prove(const ProveArguments& arguments) {
  if (arguments.all_sizes || arguments.limits) return run_all_sizes(arguments);
  const std::vector<const AnyPair*> pairs = pairs_to_prove(arguments.pairs);
  ProveOptions options = options_of(arguments);
  Progress progress;
  options.on_wait = [&](const ProveProgress& at) {
    progress.show([&] {
      return fmt::format("proving {} ({} of {}): {} of {} sizes and blocks", at.pair->name(),
                         at.pairs + 1, pairs.size(), at.done, at.all);
    });
  };
  ProofLog log(arguments.state);
  bool failed = false, cannot = false;
  const auto on_proved = [&](const PairProof& proof) {
    progress.clear();
    print(prove_text(proof));
    cannot |= !show_failures(proof.failures, arguments, options.stop);
    failed |= !proof.failures.empty() || proof.count(Equality::different) != 0;
    cannot |= !proof.errors.empty();
  };
  const std::vector<PairProof> proofs = prove_pairs(pairs, options, log, on_proved);
  if (!arguments.json.empty())
    write_file_atomically(arguments.json, prove_json(proofs).dump(1) + "\n");
  if (!arguments.html.empty()) write_file_atomically(arguments.html, prove_html(proofs));
  if (*options.stop != 0) return kInterrupted;
  if (cannot) return kCannot;
  return failed ? kFindings : kNothingFound;
}

void add_prove_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<ProveArguments>();
  command.add_option("PAIR", arguments->pairs, "Pairs to prove (default: all that must be clean)");
  command.add_option("--max-size", arguments->size_max, "Sizes from 0 up to this one")
      ->capture_default_str();
  command
      .add_option("--blocks", arguments->blocks,
                  "Block sizes (default: sizes at which kernels tend to break, up to 1024)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command.add_flag("--every-block", arguments->every_block, "All block sizes from 1 to 1024");
  command.add_flag("--all-sizes", arguments->all_sizes,
                   "Every size and launch at once, from the kernels' code: proved, refuted by a "
                   "run, or not decided");
  command.add_flag("--limits", arguments->limits,
                   "As --all-sizes, and for each integer of a kernel the largest value up to which "
                   "it is right, with the case above");
  command.add_option("--smt", arguments->smt,
                     "Directory for the solver's questions, as SMT-LIB files (with --all-sizes)");
  command.add_option("--points", arguments->points, "Most points of a pair: sizes times blocks")
      ->check(positive_number)
      ->capture_default_str();
  command
      .add_option("--executions", arguments->executions,
                  "Most executions of a point to try if its threads communicate; 0: none")
      ->capture_default_str();
  command.add_option("--build", arguments->build, "Device code: as shipped, or nvcc -G")
      ->check(CLI::IsMember({"optimized", "unoptimized", "both"}))
      ->capture_default_str();
  command.add_option("--jobs", arguments->jobs, "Processes")
      ->check(positive_number)
      ->capture_default_str();
  arguments->compile.add_to(command);
  command.add_option("--state", arguments->state,
                     "File that stores the proofs; the same command resumes from it");
  command.add_option("--cases", arguments->cases, "Directory for the cases of failures")
      ->capture_default_str();
  command.add_option("--json", arguments->json, "Write every point to this file");
  command.add_option("--html", arguments->html, "Write a map of size against block to this file");
  command.footer(
      "Says for every size and launch of a pair's domain how its freedom from findings is known:\n"
      "proved for all data and schedules; proved for this data and all schedules; proved for this\n"
      "data by trying every execution; or only tried, with the source line that prevents a proof.\n"
      "Where a pair has an exact reference: at how many points its results equal the reference's\n"
      "for all data, in exact arithmetic, or what prevents that certificate.\n"
      "docs/use/proofs.md says what a proof rests on.\n"
      "\n"
      "Examples:\n"
      "  warpcheck prove scan_tree --max-size 256\n"
      "  warpcheck prove scan_tree --all-sizes\n"
      "  warpcheck prove naive_sum --limits\n"
      "  warpcheck prove --blocks 32,64,128 --html proofs.html\n"
      "  warpcheck prove --every-block --points 2000000 --state proofs.jsonl\n"
      "\n"
      "Exit status: 0 nothing found, 1 a point failed, 2 bad usage, a file that cannot be\n"
      "written, or a kernel that cannot be run, 130 interrupted (Ctrl-C, SIGTERM).");
  command.callback([&run, arguments] { run = [arguments] { return run_prove(*arguments); }; });
}

const RegisteredCommand kProveCommand{
    {.rank = 35,
     .name = "prove",
     .help = "Prove pairs free of findings, for every size and launch of their domains",
     .add = add_prove_to}};

}  // namespace
}  // namespace warpcheck
