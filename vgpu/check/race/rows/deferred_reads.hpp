// Weak reads of global memory that nothing else has accessed yet: they wait in a queue, because
// reads race with nothing, and most input of a kernel is only read.
//
// The queue stands in front of a shadow (race_shadow.hpp).  Before an access of another kind, and
// before anybody looks at records, the reads are performed in their order, with the epochs and in
// the periods of their time; so the shadow is as if none had waited.  To copy a row takes a
// fraction of the time that recording it takes: a quarter for a row that is no line, a twentieth
// for scattered lanes.
#pragma once

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

namespace warpcheck::vgpu {

// A time whose records of one memory matter to each other (race_shadow.hpp): the numbers of the
// period and of its launch, ascending; 0: no period yet.
struct ShadowPeriod {
  std::uint64_t number = 0;
  std::uint64_t launch = 0;
  bool global = false;  // the memory can be reached by all blocks
};

// The host memory of all queues.
class DeferredReadRoom {
 public:
  static constexpr std::size_t kChunkBytes = 4096;
  using Chunk = std::array<std::byte, kChunkBytes>;
  using Chunks = std::vector<std::unique_ptr<Chunk>>;

  explicit DeferredReadRoom(std::uint32_t chunks_max) : chunks_max_(chunks_max) {}

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

// The queue of one shadow.  Machine code appends to its record.
class DeferredReads {
 public:
  [[nodiscard]] bool is_empty() const { return chunks_.empty(); }
  // The number of the period whose reads are taken; 0: none are.
  [[nodiscard]] std::uint64_t period() const { return period_; }
  // Takes reads of this period from now on; the shadow is in it.
  void go_on(std::uint64_t period) { period_ = period; }
  // Takes reads of a period in which the shadow is not.  False: there is no room.
  //   bytes: of the allocation
  bool begin(const ShadowPeriod& period, std::uint32_t bytes, DeferredReadRoom& room) {
    if (begun_ != period.number) {
      if (left() < kReadMax && !grow(room)) return false;
      put(RecordedRead{.pc = bytes});
      put(period);
    }
    period_ = begun_ = period.number;
    return true;
  }
  // Takes a read of period(), and permits machine code to append others.  False: there is no room.
  //   time: the epoch of the thread in lane 0
  bool take(const RowAccess& read, Epoch time, DeferredReadRoom& room) {
    if (left() < kReadMax && !grow(room)) [[unlikely]]
      return false;
    put(RecordedRead{.time = time,
                     .first = read.first,
                     .pc = read.pc,
                     .mask = read.mask,
                     .bytes = read.bytes,
                     .pattern = read.pattern});
    if (read.pattern == Pattern::scattered) {
      std::memcpy(record_.next, read.offsets, kOffsetsBytes);
      record_.next += kOffsetsBytes;
    }
    record_.permitted = end_ - kReadMax + 1;
    return true;
  }
  // Takes no reads before go_on() or begin(); machine code appends none.
  void close() {
    record_.close();
    period_ = 0;
  }
  [[nodiscard]] ReadRecord& record() { return record_; }
  // Calls begins(period, bytes) and performs(read, time) for all that was taken, in its order.
  // The reads have the row, but no place and no allocation.  The queue is empty afterwards.
  template <typename Begins, typename Performs>
  void perform(DeferredReadRoom& room, Begins begins, Performs performs) {
    DeferredReadRoom::Chunks chunks = std::exchange(chunks_, {});
    std::vector<const std::byte*> ends = std::exchange(ends_, {});
    ends.push_back(record_.next);
    clear(room);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      for (const std::byte* from = chunks[i]->data(); from != ends[i];) {
        const auto taken = get<RecordedRead>(from);
        if (taken.bytes == 0) {
          begins(get<ShadowPeriod>(from), taken.pc);
          continue;
        }
        RowAccess read;
        read.pc = taken.pc;
        read.mask = taken.mask;
        read.first = taken.first;
        read.space = ptx::Space::global;
        read.pattern = taken.pattern;
        read.bytes = read.element_bytes = taken.bytes;
        if (taken.pattern == Pattern::scattered) {
          read.offsets = reinterpret_cast<const std::uint32_t*>(from);
          from += kOffsetsBytes;
        }
        performs(read, taken.time);
      }
    }
    room.give_back(chunks);
  }
  // Forgets all that was taken.
  void clear(DeferredReadRoom& room) {
    room.give_back(chunks_);
    ends_.clear();
    record_ = {};
    end_ = nullptr;
    period_ = begun_ = 0;
  }

 private:
  // A read of no bytes says that a period begins, of an allocation of `pc` bytes.
  static constexpr std::size_t kOffsetsBytes = kWarpLanes * sizeof(std::uint32_t);
  static constexpr auto kReadMax = static_cast<std::ptrdiff_t>(kRecordedReadMax);
  static_assert(sizeof(ShadowPeriod) <= kOffsetsBytes);

  [[nodiscard]] std::ptrdiff_t left() const { return end_ - record_.next; }
  bool grow(DeferredReadRoom& room) {
    std::unique_ptr<DeferredReadRoom::Chunk> chunk = room.take();
    if (chunk == nullptr) return false;
    if (!chunks_.empty()) ends_.push_back(record_.next);
    record_ = {.next = chunk->data()};
    end_ = record_.next + chunk->size();
    chunks_.push_back(std::move(chunk));
    return true;
  }
  template <typename T>
  void put(const T& value) {
    std::memcpy(record_.next, &value, sizeof value);
    record_.next += sizeof value;
  }
  template <typename T>
  static T get(const std::byte*& from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
    return value;
  }

  ReadRecord record_;
  std::byte* end_ = nullptr;  // of the last chunk
  DeferredReadRoom::Chunks chunks_;
  std::vector<const std::byte*> ends_;  // of what was taken in all chunks but the last
  std::uint64_t period_ = 0;
  std::uint64_t begun_ = 0;  // the latest period whose beginning was taken
};

}  // namespace warpcheck::vgpu
