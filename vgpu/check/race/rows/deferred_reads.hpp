// Weak reads of global memory that nothing else has accessed yet: they wait in a queue, because
// reads race with nothing, and most input of a kernel is only read.
//
// The queue stands in front of a shadow (race_shadow.hpp).  Before an access of another kind, and
// before anybody looks at records, the reads are performed in their order, with the epochs and in
// the periods of their time; so the shadow is as if none had waited.  To copy a row takes a
// fraction of the time that recording it takes: a quarter for a row that is no line, a twentieth
// for scattered lanes.
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

// The queue of one shadow.
class DeferredReads {
 public:
  [[nodiscard]] bool is_empty() const { return chunks_.empty(); }
  // The number of the period whose reads are taken; 0: none are.
  [[nodiscard]] std::uint64_t period() const { return period_; }
  // Takes reads of this period from now on; the shadow is in it.
  void go_on(std::uint64_t period) { period_ = period; }
  // Takes reads of a new period from now on.  False: there is no room.
  //   bytes: of the allocation
  bool begin(const ShadowPeriod& period, std::uint32_t bytes, DeferredReadRoom& room) {
    if (left() < kEntryBytesMax && !grow(room)) return false;
    put(Entry{.pc = bytes});
    put(period);
    period_ = period.number;
    return true;
  }
  // Takes a read of period().  False: there is no room.
  //   epoch: of the thread in lane 0
  bool take(const RowAccess& read, Epoch epoch, DeferredReadRoom& room) {
    if (left() < kEntryBytesMax && !grow(room)) [[unlikely]]
      return false;
    put(Entry{.epoch = epoch,
              .first = read.first,
              .pc = read.pc,
              .mask = read.mask,
              .bytes = read.bytes,
              .pattern = read.pattern});
    if (read.pattern != Pattern::scattered) return true;
    std::memcpy(at_, read.offsets, kOffsetsBytes);
    at_ += kOffsetsBytes;
    return true;
  }
  // Calls begins(period, bytes) and performs(read, epoch) for all that was taken, in its order.
  // The reads have the row, but no place and no allocation.  The queue is empty afterwards.
  template <typename Begins, typename Performs>
  void perform(DeferredReadRoom& room, Begins begins, Performs performs) {
    DeferredReadRoom::Chunks chunks = std::exchange(chunks_, {});
    std::vector<const std::byte*> ends = std::exchange(ends_, {});
    ends.push_back(at_);
    clear(room);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      for (const std::byte* from = chunks[i]->data(); from != ends[i];) {
        const auto entry = get<Entry>(from);
        if (entry.bytes == 0) {
          begins(get<ShadowPeriod>(from), entry.pc);
          continue;
        }
        RowAccess read;
        read.pc = entry.pc;
        read.mask = entry.mask;
        read.first = entry.first;
        read.space = ptx::Space::global;
        read.pattern = entry.pattern;
        read.bytes = read.element_bytes = entry.bytes;
        if (entry.pattern == Pattern::scattered) {
          read.offsets = reinterpret_cast<const std::uint32_t*>(from);
          from += kOffsetsBytes;
        }
        performs(read, entry.epoch);
      }
    }
    room.give_back(chunks);
  }
  // Forgets all that was taken.
  void clear(DeferredReadRoom& room) {
    room.give_back(chunks_);
    ends_.clear();
    at_ = end_ = nullptr;
    period_ = 0;
  }

 private:
  struct Entry {
    Epoch epoch = 0;
    std::uint32_t first = 0, pc = 0, mask = 0;
    std::uint8_t bytes = 0;  // 0: a period begins, of an allocation of `pc` bytes
    Pattern pattern = Pattern::strided;
  };
  static constexpr std::size_t kOffsetsBytes = kWarpLanes * sizeof(std::uint32_t);
  static constexpr auto kEntryBytesMax =
      static_cast<std::ptrdiff_t>(sizeof(Entry) + std::max(kOffsetsBytes, sizeof(ShadowPeriod)));

  [[nodiscard]] std::ptrdiff_t left() const { return end_ - at_; }
  bool grow(DeferredReadRoom& room) {
    std::unique_ptr<DeferredReadRoom::Chunk> chunk = room.take();
    if (chunk == nullptr) return false;
    if (!chunks_.empty()) ends_.push_back(at_);
    at_ = chunk->data();
    end_ = at_ + chunk->size();
    chunks_.push_back(std::move(chunk));
    return true;
  }
  template <typename T>
  void put(const T& value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  template <typename T>
  static T get(const std::byte*& from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
    return value;
  }

  DeferredReadRoom::Chunks chunks_;
  std::vector<const std::byte*> ends_;  // of what was taken in all chunks but the last
  std::byte *at_ = nullptr, *end_ = nullptr;
  std::uint64_t period_ = 0;
};

}  // namespace warpcheck::vgpu
