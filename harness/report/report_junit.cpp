// A run as JUnit XML, in the common format of CI systems: a test suite for each pair, a test case
// for each claim.  harness/report/schemas/junit.xsd is the common subset of their formats.
//
// A specimen whose defect was found is a passed test with the report as its output.  There are no
// times: the same run gives the same bytes.
#include <fmt/format.h>

#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "harness/report/run_report.hpp"

namespace warpcheck {
namespace {

struct Counts {
  std::size_t tests = 0, failures = 0, errors = 0;

  void add(const Claim& claim) {
    ++tests;
    failures += claim.status == Claim::Status::failed ? 1 : 0;
    errors += claim.status == Claim::Status::cannot_run ? 1 : 0;
  }
  void write_to(pugi::xml_node node) const {
    node.append_attribute("tests") = static_cast<unsigned long long>(tests);
    node.append_attribute("failures") = static_cast<unsigned long long>(failures);
    node.append_attribute("errors") = static_cast<unsigned long long>(errors);
  }
};

void set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name) = printable(value).c_str();
}

void set_text(pugi::xml_node node, std::string_view value) {
  node.append_child(pugi::node_pcdata).set_value(printable(value).c_str());
}

std::string suite_of(const Claim& claim) { return claim.pair.empty() ? "unknown" : claim.pair; }

std::string case_name(const RunReport& run, const Claim& claim) {
  if (run.command == "hunt") return "as_expected";
  if (run.command == "exec") return "has_no_findings";
  if (!claim.case_file.empty()) return claim.case_file;
  return claim.property.empty() ? "agrees_with_its_reference" : claim.property;
}

// Expected findings of the claim's pair, which has one row for all of its claims in that.
std::string expected_of(const RunReport& run, const Claim& claim) {
  std::string text;
  for (const ExpectedFinding& expected : run.expected) {
    if (expected.pair == claim.pair && claim.property.empty())
      text += expected_text(expected) + "\n";
  }
  return text;
}

std::string text_of(const RunReport& run, const Claim& claim) {
  std::string text;
  for (const std::size_t report : claim.reports) text += report_text(run.reports[report]);
  return text;
}

void write_case(pugi::xml_node suite, const RunReport& run, const Claim& claim) {
  pugi::xml_node node = suite.append_child("testcase");
  set(node, "classname", fmt::format("warpcheck.{}", suite_of(claim)));
  set(node, "name", case_name(run, claim));
  const std::string text = text_of(run, claim), expected = expected_of(run, claim);
  const auto add_output = [&](const std::string& output) {
    if (!output.empty()) set_text(node.append_child("system-out"), output);
  };
  if (claim.status == Claim::Status::passed) {
    add_output(text + expected);
    return;
  }
  const bool failed = claim.status == Claim::Status::failed;
  pugi::xml_node problem = node.append_child(failed ? "failure" : "error");
  set(problem, "message", claim.verdict);
  set(problem, "type", failed ? show_kinds(claim.found) : name_of(claim.status));
  set_text(problem, text.empty() ? claim.verdict : text);
  add_output(expected);
}

}  // namespace

std::string report_junit(const RunReport& run) {
  std::map<std::string, std::vector<const Claim*>> suites;
  Counts all;
  for (const Claim& claim : run.claims) {
    suites[suite_of(claim)].push_back(&claim);
    all.add(claim);
  }
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", "warpcheck " + run.command);
  all.write_to(root);
  for (const auto& [name, claims] : suites) {
    pugi::xml_node suite = root.append_child("testsuite");
    set(suite, "name", name);
    Counts counts;
    for (const Claim* claim : claims) counts.add(*claim);
    counts.write_to(suite);
    suite.append_attribute("skipped") = 0;  // Jenkins' schema has none for all suites together
    for (const Claim* claim : claims) write_case(suite, run, *claim);
  }
  std::ostringstream text;
  document.save(text, " ");
  return text.str();
}

}  // namespace warpcheck
