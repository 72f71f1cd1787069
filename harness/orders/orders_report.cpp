#include "harness/orders/orders_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/input/json.hpp"
#include "harness/pair/project.hpp"
#include "harness/report/source_excerpt.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/html_text.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

constexpr std::string_view kOrdersSchema = "warpcheck-orders/1";

std::size_t count_of(const OrdersOfPair& judged, Need need) {
  return static_cast<std::size_t>(std::ranges::count(judged.orders, need, &JudgedOrder::need));
}

std::string builds_text(const Order& order) {
  if (order.instructions[0] != 0 && order.instructions[1] != 0) return {};
  return order.instructions[0] != 0 ? "optimized build alone" : "unoptimized build alone";
}

// The findings of the failing case, and how small it is.
std::string failure_text(const JudgedOrder& one) {
  const Report& report = *one.tried.failure;
  std::string text = fmt::format("{} with {}, after {}", show_kinds(failure_kinds(report.verdict)),
                                 size_text(report.a_case), counted(one.tried.trials, "trial"));
  if (one.lockstep_trials != 0)
    text += fmt::format("; {} with lanes in lockstep without a finding",
                        counted(one.lockstep_trials, "trial"));
  return text;
}

std::string reason_text(const JudgedOrder& one) {
  switch (one.need) {
    case Need::needed: return failure_text(one);
    case Need::redundant:
      return fmt::format(
          "without it the same results for all data and schedules; {}{}", one.proof,
          one.is_safe_at_all_sizes ? "; no race and nothing out of bounds at any size" : "");
    case Need::unknown: break;
  }
  std::string text = fmt::format("{} without a finding", counted(one.tried.trials, "trial"));
  if (!one.why_not.empty()) text += "; no proof: " + one.why_not;
  return text;
}

Json judged_json(const JudgedOrder& one) {
  Json json = order_json(one.order);
  json["verdict"] = name_of(one.need);
  json["trials"] = one.tried.trials;
  if (one.need == Need::needed) {
    const Report& report = *one.tried.failure;
    Json kinds = Json::array();
    for (const vgpu::FindingKind kind : failure_kinds(report.verdict))
      kinds.push_back(vgpu::name_of(kind));
    const CaseSize size = size_of(report.a_case, report.verdict.schedule);
    json["kinds"] = std::move(kinds);
    json["finding"] = report.verdict.findings.front().message;
    json["elements"] = size.elements;
    json["threads"] = size.threads;
    json["build"] = name_of(report.a_case.settings.build);
    json["lockstep_trials_without_finding"] = one.lockstep_trials;
    json["case"] = report.replay_path;
  }
  if (one.need == Need::redundant) {
    json["proof"] = one.proof;
    json["safe_at_all_sizes"] = one.is_safe_at_all_sizes;
  }
  if (!one.why_not.empty()) json["no_proof"] = one.why_not;
  return json;
}

constexpr std::string_view kOrdersPage = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>warpcheck orders</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em; color: #1c2128; }
h2 { margin-top: 2em; border-top: 1px solid #d0d7de; padding-top: .8em; }
table { border-collapse: collapse; width: 100%; }
td { padding: 0 .8em 0 0; vertical-align: top; }
td.n { color: #57606a; text-align: right; }
td.s { font-family: ui-monospace, monospace; font-size: 13px; white-space: pre; }
.needed { color: #1a7f37; } .redundant { color: #cf222e; } .not-known { color: #9a6700; }
</style>
</head>
<body>
)";

void add_source_rows(const OrdersSection& section, SourceFiles& files, std::string& page) {
  std::map<SourceLine, std::vector<const ShownOrder*>> by_line;
  std::vector<ExcerptPlace> places;
  for (const ShownOrder& one : section.orders) {
    if (one.order->place.empty()) continue;
    // A function that only wraps the order is less telling than its caller.
    const SourceLine& at = one.order->place.back();
    by_line[at].push_back(&one);
    places.push_back({at.file, at.line});
  }
  for (const Excerpt& excerpt : excerpts(places, files)) {
    page += fmt::format("<h3>{}</h3>\n<table>\n", html_text(excerpt.file));
    for (const Excerpt::Line& line : excerpt.lines) {
      std::string notes;
      const auto found = by_line.find({excerpt.file, line.number});
      if (found != by_line.end()) {
        for (const ShownOrder* const one : found->second) {
          notes += fmt::format("<div><b class=\"{}\">{}</b> {} ({}): {}</div>", name_of(one->need),
                               name_of(one->need), html_text(change_text(*one->order)),
                               share_text(*one->order), html_text(one->reason));
        }
      }
      page += fmt::format("<tr><td class=\"n\">{}</td><td class=\"s\">{}</td><td>{}</td></tr>\n",
                          line.number == 0 ? std::string("...") : std::to_string(line.number),
                          html_text(line.text), notes);
    }
    page += "</table>\n";
  }
}

}  // namespace

std::string change_text(const Order& order) {
  return order.change == "removed" ? order.instruction + " removed"
                                   : fmt::format("{} made {}", order.instruction, order.change);
}

Json order_json(const Order& order) {
  Json places = Json::array();
  for (const SourceLine& line : order.place)
    places.push_back({{"file", line.file}, {"line", line.line}});
  return {{"kind", name_of(order.kind)},
          {"places", std::move(places)},
          {"instruction", order.instruction},
          {"change", order.change},
          {"instructions",
           {{"optimized", order.instructions[0]}, {"unoptimized", order.instructions[1]}}},
          {"executed", order.executed},
          {"steps", order.steps}};
}

std::string share_text(const Order& order) {
  if (order.steps == 0) return "-";
  return fmt::format(
      "{:.1f} %", 100.0 * static_cast<double>(order.executed) / static_cast<double>(order.steps));
}

std::string size_text(const Case& a_case) {
  const CaseSize size = size_of(a_case, {});
  const std::string elements = counted(size.elements, "element");
  if (size.threads == 0) return elements;  // the host chooses the launch
  return fmt::format("{}, {}", elements, counted(size.threads, "thread"));
}

std::string orders_text(const OrdersOfPair& judged) {
  std::string text =
      fmt::format("{}: {}: {} needed, {} redundant, {} not known\n", judged.pair->name(),
                  counted(judged.orders.size(), "order"), count_of(judged, Need::needed),
                  count_of(judged, Need::redundant), count_of(judged, Need::unknown));
  for (const JudgedOrder& one : judged.orders) {
    const Order& order = one.order;
    text += fmt::format("  {:<9}  {}  {}\n", name_of(one.need), text_of(order.place),
                        change_text(order));
    const std::string builds = builds_text(order);
    text += fmt::format("             executed {}, {} of the steps{}\n",
                        counted(order.executed, "time"), share_text(order),
                        builds.empty() ? "" : "; " + builds);
    text += fmt::format("             {}\n", reason_text(one));
    if (one.need == Need::needed && !one.tried.failure->replay_path.empty())
      text += fmt::format("             {} replay {}\n", project().program,
                          shell_word(one.tried.failure->replay_path));
  }
  return text;
}

Json orders_json(const std::vector<OrdersOfPair>& pairs) {
  Json list = Json::array();
  for (const OrdersOfPair& judged : pairs) {
    Json orders = Json::array();
    for (const JudgedOrder& one : judged.orders) orders.push_back(judged_json(one));
    list.push_back({{"pair", judged.pair->name()}, {"orders", std::move(orders)}});
  }
  return Json{{"schema", kOrdersSchema}, {"command", "orders"}, {"pairs", std::move(list)}};
}

OrdersSection section_of(const OrdersOfPair& judged) {
  OrdersSection section{.title = judged.pair->name(), .orders = {}};
  for (const JudgedOrder& one : judged.orders)
    section.orders.push_back({&one.order, one.need, reason_text(one)});
  return section;
}

std::string orders_html(const std::vector<OrdersSection>& sections) {
  std::string page(kOrdersPage);
  SourceFiles files;
  for (const OrdersSection& section : sections) {
    const auto count = [&](Need need) {
      return std::ranges::count(section.orders, need, &ShownOrder::need);
    };
    page += fmt::format("<h2>{}</h2>\n<p>{}: {} needed, {} redundant, {} not known</p>\n",
                        html_text(section.title), counted(section.orders.size(), "order"),
                        count(Need::needed), count(Need::redundant), count(Need::unknown));
    add_source_rows(section, files, page);
  }
  return page + "</body>\n</html>\n";
}

}  // namespace warpcheck
