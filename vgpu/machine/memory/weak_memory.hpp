// Memory that is as weak as the PTX memory model allows (ISA chapter 8): what a launch asks about
// the writes of a location beside the latest.
//
// The bytes of an allocation are those of the write that is last in coherence order, so whoever
// looks at memory by another way finds what it would find without this.  A lane that is to find an
// older write finds its bytes in memory while it loads; a store that comes before others is taken
// out of memory again.
#pragma once

#include "vgpu/machine/access.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class WeakMemory {
 public:
  virtual ~WeakMemory() = default;

  // An access, described but neither told nor made: which of its lanes could leave out writes, and
  // how many (lanes 0: none could).  Sets access.sources.
  [[nodiscard]] virtual PastPoint begin(Access& access) = 0;
  // What has been decided of it; not called if nothing was.
  virtual void choose(const Access& access, const PastChoice& choice) = 0;
  // Before and after one lane's bytes move.
  virtual void begin_lane(const Access& access, unsigned lane) = 0;
  virtual void end_lane(const Access& access, unsigned lane) = 0;
  // In place of all that: an access that nobody's thread makes.
  virtual void pass(const Access& access) = 0;
  // Threads do something that is not followed here: from now on nothing but the latest writes is
  // found, until there are later ones.
  virtual void forget_past() = 0;
};

}  // namespace warpcheck::vgpu
