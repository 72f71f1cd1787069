#include "campaign/nodes/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "campaign/nodes/finding_file.hpp"
#include "campaign/store/corpus.hpp"
#include "harness/case/atomic_file.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck::campaign {
namespace fs = std::filesystem;

Exchange::Exchange(fs::path campaign, const Directory& own, unsigned node)
    : campaign_(std::move(campaign)), own_(own), node_(node) {}

void Exchange::publish(const StoredFinding& finding) const {
  write_file_atomically(own_.root() / "findings" / finding_file_name(finding.key),
                        finding_file_text(finding));
}

void Exchange::publish(const NodeStatus& status) const {
  write_file_atomically(own_.root() / "status.json", node_status_text(status));
}

void Exchange::look() { nodes_ = look_at_nodes(campaign_); }

std::vector<fs::path> Exchange::others() const {
  std::vector<fs::path> directories;
  if (node_ != 0) directories.push_back(campaign_);
  for (const SeenNode& node : nodes_) {
    if (node.node != node_) directories.push_back(node.directory);
  }
  return directories;
}

std::vector<unsigned> Exchange::at_work(unsigned expected) const {
  std::set<unsigned> numbers;
  for (unsigned number = 1; number <= expected; ++number) numbers.insert(number);
  for (const SeenNode& node : nodes_) {
    if (node.alive()) numbers.insert(node.node);
    if (node.status && !node.alive()) numbers.erase(node.node);
  }
  if (node_ != 0) numbers.insert(node_);
  return {numbers.begin(), numbers.end()};
}

void Exchange::add_progress(PairProgress& sum) const {
  for (const SeenNode& node : nodes_) {
    if (node.node == node_ || !node.status) continue;
    for (const PairProgress& theirs : node.status->pairs) {
      if (theirs.pair != sum.pair) continue;
      sum.slots += theirs.slots;
      sum.executions += theirs.executions;
      sum.for_every_schedule += theirs.for_every_schedule;
      sum.seconds += theirs.seconds;
      sum.features = std::max(sum.features, theirs.features);
      sum.gain += theirs.gain;
      sum.span += theirs.span;
      if (sum.refusal.empty()) sum.refusal = theirs.refusal;
    }
  }
}

std::vector<StoredFinding> Exchange::news(std::vector<std::string>& messages) {
  std::vector<StoredFinding> findings;
  for (const fs::path& directory : others()) {
    for (const fs::path& path : files_in(directory / "findings")) {
      if (path.extension() != ".json") continue;
      std::error_code gone;
      const auto time = fs::last_write_time(path, gone);
      const auto known = read_.find(path);
      if (gone || (known != read_.end() && known->second == time)) continue;
      read_[path] = time;
      try {
        findings.push_back(parse_finding_file(text_of_file(path), path.string()));
      } catch (const CaseFileError& error) {
        messages.push_back(fmt::format("damaged: {}; left out", error.what()));
      }
    }
  }
  return findings;
}

std::size_t Exchange::take_corpus(const std::string& pair, std::vector<std::string>& messages) {
  const fs::path own = own_.corpus(pair);
  std::set<std::string>& seen = seen_[pair];
  for (const fs::path& path : files_in(own)) seen.insert(path.filename().string());
  std::size_t taken = 0;
  for (const fs::path& directory : others()) {
    for (const fs::path& path : files_in(directory / "corpus" / pair)) {
      const std::string name = path.filename().string();
      if (name.ends_with(".tmp") || !seen.insert(name).second) continue;
      try {
        const auto bytes = read_corpus_bytes(path);
        if (bytes.size() > kCorpusBytesMax || is_damaged_entry(name, bytes)) {
          messages.push_back(fmt::format("damaged: corpus entry {}; left out", path.string()));
          continue;
        }
        if (taken == 0) make_directory(own);
        save_corpus_entry(own, bytes);
        ++taken;
      } catch (const CaseFileError& error) {
        // Its node may have dropped it just now.
        if (fs::exists(path)) throw;
      }
    }
  }
  return taken;
}

}  // namespace warpcheck::campaign
