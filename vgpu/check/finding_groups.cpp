#include "vgpu/check/finding_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace warpcheck::vgpu {
namespace {

// A range of lines in one file.
struct Span {
  std::uint32_t first = 0, last = 0;
};

// Returns the range of lines that the sides of a finding enclose; nothing if a line is not known or
// the sides are in several files.
std::optional<Span> span_of(const Finding& finding) {
  std::optional<Span> span;
  for (const AccessSide& side : finding.accesses) {
    if (side.file.empty() || side.file != finding.accesses.front().file) return std::nullopt;
    if (!span) span = Span{side.line, side.line};
    span = Span{std::min(span->first, side.line), std::max(span->last, side.line)};
  }
  return span;
}

bool is_barrier(Lack lack) {
  return lack == Lack::warp_barrier || lack == Lack::block_barrier || lack == Lack::cluster_barrier;
}

std::string place_text(const AccessSide& side) {
  if (!side.file.empty()) return fmt::format("{} {}:{}", side.role, side.file, side.line);
  if (side.ptx.empty()) return fmt::format("{} by the host", side.role);
  return fmt::format("{} ({})", side.role, side.ptx);
}

// Returns what findings with one cause have in common, apart from the position of a barrier; empty:
// the finding cannot be grouped.
std::string key_of(const Finding& finding) {
  const std::string head = fmt::format("{}|{}|", name_of(finding.kind), name_of(finding.severity));
  if (!finding.cause.empty()) return head + finding.cause;
  const std::string where = head + fmt::format("{}|{}|", finding.kernel, finding.space);
  switch (finding.kind) {
    case FindingKind::data_race: {
      if (finding.lack == Lack::unknown || finding.variable.empty()) return {};
      std::string key = where + fmt::format("{}|{}|{}", finding.variable, name_of(finding.relation),
                                            name_of(finding.lack));
      if (is_barrier(finding.lack)) key += "|" + finding.accesses.front().file;
      if (finding.lack == Lack::atomic_update) key += "|" + class_of(finding);
      return key;
    }
    case FindingKind::uninitialized_read:
      if (finding.lack == Lack::participation) {
        return where + place_text(finding.accesses.front());
      }
      return finding.variable.empty() ? std::string() : where + finding.variable;
    default: return {};
  }
}

std::string_view threads_of(Relation relation) {
  switch (relation) {
    case Relation::lanes: return "lanes of a warp";
    case Relation::warps: return "warps of a block";
    case Relation::blocks: return "blocks";
    case Relation::launches: return "launches";
    case Relation::host: return "a launch and the host";
    case Relation::none: break;
  }
  return "";
}

}  // namespace

std::vector<std::size_t> group_by_cause(std::span<const Finding> findings) {
  struct Group {
    std::size_t first = 0;
    Span common;  // the lines common to all its members
  };
  std::map<std::string, std::vector<Group>> groups;
  std::vector<std::size_t> first_of(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    first_of[i] = i;
    const std::string key = key_of(findings[i]);
    if (key.empty()) continue;
    const bool by_span = findings[i].cause.empty() && is_barrier(findings[i].lack);
    const std::optional<Span> span = span_of(findings[i]);
    if (by_span && !span) continue;
    std::vector<Group>& candidates = groups[key];
    const auto fits = std::ranges::find_if(candidates, [&](const Group& group) {
      return !by_span || (group.common.first <= span->last && span->first <= group.common.last);
    });
    if (fits == candidates.end()) {
      candidates.push_back({i, span.value_or(Span{})});
      continue;
    }
    first_of[i] = fits->first;
    if (!by_span) continue;
    fits->common = {std::max(fits->common.first, span->first),
                    std::min(fits->common.last, span->last)};
  }
  return first_of;
}

std::vector<std::vector<std::size_t>> groups_of_one_cause(std::span<const Finding> findings) {
  const std::vector<std::size_t> first_of = group_by_cause(findings);
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::size_t> group_of(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    group_of[i] = first_of[i] == i ? groups.size() : group_of[first_of[i]];
    if (first_of[i] == i) groups.emplace_back();
    groups[group_of[i]].push_back(i);
  }
  return groups;
}

std::string places_text(const Finding& finding) {
  std::string text;
  for (const AccessSide& side : finding.accesses) {
    text += (text.empty() ? "" : " and ") + place_text(side);
  }
  return text;
}

std::string callers_text(const AccessSide& side) {
  const auto joined = [](const std::vector<SourceLine>& lines) {
    std::string text;
    for (const SourceLine& at : lines) {
      text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", at.file, at.line);
    }
    return text;
  };
  std::string text = joined(side.callers);
  if (!text.empty()) text.insert(0, "called at ");
  if (side.other_callers.empty()) return text;
  return text + (text.empty() ? "also called at " : "; also at ") + joined(side.other_callers);
}

std::string headline_of(const Finding& finding) {
  std::string text(name_of(finding.kind));
  if (!finding.space.empty()) text += fmt::format(" on {} memory", finding.space);
  if (!finding.object.empty()) text += ' ' + finding.object;
  return text;
}

std::string also_text(const Finding& finding) {
  std::string text;
  for (const Relation relation : finding.also_between) {
    const std::string_view separator = text.empty()                              ? "also "
                                       : relation == finding.also_between.back() ? " and "
                                                                                 : ", ";
    text += fmt::format("{}between {}", separator, threads_of(relation));
  }
  return text;
}

}  // namespace warpcheck::vgpu
