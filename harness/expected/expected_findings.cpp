#include "harness/expected/expected_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace warpcheck {

void add_expected(std::vector<ExpectedFinding>& to, vgpu::Finding finding, const std::string& pair,
                  const Expectation& expectation) {
  const auto known = std::ranges::find_if(to, [&](const ExpectedFinding& other) {
    return other.pair == pair && other.finding.severity == finding.severity &&
           other.expectation == expectation &&
           vgpu::class_of(other.finding) == vgpu::class_of(finding);
  });
  if (known == to.end()) {
    to.push_back({std::move(finding), pair, expectation});
  } else {
    known->finding.count += finding.count;
    vgpu::add_other_callers(finding, known->finding);
  }
}

std::string expected_text(const ExpectedFinding& expected) {
  const vgpu::Finding& finding = expected.finding;
  std::string text = fmt::format("{}{}", finding.severity == vgpu::Severity::note ? "note: " : "",
                                 vgpu::name_of(finding.kind));
  if (!finding.kernel.empty()) text += " in kernel " + finding.kernel;
  for (const vgpu::AccessSide& side : finding.accesses) {
    if (!side.file.empty()) text += fmt::format(", {} {}:{}", side.role, side.file, side.line);
  }
  const Expectation& by = expected.expectation;
  text += by.is_option() ? ": ignored" : fmt::format(": expected by {}:{}", by.source, by.line);
  return text + ": " + by.reason;
}

bool ExpectedFindings::is_for(const Expectation& expectation, const std::string& program) {
  return expectation.program.empty() || matches(expectation.program, program) ||
         matches(expectation.program, std::filesystem::path(program).filename().string());
}

void ExpectedFindings::add(std::vector<Expectation> expectations) {
  for (Expectation& expectation : expectations) {
    const bool is_current = is_for(expectation, program_);
    entries_.push_back({std::move(expectation), is_current, is_current});
  }
  std::stable_partition(entries_.begin(), entries_.end(),
                        [](const Entry& entry) { return !entry.expectation.is_option(); });
}

void ExpectedFindings::set_program(const std::string& name) {
  program_ = name;
  for (Entry& entry : entries_) {
    entry.is_current = is_for(entry.expectation, name);
    entry.is_asked = entry.is_asked || entry.is_current;
  }
}

const Expectation* ExpectedFindings::find(const vgpu::Finding& finding) {
  for (Entry& entry : entries_) {
    if (!entry.is_current || !matches(entry.expectation, finding, lines_)) continue;
    ++entry.matched;
    return &entry.expectation;
  }
  return nullptr;
}

std::vector<Expectation> ExpectedFindings::unmatched() const {
  std::vector<Expectation> unmatched;
  for (const Entry& entry : entries_) {
    if (entry.is_asked && entry.matched == 0 && !entry.expectation.is_option()) {
      unmatched.push_back(entry.expectation);
    }
  }
  return unmatched;
}

std::size_t ExpectedFindings::without_reason() const {
  return static_cast<std::size_t>(std::ranges::count_if(entries_, [](const Entry& entry) {
    return entry.expectation.reason.starts_with(kNoReason);
  }));
}

std::string place_text(const Expectation& expectation) {
  return fmt::format("{}:{}: {}", expectation.source, expectation.line, expectation.title());
}

}  // namespace warpcheck
