// Work that is concurrent with a launch: work of the host, of other streams, of other processes.
//
// A launch that only polls (lookahead.hpp) can continue only if other work changes what it polls.
// The machine calls these functions to let concurrent work run.  The call of Machine::run() stays
// in progress during that time, and continues when the function returns.
#pragma once

#include <vector>

#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

class ConcurrentWork {
 public:
  virtual ~ConcurrentWork() = default;
  // The launch makes no progress while these bytes stay unchanged.  Returns true when they have
  // changed or may have changed; false: no concurrent work can change them.
  //   polled: empty if there are too many to list
  //   of_host: the host, or another process, can write some of them without a call
  virtual bool wait_for_change(const std::vector<PolledBytes>& polled, bool of_host) = 0;
  // Called at intervals while the launch makes progress.
  virtual void let_others_run() = 0;
};

}  // namespace warpcheck::vgpu
