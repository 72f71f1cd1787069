// Values that streams write to memory and wait for (CUDA Driver API, "Stream Memory Operations").
//
// A wait is an operation that cannot begin before its condition holds.  What follows it comes after
// the write whose value it has found, and after what comes before that write in its stream.  If the
// value came from elsewhere (a kernel, a copy, the host), it comes after everything that has run
// until then: less is ordered in fact, but the store is not known.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "vgpu/cudart/copies/copy_sides.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

class Allocations;
class Findings;
class Observers;

class StreamValues {
 public:
  // Nothing is owned.
  StreamValues(Allocations& allocations, CopySides& sides, Findings& findings,
               const Observers& observers)
      : allocations_(allocations), sides_(sides), findings_(findings), observers_(observers) {}

  // Returns the memory; nothing, perhaps with a finding, if the operation is not possible there.
  std::optional<CopySide> place_of(const ValueWork& work);

  // Returns whether a wait is over.  It is also over if its memory was freed.
  [[nodiscard]] bool holds(const ValueWork& work, const Operation& operation);
  // Returns the operations that come before what follows a wait whose condition holds.
  [[nodiscard]] const OperationSet& comes_after(const ValueWork& work, const OperationSet& done);
  void run(const ValueWork& work, const Operation& operation);
  // Reports a deadlock.
  void give_up(const ValueWork& work, const Operation& operation);

  void clear();

 private:
  struct Written {
    std::uint64_t value = 0;
    OperationSet clock;  // of the write; empty if the write orders nothing
  };

  Allocations& allocations_;
  CopySides& sides_;
  Findings& findings_;
  const Observers& observers_;
  std::map<const std::byte*, Written> written_;  // the latest write, by address
  std::set<std::uint32_t> given_up_;             // numbers of operations
};

}  // namespace warpcheck::cudart
