// Memory that is as weak as the PTX memory model allows (ISA chapter 8): the interface by which a
// launch asks for older writes of a location.
//
// The bytes of an allocation are those of the last write in coherence order, so code that reads
// memory without this interface finds the same as without weak memory.  For a lane that is to find
// an older write, the bytes of that write are in memory while the lane loads.  A store that comes
// before other writes in coherence order is removed from memory again.
#pragma once

#include "vgpu/machine/access.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class WeakMemory {
 public:
  virtual ~WeakMemory() = default;

  // Begins an access, which is described but neither reported nor executed.  Returns which lanes
  // could leave out writes, and how many (lanes 0: none).  Sets access.sources.
  [[nodiscard]] virtual PastPoint begin(Access& access) = 0;
  // Applies the strategy's decision about the access; not called if there was none.
  virtual void choose(const Access& access, const PastChoice& choice) = 0;
  // Called before and after the bytes of one lane move.
  virtual void begin_lane(const Access& access, unsigned lane) = 0;
  virtual void end_lane(const Access& access, unsigned lane) = 0;
  // Called in place of all these for an access that belongs to no thread.
  virtual void pass(const Access& access) = 0;
  // Threads do something that is not modelled: from now on only the latest writes can be found,
  // until there are later ones.
  virtual void forget_past() = 0;
};

}  // namespace warpcheck::vgpu
