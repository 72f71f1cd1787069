// warpcheck campaign: many pairs searched for hours (campaign/).
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <memory>
#include <thread>

#include "campaign/campaign.hpp"
#include "cli/cli.hpp"
#include "cli/report_options.hpp"

namespace warpcheck {
namespace {

struct CampaignArguments {
  campaign::CampaignOptions campaign;
  std::string directory;
  std::vector<std::string> pairs;
  ReportOptions reports;
};

// A row for each pair, with all that is stored of it.
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
    std::ranges::sort(claim.found);
    claim.found.erase(std::unique(claim.found.begin(), claim.found.end()), claim.found.end());
    if (claim.status == Claim::Status::failed) claim.verdict = "FAIL: " + show_kinds(claim.found);
  }
  return run;
}

int run_campaign_command(const CampaignArguments& arguments) {
  arguments.reports.check();
  campaign::CampaignOptions options = arguments.campaign;
  options.directory = arguments.directory;
  options.pairs = pairs_named(arguments.pairs);
  if (options.stop_when_found && std::ranges::all_of(options.pairs, &AnyPair::clean)) {
    throw UsageError("--stop-when-found: none of these pairs is known to have a defect");
  }
  options.stop = watch_interrupts();
  // A limit on file sizes is a full disk, and not the end.
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

void add_campaign_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<CampaignArguments>();
  campaign::CampaignOptions& campaign = arguments->campaign;
  campaign.jobs = std::max(1u, std::thread::hardware_concurrency());
  command.add_option("DIR", arguments->directory, "Where it keeps everything")->required();
  command.add_option("--pairs", arguments->pairs, "Only these")->delimiter(',');
  command.add_option("--jobs", campaign.jobs, "Worker processes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--seconds", campaign.seconds, "End after so long; 0: until Ctrl-C")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--runs", campaign.executions,
                  "End when each pair was run so often, in all, and what was found is shrunk")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--stop-when-found", campaign.stop_when_found,
                   "End when every kind that is expected of these pairs is confirmed");
  command.add_option("--seed", campaign.seed, "Where the search begins")->capture_default_str();
  command.add_option("--shrink-trials", campaign.shrink.trials_max, "Of each finding at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--hang-seconds", campaign.hang_seconds,
                  "Kill a worker that completes no trial for so long")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  arguments->reports.add_to(command);
  command.footer(
      "Everything is kept in DIR: started again there, a campaign goes on.  Each finding is "
      "stored\n"
      "at once, then shrunk and confirmed in the background.  See docs/campaigns.md.\n"
      "\n"
      "Examples:\n"
      "  warpcheck campaign night                   all pairs, until Ctrl-C\n"
      "  warpcheck campaign night --seconds 28800   for eight hours\n"
      "\n"
      "Exit status: 0 nothing found, 1 findings are stored, 2 bad usage, a pair that cannot be "
      "run,\n"
      "or findings that could not be stored, 130 interrupted.");
  command.callback(
      [&run, arguments] { run = [arguments] { return run_campaign_command(*arguments); }; });
}

const RegisteredCommand kCampaignCommand{
    {.rank = 80,
     .name = "campaign",
     .help = "Search many pairs for hours; goes on where it was stopped or killed",
     .add = add_campaign_to}};

}  // namespace
}  // namespace warpcheck
