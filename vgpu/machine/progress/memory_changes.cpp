#include "vgpu/machine/progress/memory_changes.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace warpcheck::vgpu {

void MemoryChanges::add(const Access& access, unsigned lane) {
  Change change{access.allocation->data + access.offset[lane],
                access.allocation,
                access.offset[lane],
                access.bytes,
                access.space == ptx::Space::local,
                {}};
  std::memcpy(change.old.data(), change.at, change.bytes);
  changes_.push_back(change);
}

void MemoryChanges::settle(std::size_t since) {
  if (changes_.size() == since) return;
  const auto begin = changes_.begin() + static_cast<std::ptrdiff_t>(since);
  const auto changes_nothing = [](const Change& change) {
    return std::memcmp(change.at, change.old.data(), change.bytes) == 0;
  };
  changes_.erase(std::remove_if(begin, changes_.end(), changes_nothing), changes_.end());
  for (std::size_t i = since; i < changes_.size(); ++i) foreign_ += !changes_[i].is_local;
}

bool MemoryChanges::are_undone(std::size_t since) const {
  std::set<const std::byte*> seen;
  for (std::size_t i = since; i < changes_.size(); ++i) {
    for (std::uint8_t byte = 0; byte < changes_[i].bytes; ++byte) {
      const std::byte* const at = changes_[i].at + byte;
      if (seen.insert(at).second && *at != changes_[i].old[byte]) return false;
    }
  }
  return true;
}

std::uint64_t MemoryChanges::hash() const {
  std::map<const std::byte*, std::byte> before;
  for (const Change& change : changes_) {
    for (std::uint8_t byte = 0; byte < change.bytes; ++byte) {
      before.emplace(change.at + byte, change.old[byte]);
    }
  }
  std::uint64_t hash = 0;
  for (const auto& [at, old] : before) {
    if (*at == old) continue;
    std::uint64_t one = reinterpret_cast<std::uintptr_t>(at) * 0x9fb21c651e98df25u;
    one = (one ^ one >> 32 ^ static_cast<std::uint64_t>(*at)) * 0x2545f4914f6cdd1du;
    hash += one ^ one >> 29;
  }
  return hash;
}

void MemoryChanges::undo(std::size_t since) {
  for (std::size_t i = changes_.size(); i > since; --i) {
    const Change& change = changes_[i - 1];
    std::memcpy(change.at, change.old.data(), change.bytes);
  }
  changes_.resize(since);
  const auto is_foreign = [](const Change& change) { return !change.is_local; };
  foreign_ = static_cast<std::size_t>(std::ranges::count_if(changes_, is_foreign));
}

}  // namespace warpcheck::vgpu
