#include "vgpu/check/race/same_value_stores.hpp"

#include <algorithm>
#include <cstring>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/stored_bytes.hpp"

namespace warpcheck::vgpu {

bool MeetingLane::stores_same() const {
  if (!same_) same_ = stores_same_bytes(access, lane);
  return *same_;
}

bool SameValueStores::Chain::has(Thread thread) const {
  return std::ranges::any_of(
      threads, [&](const Range& range) { return range.first <= thread && thread <= range.last; });
}

void SameValueStores::Chain::add(Thread first, Thread end) {
  last = end;
  if (!threads.empty() && first == threads.back().last + 1) {
    threads.back().last = end;
  } else if (!has(first) || !has(end)) {
    if (threads.size() == kRangesMax) threads.erase(threads.begin());
    threads.push_back({first, end});
  }
}

// Returns what a store is about to store, or what a load is about to find.
SameValueStores::Value SameValueStores::value_of(const Access& access, unsigned lane) {
  Value value{};
  if (access.values[0] == nullptr) {
    std::memcpy(value.data(), access.allocation->data + access.offset[lane], access.bytes);
  } else {
    for (std::uint32_t i = 0; i < access.bytes; ++i) value[i] = stored_byte(access, lane, i);
  }
  return value;
}

SameValueStores::Chain* SameValueStores::find(const Place& place) {
  if (recent_ != nullptr && recent_place_ == place) return recent_;
  const auto found = chains_.find(place);
  if (found == chains_.end()) return nullptr;
  recent_place_ = place;
  return recent_ = &found->second;
}

SameValueStores::Chain* SameValueStores::start(const Place& place, const Value& value) {
  if (chains_.size() >= kChainsMax && !chains_.contains(place)) return nullptr;
  recent_place_ = place;
  recent_ = &chains_[place];
  recent_->value = value;
  recent_->threads.clear();
  return recent_;
}

void SameValueStores::add(const MeetingLane& store, Thread before, Thread by) {
  const Place place = place_of(store.access, store.lane);
  const Value value = value_of(store.access, store.lane);
  Chain* chain = find(place);
  if (chain == nullptr || chain->last != before || chain->value != value) {
    chain = start(place, value);
    if (chain == nullptr) return;
    chain->add(before, before);
  }
  chain->add(by, by);
}

bool SameValueStores::add_if_same(const MeetingLane& store, Thread before, Thread by, bool is_last,
                                  const Reporter& reporter) {
  if (!store.stores_same() || involves_undefined(store.access, store.lane, reporter)) {
    forget(store.access, store.lane);
    return false;
  }
  if (is_last) add(store, before, by);
  return true;
}

bool SameValueStores::is_own(const MeetingLane& later, bool writes_first, bool is_writer,
                             Thread before, Thread by) {
  if (later.access.kind == AccessKind::read) {
    return writes_first && has(later.access, later.lane, by) &&
           has(later.access, later.lane, before);
  }
  return !writes_first && later.stores_same() &&
         (is_writer || has(later.access, later.lane, before));
}

void SameValueStores::begin(const Access& row, Thread warp) {
  const unsigned lane = row.first_lane();
  Chain* const chain = start(place_of(row, lane), value_of(row, lane));
  if (chain == nullptr) return;
  for_each_bit(row.mask, [&](unsigned by) { chain->add(warp + by, warp + by); });
}

void SameValueStores::forget(const Access& store, unsigned lane) {
  if (chains_.empty()) return;
  const Place place = place_of(store, lane);
  if (recent_place_ == place) recent_ = nullptr;
  chains_.erase(place);
}

bool SameValueStores::has(const Access& access, unsigned lane, Thread thread) {
  if (chains_.empty()) return false;
  const Chain* const chain = find(place_of(access, lane));
  return chain != nullptr && chain->has(thread) && chain->value == value_of(access, lane);
}

}  // namespace warpcheck::vgpu
