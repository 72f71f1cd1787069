// Rows of global memory that has only been read so far, or only been updated by atomics of one
// class, or whose words are only read or each accessed by one thread (word_owners.hpp): they wait
// in a queue, because they race with nothing; and most input of a kernel is only read.
//
// The queue stands in front of a shadow (race_shadow.hpp).  Before an access of another kind, and
// before anybody looks at records, the rows are performed in their order, with the epochs and in
// the periods of their time; so the shadow is as if none had waited.  They are dropped before a
// launch that everything else comes before or after, as nothing to come can race with them.  To
// copy a row takes a fraction of the time that recording it takes: a quarter for a row that is no
// line, a twentieth for scattered lanes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "vgpu/check/order/clocks/epoch.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/access/queued_row.hpp"

namespace warpcheck::vgpu {

// A time whose records of one memory matter to each other (race_shadow.hpp): the numbers of the
// period and of its launch, ascending; 0: no period yet.
struct ShadowPeriod {
  std::uint64_t number = 0;
  std::uint64_t launch = 0;
  bool global = false;  // the memory can be reached by all blocks
};

// The host memory of all queues.
class DeferredRoom {
 public:
  static constexpr std::size_t kChunkBytes = 4096;
  using Chunk = std::array<std::byte, kChunkBytes>;
  using Chunks = std::vector<std::unique_ptr<Chunk>>;

  explicit DeferredRoom(std::uint32_t chunks_max) : chunks_max_(chunks_max) {}

  // Null: the maximum is reached.
  std::unique_ptr<Chunk> take() {
    if (taken_ == chunks_max_) return nullptr;
    ++taken_;
    if (free_.empty()) return std::make_unique_for_overwrite<Chunk>();
    std::unique_ptr<Chunk> chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }
  void give_back(Chunks& chunks) {
    taken_ -= static_cast<std::uint32_t>(chunks.size());
    for (std::unique_ptr<Chunk>& chunk : chunks) free_.push_back(std::move(chunk));
    chunks.clear();
  }

 private:
  std::uint32_t chunks_max_, taken_ = 0;
  Chunks free_;
};

// The queue of one shadow.  Machine code appends to it, too.
class DeferredRows {
 public:
  [[nodiscard]] bool is_empty() const { return chunks_.empty(); }
  // The number of the period whose rows are taken; 0: none are.
  [[nodiscard]] std::uint64_t period() const { return period_; }
  // Returns whether rows of this kind are taken in that period.
  [[nodiscard]] bool takes(QueuedKind kind, std::uint64_t period) const {
    return period_ == period && queue_.kind == kind;
  }
  // Takes rows of this period from now on; the shadow is in it.
  void go_on(QueuedKind kind, std::uint64_t period) {
    if (since_.period != period) since_ = {period, chunks_.size(), queue_.next};
    period_ = period;
    queue_.kind = kind;
  }
  // Takes rows of a period in which the shadow is not.  False: there is no room.
  //   bytes: of the allocation
  bool begin(QueuedKind kind, const ShadowPeriod& period, std::uint32_t bytes, DeferredRoom& room) {
    if (begun_ != period.number) {
      if (left() < kRowMax && !grow(room)) return false;
      put(QueuedRow{.pc = bytes});
      put(period);
    }
    begun_ = period.number;
    go_on(kind, period.number);
    return true;
  }
  // Takes a row that it takes(), and permits machine code to append others.  False: there is no
  // room.
  //   time: the epoch of the thread in lane 0, or the segment of the warp
  bool take(const RowAccess& row, Epoch time, DeferredRoom& room) {
    if (left() < kRowMax && !grow(room)) [[unlikely]]
      return false;
    put(QueuedRow{.time = time,
                  .first = row.first,
                  .pc = row.pc,
                  .mask = row.mask,
                  .bytes = row.bytes,
                  .pattern = row.pattern,
                  .scope = row.kind == AccessKind::read ? std::uint8_t{0} : queue_.kind.scope});
    if (row.pattern == Pattern::scattered) {
      std::memcpy(queue_.next, row.offsets, kOffsetsBytes);
      queue_.next += kOffsetsBytes;
    }
    queue_.permitted = end_ - kRowMax + 1;
    return true;
  }
  // Takes no rows before go_on() or begin(); machine code appends none.
  void close() {
    queue_.close();
    period_ = 0;
  }
  [[nodiscard]] RowQueue& queue() { return queue_; }
  // Calls begins(period, bytes) and performs(row, time, kind) for all that was taken, in its order.
  // The rows have no place and no allocation.  The queue is empty afterwards.
  template <typename Begins, typename Performs>
  void perform(DeferredRoom& room, Begins begins, Performs performs) {
    DeferredRoom::Chunks chunks = std::exchange(chunks_, {});
    std::vector<std::byte*> ends = std::exchange(ends_, {});
    ends.push_back(queue_.next);
    clear(room);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      for (const std::byte* from = chunks[i]->data(); from != ends[i];) {
        RowAccess row;
        const QueuedRow taken = take_queued(from, row);
        if (taken.bytes == 0) {
          begins(get<ShadowPeriod>(from), taken.pc);
        } else {
          performs(row, taken.time, kind_of(taken));
        }
      }
    }
    room.give_back(chunks);
  }
  // Calls visit(row, time) for the rows of this period, in their order, until it returns false.
  // Returns whether all calls have returned true.
  template <typename Visit>
  bool for_each_of_period(Visit visit) const {
    for (std::size_t i = std::max(since_.chunks, std::size_t{1}) - 1; i < chunks_.size(); ++i) {
      const bool is_first = i + 1 == since_.chunks, is_last = i + 1 == chunks_.size();
      const std::byte* from = is_first ? since_.next : chunks_[i]->data();
      for (const std::byte* const end = is_last ? queue_.next : ends_[i]; from != end;) {
        RowAccess row;
        const QueuedRow taken = take_queued(from, row);
        if (taken.bytes != 0 && !visit(row, taken.time)) return false;
        if (taken.bytes == 0) from += sizeof(ShadowPeriod);
      }
    }
    return true;
  }
  // Returns whether rows were added since the last call of for_each_new().
  [[nodiscard]] bool has_new() const { return seen_ != queue_.next; }
  // Calls visit(row) for those rows, a QueuedRow; it may change the time.
  template <typename Visit>
  void for_each_new(Visit visit) {
    if (chunks_.empty()) return;
    for (;; ++seen_chunk_) {
      const bool is_last = seen_chunk_ + 1 == chunks_.size();
      std::byte* const end = is_last ? queue_.next : ends_[seen_chunk_];
      visit_times(seen_ == nullptr ? chunks_[seen_chunk_]->data() : seen_, end, visit);
      seen_ = is_last ? end : nullptr;
      if (is_last) return;
    }
  }
  // Does the same for all rows.
  template <typename Visit>
  void for_each_time(Visit visit) {
    seen_ = nullptr;
    seen_chunk_ = 0;
    for_each_new(visit);
  }
  // Forgets all that was taken.
  void clear(DeferredRoom& room) {
    room.give_back(chunks_);
    ends_.clear();
    queue_ = {};
    end_ = nullptr;
    seen_ = nullptr;
    seen_chunk_ = 0;
    period_ = begun_ = 0;
    since_ = {};
  }

 private:
  // A row of no bytes says that a period begins, of an allocation of `pc` bytes.
  static constexpr std::size_t kOffsetsBytes = kWarpLanes * sizeof(std::uint32_t);
  static constexpr auto kRowMax = static_cast<std::ptrdiff_t>(kQueuedRowMax);
  static_assert(sizeof(ShadowPeriod) <= kOffsetsBytes);

  static QueuedKind kind_of(const QueuedRow& row) {
    return {row.scope, row.scope == 0 ? std::uint8_t{0} : row.bytes};
  }
  template <typename Visit>
  static void visit_times(std::byte* at, const std::byte* end, Visit visit) {
    while (at != end) {
      QueuedRow row;
      std::memcpy(&row, at, sizeof row);
      std::byte* const begin = std::exchange(at, at + sizeof row);
      if (row.bytes == 0) {
        at += sizeof(ShadowPeriod);
        continue;
      }
      if (row.pattern == Pattern::scattered) at += kOffsetsBytes;
      visit(row);
      std::memcpy(begin + offsetof(QueuedRow, time), &row.time, sizeof row.time);
    }
  }
  [[nodiscard]] std::ptrdiff_t left() const { return end_ - queue_.next; }
  bool grow(DeferredRoom& room) {
    std::unique_ptr<DeferredRoom::Chunk> chunk = room.take();
    if (chunk == nullptr) return false;
    if (!chunks_.empty()) ends_.push_back(queue_.next);
    queue_.next = chunk->data();
    queue_.close();
    end_ = queue_.next + chunk->size();
    chunks_.push_back(std::move(chunk));
    return true;
  }
  template <typename T>
  void put(const T& value) {
    std::memcpy(queue_.next, &value, sizeof value);
    queue_.next += sizeof value;
  }
  template <typename T>
  static T get(const std::byte*& from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
    return value;
  }

  RowQueue queue_;
  std::byte* end_ = nullptr;  // of the last chunk
  DeferredRoom::Chunks chunks_;
  std::vector<std::byte*> ends_;  // of what was taken in all chunks but the last
  std::byte* seen_ = nullptr;     // the rows before this were visited; null: the chunk begins here
  std::size_t seen_chunk_ = 0;
  std::uint64_t period_ = 0;
  std::uint64_t begun_ = 0;  // the latest period whose beginning was taken
  // Where the queue ended when it began to take rows of a period.
  struct End {
    std::uint64_t period = 0;
    std::size_t chunks = 0;
    std::byte* next = nullptr;
  };
  End since_;
};

}  // namespace warpcheck::vgpu
