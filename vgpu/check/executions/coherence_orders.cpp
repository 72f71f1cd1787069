#include "vgpu/check/executions/coherence_orders.hpp"

#include <algorithm>

namespace warpcheck::vgpu {

Digest CoherenceOrders::value_at(const Location& location, std::size_t index) {
  if (index == SIZE_MAX) return {};
  const Write& last = location.writes[index];
  if (!last.reduces) return last.name;
  // Sums all operations of one kind that follow each other, and the value that they began with.
  Digest sum;
  std::size_t first = index;
  while (first != SIZE_MAX && location.writes[first].reduces &&
         location.writes[first].reduction == last.reduction) {
    sum += location.writes[first].name;
    first = first == 0 ? SIZE_MAX : first - 1;
  }
  return DigestMaker().add(sum).add(value_at(location, first)).made();
}

// If bytes are accessed in several sizes, all overlapping writes count.
Digest CoherenceOrders::newest_of(const Event& event) const {
  constexpr std::uint64_t kBytesMax = 16;
  const std::uint64_t from = event.address < kBytesMax ? 0 : event.address - kBytesMax;
  Digest sum;
  for (auto at = locations_.lower_bound(from);
       at != locations_.end() && at->first < event.address + event.bytes; ++at) {
    if (at->first + at->second.bytes <= event.address || at->second.writes.empty()) continue;
    sum +=
        DigestMaker().add(at->first).add(value_at(at->second, at->second.writes.size() - 1)).made();
  }
  return sum;
}

Digest CoherenceOrders::source_of(const Event& read) const {
  if (read.left_out == 0) return newest_of(read);
  const auto found = locations_.find(read.address);
  if (found == locations_.end() || read.left_out >= found->second.writes.size()) return {};
  const std::size_t index = found->second.writes.size() - 1 - read.left_out;
  return DigestMaker().add(read.address).add(value_at(found->second, index)).made();
}

Digest CoherenceOrders::add(const Event& event, const Digest& name) {
  if (event.effect == Event::Effect::fence) return {};
  const Digest source = source_of(event);
  if (!event.writes()) {
    reads_ += DigestMaker().add(name).add(source).made();
    return source;
  }
  const bool reads_too = event.is_update && event.effect == Event::Effect::write;
  if (reads_too) reads_ += DigestMaker().add(name).add(source).made();
  Location& location = locations_[event.address];
  location.bytes = std::max(location.bytes, event.bytes);
  std::vector<Write>& writes = location.writes;
  std::size_t index = writes.size() - std::min<std::size_t>(event.left_out, writes.size());
  while (index < writes.size() && writes[index].is_update) ++index;
  writes.insert(writes.begin() + static_cast<std::ptrdiff_t>(index),
                {name, event.is_update, event.effect == Event::Effect::reduce, event.reduction});
  return reads_too ? source : Digest{};
}

Digest CoherenceOrders::digest() const {
  Digest sum = reads_;
  for (const auto& [address, location] : locations_) {
    for (std::size_t index = 0; index < location.writes.size(); ++index) {
      const Write& write = location.writes[index];
      std::size_t before = index == 0 ? SIZE_MAX : index - 1;
      while (before != SIZE_MAX && write.reduces && location.writes[before].reduces &&
             location.writes[before].reduction == write.reduction) {
        before = before == 0 ? SIZE_MAX : before - 1;
      }
      sum += DigestMaker().add(address).add(write.name).add(value_at(location, before)).made();
    }
  }
  return sum;
}

}  // namespace warpcheck::vgpu
