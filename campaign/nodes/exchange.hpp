// Files on a shared folder by which the nodes of one campaign exchange findings and corpora.
//
//   DIR/nodes/N/                 a campaign's directory of its own (directory.hpp), of node N alone
//   DIR/nodes/N/findings/*.json  its findings (finding_file.hpp)
//   DIR/nodes/N/status.json      its progress (node_status.hpp)
//   DIR/nodes/N/corpus/PAIR/*    its corpora, from which others copy
//   DIR/                         the same files of the merging campaign; it is read like a node
//
// Every file is written whole and renamed, and only by its owner.  There are no locks between nodes
// and no shared database, so a network file system is good enough, and a node that disappears
// leaves all that it has written.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "campaign/nodes/node_status.hpp"
#include "campaign/store/directory.hpp"
#include "campaign/store/store.hpp"

namespace warpcheck::campaign {

class Exchange {
 public:
  // campaign: its directory.  own: of this process.  node: its number; 0: the merging campaign.
  Exchange(std::filesystem::path campaign, const Directory& own, unsigned node);

  // Throw CaseFileError; then call again later.
  void publish(const StoredFinding& finding) const;
  void publish(const NodeStatus& status) const;

  // Reads the status of all nodes.  Throws CaseFileError.
  void look();
  [[nodiscard]] const std::vector<SeenNode>& nodes() const { return nodes_; }
  // Numbers of the active nodes, ascending, with this one.  Those of the first `expected` that have
  // not begun are included.
  [[nodiscard]] std::vector<unsigned> at_work(unsigned expected) const;
  // Adds the progress of other nodes with the pair of `sum`; for features, the maximum.
  void add_progress(PairProgress& sum) const;

  // New or changed findings of other nodes.  `messages`: a line for each file that cannot be read.
  std::vector<StoredFinding> news(std::vector<std::string>& messages);
  // Copies entries of other nodes that are new to this process into its own corpus; returns their
  // number.
  std::size_t take_corpus(const std::string& pair, std::vector<std::string>& messages);

 private:
  // Directories of the other nodes.
  [[nodiscard]] std::vector<std::filesystem::path> others() const;

  std::filesystem::path campaign_;
  const Directory& own_;
  unsigned node_;
  std::vector<SeenNode> nodes_{};
  std::map<std::filesystem::path, std::filesystem::file_time_type> read_{};  // findings
  std::map<std::string, std::set<std::string>> seen_{};  // names of entries, by pair
};

}  // namespace warpcheck::campaign
