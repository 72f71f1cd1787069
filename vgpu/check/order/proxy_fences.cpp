#include "vgpu/check/order/proxy_fences.hpp"

#include <algorithm>
#include <ranges>

#include "vgpu/check/order/clocks/bits.hpp"

namespace warpcheck::vgpu {

void ProxyFences::add(const Fence& fence) {
  const SegmentId before = order_.segment_of(fence.place, false);
  for_each_bit(order_.threads().actors_of(fence.mask), [&](unsigned lane) {
    const Moment moment = order_.threads().release(fence.place, lane);
    auto& mine =
        fences_[thread_of(order_.launches().block_key(fence.place), fence.place.warp, lane)];
    if (mine.size() == kRememberedMax) mine.erase(mine.begin());
    mine.push_back(
        {before, lane, fence.space, order_.threads().clock_of(moment, fence.place, lane)});
  });
}

// Among the fences of one thread, the latest one that comes before the copy knows the most.
bool ProxyFences::lies_between(SegmentId write, unsigned write_lane, const WarpPlace& place,
                               unsigned lane, ptx::Space space) {
  const auto among = [&](const std::vector<Passed>& passed) {
    const auto latest = std::ranges::find_if(passed.rbegin(), passed.rend(), [&](const auto& one) {
      const bool fits = one.space == ptx::Space::generic || one.space == space;
      return fits && order_.before(one.segment, one.lane, place, lane);
    });
    return latest != passed.rend() && order_.knows(latest->knows, write, write_lane);
  };
  const Segment& segment = order_.segments().at(write);
  const std::uint64_t likely[] = {thread_of(segment.block, segment.warp, write_lane),
                                  thread_of(order_.launches().block_key(place), place.warp, lane)};
  for (const std::uint64_t thread : likely) {
    const auto found = fences_.find(thread);
    if (found != fences_.end() && among(found->second)) return true;
  }
  return std::ranges::any_of(fences_, [&](const auto& of_thread) {
    return std::ranges::find(likely, of_thread.first) == std::end(likely) &&
           among(of_thread.second);
  });
}

void MapFences::clear() {
  releases_.clear();
  acquires_.clear();
}

void MapFences::add(const Fence& fence) {
  const SegmentId before = order_.segment_of(fence.place, false);
  const auto passed_by = [&](unsigned actor) {
    const Moment moment = order_.threads().release(fence.place, actor);
    return Passed{before, actor, order_.threads().clock_of(moment, fence.place, actor)};
  };
  if (fence.maps == nullptr) {
    for_each_bit(order_.threads().actors_of(fence.mask), [&](unsigned actor) {
      std::vector<Passed>& mine = releases_[thread_of(fence.place, actor)];
      if (mine.size() == kRememberedMax) mine.erase(mine.begin());
      mine.push_back(passed_by(actor));
    });
    return;
  }
  for_each_bit(fence.mask, [&](unsigned lane) {
    const MapPlace& map = (*fence.maps)[lane];
    if (map.allocation == nullptr) return;
    const std::uint64_t thread = thread_of(fence.place, lane);
    std::vector<Acquired>& all = acquires_[{map.allocation->id, map.offset}];
    const auto is_mine = [&](const Acquired& one) { return one.thread == thread; };
    if (std::ranges::count_if(all, is_mine) == kRememberedMax) {
      all.erase(std::ranges::find_if(all, is_mine));
    }
    all.push_back({passed_by(order_.threads().actor_of(lane)), thread, {}});
  });
}

// What was released once stays so, also when the fence is no longer among the latest.
bool MapFences::is_released(SegmentId write, unsigned lane, Acquired& acquired) const {
  if (std::ranges::find(acquired.released, Write{write, lane}) != acquired.released.end()) {
    return true;
  }
  const bool is_released = std::ranges::any_of(releases_, [&](const auto& of_thread) {
    return std::ranges::any_of(of_thread.second, [&](const Passed& one) {
      return order_.knows(one.knows, write, lane) &&
             order_.knows(acquired.knows, one.segment, one.lane);
    });
  });
  if (is_released) acquired.released.push_back({write, lane});
  return is_released;
}

MapFences::Missing MapFences::missing(SegmentId write, unsigned write_lane, const Access& copy,
                                      unsigned lane, std::uint32_t offset) {
  const std::uint32_t id = copy.allocation->id;
  Missing missing = Missing::acquire;
  const auto begin = acquires_.lower_bound({id, offset < kMapBytes ? 0 : offset - kMapBytes + 1});
  for (auto at = begin; at != acquires_.end() && at->first <= Map{id, offset}; ++at) {
    // The latest fence knows the most.
    for (Acquired& one : std::ranges::reverse_view(at->second)) {
      const bool lies_between = order_.before(one.segment, one.lane, copy.place, lane) &&
                                order_.knows(one.knows, write, write_lane);
      if (!lies_between) continue;
      if (is_released(write, write_lane, one)) return Missing::nothing;
      missing = Missing::release;
    }
  }
  return missing;
}

bool ProxyFences::lies_before_all(SegmentId write, unsigned write_lane, const WarpPlace& place,
                                  SegmentId now, ptx::Space space) {
  const std::uint64_t warp = warp_of(place);
  Answer& answer = answers_[answer_of(write, place)];
  if (answer.write != write || answer.warp != warp || answer.space != space) {
    answer = {write, 0, warp, space};
  }
  if ((answer.lanes >> write_lane & 1) != 0) return true;
  const Segment& segment = order_.segments().at(write);
  const auto fences = fences_.find(thread_of(segment.block, segment.warp, write_lane));
  if (fences == fences_.end()) return false;
  const bool lies = std::ranges::any_of(fences->second, [&](const Passed& one) {
    const bool fits = one.space == ptx::Space::generic || one.space == space;
    return fits && order_.before(one.segment, now, place) == ThreadOrder::Before::all_lanes &&
           order_.knows(one.knows, write, write_lane);
  });
  if (lies) answer.lanes |= 1u << write_lane;
  return lies;
}

}  // namespace warpcheck::vgpu
