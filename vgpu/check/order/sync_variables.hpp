// Memory locations through which threads synchronise: release and acquire patterns (PTX ISA 8.8),
// observation order (8.9.2), and what follows from them (8.9.4).
//
// A release pattern on M is a release operation on M, such a one followed by a strong write on M,
// or a fence followed by a strong write on M, all of one thread.  An acquire pattern is the
// mirror image.  They synchronise when a read of the one observes a write of the other, and the
// first operation of the release and the last one of the acquire are morally strong.  A write is
// observed by its readers, and through any number of atomic operations each of which read what
// the one before wrote, all of them morally strong with their neighbours: a *chain*.
//
// fence.sc does here what fence.acq_rel does, and one thing more.  The ISA's Fence-SC order (8.9.3)
// also synchronises, but it is chosen at run time: that one fence ran before another in this
// execution says nothing about the next, and to believe it would silence races that other
// executions have.  Except where it had to: if a strong write comes after one fence by program
// order and barriers, and the other fence after a read that observes it in the same way, then the
// other order would make the read come before the write that it observes, which the axioms of
// causality (8.10.6) exclude.  So a block may fence before the barrier after which one thread takes
// a ticket, and after the barrier by which that thread tells the others.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

// A strong operation of one lane on one scalar.
struct StrongOperation {
  const Access* access = nullptr;
  unsigned lane = 0;
  std::uint32_t offset = 0;
  std::uint8_t bytes = 0;
  bool reads = false, writes = false;  // both: an atomic
  bool may_acquire = false;            // `red` reads for itself alone
  // Weak memory: which write it finds, as Access::sources says.
  std::uint8_t source = 0;
  BlockKey block = 0;                           // of its thread
  bool is_present = true;                       // the thread's block is still there
  const ThreadOrder::Fences* fences = nullptr;  // what the thread has released; null: nothing
};

// Where in which chain a strong operation stands: the write that it is, or the one that it read.
struct ChainPlace {
  std::uint64_t chain = 0;  // 0: none
  std::uint64_t position = 0;
};

// Why a strong read did not synchronise with the write that it read.
enum class Missed : std::uint8_t {
  nothing,
  scope,          // the accesses' own scopes do not include each other
  release,        // the writer has released nothing
  release_scope,  // it has, but not at a scope that includes the reader
};
struct Miss {
  Missed missed = Missed::nothing;
  BlockKey writer_block = 0;
  std::uint32_t writer_thread = 0;
};

class SyncVariables {
 public:
  explicit SyncVariables(ThreadOrder& order) : order_(order) {}

  void reset() { *this = SyncVariables(order_); }
  SyncVariables& operator=(SyncVariables&& other) noexcept;
  SyncVariables(SyncVariables&&) = default;

  // Performs the operation: acquires, observes and releases what it does.  In order of execution,
  // which need not be the order in which writes are found (StrongOperation::source).
  //   miss: what kept a read from synchronising; untouched if nothing did
  ChainPlace perform(const StrongOperation& operation, Miss& miss);
  // Bytes are written by something that is no strong write, or of another size.
  void overwrite(std::uint32_t allocation, std::uint32_t offset, std::uint32_t bytes);
  // Whether no strong operation was ever performed in it.
  [[nodiscard]] bool is_empty(std::uint32_t allocation) const {
    return allocation >= allocations_.size() || allocations_[allocation].empty();
  }
  // The allocation's memory is new.
  void forget(std::uint32_t allocation);
  // Every variable's memory is quiet: a launch begins that is ordered after all before it.
  void forget_all();
  // What these variables were at another time: nothing, but what is counted goes on.
  [[nodiscard]] SyncVariables of_other_time() const {
    SyncVariables other(order_);
    other.count_on_from(*this);
    return other;
  }
  void count_on_from(const SyncVariables& other) {
    chains_ = other.chains_;
    variables_ = other.variables_;
  }

 private:
  struct Writer {
    BlockKey block = 0;
    std::uint32_t thread = 0;
    Reach reach = Reach::grid;
    bool is_set = false;
  };
  // Most strong operations have none.
  struct Patterns {
    // What the chain's release patterns release to who is in one block, or in one cluster
    // (group_of).
    std::unordered_map<std::uint64_t, VectorClock> released_in;
    std::size_t forget_at = 8;
    bool has_released = false;  // the chain, anything
    bool is_for_some = false;   // not all of that is for everybody
    // Nobody asks any more what was released in a block that has ended.
    void forget_ended(const ThreadOrder& order);
    // By thread of the trial: its release operations on this variable, by Reach.
    std::unordered_map<std::uint64_t, std::array<ThreadOrder::Moment, 3>> releases;
  };
  // What a strong write left behind; kept where accesses may find it later.
  struct Written {
    Writer last;
    ChainPlace place;
    VectorClock released;
    std::unordered_map<std::uint64_t, VectorClock> released_in;
    bool has_released = false, is_for_some = false;
    VectorClock sc_released;
  };
  static constexpr std::size_t kPastMax = 64;
  // The strong writes so far, with weak memory: a ring of the latest.
  class PastWrites {
   public:
    void push(Written written) {
      if (writes_.size() < kPastMax) return writes_.push_back(std::move(written));
      writes_[oldest_] = std::move(written);
      oldest_ = (oldest_ + 1) % kPastMax;
    }
    // Source 1 is the newest; null: forgotten.
    [[nodiscard]] const Written* find(std::size_t source) const {
      if (source > writes_.size()) return nullptr;
      return &writes_[(oldest_ + writes_.size() - source) % writes_.size()];
    }

   private:
    std::vector<Written> writes_;
    std::size_t oldest_ = 0;
  };
  struct Variable {
    std::uint32_t offset = 0;
    std::uint8_t bytes = 0;
    std::uint64_t number = 0;  // no other has it
    Writer last;
    ChainPlace place;
    // What the chain's release patterns release to everybody.
    VectorClock released;
    // What fence.sc have released before its writes.
    VectorClock sc_released;
    std::unique_ptr<Patterns> patterns;  // null: none yet
    PastWrites past;

    [[nodiscard]] Written written() const;
    void find(Written written);
    void find_source(std::uint8_t source);

    Patterns& made_patterns() {
      if (patterns == nullptr) patterns = std::make_unique<Patterns>();
      return *patterns;
    }
    [[nodiscard]] bool overlaps(std::uint32_t begin, std::uint32_t size) const {
      return offset < begin + size && begin < offset + bytes;
    }
    // Threads that read it from now on observe nothing.
    void silence() {
      last = {};
      released = {};
      sc_released = {};
      if (patterns == nullptr) return;
      patterns->released_in.clear();
      patterns->has_released = patterns->is_for_some = false;
    }
  };
  // The variables that begin in some 16 bytes.
  using Granule = std::vector<Variable>;
  static constexpr std::uint32_t kGranuleBytes = 16;
  // Those of one allocation, by number.
  class Granules {
   public:
    [[nodiscard]] bool empty() const { return pages_.empty(); }
    void clear() { pages_.clear(); }
    // Null: nothing was ever made there.
    [[nodiscard]] Granule* find(std::uint32_t number) {
      const std::uint32_t page = number / kPage;
      if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
      return &(*pages_[page])[number % kPage];
    }
    Granule& make(std::uint32_t number);
    // Calls visit(granule) for those from `first` to `last` that there are.
    template <typename Visit>
    void for_each(std::uint32_t first, std::uint32_t last, Visit visit) {
      for (std::uint64_t at = first; at <= last && at / kPage < pages_.size();) {
        if (Granule* granule = find(static_cast<std::uint32_t>(at))) {
          visit(*granule);
          ++at;
        } else {
          at = (at / kPage + 1) * kPage;
        }
      }
    }

   private:
    static constexpr std::uint32_t kPage = 64;
    std::vector<std::unique_ptr<std::array<Granule, kPage>>> pages_;
  };

  static constexpr std::uint64_t kClusters = std::uint64_t{1} << 63;
  // The block, or the cluster, of a block.
  [[nodiscard]] std::uint64_t group_of(BlockKey block, Reach reach) const {
    if (reach == Reach::block) return block;
    return kClusters | order_.group_of(block);
  }
  [[nodiscard]] bool reach_each_other(const Writer& writer, BlockKey block, Reach reach) const;
  Granule* granule_of(const StrongOperation& operation);
  static Variable* find(Granule& granule, const StrongOperation& operation);
  ChainPlace perform_on(Variable& variable, const StrongOperation& operation, Miss& miss);
  void read(Variable& variable, const StrongOperation& operation, bool linked, Miss& miss);
  void write(Variable& variable, const StrongOperation& operation, bool linked);
  void release(Variable& variable, Reach reach, const ThreadOrder::Moment& moment,
               const StrongOperation& operation);
  void release_fences(Variable& variable, const StrongOperation& operation);
  [[nodiscard]] std::uint64_t thread_of(const StrongOperation& operation) const;

  ThreadOrder& order_;
  std::vector<Granules> allocations_;  // by Allocation::id
  std::uint64_t chains_ = 0;
  std::uint64_t variables_ = 0;
};

}  // namespace warpcheck::vgpu
