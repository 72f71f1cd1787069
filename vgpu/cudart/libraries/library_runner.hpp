// Runs library functions when it is their turn: finds every operand in memory, reports the reads to
// the checkers, computes on the host, and reports the writes to the checkers.
//
// An operand outside one allocation is reported; the function gets zeros for the missing bytes, and
// what it writes there is dropped, as for a kernel.  The function may compute with undefined bytes.
// They matter only if another value of them changes a result, so the function is computed again
// with other values, and bytes whose results differ are undefined.
#pragma once

#include "vgpu/cudart/streams/execution.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

class Allocations;
class VirtualClock;
class Findings;
class HostBlocks;
class Observers;
class Transfers;

class LibraryRunner {
 public:
  // Nothing is owned.
  struct Dependencies {
    Allocations& allocations;
    HostBlocks& host_blocks;
    Findings& findings;
    Transfers& transfers;
    VirtualClock& clock;
    const Observers& observers;
  };
  explicit LibraryRunner(const Dependencies& dependencies) : dependencies_(dependencies) {}

  void run(const LibraryWork& work, const Operation& operation, const HostState& host);

 private:
  Dependencies dependencies_;
};

}  // namespace warpcheck::cudart
