// Records which write each read of an execution has found, and the order of the writes to each
// location.
//
// Executions that agree in both for all threads are the same execution.  An event is identified by
// its thread and its number in that thread.  Atomic operations that commute have no order among
// themselves.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "vgpu/check/executions/digest.hpp"
#include "vgpu/check/executions/execution_trace.hpp"

namespace warpcheck::vgpu {

class CoherenceOrders {
 public:
  // Adds the next event, whose name is `name`.  Returns the name of the write that it has found, if
  // it reads.
  Digest add(const Event& event, const Digest& name);
  // Returns what add() would return for a read.
  [[nodiscard]] Digest source_of(const Event& read) const;
  // Returns the digest of all events so far.
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
    std::vector<Write> writes;  // oldest first
  };
  // Returns the value of the location after the write of that number; SIZE_MAX: before all writes.
  [[nodiscard]] static Digest value_at(const Location& location, std::size_t index);
  [[nodiscard]] Digest newest_of(const Event& event) const;

  std::map<std::uint64_t, Location> locations_;  // by address
  Digest reads_;                                 // each read with the write that it found
};

}  // namespace warpcheck::vgpu
