// A run as SARIF 2.1.0 (OASIS standard, 27 March 2020): one result for each class of finding, at
// the source lines of its sides.
//
// The values by which viewers track results are stable: ruleId is the finding's kind, the
// fingerprint its hash over kind, kernel and lines; paths are relative to the repository.  A
// finding without a source line (a mismatch) has the location of another finding of the same
// failure, else of its case file. Expected findings of a specimen whose claim passed are suppressed
// in source; findings that --expect or --ignore name are suppressed as external.
#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "harness/pair/project.hpp"
#include "harness/report/finding_help.hpp"
#include "harness/report/run_report.hpp"
#include "vgpu/check/finding_groups.hpp"
#include "vgpu/program/dim3_text.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

constexpr std::string_view kSchemaUri =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr std::string_view kFingerprint = "warpcheckFindingHash/v1";

// RFC 3986, 3.3: a path whose segments contain any characters.
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') ||
                            std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += unreserved ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

// The text of a message object.  Braces are doubled, because a single one begins a placeholder
// (3.11.5). "](" is separated, because it would turn the surrounding text into a link (3.11.6) and
// has no escape.
std::string message_text(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '{' || c == '}') escaped += c;
    if (c == '(' && escaped.ends_with(']')) escaped += ' ';
    escaped += c;
  }
  return escaped;
}

Json text_json(std::string_view text) { return {{"text", message_text(text)}}; }

Json physical_location(const std::string& file, std::uint32_t line) {
  Json artifact = {{"uri", uri_of(file)}};
  if (!file.starts_with('/')) artifact["uriBaseId"] = "%SRCROOT%";
  return {{"artifactLocation", artifact}, {"region", {{"startLine", line}}}};
}

std::string sentence_of(const vgpu::AccessSide& side, std::size_t number) {
  if (side.ptx.empty()) return fmt::format("({}) {} by the host", number, side.role);
  return fmt::format("({}) {} by block {} thread {}, {}", number, side.role, triple(side.block),
                     triple(side.thread), side.ptx);
}

Json location_json(const vgpu::Finding& finding, std::size_t side) {
  const vgpu::AccessSide& access = finding.accesses[side];
  Json location = {{"id", side + 1},
                   {"physicalLocation", physical_location(access.file, access.line)}};
  if (!finding.kernel.empty()) {
    location["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", printable(finding.kernel)}, {"kind", "function"}}});
  }
  location["message"] = text_json(sentence_of(access, side + 1));
  return location;
}

bool has_place(const vgpu::AccessSide& side) { return !side.file.empty() && side.line != 0; }

// The lines that lead to each side in a function that is called.
Json stacks_json(const vgpu::Finding& finding) {
  Json stacks = Json::array();
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    const vgpu::AccessSide& side = finding.accesses[i];
    if (side.callers.empty() || !has_place(side)) continue;
    const auto frame = [](const std::string& file, std::uint32_t line) {
      return Json{{"location", {{"physicalLocation", physical_location(file, line)}}}};
    };
    Json frames = Json::array({frame(side.file, side.line)});
    for (const vgpu::SourceLine& at : side.callers) frames.push_back(frame(at.file, at.line));
    stacks.push_back({{"message", text_json(sentence_of(side, i + 1))}, {"frames", frames}});
  }
  return stacks;
}

// What a result shows of the failure to which a finding belongs.
struct Failed {
  std::string pair, input, case_file;  // the last two may be empty
  std::span<const vgpu::Finding> findings;
};

Failed failed_of(const Report& report) {
  return {report.a_case.pair->name(), report.a_case.pair->summary(report.a_case.input),
          report.replay_path, report.verdict.findings};
}

// The first location of the finding, of another finding of its failure, or the case file.
Json fallback_location(const vgpu::Finding& finding, const Failed& failed) {
  for (const vgpu::Finding& other : failed.findings) {
    for (const vgpu::AccessSide& side : other.accesses) {
      if (has_place(side)) {
        return {{"physicalLocation", physical_location(side.file, side.line)},
                {"message", text_json("where the same failure shows at a source line")}};
      }
    }
  }
  const Json logical =
      Json::array({{{"fullyQualifiedName", printable(finding.kernel)}, {"kind", "function"}}});
  if (failed.case_file.empty()) return {{"logicalLocations", logical}};
  return {{"physicalLocation", physical_location(failed.case_file, 1)},
          {"logicalLocations", logical},
          {"message", text_json("the case that shows it")}};
}

// A viewer may show only the first sentence.
std::string message_of(const vgpu::Finding& finding, const Failed& failed) {
  std::string text = vgpu::headline_of(finding);
  if (!finding.message.empty()) text += ": " + finding.message;
  text += ".\n";
  if (const std::string also = vgpu::also_text(finding); !also.empty()) text += also + "\n";
  if (!finding.cause.empty()) text += fmt::format("cause: {}\n", finding.cause);
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    const vgpu::AccessSide& side = finding.accesses[i];
    const std::string place = has_place(side) ? fmt::format(", {}:{}", side.file, side.line) : "";
    text += sentence_of(side, i + 1) + place + "\n";
    if (const std::string callers = vgpu::callers_text(side); !callers.empty()) {
      text += callers + "\n";
    }
  }
  if (!failed.case_file.empty()) {
    text += fmt::format("replay: {} replay {}\n", project().program, shell_word(failed.case_file));
  }
  return text;
}

// The reason why a viewer does not count a result.
struct Suppression {
  std::string_view kind;
  std::string justification;
  std::string file{};  // that contains it; empty: none
  std::uint32_t line = 0;
};

Suppression specimen() { return {"inSource", "the pair is a specimen, kept for this defect"}; }

Json suppression_json(const Suppression& suppression) {
  Json json = {{"kind", suppression.kind}, {"justification", printable(suppression.justification)}};
  if (!suppression.file.empty()) {
    json["location"] = {
        {"physicalLocation", physical_location(suppression.file, suppression.line)}};
  }
  return json;
}

// The group of a finding.
struct Group {
  const vgpu::Finding* first = nullptr;  // null: it is this one
  std::string change{};  // sentence_of() the change with which all vanish; empty: by rules
  std::vector<const vgpu::Finding*> consequences{};  // of this one
};

// What is shown beside a finding: a place of another one.  Empty: that has none.
void add_related(const vgpu::Finding& other, std::string_view role, std::size_t id, Json& related) {
  if (other.accesses.empty() || !has_place(other.accesses[0])) return;
  Json location = location_json(other, 0);
  location["id"] = id;
  location["message"] = text_json(fmt::format("{}: {}", role, vgpu::places_text(other)));
  related.push_back(std::move(location));
}

// suppression: nothing: none.
Json result_json(const vgpu::Finding& finding, const Failed& failed,
                 const std::optional<Suppression>& suppression, const Group& group) {
  const vgpu::Finding* const first = group.first;
  Json json = {{"ruleId", vgpu::name_of(finding.kind)},
               {"ruleIndex", static_cast<int>(finding.kind)},
               {"level", vgpu::name_of(finding.severity)},
               {"message", text_json(message_of(finding, failed) +
                                     (group.change.empty() ? "" : group.change + "\n"))}};
  Json locations = Json::array(), related = Json::array();
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    if (!has_place(finding.accesses[i])) continue;
    (locations.empty() ? locations : related).push_back(location_json(finding, i));
  }
  std::size_t id = finding.accesses.size() + 1;
  if (first != nullptr) {
    add_related(*first,
                group.change.empty() ? "the first finding of the same cause"
                                     : "a consequence of the same lack as",
                id++, related);
  }
  for (const vgpu::Finding* const consequence : group.consequences)
    add_related(*consequence, "a consequence", id++, related);
  if (locations.empty()) locations.push_back(fallback_location(finding, failed));
  json["locations"] = std::move(locations);
  if (!related.empty()) json["relatedLocations"] = std::move(related);
  if (Json stacks = stacks_json(finding); !stacks.empty()) json["stacks"] = std::move(stacks);
  json["partialFingerprints"] = {{kFingerprint, vgpu::hash_of(finding)}};
  json["occurrenceCount"] = 1;
  if (suppression) json["suppressions"] = Json::array({suppression_json(*suppression)});
  json["properties"] = {{"pair", failed.pair},
                        {"kernel", printable(finding.kernel)},
                        {"group", vgpu::hash_of(first == nullptr ? finding : *first)},
                        {"input", printable(failed.input)},
                        {"case", printable(failed.case_file)}};
  return json;
}

std::vector<Group> groups_of(const Report& report) {
  const std::vector<vgpu::Finding>& findings = report.verdict.findings;
  std::vector<Group> groups(findings.size());
  for (const FindingGroup& group : finding_groups(findings, report.causes)) {
    const std::size_t first = group.findings.front();
    for (const std::size_t i : group.findings) {
      if (group.change != nullptr) groups[i].change = sentence_of(*group.change, findings.size());
      if (i == first) continue;
      groups[i].first = &findings[first];
      if (group.change != nullptr) groups[first].consequences.push_back(&findings[i]);
    }
  }
  return groups;
}

// "data-race" -> "DataRace"
std::string pascal_case(std::string_view name) {
  std::string text;
  bool capital = true;
  for (const char c : name) {
    if (c != '-') text += capital ? static_cast<char>(c - 'a' + 'A') : c;
    capital = c == '-';
  }
  return text;
}

Json rules_json() {
  Json rules = Json::array();
  for (std::size_t i = 0; i < kFindingKinds; ++i) {
    const FindingHelp& help = help_for(static_cast<vgpu::FindingKind>(i));
    const std::string_view id = vgpu::name_of(help.kind);
    rules.push_back({{"id", id},
                     {"name", pascal_case(id)},
                     {"shortDescription", text_json(help.title)},
                     {"fullDescription", text_json(help.meaning)},
                     {"help",
                      {{"text", message_text(fmt::format("{}\n{}", help.meaning, help.advice))},
                       {"markdown", message_text(fmt::format("**{}.** {}\n\n{}", help.title,
                                                             help.meaning, help.advice))}}},
                     {"defaultConfiguration", {{"level", "error"}}},
                     {"properties", {{"tags", Json::array({"cuda", "correctness"})}}}});
  }
  return rules;
}

Json invocation_json(const RunReport& run) {
  Json notifications = Json::array();
  for (const Claim& claim : run.claims) {
    if (claim.status != Claim::Status::cannot_run) continue;
    const std::string what = claim.case_file.empty() ? claim.title() : claim.case_file;
    notifications.push_back({{"descriptor", {{"id", "cannot-run"}}},
                             {"level", "error"},
                             {"message", text_json(what + ": " + claim.verdict)}});
  }
  const bool successful = notifications.empty();
  for (const std::string& gap : run.not_checked) {
    notifications.push_back({{"descriptor", {{"id", "not-checked"}}},
                             {"level", "warning"},
                             {"message", text_json("not checked: " + gap)}});
  }
  for (const Report& report : run.reports) {
    const std::string limit = limit_of(report.causes);
    if (limit.empty()) continue;
    notifications.push_back(
        {{"descriptor", {{"id", "grouped-by-rules"}}},
         {"level", "note"},
         {"message", text_json(fmt::format("{}: {}", report.a_case.pair->name(), limit))}});
  }
  for (const Expectation& expectation : run.unmatched) {
    notifications.push_back(
        {{"descriptor", {{"id", "expectation-unmatched"}}},
         {"level", "note"},
         {"message", text_json("expected, but not found: " + place_text(expectation))}});
  }
  return {{"executionSuccessful", successful},
          {"toolExecutionNotifications", std::move(notifications)}};
}

}  // namespace

std::string report_sarif(const RunReport& run, std::string_view version) {
  std::set<std::size_t> expected;
  for (const Claim& claim : run.claims) {
    if (claim.status == Claim::Status::passed) {
      expected.insert(claim.reports.begin(), claim.reports.end());
    }
  }
  Json results = Json::array();
  std::map<std::string, std::size_t> index_of_class;
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const std::vector<vgpu::Finding>& findings = run.reports[i].verdict.findings;
    const std::vector<Group> groups = groups_of(run.reports[i]);
    for (std::size_t at = 0; at < findings.size(); ++at) {
      const vgpu::Finding& finding = findings[at];
      const std::string key = vgpu::hash_of(finding) + std::string(vgpu::name_of(finding.severity));
      const auto [entry, is_new] = index_of_class.try_emplace(key, results.size());
      if (is_new) {
        results.push_back(result_json(
            finding, failed_of(run.reports[i]),
            expected.contains(i) ? std::optional(specimen()) : std::nullopt, groups[at]));
      } else {
        Json& count = results[entry->second]["occurrenceCount"];
        count = count.get<int>() + 1;
      }
    }
  }
  for (const ExpectedFinding& known : run.expected) {
    const Expectation& by = known.expectation;
    const Suppression suppression{"external", by.reason, by.source, by.line};
    results.push_back(result_json(known.finding, {known.pair, "", "", {}}, suppression, {}));
  }
  const Json driver = {{"name", "warpcheck"}, {"version", version}, {"rules", rules_json()}};
  const Json document = {
      {"$schema", kSchemaUri},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", driver}}},
                             {"invocations", Json::array({invocation_json(run)})},
                             {"columnKind", "utf16CodeUnits"},
                             {"results", std::move(results)}}})}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpcheck
