// warpcheck prove: what is proved of pairs, for every size and launch of their domains.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/progress.hpp"
#include "harness/prove/prove_report.hpp"
#include "harness/shrink/shrink.hpp"

namespace warpcheck {
namespace {

struct ProveArguments {
  std::vector<std::string> pairs;
  std::uint32_t size_max = PointOptions{}.size_max;
  std::vector<std::uint32_t> blocks;
  bool every_block = false;
  std::uint64_t points = ProveOptions{}.points_max;
  std::uint64_t executions = ExecutionLimits{}.runs;
  std::string build = std::string(kBoth);
  std::string state, json, html;
  std::string cases = "fuzz/cases";
};

std::vector<cudart::Build> builds_of_prove(const ProveArguments& arguments) {
  std::vector<cudart::Build> builds;
  for (const auto& [build, name] : kBuildNames) {
    if (arguments.build == kBoth || arguments.build == name) builds.push_back(build);
  }
  return builds;
}

// All clean pairs where none is named: specimens are made to fail.
std::vector<const AnyPair*> pairs_to_prove(const std::vector<std::string>& names) {
  std::vector<const AnyPair*> pairs = pairs_named(names);
  if (names.empty()) std::erase_if(pairs, [](const AnyPair* pair) { return !pair->clean(); });
  return pairs;
}

// Explains a point that failed as `check` does; false: its case could not be written.
bool show_failure(const Case& failed, const std::string& cases) {
  TrialRunner runner;
  ShrunkCase shrunk = shrink(failed, runner, {});
  Report report{
      .a_case = std::move(shrunk.a_case),
      .verdict = std::move(shrunk.verdict),
      .search = Report::Search{.trials = 1, .shrinks = shrunk.shrinks, .complete = shrunk.complete},
      .replay_path = {}};
  const bool saved = save_case(report, cases);
  print(report_text(report));
  return saved;
}

int run_prove(const ProveArguments& arguments) {
  const std::vector<const AnyPair*> pairs = pairs_to_prove(arguments.pairs);
  ProveOptions options;
  options.points = {.size_max = arguments.size_max,
                    .blocks = arguments.every_block ? all_blocks() : arguments.blocks};
  options.points_max = arguments.points;
  options.executions.runs = arguments.executions;
  options.builds = builds_of_prove(arguments);
  options.stop = watch_interrupts();
  Progress progress;
  ProofLog log(arguments.state);
  std::vector<PairProof> proofs;
  bool failed = false, cannot = false;
  for (const AnyPair* pair : pairs) {
    options.on_point = [&](std::uint64_t done, std::uint64_t all) {
      progress.show([&] {
        return fmt::format("proving {} ({} of {}): {} of {} sizes and blocks", pair->name(),
                           proofs.size() + 1, pairs.size(), done, all);
      });
    };
    const PairProof& proof = proofs.emplace_back(prove_pair(*pair, options, log));
    progress.clear();
    print(prove_text(proof));
    for (const Case& failure : proof.failures) cannot |= !show_failure(failure, arguments.cases);
    failed |= !proof.failures.empty();
    cannot |= !proof.errors.empty();
    if (*options.stop != 0) break;
  }
  if (!arguments.json.empty())
    write_file_atomically(arguments.json, prove_json(proofs).dump(1) + "\n");
  if (!arguments.html.empty()) write_file_atomically(arguments.html, prove_html(proofs));
  if (*options.stop != 0) return kInterrupted;
  if (cannot) return kCannot;
  return failed ? kFindings : kNothingFound;
}

void add_prove_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<ProveArguments>();
  command.add_option("PAIR", arguments->pairs, "Which pairs (default: all that must be clean)");
  command.add_option("--max-size", arguments->size_max, "Sizes from 0 up to this one")
      ->capture_default_str();
  command
      .add_option("--blocks", arguments->blocks,
                  "Block sizes (default: those at which kernels tend to break, up to 1024)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command.add_flag("--every-block", arguments->every_block, "All block sizes from 1 to 1024");
  command.add_option("--points", arguments->points, "Sizes times blocks of a pair at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--executions", arguments->executions,
                  "Executions of a point that are tried where threads communicate; 0: none")
      ->capture_default_str();
  command.add_option("--build", arguments->build, "Which device code")
      ->check(CLI::IsMember({"optimized", "unoptimized", "both"}))
      ->capture_default_str();
  command.add_option("--state", arguments->state,
                     "Keeps what is proved in this file, and goes on from there");
  command.add_option("--cases", arguments->cases, "Directory for the cases of failures")
      ->capture_default_str();
  command.add_option("--json", arguments->json, "Write every point to this file");
  command.add_option("--html", arguments->html, "Write a map of size against block to this file");
  command.footer(
      "For every size and launch of a pair's domain: whether its freedom from findings is proved\n"
      "for all data and schedules, for this data and all schedules, for this data by trying every\n"
      "execution, or was tried only, and the line that stands in the way of more.  What a proof\n"
      "rests on: docs/proofs.md.\n"
      "\n"
      "Examples:\n"
      "  warpcheck prove scan_tree --max-size 256\n"
      "  warpcheck prove --blocks 32,64,128 --html proofs.html\n"
      "  warpcheck prove --every-block --points 2000000 --state proofs.jsonl\n"
      "\n"
      "Exit status: 0 nothing found, 1 a point failed, 2 bad usage, a file that cannot be\n"
      "written, or a kernel that cannot be run, 130 interrupted.");
  command.callback([&run, arguments] { run = [arguments] { return run_prove(*arguments); }; });
}

const RegisteredCommand kProveCommand{
    {.rank = 35,
     .name = "prove",
     .help = "What is proved of pairs, for every size and launch of their domains",
     .add = add_prove_to}};

}  // namespace
}  // namespace warpcheck
