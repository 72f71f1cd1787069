// A campaign's end as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "campaign/campaign.hpp"
#include "harness/pair/project.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck::campaign {
namespace {

std::string verdict_text(const StoredFinding& finding) {
  switch (finding.stage) {
    case Stage::found: return "not shrunk yet";
    case Stage::shrunk: return "not confirmed yet";
    case Stage::unconfirmed: return "NOT CONFIRMED: " + finding.remark;
    case Stage::confirmed: break;
  }
  std::string text = finding.reproducible()
                         ? "reproducible"
                         : fmt::format("schedule-dependent ({} of {})", finding.shown,
                                       counted(finding.schedules, "schedule"));
  if (!finding.complete) text += "; shrinking used up its budget";
  return text;
}

// The lines of "data-race|shared|scan|kernels/scan.cu:14|kernels/scan.cu:16"; for a finding without
// lines, its kernel.
std::string where(const StoredFinding& finding) {
  std::vector<std::string> parts(1);
  for (const char c : finding.place) {
    if (c == '|') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  const std::size_t first = std::min<std::size_t>(parts.size() > 3 ? 3 : 2, parts.size() - 1);
  return fmt::format(
      "{}", fmt::join(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end(), " "));
}

using Row = std::array<std::string, 5>;

std::string table_text(const std::vector<Row>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& [pair, kind, hash, where, verdict] : rows) {
    text += fmt::format("{:{}}  {:{}}  {:{}}  {:{}}  {}\n", pair, widths[0], kind, widths[1], hash,
                        widths[2], where, widths[3], verdict);
  }
  return text;
}

// Expected findings of a pair that were not confirmed.
std::string missing_of(const AnyPair& pair, const std::vector<StoredFinding>& findings) {
  std::string missing;
  for (const vgpu::FindingKind kind : pair.expects()) {
    const bool met = std::ranges::any_of(findings, [&](const StoredFinding& finding) {
      return finding.key.pair == pair.name() && finding.kind == vgpu::name_of(kind);
    });
    if (met) continue;
    missing += missing.empty() ? "" : ", ";
    missing += vgpu::name_of(kind);
  }
  return missing;
}

}  // namespace

std::string outcome_text(const CampaignOutcome& outcome, const CampaignOptions& options) {
  std::vector<Row> rows{{"pair", "kind", "finding", "where", "verdict"}};
  std::set<std::string> pairs;
  for (const StoredFinding& finding : outcome.findings) {
    rows.push_back(
        {finding.key.pair, finding.kind, finding.key.hash, where(finding), verdict_text(finding)});
    pairs.insert(finding.key.pair);
  }
  std::string text = outcome.findings.empty() ? "" : table_text(rows);
  for (const PairProgress& progress : outcome.progress) {
    if (progress.refusal.empty()) continue;
    text += fmt::format("{} cannot be run: {}\n", progress.pair, progress.refusal);
  }
  for (const Incident& incident : outcome.incidents) {
    text += fmt::format("incident: {}: {} ({})\n", incident.pair, incident.what,
                        counted(incident.count, "time"));
  }
  for (const AnyPair* pair : options.pairs) {
    const std::string missing = missing_of(*pair, outcome.findings);
    if (!missing.empty()) text += fmt::format("not found yet: {} of {}\n", missing, pair->name());
  }
  std::int64_t executions = 0, for_every_schedule = 0;
  for (const PairProgress& progress : outcome.progress) {
    executions += progress.executions;
    for_every_schedule += progress.for_every_schedule;
  }
  text += fmt::format("{} of {} after {} of {}{}\n", counted(outcome.findings.size(), "finding"),
                      counted(pairs.size(), "pair"), counted(executions, "trial"),
                      counted(options.pairs.size(), "pair"),
                      for_every_schedule == 0
                          ? ""
                          : fmt::format(", {} of them for every schedule", for_every_schedule));
  if (!outcome.findings.empty()) {
    text += fmt::format("replay one: {} replay {}/cases/PAIR/FINDING.case\n", project().program,
                        shell_word(own_directory(options).string()));
  }
  return text;
}

}  // namespace warpcheck::campaign
