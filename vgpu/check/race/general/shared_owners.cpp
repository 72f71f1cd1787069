#include "vgpu/check/race/general/shared_owners.hpp"

#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kUsesMax = 4'096;  // that are recorded per block

// Returns whether an asynchronous copy reads or writes shared memory.  The results of a product
// tell when its reads are complete.
bool is_of_copy(const Access& access) {
  if (!access.asynchronous || !access.async_proxy) return false;
  const InstrKind kind = access.program->code[access.pc].kind;
  return kind == InstrKind::bulk_copy || kind == InstrKind::tensor_copy;
}

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
  if (access.allocation->id >= owners_.size()) return;
  const bool is_copy = is_of_copy(access);
  if (!is_copy && !order_.launches().has_clusters()) return;
  Owner& owner = owners_[access.allocation->id];
  if (owner.first_segment == 0) return;
  if (owner.block == order_.launches().block_key(access.place)) {
    if (is_copy) remember_copy(owner, access, now);
    return;
  }
  if (!owner.uses.empty()) {
    Use& last = owner.uses.back();
    if (last.segment == now && last.pc == access.pc) {
      last.lanes |= access.mask;
      return;
    }
  }
  if (owner.uses.size() == kUsesMax) owner.uses.erase(owner.uses.begin());
  owner.uses.push_back({now, access.mask, access.pc, class_of(access).index(),
                        describe_element(access, access.first_lane())});
}

// Whoever knows a copy knows the earlier ones of its agent, so the latest one stands for them.
void SharedOwners::remember_copy(Owner& owner, const Access& access, SegmentId now) const {
  const Segment& agent = order_.segments().at(now);
  for (Use& use : owner.uses) {
    if (!use.is_copy || use.pc != access.pc) continue;
    if (use.segment == now) {
      use.lanes |= access.mask;
      return;
    }
    const Segment& other = order_.segments().at(use.segment);
    if (other.agent != agent.agent || other.agent_block != agent.agent_block) continue;
    use.lanes &= ~access.mask;
  }
  std::erase_if(owner.uses, [](const Use& use) { return use.lanes == 0; });
  owner.uses.push_back({now, access.mask, access.pc, class_of(access).index(),
                        describe_element(access, access.first_lane()), true});
}

void SharedOwners::renew_thresholds(const std::vector<SegmentId>& renewed) {
  for (Owner& owner : owners_) {
    if (owner.first_segment < renewed.size()) owner.first_segment = renewed[owner.first_segment];
  }
}

}  // namespace warpcheck::vgpu
