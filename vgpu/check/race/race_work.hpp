// What a trial has cost the race checker, in counts that are the same at every run.
//
// Most rows of accesses cost it nothing but an entry that machine code writes.  A kernel whose rows
// are reported by calls, or end in cells, takes several times as long, and nothing but its time
// shows that; bench/race_work_test.cpp keeps kernels from getting there unnoticed.
#pragma once

#include <cstdint>

namespace warpcheck::vgpu {

struct RaceWork {
  std::uint64_t rows = 0;      // reported by a call each (Observer::takes_row())
  std::uint64_t accesses = 0;  // reported by a call with all details (Observer::on_access())
  std::uint64_t followed = 0;  // rows whose words are followed in the order of warps
  std::uint64_t in_cells = 0;  // rows, or runs of them, that cells were looked at for

  friend RaceWork operator+(const RaceWork& a, const RaceWork& b) {
    return {a.rows + b.rows, a.accesses + b.accesses, a.followed + b.followed,
            a.in_cells + b.in_cells};
  }
};

}  // namespace warpcheck::vgpu
