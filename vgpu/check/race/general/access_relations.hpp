// How two accesses relate whatever the order of their threads: whether they conflict without being
// morally strong (PTX ISA 8.7, 8.7.1), and whether one may hand a value on to the other.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/check/race/general/checked_row.hpp"

namespace warpcheck::vgpu {

class AccessRelations {
 public:
  AccessRelations(const ThreadOrder& order, const std::vector<CheckedLaunch>& launches)
      : order_(order), launches_(launches) {}

  // The classes of earlier accesses that matter to a lane's access if they are unordered with it.
  struct Classes {
    std::uint32_t anyhow = 0;  // they conflict and are not morally strong
    std::uint32_t across = 0;  // only if they are of another block
    std::uint32_t apart = 0;   // if they are of another device; 0: there is one device
    std::uint32_t handed = 0;  // they may hand a value on to this access, or receive one from it
  };
  [[nodiscard]] Classes classes_for(const CheckedRow& row, const LaneAccess& mine) const;
  // Returns whether any entry of a list can matter.
  [[nodiscard]] bool may_matter(const Classes& classes, const CheckedRow& row,
                                const CellList& list) const {
    const std::uint32_t everywhere = classes.anyhow | classes.handed;
    if ((everywhere & list.classes) != 0) return true;
    return ((classes.across | classes.apart) & list.classes) != 0 &&
           list.block != order_.launches().block_key(row.access->place);
  }
  // Returns whether an access and an entry conflict and are not morally strong.
  [[nodiscard]] bool race_unless_ordered(const Classes& classes, const CheckedRow& row,
                                         const CellEntry& entry) const {
    const bool one_block =
        order_.segments().at(entry.segment).block == order_.launches().block_key(row.access->place);
    std::uint32_t race = classes.anyhow;
    if (!one_block && !is_one_group(row, entry)) race |= classes.across;
    if (classes.apart != 0 && are_apart(row, entry)) race = classes.apart;
    return (race >> entry.access_class & 1) != 0;
  }
  // Returns whether one of two accesses that do not race uses what the other one stores, or both
  // store different values.
  [[nodiscard]] bool hand_on(const CheckedRow& row, const LaneAccess& mine,
                             const CellEntry& entry) const;

 private:
  [[nodiscard]] bool is_one_group(const CheckedRow& row, const CellEntry& entry) const;
  [[nodiscard]] bool are_apart(const CheckedRow& row, const CellEntry& entry) const;

  const ThreadOrder& order_;
  const std::vector<CheckedLaunch>& launches_;  // of the trial
};

}  // namespace warpcheck::vgpu
