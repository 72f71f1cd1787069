// Runs the loops of race_rows.hpp over a row of any pattern.  Tiles with rows shorter than a warp
// give scattered offsets that consist of a few runs of lanes; each run is handled as a row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "vgpu/check/race/race_shadow.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"

namespace warpcheck::vgpu {

class RowLoops {
 public:
  explicit RowLoops(const RaceRowFunctions& functions) : functions_(&functions) {}

  // Checks and records a row in the cells of a shadow.
  RaceRowResult check(const RaceRow& row, Pattern pattern, bool is_weak_read,
                      Shadow& shadow) const {
    if (pattern == Pattern::strided) return functions_->strided(row);
    if (pattern == Pattern::uniform) return functions_->uniform(row);
    if (is_weak_read && read_runs(row, shadow)) return RaceRowResult::recorded;
    return functions_->scattered(row);
  }
  // Records a row that races with nothing.
  //   bytes: of one lane
  [[nodiscard]] RaceRowResult record(const RaceRow& row, Pattern pattern,
                                     std::uint32_t bytes) const {
    if (pattern == Pattern::scattered) return record_scattered(row, bytes);
    return pattern == Pattern::uniform ? functions_->uniform(row) : functions_->strided(row);
  }
  // Takes a row of words as records of global memory, directly or as a few runs of lanes.  False:
  // the caller must check cells.
  //   row: with offsets if it is scattered, and with its cell otherwise
  bool take_as_rows(const RaceRow& row, Pattern pattern, unsigned access_class,
                    Shadow& shadow) const {
    if (!shadow.takes_rows(access_class)) return false;
    if (pattern != Pattern::scattered) return shadow.take_row(row, pattern, access_class);
    return take_scattered(row, access_class, shadow);
  }

 private:
  bool take_scattered(const RaceRow& row, unsigned access_class, Shadow& shadow) const;
  bool take_apart(RaceRow row, unsigned access_class, Shadow& shadow) const;
  bool take_runs(RaceRow row, unsigned access_class, Shadow& shadow) const;
  [[nodiscard]] RaceRowResult record_scattered(RaceRow row, std::uint32_t bytes) const;
  bool read_runs(RaceRow row, Shadow& shadow) const;

  const RaceRowFunctions* functions_;
};

}  // namespace warpcheck::vgpu
