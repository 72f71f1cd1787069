// Reports as JSON, for programs.
#include <string>

#include "harness/case_file.hpp"
#include "harness/report.hpp"

namespace warpcheck {
namespace {

Json extents_json(const vgpu::Dim3& at) { return Json::array({at.x, at.y, at.z}); }

Json side_json(const vgpu::AccessSide& side) {
  return {{"role", side.role},
          {"block", extents_json(side.block)},
          {"thread", extents_json(side.thread)},
          {"file", side.file},
          {"line", side.line},
          {"ptx", side.ptx}};
}

Json finding_json(const vgpu::Finding& finding, const Report& report) {
  Json accesses = Json::array();
  for (const vgpu::AccessSide& side : finding.accesses) accesses.push_back(side_json(side));
  return {{"kind", vgpu::name_of(finding.kind)},
          {"space", finding.space},
          {"severity", vgpu::name_of(finding.severity)},
          {"kernel", finding.kernel},
          {"object", finding.object},
          {"accesses", accesses},
          {"message", finding.message},
          {"count", finding.count},
          {"hash", vgpu::hash_of(finding)},
          {"pair", report.a_case.pair->name()},
          {"case", report.replay_path}};
}

Json failure_json(const Report& report) {
  const Case& a_case = report.a_case;
  Json kinds = Json::array();
  for (const vgpu::FindingKind kind : failure_kinds(report.verdict)) {
    kinds.push_back(vgpu::name_of(kind));
  }
  Json json = {{"pair", a_case.pair->name()},
               {"property", a_case.property},
               {"kinds", kinds},
               {"input", a_case.pair->to_json(a_case.input)},
               {"schedule", to_json(report.verdict.schedule)},
               {"build", name_of(a_case.settings.build)},
               {"warp_model", name_of(a_case.settings.warp_model)},
               {"refusals", report.verdict.refusals},
               {"case", report.replay_path}};
  if (report.search) {
    json["trials"] = report.search->trials;
    json["shrinks"] = report.search->shrinks;
  }
  return json;
}

}  // namespace

Json report_json(const std::vector<Report>& reports) {
  Json findings = Json::array(), failures = Json::array();
  for (const Report& report : reports) {
    for (const vgpu::Finding& finding : report.verdict.findings) {
      findings.push_back(finding_json(finding, report));
    }
    if (!report.verdict.findings.empty() || !report.verdict.refusals.empty()) {
      failures.push_back(failure_json(report));
    }
  }
  Json document = Json::object();
  document["version"] = kReportVersion;
  document["findings"] = std::move(findings);
  document["failures"] = std::move(failures);
  return document;
}

}  // namespace warpcheck
