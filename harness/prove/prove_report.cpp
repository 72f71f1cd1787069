#include "harness/prove/prove_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "harness/input/json.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/html_text.hpp"

namespace warpcheck {
namespace {

constexpr std::array kBestFirst{Proof::all_data, Proof::every_schedule, Proof::every_execution,
                                Proof::tried, Proof::failed};
constexpr std::size_t kReasonsShown = 5;

// Reasons with the number of points for which each prevents more, the most frequent first.
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

std::string sizes_text(const PairProof& proof) {
  if (proof.points.empty()) return "no size of its domain was found";
  std::string text = fmt::format("{}: size {}", counted(proof.points.size(), "point"),
                                 range_of(proof.points, &Point::size));
  if (proof.points.back().point.block != 0)
    text += fmt::format(", block {}", range_of(proof.points, &Point::block));
  return text;
}

std::string varies_of(const PairProof& proof) {
  const auto found = std::ranges::find_if(
      proof.points, [](const ProvedPoint& one) { return !one.varies.empty(); });
  return found == proof.points.end() ? "" : found->varies;
}

// The weakest result of the grids of one size and block.
std::map<std::uint32_t, std::map<std::uint32_t, Proof>> rows_of(const PairProof& proof) {
  std::map<std::uint32_t, std::map<std::uint32_t, Proof>> rows;
  for (const ProvedPoint& one : proof.points) {
    auto& row = rows[one.point.block];
    const auto cell = row.try_emplace(one.point.size, one.proof).first;
    cell->second = std::min(cell->second, one.proof);
  }
  return rows;
}

// --- the map: a row for each block, sizes from left to right ------------------------------------

constexpr double kLeft = 64, kWidth = 960, kTop = 8, kRow = 14, kRowsHeight = 640, kLabel = 12;
// The least size of rectangles, for visibility.
constexpr double kCell = 1.8;

// Neighbouring sizes with the same result are one rectangle. level: of the drawn rectangles
std::string row_of(std::uint32_t block, const std::map<std::uint32_t, Proof>& cells, Proof level,
                   double unit, double y, double height) {
  std::string svg;
  for (auto from = cells.begin(); from != cells.end();) {
    auto to = std::next(from);
    while (to != cells.end() && to->first == std::prev(to)->first + 1 && to->second == from->second)
      ++to;
    if (from->second != level) {
      from = to;
      continue;
    }
    const std::uint32_t first = from->first, last = std::prev(to)->first;
    const std::string sizes =
        first == last ? fmt::format("size {}", first) : fmt::format("sizes {} to {}", first, last);
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" class=\"{}\">"
        "<title>{}{}: {}</title></rect>\n",
        kLeft + first * unit, y, std::max((last + 1 - first) * unit, kCell),
        std::max(height, kCell), name_of(level), sizes,
        block == 0 ? "" : fmt::format(", block {}", block), text_of(level));
    from = to;
  }
  return svg;
}

std::string label(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"axis\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
      text);
}

std::string map_of(const PairProof& proof) {
  const auto rows = rows_of(proof);
  if (rows.empty()) return "";
  const std::uint32_t sizes = proof.points.back().point.size + 1;
  const double unit = kWidth / sizes;
  const bool has_blocks = rows.rbegin()->first != 0;
  const double step = std::min(kRow, kRowsHeight / static_cast<double>(rows.size()));
  const double bottom = kTop + step * static_cast<double>(rows.size());
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"size against block\">\n"
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{:.2f}\" class=\"none\"/>\n",
      kLeft + kWidth + 24, bottom + 40, kLeft, kTop, kWidth, bottom - kTop);
  // Weaker results are drawn last, so that they are not hidden.
  for (const Proof level : kBestFirst) {
    double y = kTop;
    for (const auto& [block, cells] : rows) {
      svg += row_of(block, cells, level, unit, y, step > 4 ? step - 1 : step);
      y += step;
    }
  }
  double y = kTop, free = 0;  // free: lowest y at which no label above overlaps
  for (const auto& [block, cells] : rows) {
    const bool is_told =
        step >= kLabel || std::has_single_bit(block) || block == rows.rbegin()->first;
    if (has_blocks && is_told && y >= free) {
      svg += label(kLeft - 6, y + step / 2 + 4, "end", fmt::format("{}", block));
      free = y + kLabel;
    }
    y += step;
  }
  if (has_blocks) {
    svg += fmt::format(
        "<text transform=\"translate(14 {:.1f}) rotate(-90)\" class=\"axis\" "
        "text-anchor=\"middle\">threads of a block</text>\n",
        (kTop + bottom) / 2);
  }
  const std::uint32_t ticks = std::min(8u, sizes - 1);
  for (std::uint32_t tick = 0; tick <= ticks; ++tick) {
    const std::uint32_t size = ticks == 0 ? 0 : (sizes - 1) * tick / ticks;
    svg += label(kLeft + (size + 0.5) * unit, bottom + 14, "middle", fmt::format("{}", size));
  }
  return svg + label(kLeft + kWidth / 2, bottom + 32, "middle", "size") + "</svg>\n";
}

// At how many points the results are the reference's for all data; where they are not certified,
// the most frequent reason.
std::string equality_text(const PairProof& proof) {
  const auto count = [&](Equality equality) { return proof.count(equality); };
  std::string text;
  if (count(Equality::equal) != 0)
    text += fmt::format("  {:>6}  equal to the reference for all data (exact arithmetic)\n",
                        count(Equality::equal));
  std::map<std::string, std::uint64_t> reasons;
  for (const ProvedPoint& point : proof.points) {
    if (!point.unequal.empty()) ++reasons[point.unequal];
  }
  if (reasons.empty()) return text;
  const auto& most =
      *std::ranges::max_element(reasons, {}, [](const auto& one) { return one.second; });
  const std::uint64_t different = count(Equality::different);
  return text + fmt::format("  {:>6}  {}: {}\n", count(Equality::unknown) + different,
                            different != 0 ? "NOT EQUAL to the reference" : "not certified equal",
                            most.first);
}

// --- the page -----------------------------------------------------------------------------------

constexpr std::string_view kPage = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>warpcheck prove</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #1c2128; }
h1 { font-size: 1.5em; margin: 0 0 .4em; }
h2 { margin: 2.2em 0 .2em; font-size: 1.15em; padding-top: .8em; border-top: 1px solid #d0d7de; }
p { margin: .3em 0; }
table { border-collapse: collapse; margin: 1em 0; width: 100%; }
th, td { text-align: left; padding: .25em .8em .25em 0; border-bottom: 1px solid #eaeef2; font-variant-numeric: tabular-nums; }
td.bar { width: 40%; }
.bar div { display: flex; height: .8em; background: #eaeef2; }
svg { width: 100%; height: auto; display: block; margin: .8em 0; }
.axis { font-size: 11px; fill: #57606a; }
.all-data { fill: #1a7f37; background: #1a7f37; }
.every-schedule { fill: #54aeff; background: #54aeff; }
.every-execution { fill: #8250df; background: #8250df; }
.tried { fill: #d4a72c; background: #d4a72c; }
.failed { fill: #cf222e; background: #cf222e; }
.none { fill: #eff1f3; background: #eff1f3; }
.key { display: inline-block; white-space: nowrap; margin-right: 1.4em; }
.key span { display: inline-block; width: .9em; height: .9em; margin-right: .4em; vertical-align: -1px; }
ul { margin: .3em 0; padding-left: 1.2em; }
code { background: #eff1f3; padding: 0 .3em; overflow-wrap: anywhere; }
a { color: inherit; }
</style>
</head>
<body>
<h1>What is proved</h1>
<p>Of each size and launch: that there is no race, nothing out of bounds or unwritten, no barrier missed and no leak.
Where a pair has an exact reference, that results equal it in exact arithmetic; otherwise that they are right is
tried, not proved.</p>
)";

std::string key(std::string_view level, std::string_view text) {
  return fmt::format("<span class=\"key\"><span class=\"{}\"></span>{}</span>\n", level, text);
}

// The number of points by result, as a bar.
std::string bar_of(const PairProof& proof) {
  std::string bar = "<div>";
  for (const Proof level : kBestFirst) {
    if (const std::uint64_t count = proof.count(level); count != 0)
      bar += fmt::format("<span class=\"{}\" style=\"flex: {}\" title=\"{}: {}\"></span>",
                         name_of(level), count, count, text_of(level));
  }
  return bar + "</div>";
}

std::string overview_of(const std::vector<PairProof>& proofs) {
  std::string table = "<table>\n<tr><th>pair</th><th>points</th><th>all data</th><th></th></tr>\n";
  for (const PairProof& proof : proofs) {
    const std::string name = html_text(proof.pair->name());
    const std::uint64_t best = proof.count(Proof::all_data);
    table += fmt::format(
        "<tr><td><a href=\"#{}\">{}</a></td><td>{}</td><td>{}</td><td class=\"bar\">{}</td></tr>\n",
        name, name, proof.points.size(),
        best == proof.points.size() ? "all" : fmt::format("{}", best), bar_of(proof));
  }
  return table + "</table>\n";
}

std::string section_of(const PairProof& proof) {
  std::string page =
      fmt::format("<h2 id=\"{}\">{}</h2>\n<p>{}</p>\n<p>", html_text(proof.pair->name()),
                  html_text(proof.pair->name()), html_text(sizes_text(proof)));
  for (const Proof level : kBestFirst) {
    if (const std::uint64_t count = proof.count(level); count != 0)
      page += key(name_of(level), fmt::format("{} {}", count, text_of(level)));
  }
  page += "</p>\n";
  if (const std::string equality = equality_text(proof); !equality.empty())
    page += fmt::format("<p>{}</p>\n", html_text(equality));
  const auto reasons = reasons_of(proof);
  if (!reasons.empty()) page += "<p>Why not more:</p>\n<ul>\n";
  for (const auto& [reason, count] : reasons)
    page +=
        fmt::format("<li>{}: <code>{}</code></li>\n", counted(count, "point"), html_text(reason));
  if (!reasons.empty()) page += "</ul>\n";
  if (const std::string varies = varies_of(proof); !varies.empty())
    page += fmt::format("<p>The order of threads shows in results: <code>{}</code></p>\n",
                        html_text(varies));
  for (const std::string& error : proof.errors)
    page += fmt::format("<p>Cannot run: {}</p>\n", html_text(error));
  if (proof.interrupted) page += "<p>Interrupted: there are more points.</p>\n";
  return page + map_of(proof);
}

}  // namespace

std::string range_of(const std::vector<ProvedPoint>& points, std::uint32_t Point::*member) {
  const auto of = [&](const ProvedPoint& one) { return one.point.*member; };
  const auto [least, most] = std::ranges::minmax_element(points, {}, of);
  return of(*least) == of(*most) ? fmt::format("{}", of(*least))
                                 : fmt::format("{} to {}", of(*least), of(*most));
}

std::string prove_text(const PairProof& proof) {
  const bool is_proved =
      proof.worst() >= Proof::every_execution && !proof.points.empty() && !proof.interrupted;
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
  text += equality_text(proof);
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
  if (proof.interrupted) text += "  interrupted: there are more points\n";
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
      if (one.equality != Equality::none) point["equality"] = name_of(one.equality);
      if (!one.unequal.empty()) point["unequal"] = one.unequal;
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
  page += "<p>";
  for (const Proof level : kBestFirst) page += key(name_of(level), text_of(level));
  page += key("none", "outside of the domain, or left out") + "</p>\n" + overview_of(proofs);
  for (const PairProof& proof : proofs) page += section_of(proof);
  return page + "</body>\n</html>\n";
}

}  // namespace warpcheck
