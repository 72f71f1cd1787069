// Reports as JSON, for programs.
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case_file.hpp"
#include "harness/input/json.hpp"
#include "harness/report/finding_help.hpp"
#include "harness/report/run_report.hpp"

namespace warpcheck {
namespace {

Json kinds_json(const std::vector<vgpu::FindingKind>& kinds) {
  Json json = Json::array();
  for (const vgpu::FindingKind kind : kinds) json.push_back(vgpu::name_of(kind));
  return json;
}

Json extents_json(const Dim3& at) { return Json::array({at.x, at.y, at.z}); }

Json lines_json(const std::vector<vgpu::SourceLine>& lines) {
  Json json = Json::array();
  for (const vgpu::SourceLine& line : lines) {
    json.push_back({{"file", line.file}, {"line", line.line}});
  }
  return json;
}

Json side_json(const vgpu::AccessSide& side) {
  Json json = {{"role", side.role},
               {"block", extents_json(side.block)},
               {"thread", extents_json(side.thread)},
               {"file", side.file},
               {"line", side.line},
               {"ptx", side.ptx}};
  if (!side.header.empty()) {
    json["header"] = side.header;
    json["header_line"] = side.header_line;
  }
  if (!side.callers.empty()) json["callers"] = lines_json(side.callers);
  if (!side.other_callers.empty()) json["other_callers"] = lines_json(side.other_callers);
  return json;
}

// How a finding is grouped with others.
struct Grouped {
  std::size_t finding = 0;  // index
  std::string by{};         // hash of the first finding of its group
  std::string change{};  // sentence_of() the change with which the group vanishes; empty: by rules
  bool is_consequence = false;  // by experiment, and it is not the first one
};

Json finding_json(const vgpu::Finding& finding, const std::string& pair, const std::string& path,
                  const Grouped& group) {
  Json accesses = Json::array();
  for (const vgpu::AccessSide& side : finding.accesses) accesses.push_back(side_json(side));
  Json also = Json::array();
  for (const vgpu::Relation relation : finding.also_between) {
    also.push_back(vgpu::name_of(relation));
  }
  Json json = {{"kind", vgpu::name_of(finding.kind)},
               {"space", finding.space},
               {"severity", vgpu::name_of(finding.severity)},
               {"kernel", finding.kernel},
               {"object", finding.object},
               {"accesses", accesses},
               {"message", finding.message},
               {"count", finding.count},
               {"relation", vgpu::name_of(finding.relation)},
               {"also_between", also},
               {"lack", vgpu::name_of(finding.lack)},
               {"hint", group.change.empty() ? std::string(advice_for(finding)) : group.change},
               {"hash", vgpu::hash_of(finding)},
               {"group", group.by},
               {"grouped_by", group.change.empty() ? "rules" : "experiment"},
               {"pair", pair},
               {"case", path}};
  if (!finding.cause.empty()) json["cause"] = finding.cause;
  if (group.is_consequence) json["consequence_of"] = group.by;
  return json;
}

// All findings of the report, a cause before its consequences, as text has them.
std::vector<Grouped> grouped_findings(const Report& report) {
  const std::vector<vgpu::Finding>& findings = report.verdict.findings;
  std::vector<Grouped> grouped;
  for (const FindingGroup& group : finding_groups(findings, report.causes)) {
    const std::size_t first = group.findings.front();
    for (const std::size_t i : group.findings) {
      Grouped& one = grouped.emplace_back();
      one.finding = i;
      one.by = vgpu::hash_of(findings[first]);
      if (group.change == nullptr) continue;
      one.change = sentence_of(*group.change, findings.size());
      one.is_consequence = i != first;
    }
  }
  return grouped;
}

// By a file or, if `ignored`, by an option.
void add_expected(const RunReport& run, bool ignored, const char* key, Json& document) {
  for (const ExpectedFinding& expected : run.expected) {
    const Expectation& by = expected.expectation;
    if (by.is_option() != ignored) continue;
    Json json =
        finding_json(expected.finding, expected.pair, "", {0, vgpu::hash_of(expected.finding)});
    if (!ignored) {
      json["expected_by"] = {{"file", by.source}, {"line", by.line}, {"reason", by.reason}};
    }
    document[key].push_back(std::move(json));
  }
}

Json failure_json(const Report& report) {
  const Case& a_case = report.a_case;
  Json json = {{"pair", a_case.pair->name()},
               {"property", a_case.property},
               {"kinds", kinds_json(failure_kinds(report.verdict))},
               {"input", a_case.pair->to_json(a_case.input)},
               {"schedule", to_json(report.verdict.schedule)},
               {"build", name_of(a_case.settings.build)},
               {"warp_model", name_of(a_case.settings.warp_model)},
               {"refusals", report.verdict.refusals},
               {"case", report.replay_path}};
  const Causes& causes = report.causes;
  if (causes.known != 0 || !causes.why_not.empty()) {
    json["causes"] = {{"changes_known", causes.known},
                      {"changes_tried", causes.tried},
                      {"budget_used_up", causes.budget_used_up}};
    if (const std::string limit = limit_of(causes); !limit.empty()) json["causes"]["limit"] = limit;
  }
  if (report.search) {
    json["trials"] = report.search->trials;
    json["shrinks"] = report.search->shrinks;
  }
  return json;
}

// index_of: for each report its index in "failures"; empty if it is not there.
Json claim_json(const Claim& claim, const std::vector<std::optional<std::size_t>>& index_of) {
  Json failures = Json::array();
  for (const std::size_t report : claim.reports) {
    if (index_of[report]) failures.push_back(*index_of[report]);
  }
  Json json = {{"pair", claim.pair},
               {"property", claim.property},
               {"status", name_of(claim.status)},
               {"verdict", claim.verdict},
               {"expects", kinds_json(claim.expects)},
               {"found", kinds_json(claim.found)},
               {"trials", claim.trials},
               {"failures", failures}};
  if (!claim.case_file.empty()) json["case"] = claim.case_file;
  if (claim.beyond.for_every_schedule != 0)
    json["trials_for_every_schedule"] = claim.beyond.for_every_schedule;
  if (claim.beyond.proved) json["proof"] = to_json(*claim.beyond.proved);
  return json;
}

}  // namespace

Json report_json(const RunReport& run) {
  Json findings = Json::array(), failures = Json::array(), claims = Json::array();
  std::vector<std::optional<std::size_t>> index_of;
  for (const Report& report : run.reports) {
    const Verdict& verdict = report.verdict;
    for (const Grouped& group : grouped_findings(report)) {
      findings.push_back(finding_json(verdict.findings[group.finding], report.a_case.pair->name(),
                                      report.replay_path, group));
    }
    const bool failed = !verdict.findings.empty() || !verdict.refusals.empty();
    index_of.push_back(failed ? std::optional(failures.size()) : std::nullopt);
    if (failed) failures.push_back(failure_json(report));
  }
  for (const Claim& claim : run.claims) claims.push_back(claim_json(claim, index_of));
  Json document = {{"schema", kReportSchema}, {"version", kReportVersion}};
  document["command"] = run.command;
  document["findings"] = std::move(findings);
  document["failures"] = std::move(failures);
  document["claims"] = std::move(claims);
  add_expected(run, false, "expected", document);
  add_expected(run, true, "ignored", document);
  for (const Expectation& expectation : run.unmatched) {
    document["unmatched_expectations"].push_back({{"file", expectation.source},
                                                  {"line", expectation.line},
                                                  {"finding", expectation.title()}});
  }
  if (!run.assumed.empty()) document["assumed"] = run.assumed;
  if (!run.every_size.is_null()) document["every_size"] = run.every_size;
  if (!run.not_checked.empty()) document["not_checked"] = run.not_checked;
  for (const RunReport::KernelUse& kernel : run.kernels) {
    document["kernels"].push_back({{"name", kernel.name},
                                   {"launches", kernel.launches},
                                   {"thread_instructions", kernel.thread_instructions}});
    if (!kernel.proved.empty()) document["kernels"].back()["proved"] = kernel.proved;
  }
  if (run.coverage) document["coverage"] = to_json(*run.coverage);
  if (run.profile) document["profile"] = profile_json(*run.profile);
  if (!run.statistics.is_null()) document["statistics"] = run.statistics;
  if (!run.engine.empty()) document["engine"] = run.engine;
  if (!run.health.is_null()) document["health"] = run.health;
  return document;
}

}  // namespace warpcheck
