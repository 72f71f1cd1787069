// warpcheck failures: lists, imports and exports the failure database (campaign/).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <thread>

#include "campaign/failures.hpp"
#include "campaign/store/archive.hpp"
#include "cli/cli.hpp"
#include "harness/case/stored_cases.hpp"
#include "harness/pair/project.hpp"
#include "harness/report/run_report.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

using campaign::FailureDatabase;
using campaign::StoredFinding;

struct FailuresArguments {
  std::string database{kDefaultDatabase};
  std::vector<std::string> pairs;
  std::vector<std::string> tiers;
  std::vector<std::string> sources;
  std::string target;
  bool json = false;
};

const std::set<std::string> kTiers{"crashing", "regression", "coverage"};

// Prints what was set aside; returns 2 if there was anything.
int complain_of(const std::vector<std::string>& messages) {
  for (const std::string& message : messages) complain(message);
  return messages.empty() ? kNothingFound : kCannot;
}

// Requires an existing database: a missing one is an error of the caller.
FailureDatabase existing(const std::string& path) {
  if (!std::filesystem::exists(std::filesystem::path(path) / "warpcheck.db")) {
    throw UsageError(
        fmt::format("{}: there is no failure database; `{} failures import` creates one", path,
                    project().program));
  }
  return FailureDatabase(path);
}

std::string stage_text(const StoredFinding& finding) {
  if (finding.stage != campaign::Stage::confirmed) return std::string(name_of(finding.stage));
  return finding.reproducible() ? "reproducible" : "schedule-dependent";
}

Json finding_json(const FailureDatabase& database, const StoredFinding& finding) {
  return {{"pair", finding.key.pair},
          {"hash", finding.key.hash},
          {"kind", finding.kind},
          {"place", finding.place},
          {"tier", name_of(finding.tier)},
          {"stage", name_of(finding.stage)},
          {"classification", finding.schedules == 0 ? "" : stage_text(finding)},
          {"shown", finding.shown},
          {"schedules", finding.schedules},
          {"executions", finding.executions},
          {"found_seconds", finding.found_seconds},
          {"remark", finding.remark},
          {"case", database.directory().case_path(finding.key).string()}};
}

int list_failures(const FailuresArguments& arguments) {
  FailureDatabase database = existing(arguments.database);
  const int status = complain_of(database.messages());
  if (arguments.json) {
    Json list = Json::array();
    for (const StoredFinding& finding : database.findings()) {
      list.push_back(finding_json(database, finding));
    }
    print(Json{{"version", kReportVersion}, {"failures", list}}.dump(2) + "\n");
    return status;
  }
  std::string text;
  for (const StoredFinding& finding : database.findings()) {
    text += fmt::format("{:10}  {:18}  {:18}  {}  {}\n", name_of(finding.tier), stage_text(finding),
                        finding.kind, finding.key.hash, finding.key.pair);
  }
  print(text + counted(database.findings().size(), "finding") + "\n");
  return status;
}

int import_failures(const FailuresArguments& arguments) {
  FailureDatabase database(arguments.database);
  int status = complain_of(database.messages());
  campaign::ImportOutcome sum;
  for (const std::string& source : arguments.sources) {
    try {
      const auto outcome = database.import(campaign::read_archive(source),
                                           std::thread::hardware_concurrency(), watch_interrupts());
      status = std::max(status, complain_of(outcome.messages));
      sum.added += outcome.added;
      sum.known += outcome.known;
      sum.coverage += outcome.coverage;
    } catch (const campaign::ArchiveError& error) {
      complain(error.what());
      status = kCannot;
    }
  }
  print(fmt::format("{}, {} of known findings, {}\n", counted(sum.added, "new finding"),
                    counted(sum.known, "case"), counted(sum.coverage, "corpus entry")));
  return *watch_interrupts() != 0 ? kInterrupted : status;
}

int export_failures(const FailuresArguments& arguments) {
  FailureDatabase database = existing(arguments.database);
  const int status = complain_of(database.messages());
  const std::set<std::string> tiers(arguments.tiers.begin(), arguments.tiers.end());
  const auto entries =
      database.contents(tiers.empty() ? kTiers : tiers, pairs_named(arguments.pairs));
  campaign::write_archive(arguments.target, entries);
  print(fmt::format("{} written to {}\n", counted(entries.size(), "file"), arguments.target));
  return status;
}

void add_failures_to(CLI::App& command, Run& run) {
  command.require_subcommand(1);
  command.footer(
      "The failure database stores each failure with its smallest case: see\n"
      "docs/use/campaigns.md.\n"
      "\n"
      "Examples:\n"
      "  warpcheck failures list\n"
      "  warpcheck failures import ci-artefact.tar.gz --failures night\n"
      "  warpcheck failures export failures.zip --tiers crashing\n"
      "\n"
      "Exit status: 0 done, 2 bad usage, or entries that are damaged or cannot be run: these are\n"
      "named and left out, and the others are processed.");
  const auto arguments = std::make_shared<FailuresArguments>();
  const auto add = [&](const char* name, const char* help, int (*work)(const FailuresArguments&)) {
    CLI::App* part = command.add_subcommand(name, help);
    part->add_option("--failures", arguments->database,
                     "Directory of the failure database, or of a campaign")
        ->capture_default_str();
    part->callback(
        [&run, arguments, work] { run = [arguments, work] { return work(*arguments); }; });
    return part;
  };
  CLI::App* list = add("list", "List every finding and its tier", list_failures);
  list->add_flag("--json", arguments->json, "Print JSON");
  CLI::App* import = add("import", "Add cases and corpora", import_failures);
  import->add_option("SOURCE", arguments->sources, "Folders, archives (.tar.gz, .zip) or cases")
      ->required();
  CLI::App* write = add("export", "Write cases and corpora", export_failures);
  write->add_option("TARGET", arguments->target, "A folder, or an archive (.tar.gz, .tgz, .zip)")
      ->required();
  write->add_option("--tiers", arguments->tiers, "Only these tiers: crashing, regression, coverage")
      ->delimiter(',')
      ->check(CLI::IsMember(kTiers));
  write->add_option("--pairs", arguments->pairs, "Only findings of these pairs")->delimiter(',');
}

const RegisteredCommand kFailuresCommand{
    {.rank = 90,
     .name = "failures",
     .help = "The failure database, which `check` replays first: list, import, export",
     .add = add_failures_to}};

}  // namespace
}  // namespace warpcheck
