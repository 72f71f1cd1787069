#include "vgpu/check/order/clocks/clock_trie.hpp"

#include <algorithm>

namespace warpcheck::vgpu {

namespace {

constexpr unsigned kHeightMax = 16;  // spans all keys

// Adds what is known of the next threads to what is known of those before them, if it is the same.
bool extend(ThreadTime& last, const ThreadTime& next) {
  if (last.end() != next.thread || last.ticks != next.ticks || last.phase != next.phase) {
    return false;
  }
  last.count += next.count;
  return true;
}

// Adds what is known of the next threads.
void append(std::vector<ThreadTime>& times, const ThreadTime& next) {
  if (times.empty() || !extend(times.back(), next)) times.push_back(next);
}

// What is known of threads in ascending order, read thread by thread.
class Times {
 public:
  explicit Times(std::span<const ThreadTime> rest) : rest_(rest) { begin(); }
  [[nodiscard]] bool is_empty() const { return rest_.empty(); }
  // Returns what is known of the next threads.
  [[nodiscard]] const ThreadTime& next() const { return next_; }
  void skip(std::uint32_t threads) {
    next_.thread += threads;
    next_.count -= threads;
    if (next_.count != 0) return;
    rest_ = rest_.subspan(1);
    begin();
  }
  ThreadTime take(std::uint32_t threads) {
    ThreadTime taken = next_;
    taken.count = threads;
    skip(threads);
    return taken;
  }

 private:
  void begin() {
    if (!rest_.empty()) next_ = rest_.front();
  }
  std::span<const ThreadTime> rest_;
  ThreadTime next_;
};

}  // namespace

void arrange(std::vector<ThreadTime>& times) {
  std::ranges::sort(times, {}, &ThreadTime::thread);
  std::size_t kept = 0;
  for (const ThreadTime& next : times) {
    if (kept == 0 || !extend(times[kept - 1], next)) times[kept++] = next;
  }
  times.resize(kept);
}

struct ClockTrie::Fork : Node {
  std::array<Node*, kFan> child{};
};

struct ClockTrie::Leaf : Node {
  Tick phases = 0;
  std::vector<ThreadTime> threads;
  [[nodiscard]] Knowledge knowledge() const { return {phases, threads}; }
};

Tick ClockTrie::Knowledge::ticks_of(std::uint32_t thread) const {
  const auto found = std::ranges::upper_bound(threads, thread, {}, &ThreadTime::end);
  return found != threads.end() && found->thread <= thread ? found->ticks : 0;
}

// Returns null if nothing is known of the block.
const ClockTrie::Leaf* ClockTrie::leaf_of(BlockKey block) const {
  if (height_ < kHeightMax && block >> (kBits * height_) != 0) return nullptr;
  const Node* node = root_;
  for (unsigned height = height_; node != nullptr && height > 0; --height) {
    node = static_cast<const Fork*>(node)->child[block >> (kBits * (height - 1)) & (kFan - 1)];
  }
  return static_cast<const Leaf*>(node);
}

ClockTrie::Knowledge ClockTrie::of_block(BlockKey block) const {
  const Leaf* const leaf = leaf_of(block);
  return leaf == nullptr ? Knowledge{} : leaf->knowledge();
}

void ClockTrie::drop(Node* node, unsigned height) {
  if (height == 0) {
    delete static_cast<Leaf*>(node);
    return;
  }
  auto* const fork = static_cast<Fork*>(node);
  for (Node* child : fork->child) {
    if (child != nullptr && --child->owners == 0) drop(child, height - 1);
  }
  delete fork;
}

// Wraps the same nodes under a higher root.  Takes over the caller's reference to `node`.
ClockTrie::Node* ClockTrie::lift(Node* node, unsigned from, unsigned to) {
  for (; node != nullptr && from < to; ++from) {
    auto* const fork = new Fork;
    fork->owners = 1;
    fork->child[0] = node;
    node = fork;
  }
  return node;
}

// Returns whether a leaf says all of `b`.
bool ClockTrie::knows_all_of(const Leaf& a, const Knowledge& b) {
  if (a.phases < b.phases) return false;
  if (b.threads.empty()) return true;
  auto at = std::ranges::upper_bound(a.threads, b.threads[0].thread, {}, &ThreadTime::end);
  return std::ranges::all_of(b.threads, [&](const ThreadTime& time) {
    if (time.phase < a.phases) return true;
    for (std::uint32_t thread = time.thread; thread < time.end(); thread = at->end()) {
      while (at != a.threads.end() && at->end() <= thread) ++at;
      if (at == a.threads.end() || at->thread > thread || at->ticks < time.ticks) return false;
    }
    return true;
  });
}

ClockTrie::Leaf* ClockTrie::join_leaves(const Leaf& a, const Knowledge& b) {
  auto* const joined = new Leaf;
  joined->phases = std::max(a.phases, b.phases);
  joined->threads.reserve(a.threads.size() + b.threads.size());
  const auto add = [&](const ThreadTime& time) {
    if (time.phase >= joined->phases) append(joined->threads, time);
  };
  Times left(a.threads), right(b.threads);
  while (!left.is_empty() && !right.is_empty()) {
    const ThreadTime &one = left.next(), &other = right.next();
    if (one.thread == other.thread) {
      const std::uint32_t both = std::min(one.count, other.count);
      const bool is_left = one.ticks >= other.ticks;
      add((is_left ? left : right).take(both));
      (is_left ? right : left).skip(both);
    } else {
      const bool is_left = one.thread < other.thread;
      const std::uint32_t before = is_left ? other.thread - one.thread : one.thread - other.thread;
      add((is_left ? left : right).take(std::min(before, (is_left ? one : other).count)));
    }
  }
  for (; !left.is_empty();) add(left.take(left.next().count));
  for (; !right.is_empty();) add(right.take(right.next().count));
  return joined;
}

// Returns whether two different nodes say the same and share all that is below them.
bool ClockTrie::are_alike(const Node* a, const Node* b, unsigned height) {
  if (a == b || a == nullptr || b == nullptr) return false;
  if (height == 0) {
    const auto &left = *static_cast<const Leaf*>(a), &right = *static_cast<const Leaf*>(b);
    return left.phases == right.phases && left.threads == right.threads;
  }
  return static_cast<const Fork*>(a)->child == static_cast<const Fork*>(b)->child;
}

// Returns a reference to the join: to `a` or `b` itself if one knows everything that the other
// knows.
ClockTrie::Node* ClockTrie::join_nodes(Node* a, Node* b, unsigned height) {
  const auto share = [](Node* node) {
    ++node->owners;
    return node;
  };
  if (a == b || b == nullptr) return share(a);
  if (a == nullptr) return share(b);
  if (height == 0) {
    const Leaf& left = *static_cast<Leaf*>(a);
    const Leaf& right = *static_cast<Leaf*>(b);
    if (knows_all_of(left, right.knowledge())) return share(a);
    if (knows_all_of(right, left.knowledge())) return share(b);
    Leaf* const joined = join_leaves(left, right.knowledge());
    joined->owners = 1;
    return joined;
  }
  Fork fork;
  bool is_a = true, is_b = true;
  for (unsigned i = 0; i < kFan; ++i) {
    Node* const left = static_cast<Fork*>(a)->child[i];
    Node*& right = static_cast<Fork*>(b)->child[i];
    if (left == nullptr && right == nullptr) continue;
    fork.child[i] = join_nodes(left, right, height - 1);
    if (are_alike(left, right, height - 1)) {
      // From now on both share one node, so that the next join does not visit it.
      ++left->owners;
      if (--right->owners == 0) drop(right, height - 1);
      right = left;
    }
    is_a &= fork.child[i] == left;
    is_b &= fork.child[i] == right;
  }
  if (is_a || is_b) {
    for (Node* child : fork.child) {
      if (child != nullptr) --child->owners;  // never the last owner: a or b owns it too
    }
    return share(is_a ? a : b);
  }
  fork.owners = 1;
  return new Fork(fork);
}

void ClockTrie::join(const ClockTrie& other) {
  if (other.root_ == nullptr || other.root_ == root_) return;
  if (root_ == nullptr) {
    *this = other;
    return;
  }
  const unsigned height = std::max(height_, other.height_);
  root_ = lift(root_, height_, height);
  height_ = height;
  retain(other.root_);
  ClockTrie lifted(lift(other.root_, other.height_, height), height);
  *this = ClockTrie(join_nodes(root_, lifted.root_, height), height);
}

// Adds what is known of one run of threads, without a copy of the others.  False: nothing was done.
bool ClockTrie::add_in_place(Leaf& leaf, const Knowledge& news) {
  if (news.threads.size() != 1 || news.phases > leaf.phases) return false;
  const ThreadTime& time = news.threads.front();
  const auto is_alike = [&](const ThreadTime& neighbour) {
    return neighbour.ticks == time.ticks && neighbour.phase == time.phase;
  };
  auto& threads = leaf.threads;
  const auto at = std::ranges::upper_bound(threads, time.thread, {}, &ThreadTime::end);
  const bool has_next = at != threads.end();
  const bool replaces = has_next && at->thread == time.thread && at->count == time.count;
  if (has_next && !replaces && at->thread < time.end()) return false;
  const auto next = replaces ? at + 1 : at;
  if (time.phase < leaf.phases) return false;
  if (at != threads.begin() && is_alike(*(at - 1))) return false;
  if (next != threads.end() && is_alike(*next)) return false;
  if (!replaces) {
    threads.insert(at, time);
  } else {
    *at = time;  // later: otherwise it would not be news
  }
  return true;
}

// Adds what `news` says of a block to the clock below a node, and returns the node that says both.
// Takes over the caller's reference to `node`.  What no other clock shares is changed in place.
ClockTrie::Node* ClockTrie::learn_in(Node* node, unsigned height, BlockKey block,
                                     const Knowledge& news) {
  const bool is_shared = node != nullptr && node->owners > 1;
  if (height == 0) {
    auto* const leaf = static_cast<Leaf*>(node);
    if (leaf != nullptr && !is_shared && add_in_place(*leaf, news)) return leaf;
    Leaf* const own = leaf == nullptr ? new Leaf : join_leaves(*leaf, news);
    own->owners = 1;
    if (leaf == nullptr) {
      own->phases = news.phases;
      own->threads.assign(news.threads.begin(), news.threads.end());
    } else if (--leaf->owners == 0) {
      delete leaf;
    }
    return own;
  }
  auto* fork = static_cast<Fork*>(node);
  if (fork == nullptr) {
    fork = new Fork;
    fork->owners = 1;
  } else if (is_shared) {
    --fork->owners;
    fork = new Fork(*fork);
    fork->owners = 1;
    for (Node* child : fork->child) {
      if (child != nullptr) ++child->owners;
    }
  }
  Node*& child = fork->child[block >> (kBits * (height - 1)) & (kFan - 1)];
  child = learn_in(child, height - 1, block, news);
  return fork;
}

// Returns what is told of a block in as few elements as possible.
//   kept: keeps them, if they are not those of `threads`
ClockTrie::Knowledge ClockTrie::news_of(Tick phases, std::span<const ThreadTime> threads,
                                        std::vector<ThreadTime>& kept) {
  const bool is_short = threads.empty() || (threads.size() == 1 && threads[0].phase >= phases);
  if (is_short) return {phases, threads};
  for (const ThreadTime& time : threads) {
    if (time.phase >= phases) append(kept, time);
  }
  return {phases, kept};
}

bool ClockTrie::knows(BlockKey block, Tick phases, std::span<const ThreadTime> threads) const {
  const Leaf* const leaf = leaf_of(block);
  std::vector<ThreadTime> kept;
  return leaf != nullptr && knows_all_of(*leaf, news_of(phases, threads, kept));
}

void ClockTrie::learn(BlockKey block, Tick phases, std::span<const ThreadTime> threads) {
  std::vector<ThreadTime> kept;
  const Knowledge news = news_of(phases, threads, kept);
  const Leaf* const leaf = leaf_of(block);
  if (leaf != nullptr && knows_all_of(*leaf, news)) return;
  unsigned height = height_;
  while (height < kHeightMax && block >> (kBits * height) != 0) ++height;
  root_ = learn_in(lift(root_, height_, height), height, block, news);
  height_ = height;
}

}  // namespace warpcheck::vgpu
