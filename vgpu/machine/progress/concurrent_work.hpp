// Work that is concurrent with a launch: of the host, of other streams, of other processes.
//
// A launch that only polls (lookahead.hpp) needs somebody who changes what it polls.  The machine
// calls these functions to let concurrent work run: the call of Machine::run() that is in progress
// stays where it is, and continues when the function returns.
#pragma once

#include <vector>

#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

class ConcurrentWork {
 public:
  virtual ~ConcurrentWork() = default;
  // Nothing of the launch can make progress while these bytes are as they are.  Returns true once
  // they have changed, or may have; false: no concurrent work can change them.
  //   polled: empty where they are too many to be listed
  //   of_host: the host, or another process, can write some of them without a call
  virtual bool wait_for_change(const std::vector<PolledBytes>& polled, bool of_host) = 0;
  // The launch makes progress, and has done so for a while.
  virtual void let_others_run() = 0;
};

}  // namespace warpcheck::vgpu
