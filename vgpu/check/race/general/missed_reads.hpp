// Strong reads that did not synchronise with the write that they read, for messages: of the readers
// in each block, the latest one for each of some writers.  Where all threads of a warp contend for
// a place, hundreds of reads may come before the one that matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/check/order/sync_variables.hpp"

namespace warpcheck::vgpu {

class MissedReads {
 public:
  void clear() { by_slot_.clear(); }
  void begin_block(std::uint32_t slot) {
    if (slot >= by_slot_.size()) by_slot_.resize(slot + 1);
    by_slot_[slot].begun = by_slot_[slot].last;
  }
  void add(std::uint32_t slot, const Miss& miss) {
    OfSlot& of_slot = by_slot_[slot];
    if (of_slot.reads.empty()) of_slot.reads.resize(kWriters);
    // Threads of one warp, and the same threads of consecutive blocks, have places of their own.
    const std::size_t place = (miss.writer_thread + 7 * miss.writer_block) % kWriters;
    of_slot.reads[place] = {miss, ++of_slot.last};
  }
  // An access that a write may have handed on to the readers in a slot.
  struct HandedOn {
    BlockKey block = 0;
    std::uint32_t thread = 0;
    Tick phase = 0, ticks = 0;  // writes before that hand nothing of it on
    bool by_thread = false;     // only the thread itself can have done so
  };
  // Returns the latest read in a slot that has missed a write by the access's block after it,
  // preferably by its thread; null: there is none.
  [[nodiscard]] const Miss* find(std::uint32_t slot, const HandedOn& access) const {
    const Read* found = nullptr;
    const auto is_own = [&](const Read& read) { return read.miss.writer_thread == access.thread; };
    for (const Read& read : by_slot_[slot].reads) {
      const Miss& miss = read.miss;
      if (read.number <= by_slot_[slot].begun) continue;
      if (miss.writer_block != access.block || miss.writer_phase < access.phase) continue;
      if (is_own(read) ? miss.writer_ticks < access.ticks : access.by_thread) continue;
      const bool is_better = found == nullptr || is_own(read) > is_own(*found) ||
                             (is_own(read) == is_own(*found) && read.number > found->number);
      if (is_better) found = &read;
    }
    return found == nullptr ? nullptr : &found->miss;
  }

 private:
  static constexpr std::size_t kWriters = 64;
  struct Read {
    Miss miss;
    std::uint64_t number = 0;  // from 1; 0: none
  };
  struct OfSlot {
    std::vector<Read> reads;            // by writer; empty until there is one
    std::uint64_t last = 0, begun = 0;  // numbers: of the latest, of the latest before the block
  };

  std::vector<OfSlot> by_slot_;
};

}  // namespace warpcheck::vgpu
