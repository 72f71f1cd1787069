// What an experiment supposes of a program's host code, to see what would be different: of no use
// for a trial whose result counts (harness/causes).
#pragma once

namespace warpcheck::cudart {

struct Suppositions {
  // Each operation of a stream comes after all that were submitted before it, to any stream.
  bool one_stream = false;
  // What cudaMalloc() returns holds zeros.
  bool zeroed_memory = false;
  // The host waits for each operation before it goes on.
  bool host_waits = false;
  // Memory of the device is never freed.
  bool late_frees = false;
  // Each device may use the memory of all others.
  bool peer_access = false;
  // The nodes of a graph run one after the other, as they were added where edges allow it.
  bool ordered_nodes = false;
  // A launch of a kernel with extern __shared__ variables has as much dynamic shared memory as one
  // may have without cudaFuncSetAttribute().
  bool more_dynamic_shared = false;
  friend bool operator==(const Suppositions&, const Suppositions&) = default;
};

}  // namespace warpcheck::cudart
