#include "vgpu/check/race/general/access_relations.hpp"

#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_weight.hpp"
#include "vgpu/check/race/stored_bytes.hpp"

namespace warpcheck::vgpu {
namespace {

std::uint32_t handed_classes(const Access& access, unsigned access_class) {
  const std::vector<bool>& data_reads = access.program->data_reads;
  if (access.pc >= data_reads.size() || !is_relaxed_access(access.program->code[access.pc])) {
    return 0;
  }
  const bool takes_part = access.kind == AccessKind::write || data_reads[access.pc];
  return takes_part ? kClassRelations.hand_over[access_class] : 0;
}

}  // namespace

AccessRelations::Classes AccessRelations::classes_for(const CheckedRow& row,
                                                      const LaneAccess& mine) const {
  return {
      .anyhow = kClassRelations.race[mine.access_class],
      .across = kClassRelations.race_across[mine.access_class],
      .apart = order_.launches().has_devices() ? kClassRelations.race_apart[mine.access_class] : 0,
      .handed = handed_classes(*row.access, mine.access_class)};
}

// Operations at cluster scope by blocks of one cluster are also morally strong.
bool AccessRelations::is_one_group(const CheckedRow& row, const CellEntry& entry) const {
  if (!order_.launches().has_clusters()) return false;
  const Access& access = *row.access;
  const Segment& segment = order_.segments().at(entry.segment);
  if (segment.launch != order_.launches().current() || access.scope == ptx::Scope::cta)
    return false;
  if (access.program->code[entry.pc].modifiers.scope == ptx::Scope::cta) return false;
  return order_.launches().cluster_of(segment.block) ==
         order_.launches().cluster_of(order_.launches().block_key(access.place));
}

// Returns whether the accesses are of launches on different devices, which only system scope
// includes.
bool AccessRelations::are_apart(const CheckedRow& row, const CellEntry& entry) const {
  const std::uint32_t launch = order_.segments().at(entry.segment).launch;
  if (order_.launches().device_of(launch) ==
      order_.launches().device_of(order_.launches().current()))
    return false;
  const Instr& earlier = launches_[launch].program->code[entry.pc];
  const Instr& now = row.access->program->code[row.access->pc];
  return scope_of(now) != ptx::Scope::sys || scope_of(earlier) != ptx::Scope::sys;
}

bool AccessRelations::hand_on(const CheckedRow& row, const LaneAccess& mine,
                              const CellEntry& entry) const {
  const Access& access = *row.access;
  const Segment& segment = order_.segments().at(entry.segment);
  const Program& earlier = *launches_[segment.launch].program;
  if (!may_hand_on(earlier, entry.pc, *access.program, access.pc)) return false;
  const bool both_write =
      access.kind == AccessKind::write && AccessClass::of_index(entry.access_class).write;
  const bool one_warp = segment.block == order_.launches().block_key(access.place) &&
                        segment.warp == access.place.warp;
  return !both_write || (!one_warp && !stores_same_bytes(access, mine.lane));
}

}  // namespace warpcheck::vgpu
