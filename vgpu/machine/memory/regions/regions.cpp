#include "vgpu/machine/memory/regions/regions.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpcheck::vgpu {
namespace {

// Returns whether `one` is the object, or lies in it (a region of a pool that is a region itself).
bool is_of(const Allocation* one, const Allocation& object) {
  while (one != nullptr && one != &object) one = one->pool;
  return one != nullptr;
}

}  // namespace

// An extent begins at `at` afterwards, unless it is the end.
void Regions::split(std::uint64_t at) {
  const auto after = extents_.upper_bound(at);
  if (after == extents_.begin()) return;
  const auto before = std::prev(after);
  if (before->first == at || before->second.end <= at) return;
  Extent rest = before->second;
  before->second.end = at;
  extents_.emplace_hint(after, at, std::move(rest));
}

// Makes equal neighbours one extent, from the extent before `begin` to the one at `end`.
void Regions::join(std::uint64_t begin, std::uint64_t end) {
  auto one = extents_.lower_bound(begin);
  if (one != extents_.begin()) --one;
  while (one != extents_.end() && one->first <= end) {
    const auto next = std::next(one);
    if (next == extents_.end()) return;
    const bool are_same =
        one->second.use == next->second.use && one->second.object == next->second.object;
    if (!are_same) {
      one = next;
      continue;
    }
    one->second.end = next->second.end;
    extents_.erase(next);
  }
}

void Regions::set(std::uint64_t begin, std::uint64_t end, Use use, Object object) {
  if (begin >= end) return;
  split(begin);
  split(end);
  extents_.erase(extents_.lower_bound(begin), extents_.lower_bound(end));
  extents_.insert_or_assign(begin, Extent{end, use, std::move(object)});
  join(begin, end);
}

void Regions::replace(const Allocation& object, Use use, const Object& by) {
  const std::uint64_t first = object.address - std::min(begin_, object.address);
  const std::uint64_t begin = object.address < begin_ ? 0 : first;
  const std::uint64_t end = object.address + object.bytes - begin_;
  for (auto one = extents_.lower_bound(begin); one != extents_.end() && one->first < end; ++one) {
    if (!is_of(one->second.object.get(), object)) continue;
    one->second.use = use;
    one->second.object = by;
  }
  join(begin, end);
}

Regions::Window Regions::at(std::uint64_t offset) const {
  const auto found = std::prev(extents_.upper_bound(offset));
  Window window{found->first, found->second.end, found->second.use, found->second.object.get()};
  if (window.use != Use::plain) return window;
  const auto is_plain = [](const auto& one) { return one->second.use == Use::plain; };
  for (auto one = found; one != extents_.begin() && is_plain(std::prev(one)); --one) {
    window.begin = std::prev(one)->first;
  }
  for (auto one = std::next(found); one != extents_.end() && is_plain(one); ++one) {
    window.end = one->second.end;
  }
  return window;
}

const Allocation* Regions::closest(std::uint64_t offset) const {
  const auto is_region = [](const Extent& extent) {
    return extent.use == Use::region || (extent.use == Use::gone && !extent.object->is_pool);
  };
  const auto here = std::prev(extents_.upper_bound(offset));
  const Allocation *before = nullptr, *behind = nullptr;
  for (auto one = here; one != extents_.begin() && before == nullptr;) {
    --one;
    if (is_region(one->second)) before = one->second.object.get();
  }
  for (auto one = std::next(here); one != extents_.end() && behind == nullptr; ++one) {
    if (is_region(one->second)) behind = one->second.object.get();
  }
  if (before == nullptr || behind == nullptr) return before == nullptr ? behind : before;
  const std::uint64_t past = begin_ + offset - (before->address + before->bytes);
  return behind->address - (begin_ + offset) < past ? behind : before;
}

}  // namespace warpcheck::vgpu
