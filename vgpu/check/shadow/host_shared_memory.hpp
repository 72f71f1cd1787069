// Memory that host and devices share, for checkers that keep something of its bytes.
//
// Once all work has ended, the host reads and writes such memory unseen.  So what it has written
// shows only in bytes that are other than when the last kernel ended; and what is there when the
// memory is freed, or when the program ends, counts as read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

class HostSharedMemory {
 public:
  void allocated(const Allocation& allocation) {
    if (!allocation.is_shared_with_host()) return;
    allocation.for_each_part([&](const Allocation& part) { kept_[&part]; });
  }
  // To be called after for_each_changed().
  void freed(const Allocation& allocation) {
    allocation.for_each_part([&](const Allocation& part) { kept_.erase(&part); });
  }
  [[nodiscard]] bool has(const Allocation& allocation) const { return kept_.contains(&allocation); }

  // A kernel has ended: keeps the bytes of memory of which something is known.
  template <class IsKnown>
  void keep(IsKnown is_known) {
    for (auto& [allocation, bytes] : kept_) {
      bytes.clear();
      if (is_known(*allocation))
        bytes.assign(allocation->data, allocation->data + allocation->bytes);
    }
  }
  // Calls changed(allocation, offset, bytes) for each word that the host has written since.
  template <class Changed>
  void for_each_changed(Changed changed) {
    for (auto& [allocation, bytes] : kept_) {
      for (std::uint32_t at = 0; at < bytes.size(); at += kWord) {
        const auto size = static_cast<std::uint32_t>(std::min(kWord, bytes.size() - at));
        if (std::memcmp(bytes.data() + at, allocation->data + at, size) == 0) continue;
        changed(*allocation, at, size);
      }
      bytes.clear();
    }
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [allocation, bytes] : kept_) visit(*allocation);
  }
  void clear() { kept_.clear(); }

 private:
  static constexpr std::size_t kWord = 4;
  struct ById {
    bool operator()(const Allocation* a, const Allocation* b) const { return a->id < b->id; }
  };
  std::map<const Allocation*, std::vector<std::byte>, ById> kept_;
};

}  // namespace warpcheck::vgpu
