#include "vgpu/check/order/proxy_fences.hpp"

#include <algorithm>

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

}  // namespace warpcheck::vgpu
