// Strong reads that did not synchronise with the write that they read, for messages: the latest of
// each block.
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
    by_slot_[slot].clear();
  }
  void add(std::uint32_t slot, const Miss& miss) {
    std::vector<Miss>& misses = by_slot_[slot];
    if (misses.size() == kRememberedMax) misses.erase(misses.begin());
    misses.push_back(miss);
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
    const Miss* found = nullptr;
    for (const Miss& miss : by_slot_[slot]) {
      if (miss.writer_block != access.block || miss.writer_phase < access.phase) continue;
      const bool own = miss.writer_thread == access.thread;
      if (own ? miss.writer_ticks < access.ticks : access.by_thread) continue;
      if (found == nullptr || found->writer_thread != access.thread) found = &miss;
    }
    return found;
  }

 private:
  static constexpr std::size_t kRememberedMax = 16;  // of a block

  std::vector<std::vector<Miss>> by_slot_;
};

}  // namespace warpcheck::vgpu
