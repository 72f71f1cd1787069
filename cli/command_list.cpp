// warpcheck list: every pair, and what is expected of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "cli/cli.hpp"
#include "harness/case/verdict.hpp"
#include "harness/report/run_report.hpp"

namespace warpcheck {
namespace {

std::string expectation(const AnyPair& pair) {
  return pair.clean() ? "clean" : show_kinds(pair.expects());
}

std::string pairs_json() {
  Json list = Json::array();
  for (const AnyPair* pair : pairs_named({})) {
    Json expects = Json::array(), properties = Json::array();
    for (const vgpu::FindingKind kind : pair->expects()) expects.push_back(vgpu::name_of(kind));
    for (const PropertyEntry& property : pair->properties()) properties.push_back(property.name);
    list.push_back({{"name", pair->name()},
                    {"family", pair->family()},
                    {"origin", pair->origin()},
                    {"expects", expects},
                    {"properties", properties}});
  }
  return Json{{"schema", kListSchema}, {"version", kReportVersion}, {"pairs", list}}.dump(2) + "\n";
}

std::string pairs_text() {
  std::vector<std::array<std::string, 4>> rows{{"pair", "family", "expects", "origin"}};
  for (const AnyPair* pair : pairs_named({})) {
    rows.push_back({pair->name(), std::string(pair->family()), expectation(*pair),
                    std::string(pair->origin())});
  }
  std::array<std::size_t, 3> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& [pair, family, expects, origin] : rows) {
    text += fmt::format("{:{}}  {:{}}  {:{}}  {}\n", pair, widths[0], family, widths[1], expects,
                        widths[2], origin);
  }
  return text;
}

void add_list_to(CLI::App& command, Run& run) {
  const auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "Print JSON");
  command.footer(
      "Examples:\n"
      "  warpcheck list\n"
      "  warpcheck list --json | jq -r '.pairs[] | select(.expects == []) | .name'\n"
      "\n"
      "Exit status: 0 listed, 2 bad usage.");
  command.callback([&run, json] {
    run = [json] {
      print(*json ? pairs_json() : pairs_text());
      return kNothingFound;
    };
  });
}

const RegisteredCommand kListCommand{{.rank = 10,
                                      .name = "list",
                                      .help = "List every pair and what is expected of it",
                                      .add = add_list_to}};

}  // namespace
}  // namespace warpcheck
