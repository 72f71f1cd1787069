// What else may go on while a launch runs: the host, other streams, other processes.
//
// A launch that only polls (lookahead.hpp) needs somebody who changes what it polls.  Whoever runs
// it may let others do something meanwhile: the call of run() that is in progress stays where it
// is, and goes on when one of these functions returns.
#pragma once

#include <vector>

#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

class Beside {
 public:
  virtual ~Beside() = default;
  // Nothing of the launch can go on while these bytes are as they are.  Returns true once they have
  // changed, or may have; false: nobody is left who could do that.
  //   polled: empty where they are too many to be listed
  //   of_host: the host, or another process, can write some of them without a call
  virtual bool wait_for_change(const std::vector<PolledBytes>& polled, bool of_host) = 0;
  // The launch goes on, and has done so for a while.
  virtual void let_others_run() = 0;
};

}  // namespace warpcheck::vgpu
