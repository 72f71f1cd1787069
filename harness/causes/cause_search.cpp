#include "harness/causes/cause_search.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace warpcheck {

std::string CauseSearch::key_of(const vgpu::Finding& finding) {
  return vgpu::class_of(finding) + std::string(vgpu::name_of(finding.severity));
}

std::set<std::string> CauseSearch::keys_of(const Findings& findings) {
  std::set<std::string> keys;
  for (const vgpu::Finding& finding : findings) keys.insert(key_of(finding));
  return keys;
}

bool CauseSearch::shows(const Findings& findings, const std::set<std::string>& keys) {
  return std::ranges::any_of(
      findings, [&](const vgpu::Finding& finding) { return keys.contains(key_of(finding)); });
}

bool CauseSearch::is_of_results(const vgpu::Finding& finding) {
  return finding.kind == vgpu::FindingKind::mismatch ||
         finding.kind == vgpu::FindingKind::schedule_dependent ||
         finding.kind == vgpu::FindingKind::api_error;
}

CauseSearch::CauseSearch(const Findings& findings, std::uint64_t budget)
    : findings_(findings), keys_(keys_of(findings)), budget_(budget) {}

Causes CauseSearch::run(const std::vector<Change>& changes) {
  causes_.known = static_cast<std::uint32_t>(changes.size());
  for (const Change& change : changes) {
    if (causes_.tried == kChangesMax || budget_ == 0) break;
    Helpful helpful{&change, vanished_with(change)};
    if (helpful.findings.empty()) continue;
    // Nothing can help more, and what follows is not preferred.
    if (helpful.findings.size() == findings_.size()) {
      if (confirm(helpful)) {
        choose(helpful);
        return std::move(causes_);
      }
      continue;
    }
    helpful_.push_back(std::move(helpful));
  }
  choose_by_number();
  causes_.budget_used_up = budget_ == 0;
  return std::move(causes_);
}

// Indices of findings; none if others appear.
std::vector<std::size_t> CauseSearch::vanished_with(const Change& change) {
  ++causes_.tried;
  const std::optional<Findings> with_change = findings_with(change);
  if (!with_change || brings_others(*with_change)) return {};
  if (change.is_of_values && std::ranges::any_of(*with_change, is_of_results)) return {};
  const std::set<std::string> left = keys_of(*with_change);
  std::vector<std::size_t> vanished;
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    if (!left.contains(key_of(findings_[i]))) vanished.push_back(i);
  }
  return has_error(vanished) ? vanished : std::vector<std::size_t>{};
}

bool CauseSearch::has_error(const std::vector<std::size_t>& findings) const {
  return std::ranges::any_of(
      findings, [&](std::size_t i) { return findings_[i].severity == vgpu::Severity::error; });
}

bool CauseSearch::brings_others(const Findings& with_change) const {
  return std::ranges::any_of(with_change, [&](const vgpu::Finding& finding) {
    return finding.severity == vgpu::Severity::error && !keys_.contains(key_of(finding));
  });
}

bool CauseSearch::confirm(const Helpful& helpful) {
  std::set<std::string> removed;
  for (const std::size_t i : helpful.findings) removed.insert(key_of(findings_[i]));
  return holds(*helpful.change, removed);
}

// Of those that are left, each time the change with which most findings vanish.
void CauseSearch::choose_by_number() {
  std::vector<Helpful> left = helpful_;
  while (!left.empty()) {
    const auto best = std::ranges::max_element(
        left, {}, [](const Helpful& helpful) { return helpful.findings.size(); });
    if (best->findings.empty()) return;
    const Helpful chosen = *best;
    left.erase(best);
    if (!confirm(chosen)) continue;
    choose(chosen);
    for (Helpful& other : left) {
      std::erase_if(other.findings, [&](std::size_t i) {
        return std::ranges::find(chosen.findings, i) != chosen.findings.end();
      });
      if (!has_error(other.findings)) other.findings.clear();
    }
  }
}

void CauseSearch::choose(const Helpful& helpful) {
  HelpfulChange change{helpful.change->text, helpful.findings};
  const auto is_later = [&](std::size_t i) {
    const vgpu::Finding& finding = findings_[i];
    return std::tuple(i != helpful.change->finding, finding.severity == vgpu::Severity::note,
                      is_of_results(finding));
  };
  std::ranges::stable_sort(change.findings, {}, is_later);
  causes_.found.push_back(std::move(change));
}

}  // namespace warpcheck
