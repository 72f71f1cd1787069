// Memory locations through which threads synchronise: release and acquire patterns (PTX ISA 8.8),
// observation order (8.9.2), and the synchronisation that follows from them (8.9.4).
//
// A release pattern on M is a release operation on M, a release operation followed by a strong
// write on M, or a fence followed by a strong write on M, all by one thread.  An acquire pattern is
// the mirror image.  The two patterns synchronise when a read of the acquire pattern observes a
// write of the release pattern, and the first operation of the release pattern and the last
// operation of the acquire pattern are morally strong.  A read observes a write directly, or
// through any number of atomic operations each of which has read what the previous one wrote, all
// of them morally strong with their neighbours: a *chain*.
//
// fence.sc does here what fence.acq_rel does, and one thing more.  The ISA's Fence-SC order (8.9.3)
// also synchronises, but it is chosen at run time: in this execution one fence ran before another,
// but another execution may have the other order.  Using the observed order would hide races of
// those other executions.  The order is used only where it is forced: if a strong write comes after
// one fence by program order and barriers, and the other fence comes in the same way after a read
// that observes this write, then the reverse fence order would place the read before the write that
// it observes, which the axioms of causality (8.10.6) exclude.  So all threads of a block may fence
// before the barrier after which one thread takes a ticket, and after the barrier by which that
// thread tells the others.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vgpu/check/order/early_takes.hpp"
#include "vgpu/check/order/poll_exits.hpp"
#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

// A strong operation of one lane on one scalar.
struct StrongOperation {
  StrongOperation() = default;
  // Of some lane: what those of a row have in common.
  explicit StrongOperation(const Access& row);

  const Access* access = nullptr;
  unsigned lane = 0;
  std::uint32_t offset = 0;
  std::uint8_t bytes = 0;
  bool reads = false, writes = false;  // both: an atomic operation
  bool may_acquire = false;            // false for `red`, whose read acquires nothing
  // Weak memory: which write the operation finds (see Access::sources).
  std::uint8_t source = 0;
  BlockKey block = 0;                      // the block of its thread
  Tick phase = 0, ticks = 0;               // of its thread, for messages
  bool is_present = true;                  // the thread's block is still resident
  const ReleasedFences* fences = nullptr;  // what the thread has released; null: nothing
  PollExits* polls = nullptr;              // the operation polls; null: it does not
  EarlyTakes* takes = nullptr;             // the operation takes something; null: it does not
};

// The place of a strong operation in a chain: its own write, or the write that it read.
struct ChainPlace {
  std::uint64_t chain = 0;  // 0: no chain
  std::uint64_t position = 0;
};

// Why a strong read did not synchronise with the write that it read.
enum class Missed : std::uint8_t {
  nothing,
  scope,          // the accesses' own scopes do not include each other
  release,        // the writer has released nothing
  release_scope,  // the writer has released, but not at a scope that includes the reader
  not_needed,     // without that write, the reader would have gone the same way
};
struct Miss {
  Missed missed = Missed::nothing;
  BlockKey writer_block = 0;
  std::uint32_t writer_thread = 0;
  Tick writer_phase = 0, writer_ticks = 0;  // when it wrote
};

class SyncVariables {
 public:
  explicit SyncVariables(ThreadOrder& order) : order_(order) {}

  void reset() { *this = SyncVariables(order_); }
  SyncVariables& operator=(SyncVariables&& other) noexcept;
  SyncVariables(SyncVariables&&) = default;

  // Performs the operation: acquires, observes and releases.  Operations must come in the order of
  // execution, which may differ from the order in which writes are found (StrongOperation::source).
  //   miss: receives why a read did not synchronise; unchanged if it did
  ChainPlace perform(const StrongOperation& operation, Miss& miss);
  // Bytes are overwritten by an access that is not a strong write, or that has another size.
  void overwrite(std::uint32_t allocation, std::uint32_t offset, std::uint32_t bytes);
  // Returns whether the allocation has no variables: no strong write and no poll was performed
  // there since the last forget() or forget_all().
  [[nodiscard]] bool is_empty(std::uint32_t allocation) const {
    return allocation >= allocations_.size() || allocations_[allocation].empty();
  }
  // Returns whether a thread may be polling in the allocation.
  [[nodiscard]] bool is_polled(std::uint32_t allocation) const {
    return polled_.contains(allocation);
  }
  // Forgets everything about the allocation, because its memory is new.
  void forget(std::uint32_t allocation);
  // Forgets what all variables have released: a launch begins that is ordered after everything
  // before it.
  void forget_all();
  // Returns empty variables for another point in time, which continue the numbering of chains and
  // variables.
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
    Tick phase = 0, ticks = 0;  // when it wrote
    [[nodiscard]] Miss missed_for(Missed missed) const {
      return {missed, block, thread, phase, ticks};
    }
  };
  // The part of a variable that most strong operations do not need.
  struct Patterns {
    // What the chain's release patterns release to the threads of the writer's block, and of its
    // cluster, including what they release to all threads; the key is group_of().
    std::unordered_map<std::uint64_t, VectorClock> released_in;
    std::size_t forget_at = 8;
    bool has_released = false;  // the chain has released something
    bool is_for_some = false;   // some of it is not released to all threads
    // Forgets what was released within blocks that have ended, as no thread can acquire it any
    // more, and the release operations of their threads, as none of them can write any more.
    void forget_ended(const ThreadOrder& order);
    // The release operations on this variable, by thread of the trial and by Reach.
    std::unordered_map<std::uint64_t, std::array<Moment, 3>> releases;
  };
  // The state after a strong write; kept where later accesses may find that write.
  struct Written {
    Writer last;
    ChainPlace place;
    VectorClock released;
    std::unordered_map<std::uint64_t, VectorClock> released_in;
    bool has_released = false, is_for_some = false;
    VectorClock sc_released;
  };
  // A word of the grid workspace, by which the blocks of a cooperative launch meet (grid.sync();
  // see cooperative_groups/details/sync.h).  Each block adds to the word, and its top bit flips
  // when all have arrived.  A block that waits may read the word as soon as that bit has flipped.
  // In this execution it may read it much later, after other blocks have gone on and have arrived
  // at the next barrier; what those have released by then is nothing that the waiting block can
  // rely on.
  struct GridBarrier {
    bool top_bit = false;  // before the latest operation
    Written completed;     // when the top bit flipped last
  };
  // The threads that poll a variable in vain, and the writes since then, oldest first.  Such a
  // thread may go on at the first write that ends its loop (PollExits), although in this execution
  // it reads a later one.  Also the latest writes of a variable from which several threads may take
  // something.
  struct Waits {
    struct Write {
      Written written;
      std::uint64_t before = 0, after = 0;  // values
      bool has_moved = false;               // `after` is known
    };
    // A compare-and-swap that a thread has begun by a load: which write the load found.
    struct Guess {
      std::uint64_t present = 0, found = 0;  // numbers of writes that came before
      std::uint32_t swap = 0;                // pc
    };
    std::deque<Write> writes;
    std::uint64_t forgotten = 0;  // writes that came before those
    // A thread that has taken something has left a value with which it would have gone the same
    // way (EarlyTakes), so several threads may have taken something at once.
    bool is_for_several = false;
    std::unordered_map<std::uint64_t, Guess> guesses;  // by thread
    // By thread: the number of writes that came before its latest read.
    std::unordered_map<std::uint64_t, std::uint64_t> seen;
  };
  static constexpr std::size_t kPastMax = 64;
  static constexpr std::size_t kTakenMax = 8;          // writes that several threads share
  static constexpr std::size_t kForSeveralMax = 4096;  // variables
  // The latest strong writes of a variable, in a ring buffer; used with weak memory only.
  class PastWrites {
   public:
    void push(Written written) {
      if (writes_.size() < kPastMax) return writes_.push_back(std::move(written));
      writes_[oldest_] = std::move(written);
      oldest_ = (oldest_ + 1) % kPastMax;
    }
    // Source 1 is the newest write; null: the write has been forgotten.
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
    std::uint64_t number = 0;  // unique
    Writer last;
    ChainPlace place;
    // What the chain's release patterns release to all threads.
    VectorClock released;
    // What fence.sc operations before the variable's writes have released.
    VectorClock sc_released;
    std::unique_ptr<Patterns> patterns;  // null: there are no patterns yet
    PastWrites past;
    std::unique_ptr<GridBarrier> barrier;  // null: the variable is no word of a grid workspace
    std::unique_ptr<Waits> waits;          // null: no thread polls

    [[nodiscard]] Written written() const;
    void find(Written written);
    void exchange(Written& other);
    void follow_barrier(const StrongOperation& operation);
    void find_source(std::uint8_t source);
    void complete_writes(std::uint64_t value);
    [[nodiscard]] Written* find_exit(const StrongOperation& operation, std::uint64_t thread,
                                     std::uint64_t value);
    [[nodiscard]] bool lets_several_take(const StrongOperation& operation, std::uint64_t value);
    void keep_write(std::uint64_t value);

    Patterns& made_patterns() {
      if (patterns == nullptr) patterns = std::make_unique<Patterns>();
      return *patterns;
    }
    [[nodiscard]] bool overlaps(std::uint32_t begin, std::uint32_t size) const {
      return offset < begin + size && begin < offset + bytes;
    }
    // Makes later reads of the variable observe nothing.
    void silence() {
      last = {};
      released = {};
      sc_released = {};
      if (patterns == nullptr) return;
      patterns->released_in.clear();
      patterns->has_released = patterns->is_for_some = false;
    }
    // The same, after a write of another kind.
    void lose() {
      silence();
      waits = nullptr;
    }
  };
  // The variables that begin in one granule of 16 bytes.
  using Granule = std::vector<Variable>;
  static constexpr std::uint32_t kGranuleBytes = 16;
  // The granules of one allocation, by number.
  class Granules {
   public:
    [[nodiscard]] bool empty() const { return pages_.empty(); }
    void clear() { pages_.clear(); }
    // Returns null if no variable was ever created in the granule.
    [[nodiscard]] Granule* find(std::uint32_t number) {
      const std::uint32_t page = number / kPage;
      if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
      return &(*pages_[page])[number % kPage];
    }
    Granule& make(std::uint32_t number);
    // Calls visit(granule) for each existing granule from `first` to `last`.
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

  static constexpr unsigned kThreadBits = 16;  // of a thread's number in its block
  static constexpr std::uint64_t kClusters = std::uint64_t{1} << 63;
  // Returns a key for the block, or for the cluster, of `block`.
  [[nodiscard]] std::uint64_t group_of(BlockKey block, Reach reach) const {
    if (reach == Reach::block) return block;
    return kClusters | order_.launches().group_of(block);
  }
  [[nodiscard]] bool reach_each_other(const Writer& writer, BlockKey block, Reach reach) const;
  Granule* granule_of(const StrongOperation& operation);
  static Variable* find(Granule& granule, const StrongOperation& operation);
  ChainPlace perform_on(Variable& variable, const StrongOperation& operation, Miss& miss);
  ChainPlace observe(Variable& variable, const StrongOperation& operation, Miss& miss);
  [[nodiscard]] bool is_linked(const Variable& variable, const StrongOperation& operation) const;
  [[nodiscard]] bool is_last_writer(const Variable& variable,
                                    const StrongOperation& operation) const;
  [[nodiscard]] bool knows_of(const Writer& writer, const StrongOperation& operation) const;
  [[nodiscard]] Written* find_needed(Variable& variable, const StrongOperation& operation,
                                     std::uint64_t value);
  void read(Variable& variable, const StrongOperation& operation, bool linked, Miss& miss);
  void write(Variable& variable, const StrongOperation& operation, bool linked);
  void release(Variable& variable, Reach reach, const VectorClock& clock, BlockKey block);
  void release_moments(Variable& variable, const std::array<Moment, 3>& moments,
                       std::optional<Reach> covered, const StrongOperation& operation);
  void release_fences(Variable& variable, std::optional<Reach> covered,
                      const StrongOperation& operation);
  [[nodiscard]] VectorClock clock_of(const Moment& moment, const StrongOperation& operation) const;
  [[nodiscard]] std::uint64_t thread_of(const StrongOperation& operation) const;

  ThreadOrder& order_;
  std::vector<Granules> allocations_;         // by Allocation::id
  std::unordered_set<std::uint32_t> polled_;  // allocations of variables that have waits
  std::uint64_t chains_ = 0;
  std::uint64_t variables_ = 0;
  std::size_t for_several_ = 0;  // variables from which several threads take something
};

}  // namespace warpcheck::vgpu
