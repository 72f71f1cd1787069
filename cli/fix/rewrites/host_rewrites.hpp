// Changes of host code: orders of streams, waits, and what calls of the runtime are given.
//
// Each takes the calls of one file in the order of its text, and returns likely changes first.
// They are guesses: host_search.hpp builds the program with each and runs it.
#pragma once

#include <string>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/rewrites/host_calls.hpp"

namespace warpcheck {

using HostCalls = std::vector<HostCall>;

// `cudaStreamSynchronize(s);` behind what is given to a stream, the last first; `cudaDevice...` for
// the default stream, and where streams are not known.
std::vector<Patch> waits_of_host(const HostCalls& calls);

// The stream of one of the `seconds` waits for that of one of the `firsts`: for an event that is
// recorded already, then for one of its own.
std::vector<Patch> waits_of_streams(const HostCalls& calls, const HostCalls& firsts,
                                    const HostCalls& seconds);

// `cudaFree(p);` behind the last use of `p` in its block, and at the end of the block.
std::vector<Patch> later_frees(const HostCalls& calls);

// One of several calls that free the same pointer left out, the last first.
std::vector<Patch> single_frees(const HostCalls& calls);

// `cudaMemset(p, 0, bytes);` behind `cudaMalloc(&p, bytes);`.
std::vector<Patch> zeroed_allocations(const HostCalls& calls);

// `n * sizeof(*p)` for the bytes `n` of an allocation or a copy; the bytes of the allocation for
// those of a copy, and the other way round; an allocation of `e` for `e / k`, of one element more.
std::vector<Patch> other_sizes(const HostCalls& calls);

// Dynamic shared memory in elements of the `extern __shared__` arrays of the file.
std::vector<Patch> larger_shared(const SourceTree& tree, const HostCalls& calls);

// The opposite direction of a copy.
std::vector<Patch> other_directions(const HostCalls& calls);

// `cudaDeviceEnablePeerAccess(other, 0);` behind `cudaSetDevice(one);`.
std::vector<Patch> peer_accesses(const HostCalls& calls);

// A node of a graph that depends on nothing, after one that is added before.
std::vector<Patch> graph_edges(const HostCalls& calls);

// `(n + m - 1) / m` blocks for `n / m`.
std::vector<Patch> rounded_up_grids(const std::string& file, const SourceTree& tree,
                                    const HostCalls& calls);

}  // namespace warpcheck
