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
    if (change.family != 0) families_[change.family].members.push_back(&change);
  }
  for (const Change& change : changes) {
    if (causes_.tried == kChangesMax || budget_ == 0) break;
    if (!may_help(change)) continue;
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
  join_families();
  choose_by_number();
  if (joined_.empty() && leaves_errors()) {
    // Single changes have helped with each finding, but not under other schedules.
    helpful_.clear();
    join_families();
    choose_by_number();
  }
  causes_.budget_used_up = budget_ == 0;
  return std::move(causes_);
}

// Indices of findings; none if others appear.
std::vector<std::size_t> CauseSearch::vanished_with(const Change& change) {
  ++causes_.tried;
  return vanished_if_run(change).value_or(std::vector<std::size_t>{});
}

// Nothing: it could not be run, or others appear.
std::optional<std::vector<std::size_t>> CauseSearch::vanished_if_run(const Change& change) {
  const std::optional<Findings> with_change = findings_with(change);
  if (!with_change || brings_others(*with_change)) return std::nullopt;
  if (change.is_of_values && std::ranges::any_of(*with_change, is_of_results)) return {};
  const std::set<std::string> left = keys_of(*with_change);
  std::vector<std::size_t> vanished;
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    if (!left.contains(key_of(findings_[i]))) vanished.push_back(i);
  }
  return has_error(vanished) ? vanished : std::vector<std::size_t>{};
}

// Returns the members in one, that of an order at all their places.
Change CauseSearch::joined(const std::vector<const Change*>& members) {
  Change all = *members.front();
  for (const Change* const member : members) {
    bool is_new = false;
    for (const ptx::ProgramEdit& edit : member->edits) {
      if (std::ranges::find(all.edits, edit) != all.edits.end()) continue;
      all.edits.push_back(edit);
      is_new = true;
    }
    if (is_new) all.text += " and" + member->text.substr(member->order.size());
  }
  return all;
}

std::optional<std::vector<std::size_t>> CauseSearch::vanished_with_all(Family& family) {
  if (!family.is_tried_whole) family.helped = vanished_if_run(joined(family.members));
  family.is_tried_whole = true;
  return family.helped;
}

// The first members are tried at once, as they are the likely ones; the others only if all together
// help more than what has helped so far.
bool CauseSearch::may_help(const Change& change) {
  constexpr std::size_t kLikely = 2, kFew = 4;
  if (change.family == 0) return true;
  Family& family = families_.at(change.family);
  ++family.reached;
  if (family.reached <= kLikely || family.members.size() < kFew) return true;
  const auto helped = vanished_with_all(family);
  return !helped || !has_helped_with(*helped);
}

// Whether single changes have helped with all of the findings.
bool CauseSearch::has_helped_with(const std::vector<std::size_t>& findings) const {
  return std::ranges::all_of(findings, [&](std::size_t i) {
    return std::ranges::any_of(helpful_, [&](const Helpful& known) {
      return std::ranges::find(known.findings, i) != known.findings.end();
    });
  });
}

// Where no single change removes a finding, but all members of a family do: as few of these as are
// enough (delta debugging).
void CauseSearch::join_families() {
  for (auto& [number, family] : families_) {
    if (budget_ == 0) return;
    if (family.members.size() < 2) continue;
    std::vector<std::size_t> errors;
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      if (findings_[i].severity == vgpu::Severity::error) errors.push_back(i);
    }
    if (has_helped_with(errors)) return;
    const auto helped = vanished_with_all(family);
    if (!helped || has_helped_with(*helped)) continue;
    const auto members = fewest(family.members, *helped);
    if (members.empty()) return;
    helpful_.push_back({&joined_.emplace_back(joined(members)), *helped});
  }
}

// Members without which one of the findings would not vanish; none: the budget is used up.
std::vector<const Change*> CauseSearch::fewest(std::vector<const Change*> members,
                                               const std::vector<std::size_t>& wanted) {
  for (std::size_t part = (members.size() + 1) / 2; part > 0; part /= 2) {
    for (std::size_t end = members.size(); end > 0; end -= std::min(end, part)) {
      if (budget_ == 0) return {};
      const auto last = members.begin() + static_cast<std::ptrdiff_t>(end);
      const auto first = last - static_cast<std::ptrdiff_t>(std::min(end, part));
      std::vector<const Change*> fewer(members.begin(), first);
      fewer.insert(fewer.end(), last, members.end());
      if (fewer.empty()) continue;
      const auto vanished = vanished_if_run(joined(fewer));
      if (vanished && std::ranges::includes(*vanished, wanted)) members = std::move(fewer);
    }
  }
  return members;
}

bool CauseSearch::has_error(const std::vector<std::size_t>& findings) const {
  return std::ranges::any_of(
      findings, [&](std::size_t i) { return findings_[i].severity == vgpu::Severity::error; });
}

bool CauseSearch::is_explained(std::size_t finding) const {
  return std::ranges::any_of(causes_.found, [&](const HelpfulChange& change) {
    return std::ranges::find(change.findings, finding) != change.findings.end();
  });
}

bool CauseSearch::leaves_errors() const {
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    if (findings_[i].severity == vgpu::Severity::error && !is_explained(i)) return true;
  }
  return false;
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
  for (Helpful& helpful : left)
    std::erase_if(helpful.findings, [&](std::size_t i) { return is_explained(i); });
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
  const bool is_order = !helpful.change->order.empty();
  const auto is_later = [&](std::size_t i) {
    const vgpu::Finding& finding = findings_[i];
    const bool is_error = finding.severity == vgpu::Severity::error;
    // Where an order is missing, that threads race is why they read too early or too late.
    const bool is_race = is_error && finding.kind == vgpu::FindingKind::data_race;
    return std::tuple(is_order && !is_race, i != helpful.change->finding, !is_error,
                      is_of_results(finding));
  };
  std::ranges::stable_sort(change.findings, {}, is_later);
  causes_.found.push_back(std::move(change));
}

}  // namespace warpcheck
