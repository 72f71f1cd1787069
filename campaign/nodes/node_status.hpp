// The progress of a node: a file `status.json` in its directory, written every second.
//
// The file's age shows whether the node is alive.  Clocks of two machines differ, so ages are
// measured by the clock of the file system: relative to a file that has just been written there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "campaign/store/store.hpp"

namespace warpcheck::campaign {

struct NodeStatus {
  unsigned node = 0;   // from 1
  unsigned nodes = 0;  // the number at the campaign's start
  std::string host{};
  std::int64_t process = 0;
  bool ended = false;  // its search is over; false: it runs, or was killed
  double seconds = 0;  // over all its starts
  double trials_per_second = 0;
  std::int64_t findings = 0, confirmed = 0;
  std::vector<PairProgress> pairs{};
  std::vector<Incident> incidents{};
};
FIELDS(NodeStatus, node, nodes, host, process, ended, seconds, trials_per_second, findings,
       confirmed, pairs, incidents);

std::string node_status_text(const NodeStatus& status);
// `name`: for messages.  Throws CaseFileError that says what is missing or wrong, and where.
NodeStatus parse_node_status(std::string_view text, const std::string& name);

// A directory of nodes/, as seen by another process.
struct SeenNode {
  std::filesystem::path directory{};
  unsigned node = 0;
  std::optional<NodeStatus> status{};  // absent: it never began, or its file cannot be read
  double silent_seconds = 0;           // age of its status file
  std::string problem{};               // why its file cannot be read

  // Network file systems cache a file's attributes for up to a minute.
  static constexpr double kSilentSecondsMax = 120;
  [[nodiscard]] bool alive() const {
    return status && !status->ended && silent_seconds < kSilentSecondsMax;
  }
};

std::filesystem::path nodes_directory(const std::filesystem::path& campaign);
std::filesystem::path node_directory(const std::filesystem::path& campaign, unsigned node);

// For a campaign's directory, in order of number.  Throws CaseFileError if it cannot be read.
std::vector<SeenNode> look_at_nodes(const std::filesystem::path& campaign);

// The output of `campaign DIR --status`: a line for each node, and their sum.
std::string nodes_text(const std::filesystem::path& campaign, const std::vector<SeenNode>& nodes);
// {"version": ..., "nodes": [{"node": 1, "state": "running", ...}]}
std::string nodes_json(const std::vector<SeenNode>& nodes);

}  // namespace warpcheck::campaign
