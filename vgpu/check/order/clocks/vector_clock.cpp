#include "vgpu/check/order/clocks/vector_clock.hpp"

#include <algorithm>

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kAtOnceMax = 4'096;  // nodes that are computed at once
constexpr std::uint32_t kVisitsPerDepth = 6;
constexpr std::size_t kMoreDepthMax = 1'500;  // so that at most kAtOnceMax nodes are computed

// These only decide when a clock is computed, never what it knows.
thread_local std::int64_t pending_nodes = 0, pending_max = 1 << 22;
thread_local std::uint64_t searches = 0;

}  // namespace

struct VectorClock::Parts {
  std::vector<const Node*> computed, news;
};

std::int64_t VectorClock::set_pending_max(std::int64_t nodes) {
  return std::exchange(pending_max, nodes);
}

// Chains of nodes may be long, so no recursion.
void VectorClock::drop(Node* node) {
  std::vector<Node*> rest;
  const auto lose = [&](Node* child) {
    if (child != nullptr && --child->owners == 0) rest.push_back(child);
  };
  while (true) {
    if (!node->is_computed) --pending_nodes;
    lose(node->first);
    lose(node->second);
    if (node->is_news) {
      delete static_cast<News*>(node);
    } else {
      delete node;
    }
    if (rest.empty()) return;
    node = rest.back();
    rest.pop_back();
  }
}

VectorClock::Node* VectorClock::computed(ClockTrie trie) {
  auto* const node = new Node;
  node->is_computed = true;
  node->trie = std::move(trie);
  return node;
}

// Makes a new node know what both know.  Takes over the caller's references.
void VectorClock::add_pending(Node& node, Node* first, Node* second) {
  ++pending_nodes;
  node.first = first;
  node.second = second;
  for (const Node* const part : {first, second}) {
    if (part == nullptr) continue;
    node.depth = std::max(node.depth, part->depth + 1);
    node.compute_at = std::max(node.compute_at, part->compute_at);
  }
}

// Returns whether `other` is one of the latest nodes of which a node consists.
bool VectorClock::refers_to(const Node* node, const Node* other) {
  constexpr std::size_t kLooks = 4;
  std::array<const Node*, kLooks + 2> rest;
  std::size_t count = 0;
  rest[count++] = node;
  for (std::size_t looks = 0; count != 0 && looks < kLooks; ++looks) {
    const Node* const next = rest[--count];
    if (next == other) return true;
    if (next->first != nullptr) rest[count++] = next->first;
    if (next->second != nullptr) rest[count++] = next->second;
  }
  return false;
}

// Returns whether a node knows what `other` knows; false: that is not obvious.
bool VectorClock::includes(const Node* node, const Node* other) {
  if (refers_to(node, other)) return true;
  return !other->is_computed && !other->is_news && refers_to(node, other->first) &&
         refers_to(node, other->second);
}

VectorClock::Knowledge VectorClock::of_block(BlockKey block) const {
  if (node_ == nullptr) return {};
  compute(node_);
  return node_->trie.of_block(block);
}

// Collects the parts of a clock.  False: it consists of more nodes.
bool VectorClock::collect(Node* root, std::size_t nodes_max, Parts& parts) {
  const std::uint64_t search = ++searches;
  std::vector<Node*> rest{root};
  for (std::size_t visited = 0; !rest.empty();) {
    Node* const node = rest.back();
    rest.pop_back();
    if (node == nullptr || node->visited_by == search) continue;
    node->visited_by = search;
    if (++visited > nodes_max) return false;
    if (node->is_computed) {
      parts.computed.push_back(node);
      continue;
    }
    if (node->is_news) parts.news.push_back(node);
    rest.push_back(node->second);
    rest.push_back(node->first);  // visited first, so the first computed node is the oldest
  }
  return true;
}

void VectorClock::compute(Node* root) {
  if (root->is_computed) return;
  Parts parts;
  if (collect(root, kAtOnceMax, parts)) {
    compute_at_once(root, parts);
  } else {
    compute_step_by_step(root);
  }
}

// The nodes between stay as they are.
void VectorClock::compute_at_once(Node* root, const Parts& parts) {
  ClockTrie trie;
  for (const Node* const node : parts.computed) trie.join(node->trie);
  for (const Node* const node : parts.news) add_news(trie, *node);
  // What is large is copied less often: as many nodes are added before as are copied.
  std::vector<BlockKey> blocks;
  for (const Node* const node : parts.news) blocks.push_back(static_cast<const News*>(node)->block);
  std::ranges::sort(blocks);
  const auto repeated = std::ranges::unique(blocks);
  blocks.erase(repeated.begin(), repeated.end());
  std::size_t size = 0;
  for (const BlockKey block : blocks) size += trie.of_block(block).threads.size();
  complete(root, std::move(trie));
  root->compute_at += static_cast<std::uint32_t>(std::min(size, kMoreDepthMax));
}

// Computes every node between as well, so that they need not be visited again.
void VectorClock::compute_step_by_step(Node* root) {
  std::vector<Node*> rest{root};
  const auto waits_for = [&](Node* part) {
    const bool waits = part != nullptr && !part->is_computed;
    if (waits) rest.push_back(part);
    return waits;
  };
  while (!rest.empty()) {
    Node* const node = rest.back();
    if (!node->is_computed && (waits_for(node->first) || waits_for(node->second))) continue;
    rest.pop_back();
    if (node->is_computed) continue;
    ClockTrie trie;
    if (node->first != nullptr) trie = node->first->trie;
    if (node->second != nullptr) trie.join(node->second->trie);
    if (node->is_news) add_news(trie, *node);
    complete(node, std::move(trie));
  }
}

void VectorClock::add_news(ClockTrie& trie, const Node& node) {
  const auto& news = static_cast<const News&>(node);
  trie.learn(news.block, news.phases, news.knowledge().threads);
}

void VectorClock::complete(Node* node, ClockTrie trie) {
  --pending_nodes;
  node->is_computed = true;
  node->trie = std::move(trie);
  node->depth = 0;
  node->compute_at = Node{}.compute_at;
  release(std::exchange(node->first, nullptr));
  release(std::exchange(node->second, nullptr));
}

// A clock that knows few threads, but is joined often, consists of few nodes.
void VectorClock::limit_depth() {
  if (node_->depth < node_->compute_at) return;
  Parts parts;
  if (collect(node_, std::size_t{kVisitsPerDepth} * node_->depth, parts)) {
    compute_at_once(node_, parts);
  } else {
    node_->compute_at = 2 * node_->depth;
  }
}

void VectorClock::join(const VectorClock& other) {
  if (other.node_ == nullptr || is_same(other)) return;
  if (node_ == nullptr || includes(other.node_, node_)) {
    *this = other;
    return;
  }
  if (includes(node_, other.node_)) return;
  if (other.node_->is_news && !other.node_->is_computed && other.node_->first == nullptr) {
    const auto& news = static_cast<const News&>(*other.node_);
    return learn(news.block, news.phases, news.knowledge().threads);
  }
  if (pending_nodes > pending_max) {
    compute_step_by_step(node_);
    compute_step_by_step(other.node_);
  }
  if (node_->is_computed && other.node_->is_computed) return join_computed(other);
  auto* const sum = new Node;
  add_pending(*sum, node_, retained(other.node_));
  node_ = sum;
  limit_depth();
}

void VectorClock::join_computed(const VectorClock& other) {
  ClockTrie joined = node_->trie;
  joined.join(other.node_->trie);
  if (joined.is_same(node_->trie)) return;
  if (joined.is_same(other.node_->trie)) {
    *this = other;
  } else if (node_->owners == 1) {
    node_->trie = std::move(joined);
  } else {
    release(std::exchange(node_, computed(std::move(joined))));
  }
}

// A thread that releases again and again, and is the only one to know, advances in place.
bool VectorClock::replace_news(BlockKey block, Tick phases, std::span<const ThreadTime> threads) {
  if (node_->owners != 1 || !node_->is_news || threads.empty()) return false;
  auto& news = static_cast<News&>(*node_);
  const ThreadTime& time = threads.front();
  const bool is_later = news.block == block && news.phases <= phases &&
                        news.time.thread == time.thread && news.time.count == time.count &&
                        news.time.ticks <= time.ticks && news.time.phase <= time.phase;
  if (!is_later) return false;
  news.phases = phases;
  news.time = time;
  return true;
}

void VectorClock::learn(BlockKey block, Tick phases, std::span<const ThreadTime> threads) {
  const bool is_one = threads.size() <= 1 && (threads.empty() || threads[0].phase >= phases);
  if (node_ == nullptr && !is_one) node_ = computed({});
  if (node_ != nullptr && !node_->is_computed && (!is_one || pending_nodes > pending_max)) {
    compute(node_);
  }
  if (node_ != nullptr && node_->is_computed) {
    if (node_->owners == 1) return node_->trie.learn(block, phases, threads);
    if (node_->trie.knows(block, phases, threads)) return;
    if (!is_one) {
      ClockTrie trie = node_->trie;
      trie.learn(block, phases, threads);
      return release(std::exchange(node_, computed(std::move(trie))));
    }
  } else if (node_ != nullptr && replace_news(block, phases, threads)) {
    return;
  }
  auto* const news = new News;
  news->is_news = true;
  news->block = block;
  news->phases = phases;
  if (!threads.empty()) news->time = threads.front();
  add_pending(*news, node_, nullptr);
  node_ = news;
  limit_depth();
}

}  // namespace warpcheck::vgpu
