// warpcheck campaign: many pairs searched for hours (campaign/).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>

#include "campaign/campaign.hpp"
#include "campaign/nodes/node_status.hpp"
#include "campaign/nodes/slurm.hpp"
#include "cli/cli.hpp"
#include "cli/command_campaign_corpora.hpp"
#include "cli/report_options.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/pair/project.hpp"

namespace warpcheck {
namespace {

struct CampaignArguments {
  campaign::CampaignOptions campaign;
  std::string directory;
  std::vector<std::string> pairs;
  std::string node;  // "K/N"
  bool status = false;
  campaign::SlurmJob slurm{.tasks = 0};
  CompileOption compile;
  ReportOptions reports;
};

// "3/8".  Throws UsageError.
campaign::CampaignNode node_of(const std::string& text) {
  campaign::CampaignNode node;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, node.number);
  if (number.ec == std::errc{} && number.ptr != end && *number.ptr == '/') {
    const auto count = std::from_chars(number.ptr + 1, end, node.count);
    if (count.ec == std::errc{} && count.ptr == end && node.number >= 1 &&
        node.number <= node.count) {
      return node;
    }
  }
  throw UsageError(
      fmt::format("--node {}: expected K/N, the number of this node and how many "
                  "there are, as 3/8",
                  text));
}

int print_status(const CampaignArguments& arguments) {
  const std::vector<campaign::SeenNode> nodes = campaign::look_at_nodes(arguments.directory);
  if (nodes.empty()) {
    throw UsageError(
        fmt::format("{}: no campaign of several nodes is stored here; --slurm N or --node K/N "
                    "begins them",
                    arguments.directory));
  }
  print(campaign::nodes_text(arguments.directory, nodes));
  if (!arguments.reports.json.empty()) {
    write_file_atomically(arguments.reports.json, campaign::nodes_json(nodes));
  }
  const bool damaged = std::ranges::any_of(
      nodes, [](const campaign::SeenNode& node) { return !node.problem.empty(); });
  return damaged ? kCannot : kNothingFound;
}

int submit_to_slurm(const CampaignArguments& arguments) {
  const campaign::CampaignOptions& options = arguments.campaign;
  pairs_named(arguments.pairs);  // refuses unknown names here, not in every task
  campaign::SlurmJob job = arguments.slurm;
  job.campaign = std::filesystem::absolute(arguments.directory);
  job.cpus = options.jobs;
  job.program = std::filesystem::read_symlink("/proc/self/exe");
  const auto pass = [&](const char* option, const auto& value, const auto& preset) {
    if (value == preset) return;
    job.arguments.insert(job.arguments.end(), {option, fmt::format("{}", value)});
  };
  const campaign::CampaignOptions presets;
  for (const std::string& pair : arguments.pairs) {
    job.arguments.insert(job.arguments.end(), {"--pairs", pair});
  }
  pass("--seconds", options.seconds, presets.seconds);
  pass("--runs", options.executions, presets.executions);
  pass("--seed", options.seed, presets.seed);
  pass("--shrink-trials", options.shrink.trials_max, presets.shrink.trials_max);
  pass("--compile", arguments.compile.word(), CompileOption().word());
  pass("--hang-seconds", options.hang_seconds, presets.hang_seconds);
  if (options.stop_when_found) job.arguments.emplace_back("--stop-when-found");
  const std::string number = campaign::submit(job);
  const std::string& program = project().program;
  print(fmt::format(
      "job {} of {} tasks\n"
      "show its progress: {} campaign {} --status\n"
      "merge its findings, at any time: {} campaign {}\n"
      "cancel it: scancel {}\n",
      number, job.tasks, program, arguments.directory, program, arguments.directory, number));
  return kNothingFound;
}

// A row for each pair, with everything that is stored for it.
RunReport report_of(const campaign::CampaignOutcome& outcome,
                    const campaign::CampaignOptions& options, std::vector<std::string>& problems) {
  const std::vector<Report> reports = campaign::reports_of(outcome, options, problems);
  RunReport run;
  run.command = "campaign";
  for (const AnyPair* pair : options.pairs) {
    run.claims.push_back({.pair = pair->name(), .expects = pair->expects(), .verdict = "ok"});
    for (const Report& report : reports) {
      if (report.a_case.pair != pair) continue;
      Claim& claim = run.claims.back();
      claim.status = Claim::Status::failed;
      std::ranges::copy(failure_kinds(report.verdict), std::back_inserter(claim.found));
      run.add(report);
    }
    Claim& claim = run.claims.back();
    for (const campaign::PairProgress& progress : outcome.progress) {
      if (progress.pair != pair->name()) continue;
      claim.trials = static_cast<std::uint64_t>(progress.executions);
      claim.beyond.for_every_schedule = static_cast<std::uint64_t>(progress.for_every_schedule);
    }
    std::ranges::sort(claim.found);
    claim.found.erase(std::unique(claim.found.begin(), claim.found.end()), claim.found.end());
    if (claim.status == Claim::Status::failed) claim.verdict = "FAIL: " + show_kinds(claim.found);
  }
  return run;
}

int run_campaign_command(const CampaignArguments& arguments) {
  if (arguments.directory.empty()) {
    throw UsageError("DIR is required: the directory where the campaign stores its state");
  }
  arguments.reports.check();
  if (arguments.status) return print_status(arguments);
  if (arguments.slurm.tasks != 0) return submit_to_slurm(arguments);
  campaign::CampaignOptions options = arguments.campaign;
  options.directory = arguments.directory;
  if (!arguments.node.empty()) options.node = node_of(arguments.node);
  options.pairs = pairs_named(arguments.pairs);
  if (options.stop_when_found && std::ranges::all_of(options.pairs, &AnyPair::clean)) {
    throw UsageError("--stop-when-found: none of these pairs declares an expected finding");
  }
  options.stop = watch_interrupts();
  // A limit on file sizes is handled as a full disk, and does not end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  const campaign::CampaignOutcome outcome = campaign::run_campaign(options);
  for (const std::string& text : outcome.not_stored) {
    complain("this case could not be stored:\n" + text);
  }
  print(campaign::outcome_text(outcome, options));
  std::vector<std::string> problems;
  RunReport run = report_of(outcome, options, problems);
  if (arguments.reports.wants_coverage()) {
    run.coverage = campaign::coverage_of_corpora(options, problems);
  }
  for (const std::string& problem : problems) complain(problem);
  arguments.reports.write(run);
  if (!outcome.not_stored.empty() || outcome.refused() || outcome.internal_errors) return kCannot;
  if (*options.stop != 0) return kInterrupted;
  return outcome.findings.empty() && outcome.incidents.empty() ? kNothingFound : kFindings;
}

void add_node_options_to(CLI::App& command, CampaignArguments& arguments) {
  CLI::Option* const node =
      command.add_option("--node", arguments.node, "Search as number K of N that share DIR: K/N");
  CLI::Option* const status =
      command.add_flag("--status", arguments.status, "Print the progress of the nodes and exit");
  CLI::Option* const slurm =
      command
          .add_option("--slurm", arguments.slurm.tasks,
                      "Submit a job array of this many nodes to Slurm and exit")
          ->check(positive_number);
  node->excludes(status)->excludes(slurm);
  status->excludes(slurm);
  command
      .add_option("--time", arguments.slurm.time,
                  "Time limit of the Slurm job, in the format of sbatch")
      ->needs(slurm);
  command.add_option("--partition", arguments.slurm.partition, "Slurm partition")->needs(slurm);
  command.add_option("--sbatch", arguments.slurm.options, "Further option for sbatch")
      ->needs(slurm);
}

void add_campaign_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<CampaignArguments>();
  campaign::CampaignOptions& campaign = arguments->campaign;
  campaign.jobs = std::max(1u, std::thread::hardware_concurrency());
  command.add_option("DIR", arguments->directory, "Directory where the campaign stores its state");
  add_campaign_corpora_to(command, run);
  command.add_option("--pairs", arguments->pairs, "Search only these pairs")->delimiter(',');
  command.add_option("--jobs", campaign.jobs, "Worker processes")
      ->check(positive_number)
      ->capture_default_str();
  command
      .add_option("--seconds", campaign.seconds, "End after this many seconds; 0: run until Ctrl-C")
      ->check(non_negative_number)
      ->capture_default_str();
  command
      .add_option("--runs", campaign.executions,
                  "End when each pair has had this many runs in total and all findings are shrunk")
      ->check(non_negative_number);
  command.add_flag("--stop-when-found", campaign.stop_when_found,
                   "End when every finding kind that these pairs expect is confirmed");
  command.add_option("--seed", campaign.seed, "Seed of the search")->capture_default_str();
  command
      .add_option("--shrink-trials", campaign.shrink.trials_max,
                  "Most trials for shrinking one finding")
      ->check(positive_number)
      ->capture_default_str();
  command
      .add_option("--hang-seconds", campaign.hang_seconds,
                  "Kill a worker that completes no trial in this many seconds")
      ->check(positive_number)
      ->capture_default_str();
  arguments->compile.add_to(command);
  add_node_options_to(command, *arguments);
  arguments->reports.add_to(command);
  command.footer(
      "A campaign stores its state in DIR.  The same command resumes it.  Each finding is stored\n"
      "at once, then shrunk and confirmed in the background.  See docs/use/campaigns.md.\n"
      "\n"
      "Examples:\n"
      "  warpcheck campaign night                   all pairs, until Ctrl-C\n"
      "  warpcheck campaign night --seconds 28800   for eight hours\n"
      "  warpcheck campaign night --slurm 8 --time 8:00:00   on eight nodes of a cluster\n"
      "  warpcheck campaign night --node 3/8        as one of eight, started by hand\n"
      "  warpcheck campaign night                   then: merges the findings of the nodes\n"
      "  warpcheck campaign import night fuzz_scan_tree_seed_corpus.zip\n"
      "\n"
      "Exit status: 0 nothing found, 1 findings are stored, 2 bad usage, a pair that cannot be "
      "run,\n"
      "or findings that could not be stored, 130 interrupted (Ctrl-C, SIGTERM).");
  command.callback([&command, &run, arguments] {
    if (!command.get_subcommands().empty()) return;  // the subcommand has set what to run
    run = [arguments] { return run_campaign_command(*arguments); };
  });
}

const RegisteredCommand kCampaignCommand{
    {.rank = 80,
     .name = "campaign",
     .help = "Search many pairs for hours; can be resumed after a stop or a kill",
     .add = add_campaign_to}};

}  // namespace
}  // namespace warpcheck
