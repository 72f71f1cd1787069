#include "harness/search/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "harness/input/json.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {

namespace {

constexpr std::string_view kPolicy = "schedule: ";
constexpr std::size_t kColumns = 100;

// "in.size: prime" -> {"in.size", "prime"}; a name of the pair's own may have no field.
std::pair<std::string_view, std::string_view> split_name(std::string_view name) {
  const std::size_t colon = name.find(": ");
  if (colon == std::string_view::npos) return {"", name};
  return {name.substr(0, colon), name.substr(colon + 2)};
}

// "  in.size   zero 3.1 %, one 4.0 %,\n            odd 51.0 %\n"
std::string wrapped(std::string_view title, std::size_t width,
                    const std::vector<std::string>& items) {
  std::string text = fmt::format("  {:{}}  ", title, width);
  const std::size_t indent = text.size();
  std::size_t column = indent;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (i > 0 && column + 1 + item.size() > kColumns) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (i > 0) {
      text += ' ';
      ++column;
    }
    text += item;
    column += item.size();
  }
  return text + "\n";
}

}  // namespace

CaseStatistics::CaseStatistics(const AnyPair& pair) : pair_(&pair) {
  for (const std::string& name : pair.class_names()) count(name, false);
}

void CaseStatistics::add(const Case& a_case) {
  ++cases_;
  pair_->for_each_class(a_case.input,
                        [&](const std::string& name, bool holds) { count(name, holds); });
  if (const auto* policy = std::get_if<StrategyChoice>(&a_case.schedule)) {
    count(std::string(kPolicy) + policy->name, true);
  }
}

void CaseStatistics::count(const std::string& name, bool holds) {
  const auto [place, is_new] = places_.try_emplace(name, classes_.size());
  if (is_new) classes_.push_back({name, 0});
  if (holds) ++classes_[place->second].cases;
}

std::vector<std::string> CaseStatistics::missing() const {
  std::vector<std::string> names;
  for (const std::string& name : pair_->required_classes()) {
    const auto place = places_.find(name);
    if (place == places_.end() || classes_[place->second].cases == 0) names.push_back(name);
  }
  return names;
}

std::string statistics_text(const CaseStatistics& statistics) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;
  std::vector<std::string> never;
  std::size_t width = 0;
  for (const CaseStatistics::Class& each : statistics.classes()) {
    if (each.cases == 0) {
      never.push_back(each.name);
      continue;
    }
    const auto [field, name] = split_name(each.name);
    if (lines.empty() || lines.back().first != field) {
      lines.emplace_back(std::string(field), std::vector<std::string>{});
    }
    const double share =
        100.0 * static_cast<double>(each.cases) / static_cast<double>(statistics.cases());
    lines.back().second.push_back(fmt::format("{} {:.1f} %", name, share));
    width = std::max(width, field.size());
  }
  std::string text = fmt::format("STATISTICS {}   {}\n", statistics.pair().name(),
                                 counted(statistics.cases(), "case"));
  for (const auto& [field, items] : lines) text += wrapped(field, width, items);
  if (!never.empty()) text += wrapped("never drawn:", 0, never);
  const std::vector<std::string> missing = statistics.missing();
  if (!missing.empty()) text += wrapped("REQUIRED AND NEVER DRAWN:", 0, missing);
  return text;
}

Json statistics_json(const CaseStatistics& statistics) {
  Json classes = Json::object();
  for (const CaseStatistics::Class& each : statistics.classes()) classes[each.name] = each.cases;
  return {{"pair", statistics.pair().name()},
          {"cases", statistics.cases()},
          {"classes", classes},
          {"required", statistics.pair().required_classes()},
          {"required_never_drawn", statistics.missing()}};
}

}  // namespace warpcheck
