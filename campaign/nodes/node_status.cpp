#include "campaign/nodes/node_status.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>

#include "campaign/nodes/json_file.hpp"
#include "campaign/view.hpp"
#include "harness/report/run_report.hpp"

namespace warpcheck::campaign {
namespace fs = std::filesystem;
namespace {

// The time of the file system that a directory is on.
fs::file_time_type time_there(const fs::path& directory) {
  const fs::path probe = directory / fmt::format(".time.{}.tmp", ::getpid());
  std::ofstream(probe) << "now\n";
  std::error_code error;
  const auto time = fs::last_write_time(probe, error);
  std::error_code none;
  fs::remove(probe, none);
  // Where nothing can be written this machine's clock has to do.
  return error ? fs::file_time_type::clock::now() : time;
}

SeenNode look_at(const fs::path& directory, unsigned number, fs::file_time_type now) {
  SeenNode node{.directory = directory, .node = number};
  const fs::path path = directory / "status.json";
  std::ifstream file(path, std::ios::binary);
  if (!file) return node;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    node.status = parse_node_status(text, path.string());
    node.silent_seconds = std::chrono::duration<double>(now - fs::last_write_time(path)).count();
  } catch (const std::exception& error) {
    node.status.reset();
    node.problem = error.what();
  }
  return node;
}

std::string state_of(const SeenNode& node) {
  if (!node.problem.empty()) return "damaged";
  if (!node.status) return "not begun";
  if (node.status->ended) return "ended";
  return node.alive() ? "running" : "silent";
}

std::string state_text(const SeenNode& node) {
  const std::string state = state_of(node);
  return state == "silent" ? "silent for " + clock_text(node.silent_seconds) : state;
}

struct Sums {
  std::int64_t trials = 0, features = 0, entries = 0;
  explicit Sums(const NodeStatus& status) {
    for (const PairProgress& pair : status.pairs) {
      trials += pair.executions;
      features += pair.features;
      entries += pair.entries;
    }
  }
};

using NodeRow = std::array<std::string, 9>;

std::string columns_text(const std::vector<NodeRow>& rows) {
  std::array<std::size_t, std::tuple_size_v<NodeRow>> widths{};
  for (const NodeRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const NodeRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool number = i > 1 && i < 8;
      line += number ? fmt::format("  {:>{}}", row[i], widths[i])
                     : fmt::format("  {:{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string node_status_text(const NodeStatus& status) { return json_file_text(status, "node"); }

NodeStatus parse_node_status(std::string_view text, const std::string& name) {
  return parse_json_file<NodeStatus>(text, "node", name);
}

fs::path nodes_directory(const fs::path& campaign) { return campaign / "nodes"; }
fs::path node_directory(const fs::path& campaign, unsigned node) {
  return nodes_directory(campaign) / std::to_string(node);
}

std::vector<SeenNode> look_at_nodes(const fs::path& campaign) {
  std::vector<SeenNode> nodes;
  const std::vector<fs::path> directories = files_in(nodes_directory(campaign));
  if (directories.empty()) return nodes;
  const auto now = time_there(nodes_directory(campaign));
  for (const fs::path& directory : directories) {
    const std::string name = directory.filename().string();
    unsigned number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) continue;
    nodes.push_back(look_at(directory, number, now));
  }
  std::ranges::sort(nodes, {}, &SeenNode::node);
  return nodes;
}

std::string nodes_text(const fs::path& campaign, const std::vector<SeenNode>& nodes) {
  std::vector<NodeRow> rows{{"node", "state", "trials", "trials/s", "features", "entries",
                             "findings", "confirmed", "host"}};
  std::int64_t trials = 0;
  double rate = 0;
  std::size_t running = 0;
  for (const SeenNode& node : nodes) {
    NodeRow row{std::to_string(node.node), state_text(node)};
    if (node.status) {
      const NodeStatus& status = *node.status;
      const Sums sums(status);
      trials += sums.trials;
      running += node.alive() ? 1 : 0;
      rate += node.alive() ? status.trials_per_second : 0;
      row = {row[0],
             row[1],
             with_commas(sums.trials),
             node.alive() ? with_commas(static_cast<std::int64_t>(status.trials_per_second)) : "",
             with_commas(sums.features),
             with_commas(sums.entries),
             std::to_string(status.findings),
             std::to_string(status.confirmed),
             fmt::format("{}, process {}", status.host, status.process)};
    }
    rows.push_back(std::move(row));
  }
  std::string text = fmt::format("campaign {}\n", campaign.string()) + columns_text(rows);
  for (const SeenNode& node : nodes) {
    if (!node.problem.empty()) text += fmt::format("damaged: {}\n", node.problem);
  }
  return text + fmt::format("{} of {} nodes are running; {} trials, {}/s\n", running, nodes.size(),
                            with_commas(trials), with_commas(static_cast<std::int64_t>(rate)));
}

std::string nodes_json(const std::vector<SeenNode>& nodes) {
  Json list = Json::array();
  for (const SeenNode& node : nodes) {
    Json row{{"node", node.node}, {"directory", node.directory.string()}};
    row["state"] = state_of(node);
    if (!node.problem.empty()) row["problem"] = node.problem;
    if (node.status) {
      const Sums sums(*node.status);
      row["host"] = node.status->host;
      row["process"] = node.status->process;
      row["silent_seconds"] = node.silent_seconds;
      row["seconds"] = node.status->seconds;
      row["trials"] = sums.trials;
      row["trials_per_second"] = node.alive() ? node.status->trials_per_second : 0;
      row["features"] = sums.features;
      row["entries"] = sums.entries;
      row["findings"] = node.status->findings;
      row["confirmed"] = node.status->confirmed;
    }
    list.push_back(std::move(row));
  }
  return Json{{"version", kReportVersion}, {"nodes", list}}.dump(2) + "\n";
}

}  // namespace warpcheck::campaign
