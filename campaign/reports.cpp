// A campaign's findings and coverage as data for the printers that all commands share.
#include <fmt/format.h>

#include <set>

#include "campaign/campaign.hpp"
#include "campaign/store/corpus.hpp"
#include "campaign/store/directory.hpp"
#include "fuzz/entry.hpp"
#include "harness/case/case_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/workers.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck::campaign {

std::vector<Report> reports_of(const CampaignOutcome& outcome, const CampaignOptions& options,
                               std::vector<std::string>& problems) {
  const Directory directory(own_directory(options));
  std::vector<const StoredFinding*> findings;
  std::set<std::string> texts;
  for (const StoredFinding& finding : outcome.findings) {
    if (texts.insert(finding.case_text).second) findings.push_back(&finding);
  }
  const auto record = [&](std::size_t i) {
    const StoredFinding& finding = *findings[i];
    return parse_case(finding.case_text, directory.case_path(finding.key).string(),
                      Registry::global());
  };
  // A case that kills its process must not kill this one.
  const auto tried = run_tasks(
      findings.size(), options.jobs,
      [&](std::size_t i, const Emit&) { TrialRunner().run(record(i).a_case); }, nullptr);
  std::vector<Report> reports;
  TrialRunner runner;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!tried[i].finished) {
      problems.push_back(fmt::format("{}: left out of the report: {}",
                                     directory.case_path(findings[i]->key).string(),
                                     tried[i].failure));
      continue;
    }
    Report report;
    report.a_case = record(i).a_case;
    report.verdict = runner.run(report.a_case);
    report.search = Report::Search{.trials = static_cast<std::uint64_t>(findings[i]->executions),
                                   .shrinks = static_cast<std::uint64_t>(findings[i]->shrinks),
                                   .complete = findings[i]->complete};
    report.replay_path = directory.case_path(findings[i]->key).string();
    reports.push_back(std::move(report));
  }
  return reports;
}

LineCoverage coverage_of_corpora(const CampaignOptions& options,
                                 std::vector<std::string>& problems) {
  const Directory directory(own_directory(options));
  const auto run_corpus = [&](std::size_t i, const Emit& emit) {
    const AnyPair& pair = *options.pairs[i];
    std::vector<std::uint8_t> counters(fuzz::kCounters);
    fuzz::InputRunner inputs(pair, counters,
                             {.build = {}, .warp_model = {}, .feedback = false, .lines = true});
    for (const CorpusEntry& entry : read_corpus(directory, pair.name()).entries) {
      inputs.run(entry.bytes);
    }
    emit(LinesMessage{*inputs.coverage()});
  };
  LineCoverage coverage;
  const auto tasks = run_tasks(options.pairs.size(), options.jobs, run_corpus, nullptr);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    std::vector<std::string> errors = tasks[i].unreadable;
    for (const Message& message : tasks[i].messages) {
      std::visit(
          Overloaded{[&](const LinesMessage& lines) { coverage.add(lines.coverage); },
                     [&](const auto&) { errors.push_back(internal_error(unexpected(message))); }},
          message);
    }
    if (!tasks[i].finished) errors.push_back(tasks[i].failure);
    for (const std::string& error : errors) {
      problems.push_back(fmt::format("the corpus of {} is left out of the coverage: {}",
                                     options.pairs[i]->name(), error));
    }
  }
  return coverage;
}

}  // namespace warpcheck::campaign
