// What the nodes of one campaign show each other, by files on the folder that they share.
//
//   DIR/nodes/N/                 a campaign's directory of its own (directory.hpp), of node N alone
//   DIR/nodes/N/findings/*.json  its findings (finding_file.hpp)
//   DIR/nodes/N/status.json      how far it is (node_status.hpp)
//   DIR/nodes/N/corpus/PAIR/*    its corpora, which others copy from
//   DIR/                         the same of the one who merges: it is read like a node, too
//
// Every file is written whole and renamed, and only by the one it belongs to.  Nothing is locked
// between nodes and no database is shared, so a network file system is good enough, and a node that
// disappears leaves all that it has shown.
#pragma once

#include <cstdint>
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
  // campaign: its directory.  own: of this process.  node: its number; 0: the one who merges.
  Exchange(std::filesystem::path campaign, const Directory& own, unsigned node);

  // Throw CaseFileError: to be tried again.
  void publish(const StoredFinding& finding) const;
  void publish(const NodeStatus& status) const;

  // Looks who is there.  Throws CaseFileError.
  void look();
  [[nodiscard]] const std::vector<SeenNode>& nodes() const { return nodes_; }
  // Numbers of the nodes that are at work, ascending, with this one.  Those of the first `expected`
  // that have not begun are among them.
  [[nodiscard]] std::vector<unsigned> at_work(unsigned expected) const;
  // What the others have done with the pair of `sum`; of features the most that one has reached.
  void add_progress(PairProgress& sum) const;

  // The findings of others that are new or have changed.  `messages`: a line for each file that
  // cannot be read.
  std::vector<StoredFinding> news(std::vector<std::string>& messages);
  // Copies entries of others that this process has not seen into its own corpus; returns how many.
  std::size_t take_corpus(const std::string& pair, std::vector<std::string>& messages);

 private:
  // Directories of the others.
  [[nodiscard]] std::vector<std::filesystem::path> others() const;

  std::filesystem::path campaign_;
  const Directory& own_;
  unsigned node_;
  std::vector<SeenNode> nodes_{};
  std::map<std::filesystem::path, std::filesystem::file_time_type> read_{};  // findings
  std::map<std::string, std::set<std::string>> seen_{};  // names of entries, by pair
};

}  // namespace warpcheck::campaign
