// Functions of libraries when their turn has come: every operand is looked for in memory, the
// checkers are told what is read, the host computes, and the checkers are told what was written.
//
// What is not inside one allocation is told; the function gets zeros for it, and what it writes
// there is dropped, as with a kernel.  It may compute with undefined bytes: they matter where
// another value of them changes a result, so it is computed with other values, and bytes that come
// out different are undefined.
#pragma once

#include "vgpu/cudart/streams/execution.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

class Allocations;
class Clock;
class Findings;
class HostBlocks;
class Observers;
class Transfers;

class LibraryRunner {
 public:
  // Nothing is owned.
  struct Needs {
    Allocations& allocations;
    HostBlocks& host_blocks;
    Findings& findings;
    Transfers& transfers;
    Clock& clock;
    const Observers& observers;
  };
  explicit LibraryRunner(const Needs& needs) : needs_(needs) {}

  void run(const LibraryWork& work, const Operation& operation, const HostState& host);

 private:
  Needs needs_;
};

}  // namespace warpcheck::cudart
