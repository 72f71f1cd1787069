// All executions of a litmus test that the PTX memory model allows.
//
// Candidates are the paths of threads through their code, times what each read reads from, times
// Fence-SC orders, times coherence orders.  A choice is abandoned as soon as an axiom excludes it;
// complete candidates are checked against all axioms (ptx_model.hpp).
//
// Coherence order is partial (8.9.6).  It relates only writes that are morally strong or related in
// causality order, transitively; a final value is that of a write with no write after it.
#pragma once

#include "model/outcome.hpp"

namespace warpcheck::model {

struct EnumerationOptions {
  unsigned unroll = 3;  // how often each branch backwards is taken
  // Choices of what a read reads from and of the order of two fences or writes, before the search
  // gives up.  A few million a second.
  std::uint64_t choices_max = 100'000'000;
};

// Throws LitmusError for a test that accesses an address without a location, or that is too large.
Outcome enumerate(const Test& test, const EnumerationOptions& options = {});

}  // namespace warpcheck::model
