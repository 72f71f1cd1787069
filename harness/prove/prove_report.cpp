#include "harness/prove/prove_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace warpcheck {
namespace {

constexpr std::array kBestFirst{Proof::all_data, Proof::every_schedule, Proof::every_execution,
                                Proof::tried, Proof::failed};
constexpr std::size_t kReasonsShown = 5;

// Reasons with how many points each holds back, the most first.
std::vector<std::pair<std::string, std::uint64_t>> reasons_of(const PairProof& proof) {
  std::map<std::string, std::uint64_t> counts;
  for (const ProvedPoint& point : proof.points) {
    if (!point.reason.empty()) ++counts[point.reason];
  }
  std::vector<std::pair<std::string, std::uint64_t>> reasons(counts.begin(), counts.end());
  std::ranges::stable_sort(reasons, std::ranges::greater{},
                           [](const auto& one) { return one.second; });
  return reasons;
}

std::string range(const std::vector<ProvedPoint>& points, std::uint32_t Point::*member) {
  const auto of = [&](const ProvedPoint& one) { return one.point.*member; };
  const auto [least, most] = std::ranges::minmax_element(points, {}, of);
  return of(*least) == of(*most) ? fmt::format("{}", of(*least))
                                 : fmt::format("{} to {}", of(*least), of(*most));
}

std::string sizes_text(const PairProof& proof) {
  if (proof.points.empty()) return "no size of its domain was found";
  std::string text =
      fmt::format("{} points: size {}", proof.points.size(), range(proof.points, &Point::size));
  if (proof.points.back().point.block != 0)
    text += fmt::format(", block {}", range(proof.points, &Point::block));
  return text;
}

std::string varies_of(const PairProof& proof) {
  const auto found = std::ranges::find_if(
      proof.points, [](const ProvedPoint& one) { return !one.varies.empty(); });
  return found == proof.points.end() ? "" : found->varies;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

// The worst of the grids of one size and block.
std::map<std::uint32_t, std::map<std::uint32_t, Proof>> rows_of(const PairProof& proof) {
  std::map<std::uint32_t, std::map<std::uint32_t, Proof>> rows;
  for (const ProvedPoint& one : proof.points) {
    auto& row = rows[one.point.block];
    const auto cell = row.try_emplace(one.point.size, one.proof).first;
    cell->second = std::min(cell->second, one.proof);
  }
  return rows;
}

constexpr int kLeft = 64, kCell = 14, kWidth = 960, kTop = 6;

// Sizes that lie side by side and are proved alike are one rectangle.
std::string map_of(const PairProof& proof) {
  const auto rows = rows_of(proof);
  if (rows.empty()) return "";
  const std::uint32_t sizes = proof.points.back().point.size + 1;
  const double unit = double{kWidth} / std::max(1u, sizes);
  const int height = kTop + kCell * static_cast<int>(rows.size());
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"size against block\">\n",
                  kLeft + kWidth + 20, height + 40);
  int y = kTop;
  for (const auto& [block, cells] : rows) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" class=\"axis\" text-anchor=\"end\">{}</text>\n",
                       kLeft - 6, y + kCell - 3, block == 0 ? "" : fmt::format("{}", block));
    for (auto from = cells.begin(); from != cells.end();) {
      auto to = std::next(from);
      while (to != cells.end() && to->first == std::prev(to)->first + 1 &&
             to->second == from->second)
        ++to;
      const std::uint32_t last = std::prev(to)->first;
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" class=\"{}\"><title>size {} "
          "to "
          "{}, block {}: {}</title></rect>\n",
          kLeft + from->first * unit, y, (last + 1 - from->first) * unit, kCell - 1,
          name_of(from->second), from->first, last, block, text_of(from->second));
      from = to;
    }
    y += kCell;
  }
  for (std::uint32_t tick = 0; tick <= 8; ++tick) {
    const std::uint32_t size = (sizes - 1) * tick / 8;
    svg +=
        fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"axis\" text-anchor=\"middle\">{}</text>\n",
                    kLeft + (size + 0.5) * unit, y + 14, size);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" class=\"axis\" text-anchor=\"middle\">size</text>\n",
                     kLeft + kWidth / 2, y + 30);
  return svg + "</svg>\n";
}

constexpr std::string_view kPage = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>warpcheck prove</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #1c2128; }
h2 { margin: 1.6em 0 .2em; font-size: 1.1em; }
p { margin: .3em 0; }
svg { width: 100%; height: auto; display: block; margin: .6em 0; }
.axis { font-size: 11px; fill: #57606a; }
.all-data { fill: #1a7f37; background: #1a7f37; }
.every-schedule { fill: #54aeff; background: #54aeff; }
.every-execution { fill: #8250df; background: #8250df; }
.tried { fill: #d4a72c; background: #d4a72c; }
.failed { fill: #cf222e; background: #cf222e; }
.legend span { display: inline-block; width: .9em; height: .9em; margin: 0 .4em 0 1.2em; vertical-align: -1px; }
code { background: #eff1f3; padding: 0 .3em; }
</style>
</head>
<body>
<h1>What is proved</h1>
<p>Of each size and launch: that there is no race, nothing out of bounds or unwritten, no barrier missed and no leak.
Blocks run from top to bottom, sizes from left to right.</p>
)";

}  // namespace

std::string prove_text(const PairProof& proof) {
  const bool is_proved = proof.worst() >= Proof::every_execution && !proof.points.empty();
  std::string text = fmt::format("{} {}   {}\n",
                                 !proof.errors.empty()             ? "CANNOT"
                                 : proof.count(Proof::failed) != 0 ? "FAIL"
                                 : is_proved                       ? "PROVED"
                                                                   : "TRIED",
                                 proof.pair->name(), sizes_text(proof));
  for (const Proof level : kBestFirst) {
    if (const std::uint64_t count = proof.count(level); count != 0)
      text += fmt::format("  {:>6}  {}\n", count, text_of(level));
  }
  if (const std::uint64_t count = proof.executions(); count != 0)
    text += fmt::format("  all {} executions agree\n", grouped(count));
  const auto reasons = reasons_of(proof);
  for (std::size_t i = 0; i < std::min(reasons.size(), kReasonsShown); ++i) {
    text += fmt::format("  no more of {}: {}\n", reasons[i].second, reasons[i].first);
  }
  if (reasons.size() > kReasonsShown)
    text += fmt::format("  and {} other reasons\n", reasons.size() - kReasonsShown);
  if (const std::string varies = varies_of(proof); !varies.empty())
    text += fmt::format("  the order of threads shows in results: {}\n", varies);
  for (const std::string& error : proof.errors) text += fmt::format("  {}\n", error);
  return text;
}

Json prove_json(const std::vector<PairProof>& proofs) {
  Json pairs = Json::array();
  for (const PairProof& proof : proofs) {
    Json points = Json::array();
    for (const ProvedPoint& one : proof.points) {
      Json point{{"size", one.point.size},
                 {"block", one.point.block},
                 {"grid", one.point.grid},
                 {"proof", name_of(one.proof)},
                 {"same_bytes", one.same_bytes}};
      if (!one.reason.empty()) point["reason"] = one.reason;
      if (!one.varies.empty()) point["varies"] = one.varies;
      if (one.executions != 0) point["executions"] = one.executions;
      points.push_back(std::move(point));
    }
    Json counts = Json::object();
    for (const Proof level : kBestFirst) counts[std::string(name_of(level))] = proof.count(level);
    pairs.push_back({{"pair", proof.pair->name()},
                     {"proof", name_of(proof.worst())},
                     {"counts", std::move(counts)},
                     {"errors", proof.errors},
                     {"interrupted", proof.interrupted},
                     {"points", std::move(points)}});
  }
  return Json{{"command", "prove"}, {"pairs", std::move(pairs)}};
}

std::string prove_html(const std::vector<PairProof>& proofs) {
  std::string page(kPage);
  page += "<p class=\"legend\">";
  for (const Proof level : kBestFirst)
    page += fmt::format("<span class=\"{}\"></span>{}", name_of(level), text_of(level));
  page += "</p>\n";
  for (const PairProof& proof : proofs) {
    page += fmt::format("<h2>{}</h2>\n<p>{}</p>\n", escaped(proof.pair->name()),
                        escaped(sizes_text(proof)));
    for (const auto& [reason, count] : reasons_of(proof))
      page += fmt::format("<p>No more of {}: <code>{}</code></p>\n", count, escaped(reason));
    page += map_of(proof);
  }
  return page + "</body>\n</html>\n";
}

}  // namespace warpcheck
