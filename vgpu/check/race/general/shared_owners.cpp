#include "vgpu/check/race/general/shared_owners.hpp"

#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kRemoteMax = 4'096;  // accesses by other blocks that are recorded per block

}  // namespace

void SharedOwners::begin_block(const WarpPlace& place, const Allocation& shared) {
  if (shared.id >= owners_.size()) owners_.resize(shared.id + 1);
  owners_[shared.id] = {order_.launches().block_key(place), order_.segments().count(), {}};
}

SegmentId SharedOwners::first_segment_of(const Access& access) const {
  const std::uint32_t id = access.allocation->id;
  const bool is_owned = id < owners_.size() && owners_[id].first_segment != 0;
  return is_owned ? owners_[id].first_segment : order_.threads().first_segment(access.place);
}

void SharedOwners::remember(const Access& access, SegmentId now) {
  if (!order_.launches().has_clusters()) return;
  if (access.allocation->id >= owners_.size()) return;
  Owner& owner = owners_[access.allocation->id];
  if (owner.first_segment == 0 || owner.block == order_.launches().block_key(access.place)) return;
  if (!owner.remote.empty()) {
    Remote& last = owner.remote.back();
    if (last.segment == now && last.pc == access.pc) {
      last.lanes |= access.mask;
      return;
    }
  }
  if (owner.remote.size() == kRemoteMax) owner.remote.erase(owner.remote.begin());
  owner.remote.push_back({now, access.mask, access.pc, class_of(access).index(),
                          describe_element(access, access.first_lane())});
}

void SharedOwners::renew_thresholds(const std::vector<SegmentId>& renewed) {
  for (Owner& owner : owners_) {
    if (owner.first_segment < renewed.size()) owner.first_segment = renewed[owner.first_segment];
  }
}

}  // namespace warpcheck::vgpu
