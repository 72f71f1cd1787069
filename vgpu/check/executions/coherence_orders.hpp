// Which write each read of an execution has found, and in which order each location's writes came.
//
// Executions in which both are the same for all threads are the same execution.  Events are named
// by their thread and their number in it.  Atomic operations that commute have no order among
// themselves.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "vgpu/check/executions/digest.hpp"
#include "vgpu/check/executions/trace.hpp"

namespace warpcheck::vgpu {

class CoherenceOrders {
 public:
  // The next event, which has that name; the name of what it has found, if it reads.
  Digest add(const Event& event, const Digest& name);
  // What add() would give a read.
  [[nodiscard]] Digest source_of(const Event& read) const;
  // Of all so far.
  [[nodiscard]] Digest digest() const;

 private:
  struct Write {
    Digest name;
    bool is_update = false;
    bool reduces = false;
    Reduction reduction;
  };
  struct Location {
    std::uint32_t bytes = 0;
    std::vector<Write> writes;  // the oldest first
  };
  // What is there once the write of that number has been made; SIZE_MAX: none.
  [[nodiscard]] static Digest value_at(const Location& location, std::size_t index);
  [[nodiscard]] Digest newest_of(const Event& event) const;

  std::map<std::uint64_t, Location> locations_;  // by address
  Digest reads_;                                 // each with what it found
};

}  // namespace warpcheck::vgpu
